import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// What of a save stands in its transaction.
@Suite struct HistoryRecordingTests {
    private let folder: HistoryFolder

    init() throws { folder = try HistoryFolder() }

    // H1, C12
    @Test func everySaveIsOneTransactionThatSaysWhoSavedAndWhen() throws {
        let stack = try HistoryStack(folder.file), before = Date()
        stack.context.performAndWait {
            stack.context.name = "importer"
            stack.context.transactionAuthor = "night shift"
        }
        try stack.saveCities("a", "b")
        stack.context.performAndWait {
            stack.context.name = nil
            stack.context.transactionAuthor = nil
        }
        try stack.saveCities("c")
        let found = try stack.transactions()
        #expect(found.numbers == [1, 2] && found.map(\.storeID) == Array(repeating: stack.store.identifier, count: 2))
        #expect(found.map(\.author) == ["night shift", nil] && found.map(\.contextName) == ["importer", nil])
        #expect(found.allSatisfy { $0.processID == ProcessInfo.processInfo.processName && !$0.bundleID.isEmpty })
        #expect(found.allSatisfy { $0.timestamp >= before && $0.timestamp <= Date() } && found[0].timestamp <= found[1].timestamp)
        #expect(found.map { $0.changes?.count } == [2, 1] && found[0].changes?.allSatisfy { $0.changeType == .insert } == true)
        #expect(found[0].changes?.first?.transaction == found[0] && found[0].changes?.first?.updatedProperties == nil)
        let ids = try stack.context.performAndWait { try stack.context.all("City", sort: "code").map(\.objectID) }
        #expect(found.flatMap { $0.changes ?? [] }.map(\.changedObjectID) == ids)
    }

    // H1
    @Test func anUpdateNamesExactlyWhatChanged() throws {
        let stack = try HistoryStack(folder.file)
        try stack.save { context in
            let city = context.make("City", ["code": "a", "population": 3])
            context.make("Person", ["name": "Ann", "home": city])
            context.make("Officer", ["name": "Bob"])
        }
        func updates(_ change: (NSManagedObject, [NSManagedObject]) throws -> Void) throws -> [String: [String]] {
            try stack.save { try change(try stack.city("a"), try $0.all("Person", sort: "name")) }
            let changes = try stack.lastChanges()
            #expect(changes.allSatisfy { $0.changeType == .update && $0.tombstone == nil })
            return Dictionary(uniqueKeysWithValues: changes.map { ($0.changedObjectID.entity.name ?? "", $0.updatedNames ?? []) })
        }
        #expect(try updates { city, _ in city.setValue(4, forKey: "population") } == ["City": ["population"]])
        let several = try updates { city, _ in
            city.setValue(true, forKey: "isCapital")
            city.setValue(nil, forKey: "code")
            city.setValue("a", forKey: "code")
            city.setValue("not kept", forKey: "note")
            city.setValue("Aarau", forKey: "name")
        }
        #expect(several == ["City": ["isCapital", "name"]])
        // A one-to-many is the to-one of the other side.
        #expect(try updates { _, persons in persons[0].setValue(nil, forKey: "home") } == ["Person": ["home"]])
        #expect(try updates { city, persons in persons[1].setValue(city, forKey: "home") } == ["Officer": ["home"]])
        // Of pairs both sides changed, with other changes of theirs.
        let pairs = try updates { city, persons in
            city.mutableSetValue(forKey: "visitors").add(persons[0])
            city.setValue(5, forKey: "population")
        }
        #expect(pairs == ["City": ["population", "visitors"], "Person": ["visited"]])
        let order = try updates { city, persons in
            for person in [persons[1], persons[0]] { city.mutableOrderedSetValue(forKey: "council").add(person) }
        }
        #expect(order == ["City": ["council"], "Person": ["seat"], "Officer": ["seat"]])
    }

    // H1
    @Test func aDeletionLeavesTheValuesThatAreToBePreserved() throws {
        let stack = try HistoryStack(folder.file), token = UUID()
        try stack.save { context in
            context.make(
                "City",
                [
                    "code": "a", "name": "Zürich", "population": 3, "founded": Date(timeIntervalSinceReferenceDate: 7.25),
                    "area": try #require(Decimal(string: "1234567890123456789.5")), "token": token,
                    "link": try #require(URL(string: "https://example.org/a")),
                ])
            context.make("City", ["code": "b"])
            context.make("Officer", ["name": "Bob"])
        }
        // Deleted without ever having been read: the values come from the file.
        stack.context.performAndWait { stack.context.reset() }
        stack.coordinator.rowCache.removeAll()
        let ids = try stack.context.performAndWait { try stack.context.all("City", sort: "code").map(\.objectID) }
        try stack.save { context in
            for id in ids { context.delete(context.object(with: id)) }
            for person in try context.all("Person") { context.delete(person) }
        }
        let changes = try stack.lastChanges()
        #expect(changes.count == 3 && changes.allSatisfy { $0.changeType == .delete && $0.updatedProperties == nil })
        let full = try #require(changes.first { $0.changedObjectID == ids[0] }?.tombstone)
        #expect(full.count == 5 && full["name"] as? String == "Zürich" && full["token"] as? UUID == token)
        #expect(full["founded"] as? Date == Date(timeIntervalSinceReferenceDate: 7.25))
        #expect((full["area"] as? NSDecimalNumber)?.stringValue == "1234567890123456789.5")
        #expect((full["link"] as? URL)?.absoluteString == "https://example.org/a")
        #expect(changes.first { $0.changedObjectID == ids[1] }?.tombstone?.isEmpty == true)
        let officer = try #require(changes.first { $0.changedObjectID.entity.name == "Officer" })
        #expect(officer.tombstone == nil)
    }

    // H1
    @Test func aSaveThatFailsLeavesNoTransaction() throws {
        let stack = try HistoryStack(folder.file), other = try HistoryStack(folder.file)
        try stack.saveCities("a", "b")
        // A key that is taken, past the check in memory.
        #expect(throws: NSError.self) { try other.saveCities("c", "a") }
        other.context.performAndWait { other.context.rollback() }
        // A row that was changed meanwhile.
        let city = try other.context.performAndWait { try other.city("a") }
        #expect(other.context.performAndWait { city.value(forKey: "name") as? String } == "city a")
        try stack.save { _ in try stack.city("a").setValue("new", forKey: "name") }
        #expect(errorCode { try other.save { _ in city.setValue(1, forKey: "population") } } == 133020)
        #expect(try other.transactions().numbers == [1, 2])
        other.context.performAndWait { other.context.reset() }
        other.coordinator.rowCache.removeAll()
        try other.saveCities("d")
        #expect(try stack.transactions().numbers == [1, 2, 3])
        #expect(try folder.shell.rows("SELECT count(*) FROM ACHANGE") == [["4"]])
    }

    // H1
    @Test func whatChangesNoStoredObjectIsNoTransaction() throws {
        let stack = try HistoryStack(folder.file)
        try stack.saveCities("a")
        stack.coordinator.setMetadata(["city": "Bern"], for: stack.store)
        try stack.save { _ in }
        try stack.save { _ in try stack.city("a").setValue("in memory", forKey: "note") }
        #expect(try stack.transactions().numbers == [1])
    }

    // H1
    @Test func rowsThatExchangeTheirKeysAreToldOnce() throws {
        let stack = try HistoryStack(folder.file)
        try stack.saveCities("a", "b")
        try stack.save { _ in
            let first = try stack.city("a"), second = try stack.city("b")
            first.setValue("b", forKey: "code")
            second.setValue("a", forKey: "code")
        }
        let found = try stack.transactions()
        #expect(found.numbers == [1, 2] && found[1].changes?.map(\.updatedNames) == [["code"], ["code"]])
    }

    // H1
    @Test func insertionsUpdatesAndDeletionsOfOneSaveAreOneTransaction() throws {
        let stack = try HistoryStack(folder.file)
        try stack.saveCities("a", "b")
        try stack.save { context in
            context.delete(try stack.city("a"))
            try stack.city("b").setValue(1, forKey: "population")
            context.make("Officer", ["name": "Bob"])
            // Nothing is left of this one.
            context.delete(context.make("City"))
        }
        let changes = try stack.lastChanges()
        #expect(changes.map(\.changeType) == [.insert, .update, .delete])
        #expect(changes.map { $0.changedObjectID.entity.name } == ["Officer", "City", "City"])
        #expect(Set(changes.map(\.changeID)).count == 3 && changes.map(\.changeID).min() == 3)
    }

    // C12
    @Test func theAuthorIsThatOfTheContextThatWrites() throws {
        let stack = try HistoryStack(folder.file), child = NSManagedObjectContext(.privateQueueConcurrencyType)
        child.parent = stack.context
        child.performAndWait { child.transactionAuthor = "worker" }
        stack.context.performAndWait { stack.context.transactionAuthor = "root" }
        try child.performAndWait { () throws in
            child.make("City", ["code": "a"])
            try child.save()
        }
        #expect(try stack.transactions().isEmpty)
        try stack.save { _ in }
        try child.performAndWait { () throws in
            child.make("City", ["code": "b"])
            try child.saveToStore()
        }
        #expect(try stack.transactions().map(\.author) == ["root", "root"])
    }

    // C12
    @Test func aDocumentsSaveHasTheAuthorOfItsRoot() async throws {
        let document = UIManagedDocument(
            fileURL: folder.url.appendingPathComponent("document"), model: HistoryFolder.model(), autosavePolicy: AutosavePolicy(),
            clock: ManualDocumentClock())
        document.persistentStoreOptions = HistoryStack.tracking
        try document.openStore(creating: true)
        let main = document.managedObjectContext, root = try #require(main.parent)
        root.performAndWait { root.transactionAuthor = "document" }
        await main.perform { _ = main.make("City", ["code": "a"]) }
        try await document.save()
        try await document.close()
        let stack = try HistoryStack(document.storeURL)
        #expect(try stack.transactions().map(\.author) == ["document"])
    }

    // H1
    @Test func whatAPolicySettlesIsRecordedAsItWasWritten() throws {
        let stack = try HistoryStack(folder.file), other = try HistoryStack(folder.file)
        try stack.saveCities("a")
        let city = try other.context.performAndWait { () throws in
            other.context.mergePolicy = .mergeByPropertyObjectTrump
            return try other.city("a")
        }
        #expect(other.context.performAndWait { city.value(forKey: "name") as? String } == "city a")
        try stack.save { _ in try stack.city("a").setValue("new", forKey: "name") }
        try other.save { _ in city.setValue(5, forKey: "population") }
        let found = try stack.transactions()
        #expect(found.numbers == [1, 2, 3])
        #expect(found.dropFirst().map { $0.changes?.map(\.updatedNames) } == [[["name"]], [["population"]]])
    }

    // H1
    @Test func aSaveThatFindsAHistoryAndFailsDoesNotSpoilTheNext() throws {
        let folder = try HistoryFolder(), ignoring: [AnyHashable: Any] = [NSIgnorePersistentStoreVersioningOption: true]
        let mine = try HistoryStack(folder.file, options: ignoring)
        try mine.saveCities("a", "b")
        // Somebody else begins a history that has no room for what this model keeps of deleted objects.
        let other = HistoryFolder.model { city, _ in
            for attribute in city.attributesByName.values { attribute.preservesValueInHistoryOnDeletion = false }
        }
        let theirs = try HistoryStack(folder.file, other, options: ignoring.merging(HistoryStack.tracking) { $1 })
        try theirs.saveCities("c")
        #expect(throws: NSError.self) { try mine.saveCities("a") }
        mine.context.performAndWait { mine.context.rollback() }
        try mine.save { $0.delete(try mine.city("b")) }
        let change = try #require(try mine.lastChanges().first)
        #expect(change.changeType == .delete && change.tombstone?["name"] as? String == "city b")
    }
}
