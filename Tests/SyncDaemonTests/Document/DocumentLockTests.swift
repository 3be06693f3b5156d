import Foundation
import Glibc
import Testing

@testable import SyncDaemon

@Suite struct DocumentLockTests {
    private func folder() throws -> String {
        let path = NSTemporaryDirectory() + "cistern-lock-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    @Test func aSecondOneIsRefusedAtOnceWithStatus75() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let first = try DocumentLock(package: folder)
        // It is refused, and does not wait: the call returns.
        let failure = #expect(throws: StartFailure.self) { try DocumentLock(package: folder) }
        #expect(failure?.status == .temporaryFailure)
        #expect(
            failure?.message
                == "the document \(folder) is in use by another cisternd (process \(getpid())); stop it, or give this one a [document] path of its own"
        )
        withExtendedLifetime(first) {}
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

    @Test func aFolderThatIsMissingIsStatus73() {
        let failure = #expect(throws: StartFailure.self) { try DocumentLock(package: "/nonexistent") }
        #expect(failure?.status == .cannotCreate)
        #expect(failure?.code == ENOENT)
    }
}
