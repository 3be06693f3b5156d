import Foundation
import Glibc
import OpenCoreData
import Synchronization
import Testing

@testable import DocumentPackages

@Suite struct DocumentBackupTests {
    private let now = TestPackage.start

    @Test func aBackupIsAPackageOfItsOwn() async throws {
        let package = try await TestPackage.with(1, 2), document = try package.open()
        // Committed, and only in the log as yet.
        try package.insert([3], into: document)
        let entry = try package.backup().make(at: now)
        try package.insert([4], into: document)
        #expect(entry.path == "\(package.backups.path)/cistern-20250101T000000Z")
        #expect(package.names(entry.path) == ["StoreContent", "backup.json"])
        #expect(package.names("\(entry.path)/StoreContent") == ["persistentStore"])
        #expect(try await package.numbers(entry.path) == [1, 2, 3])
        try await document.close()
        #expect(try await package.numbers() == [1, 2, 3, 4])
    }

    @Test func aBackupIsOfOneMomentWhoeverWritesMeanwhile() async throws {
        let package = try await TestPackage.with(1, 2), document = try package.open()
        let written = Mutex(2)
        let entry = try package.backup().make(at: now) {
            let number = written.withLock { written in
                written += 1
                return written
            }
            try? package.insert([number], into: document)
            return true
        }
        let next = written.withLock { $0 } + 1
        #expect(next > 4)
        let found = try await package.numbers(entry.path)
        // Whatever was committed before its moment, and nothing after it.
        #expect(found.count < next - 1 && found == Array(1...found.count), "\(found)")
        try await document.close()
        #expect(try await package.numbers() == Array(1..<next))
    }

    @Test func whatIsGivenUpLeavesNothing() async throws {
        let package = try await TestPackage.with(1)
        let failure = #expect(throws: PackageFailure.self) { try package.backup().make(at: now) { false } }
        #expect(failure?.kind == .givenUp)
        #expect(package.names(package.backups.path) == [])
    }

    @Test func withoutRoomNothingIsBegun() async throws {
        let package = try await TestPackage.with(1)
        let failure = #expect(throws: PackageFailure.self) { try package.backup(leavesFree: .max / 2).make(at: now) }
        #expect(failure?.kind == .full)
        #expect(failure?.message.contains("a backup takes up to 1 MiB") == true, "\(failure?.message ?? "")")
        #expect(package.names(package.backups.path) == [])
    }

    @Test func withoutAStoreThereIsNoBackup() throws {
        let package = try TestPackage()
        #expect(throws: PackageFailure.self) { try package.backup().make(at: now) }
        #expect(package.names(package.backups.path) == [])
    }

    @Test func whatAKilledProcessHasLeftGoesWithTheNextOne() async throws {
        let package = try await TestPackage.with(1), folder = package.backups.path
        for name in [".cistern-20240101T000000Z.unfinished/StoreContent", ".cistern-20240102T000000Z.removed", ".snapshots", "cistern-notes"] {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
        }
        #expect(try package.backups.entries() == [])
        _ = try package.backup().make(at: now)
        #expect(package.names(folder) == [".snapshots", "cistern-20250101T000000Z", "cistern-notes"])
    }

    @Test func twoOfOneSecondHaveTwoNames() async throws {
        let package = try await TestPackage.with(1)
        let names = try [package.backup().make(at: now).name.text, package.backup().make(at: now).name.text]
        #expect(names == ["cistern-20250101T000000Z", "cistern-20250101T000000Z-2"])
        #expect(try package.backups.entries().map(\.name.text) == names.reversed())
    }

    @Test func whileOneIsMadeInAFolderAnotherIsRefused() async throws {
        let package = try await TestPackage.with(1), lock = try package.backups.lock()
        let failure = #expect(throws: PackageFailure.self) { try package.backup().make(at: now) }
        #expect(failure?.kind == .inUse)
        withExtendedLifetime(lock) {}
    }

    @Test func whoMayReadTheStoreMayReadTheBackup() async throws {
        let package = try await TestPackage.with(1)
        #expect(chmod(package.store, 0o600) == 0)
        let entry = try package.backup().make(at: now)
        #expect(PackagePlaces.status(PackagePlaces(entry.path).store).map { $0.st_mode & 0o777 } == 0o600)
    }

    @Test func theOldestOfADocumentGoAndThoseOfOthersStay() async throws {
        let package = try await TestPackage.with(1)
        for day in 0..<4 { _ = try package.backup().make(at: now.addingTimeInterval(Double(day) * 86_400)) }
        let oldest = "\(package.backups.path)/cistern-20250101T000000Z"
        try BackupNote(version: "1", document: "/elsewhere").write(in: oldest)
        let newest = BackupName(madeAt: now.addingTimeInterval(3 * 86_400))
        #expect(try package.backups.prune(package.path, keep: 2, newest: newest).map(\.text) == ["cistern-20250102T000000Z"])
        #expect(package.names(package.backups.path) == ["cistern-20250101T000000Z", "cistern-20250103T000000Z", "cistern-20250104T000000Z"])
        #expect(package.backups.newest(of: package.path) == now.addingTimeInterval(3 * 86_400))
        #expect(package.backups.newest(of: "/elsewhere") == now)
        #expect(package.backups.newest(of: "/nowhere") == nil)
    }

    // The clock was ahead, and is right again.
    @Test func whatHasALaterNameThanTheNewestGoesBeforeIt() async throws {
        let package = try await TestPackage.with(1), day = 86_400.0
        for ahead in [30.0, 31, 0] { _ = try package.backup().make(at: now.addingTimeInterval(ahead * day)) }
        let removed = try package.backups.prune(package.path, keep: 2, newest: BackupName(madeAt: now))
        #expect(removed.map(\.text) == ["cistern-20250131T000000Z"])
        let next = try package.backup().make(at: now.addingTimeInterval(day))
        #expect(try package.backups.prune(package.path, keep: 2, newest: next.name).map(\.text) == ["cistern-20250201T000000Z"])
        #expect(package.names(package.backups.path) == ["cistern-20250101T000000Z", "cistern-20250102T000000Z"])
    }
}
