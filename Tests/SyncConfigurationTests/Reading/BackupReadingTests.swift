import Testing

@testable import SyncConfiguration

/// `[store.backup]`: where backups are.
@Suite struct BackupReadingTests {
    @Test(arguments: ["/data/db", "/data/db/", "/data/./db", "/data/x/../db"]) func theDocumentIsNoFolderForBackups(_ folder: String) {
        let found = errors("[document]\npath = \"/data/db\"\n[store.backup]\ndir = \"\(folder)\"\n" + itemSource)
        #expect(found.count == 1, "\(found)")
        #expect(found.first?.contains("is the document itself, in which no backup can be made") == true, "\(found)")
        #expect(found.first?.contains("dir = \"/data/db/backup\"") == true, "\(found)")
    }

    @Test func aFolderInTheDocumentIsOne() {
        #expect(errors("[document]\npath = \"/data/db\"\n[store.backup]\ndir = \"/data/db/backup\"\n" + itemSource) == [])
        #expect(errors("[document]\npath = \"$STATE_DIRECTORY\"\n" + itemSource) == [])
    }
}
