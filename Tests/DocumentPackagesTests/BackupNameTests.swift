import Foundation
import Testing

@testable import DocumentPackages

@Suite struct BackupNameTests {
    @Test func aNameSaysWhenItWasBegun() throws {
        let name = BackupName(madeAt: Date(timeIntervalSince1970: 1_800_000_000.75))
        #expect(name.text == "cistern-20270115T080000Z")
        #expect(BackupName(name.text) == name)
        let second = BackupName(madeAt: name.madeAt, number: 2)
        #expect(second.text == "cistern-20270115T080000Z-2")
        #expect(BackupName(second.text) == second)
        #expect(name < second)
    }

    @Test(arguments: [
        "cistern-", "cistern-20270115", "cistern-20270115T080000Z-", "cistern-20270115T080000Z-1", "cistern-20270115T080000Z-x",
        "cistern-20270115T080000Z-2-3", "cistern-2027-01-15T08:00:00Z", ".cistern-20270115T080000Z.unfinished", "backup-20270115T080000Z",
    ]) func whatIsOnlySimilarIsNone(_ text: String) {
        #expect(BackupName(text) == nil)
    }

    @Test func versionsAreComparedPartByPart() {
        #expect(BackupNote.isNewer("0.10.0", than: "0.9.3"))
        #expect(BackupNote.isNewer("1", than: "0.9.3"))
        #expect(!BackupNote.isNewer("0.9", than: "0.9.0"))
        #expect(!BackupNote.isNewer("0.9.3", than: "0.10.0"))
        #expect(!BackupNote.isNewer("0.9.3-beta", than: "0.9.3"))
    }
}
