import Foundation
import Glibc
import Testing

@testable import DocumentPackages

@Suite struct DocumentLockTests {
    private func folder() throws -> String {
        let path = NSTemporaryDirectory() + "cistern-lock-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    @Test func aSecondOneIsRefusedAtOnce() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let first = try DocumentLock(package: folder)
        // It is refused, and does not wait: the call returns.
        let failure = #expect(throws: PackageFailure.self) { try DocumentLock(package: folder) }
        #expect(failure?.kind == .inUse)
        #expect(
            failure?.message
                == "the document \(folder) is in use by another cisternd (process \(getpid()))"
        )
        withExtendedLifetime(first) {}
    }

    @Test func removingTheFileOfTheLockLetsNobodyIn() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let first = try DocumentLock(package: folder)
        try FileManager.default.removeItem(atPath: first.path)
        let failure = #expect(throws: PackageFailure.self) { try DocumentLock(package: folder) }
        #expect(failure?.kind == .inUse)
        withExtendedLifetime(first) {}
    }

    @Test func aLinkInThePlaceOfTheFileIsNotFollowed() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let precious = folder + "/precious"
        try "clean\n".write(toFile: precious, atomically: true, encoding: .utf8)
        #expect(symlink(precious, folder + "/.lock") == 0)
        let failure = #expect(throws: PackageFailure.self) { try DocumentLock(package: folder) }
        #expect(failure?.kind == .notWritable)
        #expect(failure?.message == "\(folder)/.lock is a symbolic link, which is not followed; remove it")
        #expect(try String(contentsOfFile: precious, encoding: .utf8) == "clean\n")
    }

    @Test func theLockGoesWithItsOwner() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        do { _ = try DocumentLock(package: folder) }
        let again = try DocumentLock(package: folder)
        #expect(!again.wasClean)
    }

    @Test func aCleanEndIsRemembered() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        do {
            let lock = try DocumentLock(package: folder)
            #expect(lock.wasClean)
            lock.markClean()
        }
        #expect(try DocumentLock(package: folder).wasClean)
    }

    @Test func inAFolderThatIsMissingThereIsNone() {
        let failure = #expect(throws: PackageFailure.self) { try DocumentLock(package: "/nonexistent") }
        #expect(failure?.kind == .notWritable)
        #expect(failure?.code == ENOENT)
    }
}
