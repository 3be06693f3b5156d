import Foundation
import Glibc
import OpenCoreData
import Testing

@testable import DocumentPackages

@Suite struct DocumentRestoreTests {
    private let now = TestPackage.start

    /// A document that has gone on since its backup was made.
    private func made() async throws -> (package: TestPackage, backup: String) {
        let package = try await TestPackage.with(1, 2), entry = try package.backup().make(at: now), document = try package.open()
        try package.insert([3], into: document)
        try await document.close()
        return (package, entry.path)
    }

    private func lock(_ package: TestPackage) -> String? { try? String(contentsOfFile: "\(package.path)/.lock", encoding: .utf8) }

    @Test func theBackupIsInThePlaceOfWhatWasThereWhichIsKept() async throws {
        let (package, backup) = try await made()
        let before = try Data(contentsOf: URL(fileURLWithPath: "\(backup)/StoreContent/persistentStore"))
        let result = try package.restore(backup)
        #expect(result.kept == "\(package.path)/StoreContent.before-restore-20250101T000000Z")
        #expect(result.rows == 2 && result.changed == 0)
        #expect(try await package.numbers() == [1, 2])
        #expect(lock(package) == "clean\n")
        // It can be had back, and the backup restored again: it was only read.
        #expect(try Data(contentsOf: URL(fileURLWithPath: "\(backup)/StoreContent/persistentStore")) == before)
        let kept = try #require(result.kept), aside = "\(package.folder.path)/aside"
        try FileManager.default.createDirectory(atPath: aside, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: kept, toPath: "\(aside)/StoreContent")
        #expect(try await package.numbers(aside) == [1, 2, 3])
        #expect(try package.restore(backup).kept == "\(kept)-2")
        #expect(!package.names(package.path).contains(".restoring"))
    }

    @Test func aDocumentThatIsInUseIsNotTouched() async throws {
        let (package, backup) = try await made(), held = try DocumentLock(package: package.path), names = package.names(package.path)
        let failure = #expect(throws: PackageFailure.self) { try package.restore(backup) }
        #expect(failure?.kind == .inUse)
        #expect(package.names(package.path) == names)
        withExtendedLifetime(held) {}
    }

    @Test func aDamagedBackupIsRefusedAndNothingIsChanged() async throws {
        let (package, backup) = try await made(), names = package.names(package.path)
        try package.spoil("\(backup)/StoreContent/persistentStore")
        let failure = #expect(throws: PackageFailure.self) { try package.restore(backup) }
        #expect(failure?.kind == .damaged, "\(failure?.message ?? "")")
        #expect(package.names(package.path).filter { $0 != ".lock" } == names.filter { $0 != ".lock" })
        #expect(lock(package) == "clean\n")
        #expect(try await package.numbers() == [1, 2, 3])
    }

    // The next start has to look at a store whose last holder was killed, whoever has tried to restore something meanwhile.
    @Test func whatWasRefusedLeavesAnUncleanEndUnclean() async throws {
        let (package, _) = try await made()
        do { _ = try DocumentLock(package: package.path) }
        #expect(throws: PackageFailure.self) { try package.restore("\(package.folder.path)/nowhere") }
        #expect(try !DocumentLock(package: package.path).wasClean)
    }

    @Test func aBackupOfANewerVersionIsRefused() async throws {
        let package = try await TestPackage.with(1), entry = try package.backup(version: "1.3.0").make(at: now)
        let failure = #expect(throws: PackageFailure.self) { try package.restore(entry.path, version: "1.2.3") }
        #expect(failure?.kind == .unusable)
        #expect(failure?.message.contains("was made by cistern 1.3.0, which is newer than this one, 1.2.3") == true)
    }

    @Test func aFolderWithoutAStoreIsNoBackup() async throws {
        let (package, _) = try await made()
        let failure = #expect(throws: PackageFailure.self) { try package.restore(package.folder.path) }
        #expect(failure?.kind == .unusable)
    }

    @Test func whatSomebodyHasOpenIsNoBackup() async throws {
        let (package, _) = try await made(), other = try await TestPackage.with(7), held = try DocumentLock(package: other.path)
        let failure = #expect(throws: PackageFailure.self) { try package.restore(other.path) }
        #expect(failure?.kind == .inUse)
        withExtendedLifetime(held) {}
    }

    @Test func aCopyMadeByHandIsTakenWithItsLog() async throws {
        let (package, _) = try await made(), other = try await TestPackage.with(7), document = try other.open()
        try other.insert([8], into: document)
        // Copied while nothing is written: what was committed last is in the log.
        let copy = "\(package.folder.path)/by-hand"
        try FileManager.default.copyItem(atPath: other.path, toPath: copy)
        #expect(PackagePlaces.size(of: "\(copy)/StoreContent/persistentStore-wal") ?? 0 > 0)
        try await document.close()
        #expect(try package.restore(copy).rows == 2)
        #expect(try await package.numbers() == [7, 8])
    }

    @Test func whatIsNotedOfOpenRunsGoesWithTheStoreThatItIsOf() async throws {
        let (package, backup) = try await made()
        try "00 1 2 api/people\n.\n".write(toFile: "\(package.path)/.runs", atomically: true, encoding: .utf8)
        let kept = try #require(try package.restore(backup).kept)
        #expect(!package.names(package.path).contains(".runs"))
        #expect(package.names(kept).contains(".runs"))
    }

    @Test func whereThereIsNoStoreTheBackupIsPut() async throws {
        let (package, backup) = try await made()
        try FileManager.default.removeItem(atPath: "\(package.path)/StoreContent")
        #expect(try package.restore(backup).kept == nil)
        #expect(try await package.numbers() == [1, 2])
    }

    // The bodies that a replay maps are of runs that the other store does not have.
    @Test func theArchiveGoesWithTheStoreThatItIsOf() async throws {
        let (package, backup) = try await made(), place = "Archive/api/people/3-1-abc.body"
        try FileManager.default.createDirectory(atPath: "\(package.path)/Archive/api/people", withIntermediateDirectories: true)
        try Data([1]).write(to: URL(fileURLWithPath: "\(package.path)/\(place)"))
        let result = try package.restore(backup), kept = try #require(result.kept)
        #expect(result.doubt == nil)
        #expect(!package.names(package.path).contains("Archive"))
        #expect(FileManager.default.contents(atPath: "\(kept)/\(place)") == Data([1]))
    }

    /// What a restore leaves that was killed when both stores had changed places.
    private func cutOff(_ package: TestPackage, _ backup: String) throws {
        let lock = try DocumentLock(package: package.path), place = try RestorePlace(lock, at: package.path), folder = try place.make()
        let content = try HeldFolder("StoreContent", in: folder, isNew: true)
        try content.copy("\(backup)/StoreContent/persistentStore", as: "persistentStore")
        try folder.write("\(content.status.st_ino)\n", as: "copy")
        try folder.exchange("StoreContent", with: place.package)
    }

    @Test func whatAKilledRestoreHasTakenOutOfItsPlaceIsSetAside() async throws {
        let (package, backup) = try await made()
        try cutOff(package, backup)
        try "00 1 2 api/people\n.\n".write(toFile: "\(package.path)/.runs", atomically: true, encoding: .utf8)
        #expect(try await package.numbers() == [1, 2])
        do {
            let lock = try DocumentLock(package: package.path)
            try RestorePlace(lock, at: package.path).settle(at: now)
        }
        let kept = "\(package.path)/StoreContent.before-restore-20250101T000000Z", aside = "\(package.folder.path)/aside"
        #expect(package.names(kept).contains(".runs") && !package.names(package.path).contains(".restoring"))
        try FileManager.default.createDirectory(atPath: aside, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: kept, toPath: "\(aside)/StoreContent")
        #expect(try await package.numbers(aside) == [1, 2, 3])
        #expect(try await package.numbers() == [1, 2])
    }

    @Test func aRestoreAfterOneThatWasKilledLosesNothing() async throws {
        let (package, backup) = try await made()
        try cutOff(package, backup)
        let kept = try #require(try package.restore(backup).kept)
        #expect(kept.hasSuffix("-2"))
        let aside = "\(package.folder.path)/aside"
        try FileManager.default.createDirectory(atPath: aside, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: String(kept.dropLast(2)), toPath: "\(aside)/StoreContent")
        #expect(try await package.numbers(aside) == [1, 2, 3])
    }

    // Where a file system cannot exchange two folders, the power may fail between two renames.
    @Test func aWholeCopyTakesThePlaceOfAStoreThatIsSetAsideAlready() async throws {
        let (package, backup) = try await made()
        try cutOff(package, backup)
        let lock = try DocumentLock(package: package.path), place = try RestorePlace(lock, at: package.path)
        let folder = try HeldFolder(".restoring", in: place.package)
        try folder.exchange("StoreContent", with: place.package)
        #expect(place.package.move("StoreContent", to: place.package, as: "StoreContent.before-restore-1"))
        try place.settle(at: now)
        #expect(try await package.numbers() == [1, 2])
        #expect(package.names(package.path).contains("StoreContent.before-restore-1") && !package.names(package.path).contains(".restoring"))
    }

    // Only root could be led astray by one.
    @Test func nothingIsDoneThroughALink() throws {
        let package = try TestPackage(), precious = "\(package.folder.path)/precious"
        for path in [package.path, precious] { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
        try Data([1]).write(to: URL(fileURLWithPath: "\(precious)/file"))
        #expect(symlink(precious, "\(package.path)/.restoring") == 0 && chmod(precious, 0o700) == 0)
        let folder = try HeldFolder(package.path)
        #expect(throws: PackageFailure.self) { try HeldFolder(".restoring", in: folder) }
        #expect(throws: PackageFailure.self) { try HeldFolder(".restoring", in: folder, isNew: true) }
        try folder.remove(".restoring")
        #expect(package.names(precious) == ["file"])
        // Also not one that takes the name of a folder that is held.
        let held = try HeldFolder("held", in: folder, isNew: true)
        #expect(folder.move("held", to: folder, as: "elsewhere") && symlink(precious, "\(package.path)/held") == 0)
        try held.write("x", as: "file-2")
        try held.admit(as: PackagePlaces(package.path), owner: nil)
        #expect(package.names(precious) == ["file"] && package.names("\(package.path)/elsewhere") == ["file-2"])
        #expect(PackagePlaces.status(precious).map { $0.st_mode & 0o777 } == 0o700)
    }

    // A process that was killed while it copied has changed nothing, and is in nobody's way.
    @Test func whatAKilledRestoreHasLeftIsDoneAnew() async throws {
        let (package, backup) = try await made()
        try FileManager.default.createDirectory(atPath: "\(package.path)/.restoring/StoreContent", withIntermediateDirectories: true)
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: "\(package.path)/.restoring/StoreContent/persistentStore"))
        #expect(try await package.numbers() == [1, 2, 3])
        _ = try package.restore(backup)
        #expect(try await package.numbers() == [1, 2])
        #expect(!package.names(package.path).contains(".restoring"))
    }
}
