import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// History in the file.
@Suite struct SQLiteHistoryTests {
    private let folder: HistoryFolder

    init() throws { folder = try HistoryFolder() }

    private func columns(_ table: String) throws -> [String] { try folder.shell.column("SELECT name FROM pragma_table_info('\(table)') ORDER BY 1") }

    // X6
    @Test func historyStandsInCoreDatasTables() throws {
        let stack = try HistoryStack(folder.file)
        stack.context.performAndWait { stack.context.transactionAuthor = "me" }
        try stack.saveCities("a")
        try stack.save { _ in
            let city = try stack.city("a")
            city.setValue(1, forKey: "population")
            city.setValue(true, forKey: "isCapital")
        }
        try stack.save { $0.delete(try stack.city("a")) }
        let shell = folder.shell
        #expect(
            try columns("ACHANGE") == [
                "ZCHANGETYPE", "ZCOLUMNS", "ZENTITY", "ZENTITYPK", "ZNAMESTS", "ZTOMBSTONE0", "ZTOMBSTONE1", "ZTOMBSTONE2", "ZTOMBSTONE3",
                "ZTOMBSTONE4", "ZTRANSACTIONID", "Z_ENT", "Z_OPT", "Z_PK",
            ])
        #expect(
            try columns("ATRANSACTION") == [
                "ZAUTHOR", "ZAUTHORTS", "ZBUNDLEID", "ZBUNDLEIDTS", "ZCONTEXTNAME", "ZCONTEXTNAMETS", "ZPROCESSID", "ZPROCESSIDTS", "ZQUERYGEN",
                "ZTIMESTAMP", "Z_ENT", "Z_OPT", "Z_PK",
            ])
        #expect(try columns("ATRANSACTIONSTRING") == ["ZNAME", "Z_ENT", "Z_OPT", "Z_PK"])
        #expect(
            try shell.rows("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000 AND Z_ENT < 16003 ORDER BY 1") == [
                ["16001", "CHANGE", "0", "3"], ["16002", "TRANSACTION", "0", "3"],
            ])
        #expect(try shell.column("SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT = 16003") == ["TRANSACTIONSTRING"])
        // City is the first entity; by name come area, citizens, code, council, founded, isCapital, link, name, population, token, visitors.
        #expect(
            try shell.rows("SELECT Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, hex(ZCOLUMNS) FROM ACHANGE") == [
                ["1", "16001", "0", "1", "1", "1", ""], ["2", "16001", "1", "1", "1", "2", "0480"], ["3", "16001", "2", "1", "1", "3", ""],
            ])
        #expect(try shell.column("SELECT ZTOMBSTONE3 FROM ACHANGE WHERE ZCHANGETYPE = 2") == ["city a"])
        #expect(
            try shell.column("SELECT DISTINCT ZNAME FROM ATRANSACTION AS t JOIN ATRANSACTIONSTRING AS s ON s.Z_PK = t.ZAUTHORTS") == ["me"])
        #expect(try shell.column("SELECT count(*) FROM ATRANSACTION WHERE abs(ZTIMESTAMP + 978307200 - unixepoch()) < 600") == ["3"])
        #expect(
            try shell.column("SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name LIKE 'A%' ORDER BY 1") == [
                "ACHANGE_ZTRANSACTIONID_INDEX", "Z_TRANSACTIONSTRING_UNIQUE_NAME",
            ])
        #expect(try shell.column("PRAGMA integrity_check") == ["ok"])
    }

    // H1, S6
    @Test func anExistingFileGetsAHistoryWhenItIsOpenedWithTheOption() throws {
        do {
            let plain = try HistoryStack(folder.file, options: nil)
            try plain.saveCities("a")
            #expect(try folder.shell.rows("SELECT name FROM sqlite_master WHERE name LIKE 'A%'").isEmpty)
        }
        let stack = try HistoryStack(folder.file)
        #expect(try stack.transactions().isEmpty)
        try stack.saveCities("b")
        #expect(try stack.transactions().numbers == [1])
        #expect(try stack.context.performAndWait { try stack.context.names("City", "code") } == ["a", "b"])
    }

    // H1, S6
    @Test func aFileThatHasAHistoryGoesOnHavingItWithoutTheOption() throws {
        do {
            let stack = try HistoryStack(folder.file)
            try stack.saveCities("a")
        }
        for options: [AnyHashable: Any]? in [nil, [NSPersistentHistoryTrackingKey: false]] {
            let stack = try HistoryStack(folder.file, options: options)
            try stack.saveCities("b\(options?.count ?? 0)")
            #expect(stack.token != nil)
        }
        let stack = try HistoryStack(folder.file)
        #expect(try stack.transactions().numbers == [1, 2, 3])
    }

    // H1
    @Test func aHistoryThatOthersBeginHoldsForStoresThatAreOpenAlready() throws {
        let early = try HistoryStack(folder.file, options: nil)
        try early.saveCities("a")
        let late = try HistoryStack(folder.file)
        try early.saveCities("b")
        #expect(try late.transactions().numbers == [1] && early.transactions().numbers == [1])
    }

    // S6
    @Test func theOptionIsABooleanOrADictionary() throws {
        func stack(_ value: Any) throws -> HistoryStack {
            try HistoryStack(folder.file("\(UUID())"), options: [NSPersistentHistoryTrackingKey: value])
        }
        for value: Any in [true, NSNumber(value: true), ["anything": 1], NSDictionary()] { #expect(try stack(value).token != nil) }
        for value: Any in [false, NSNumber(value: false)] { #expect(try stack(value).token == nil) }
        #expect { try stack("yes") } throws: {
            ($0 as NSError).code == 134080 && $0.localizedDescription.contains(NSPersistentHistoryTrackingKey)
        }
        let container = NSPersistentContainer(name: "history", managedObjectModel: HistoryFolder.model())
        let description = NSPersistentStoreDescription(url: folder.file("described"))
        description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores { #expect($1 == nil) }
        #expect(container.persistentStoreCoordinator.currentPersistentHistoryToken(fromStores: nil) != nil)
    }

    // H1, S6
    @Test func aStoreThatIsOnlyReadCanBeAskedAndNotDeletedFrom() throws {
        do {
            let stack = try HistoryStack(folder.file)
            try stack.saveCities("a", "b")
            let plain = try HistoryStack(folder.file("plain"), options: nil)
            try plain.saveCities("a")
        }
        let options: [AnyHashable: Any] = [NSReadOnlyPersistentStoreOption: true, NSPersistentHistoryTrackingKey: true]
        let reader = try HistoryStack(folder.file, options: options)
        #expect(try reader.transactions().map { $0.changes?.count } == [2] && reader.token != nil)
        #expect(errorCode { try reader.execute(.deleteHistory(before: .distantFuture)) } == 134030)
        // Nothing can be begun there.
        let plain = try HistoryStack(folder.file("plain"), options: options)
        #expect(errorCode { _ = try plain.transactions() } == 134091)
    }

    // H1
    @Test func whatIsKeptIsReadByTheNamesItWasWrittenWith() throws {
        do {
            let stack = try HistoryStack(folder.file)
            try stack.saveCities("a")
            try stack.save { _ in try stack.city("a").setValue(1, forKey: "population") }
            try stack.save { $0.delete(try stack.city("a")) }
        }
        // More is preserved now, and other things; a property is there that sorts before all others and is not stored.
        let model = HistoryFolder.model { city, person in
            for (name, attribute) in city.attributesByName { attribute.preservesValueInHistoryOnDeletion = ["code", "name", "token"].contains(name) }
            for name in ["a1", "a2", "a3", "a4"] { city.properties += [Company.transient(name, .string)] }
            person.attributesByName["name"]?.preservesValueInHistoryOnDeletion = true
        }
        let options: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true, NSIgnorePersistentStoreVersioningOption: true]
        let stack = try HistoryStack(folder.file, model, options: options)
        let old = try stack.transactions()
        #expect(old[1].changes?.first?.updatedNames == ["population"])
        #expect(old[2].changes?.first?.tombstone?.count == 1 && old[2].changes?.first?.tombstone?["name"] as? String == "city a")
        try stack.saveCities("b")
        try stack.save { $0.delete(try stack.city("b")) }
        let new = try #require(try stack.lastChanges().first?.tombstone)
        #expect(new.count == 2 && new["code"] as? String == "b" && new["name"] as? String == "city b")
    }

    // X6, X9
    @Test func aHistoryThatCoreDataWroteIsRead() throws {
        do {
            let stack = try HistoryStack(folder.file)
            try stack.saveCities("a", "b")
            try stack.save { _ in try stack.city("a").setValue(1, forKey: "population") }
            try stack.save { $0.delete(try stack.city("b")) }
        }
        // Core Data does not say what is counted: its masks and tombstones go by the model. Older ones have the texts in the transactions.
        _ = try folder.shell.rows(
            """
            UPDATE ATRANSACTION SET ZAUTHOR = 'old', ZPROCESSID = 'Photos', ZAUTHORTS = NULL, ZPROCESSIDTS = NULL;
            ALTER TABLE ACHANGE DROP COLUMN ZNAMESTS;
            """)
        let reader = try HistoryStack(folder.file, options: [NSReadOnlyPersistentStoreOption: true])
        let found = try reader.transactions()
        #expect(found.map(\.author) == ["old", "old", "old"] && found.map(\.processID) == ["Photos", "Photos", "Photos"])
        #expect(found[1].changes?.first?.updatedNames == ["population"])
        #expect(found[2].changes?.first?.tombstone?["name"] as? String == "city b")
        // And goes on when it is written to.
        let writer = try HistoryStack(folder.file)
        try writer.save { _ in try writer.city("a").setValue(2, forKey: "population") }
        #expect(try writer.transactions().numbers == [1, 2, 3, 4] && writer.lastChanges().map(\.updatedNames) == [["population"]])
        // A mask that counts more than there is says nothing, rather than a part.
        _ = try folder.shell.rows("UPDATE ACHANGE SET ZCOLUMNS = x'048001', ZNAMESTS = NULL WHERE ZTRANSACTIONID = 2")
        let change = try #require(try writer.transactions()[1].changes?.first)
        #expect(change.changeType == .update && change.updatedProperties == nil)
    }

    // X6
    @Test func anEntityMayHaveTheNameOfATableOfHistory() throws {
        let model = NSManagedObjectModel(entities: [
            StoreModels.entity("AChange", [StoreModels.attribute("name", .string)]), StoreModels.entity("TRANSACTION", []),
        ])
        do {
            let plain = try HistoryStack(folder.file, model, options: nil)
            try plain.save { $0.make("AChange", ["name": "one"]) }
        }
        let stack = try HistoryStack(folder.file, model)
        try stack.save { $0.make("TRANSACTION") }
        #expect(try stack.transactions().first?.changes?.map { $0.changedObjectID.entity.name } == ["TRANSACTION"])
        #expect(try folder.shell.column("SELECT name FROM AChange_") == ["one"])
        let again = try HistoryStack(folder.file, model)
        try again.save { $0.make("AChange") }
        #expect(try again.transactions().numbers == [1, 2])
    }

    // H1
    @Test func saveAndHistoryOfManyRowsAgree() throws {
        let stack = try HistoryStack(folder.file), count = 25_000
        try stack.save { context in for number in 0..<count { context.make("Person", ["name": "\(number)"]) } }
        try stack.save { context in for person in try context.all("Person") { person.setValue("x", forKey: "name") } }
        #expect(try stack.transactions().map { $0.changes?.count } == [count, count])
        #expect(try stack.lastChanges().allSatisfy { $0.updatedNames == ["name"] })
    }
}
