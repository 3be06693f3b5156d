import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Reading from a store of one's own, and everything above it.
@Suite struct IncrementalStoreTests {
    // S8
    @Test(arguments: ["string", "number", "data"]) func objectsAreInsertedFetchedUpdatedAndDeleted(references: String) throws {
        let stack = try IncrementalStack(options: [JSONFileStore.referencesOption: references])
        try stack.save(("Item", ["key": "a", "a": 1]), ("Item", ["key": "b", "a": 2]), ("Item", ["key": "c", "a": 3]))
        try stack.reopen()
        try stack.root.performAndWait { () throws in
            let items = try stack.root.all("Item", "a > 1", sort: "key")
            #expect(items.map { $0.value(forKey: "key") as? String } == ["b", "c"])
            items[0].setValue(20, forKey: "a")
            stack.root.delete(items[1])
            try stack.root.save()
            #expect(stack.store.calls().filter { $0.hasPrefix("save") } == ["save +0 ~1 -1 locked 0"])
        }
        try stack.reopen()
        try stack.root.performAndWait { () throws in
            let items = try stack.root.all("Item", sort: "key")
            #expect(items.map { $0.value(forKey: "a") as? Int } == [1, 20])
        }
    }

    // S8
    @Test func predicateOrderAndWindowReachTheStore() throws {
        let stack = try IncrementalStack()
        for number in 0..<6 { try stack.save(("Item", ["key": "\(number)", "a": number % 2])) }
        try stack.root.performAndWait { () throws in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.predicate = NSPredicate(format: "a == 0 AND key IN %@", ["0", "2", "4"])
            request.sortDescriptors = [NSSortDescriptor(key: "key", ascending: false)]
            request.fetchLimit = 1
            request.fetchOffset = 1
            let found = try stack.root.fetch(request)
            #expect(found.map { $0.value(forKey: "key") as? String } == ["2"])
            #expect(stack.store.calls().first { $0.hasPrefix("fetch") } == "fetch Item type 0 limit 1 offset 1")
        }
    }

    // S8
    @Test func idsCountsAndDictionariesCanBeFetched() throws {
        let stack = try IncrementalStack()
        try stack.save(("Item", ["key": "a", "a": 1]), ("Item", ["key": "b", "a": 5]))
        try stack.root.performAndWait { () throws in
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Item")
            ids.resultType = .managedObjectIDResultType
            ids.sortDescriptors = [NSSortDescriptor(key: "a", ascending: false)]
            let found = try stack.root.fetch(ids)
            #expect(found.map { $0.uriRepresentation().lastPathComponent } == ["p2", "p1"])
            #expect(try stack.root.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) == 2)
            let fetches = stack.store.calls().filter { $0.hasPrefix("fetch") }
            #expect(fetches == ["fetch Item type 1 limit 0 offset 0", "fetch Item type 4 limit 0 offset 0"])
            let sum = NSExpressionDescription()
            sum.name = "sum"
            sum.expression = NSExpression(format: "sum:(a)")
            sum.expressionResultType = .integer64AttributeType
            let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Item")
            dictionaries.resultType = .dictionaryResultType
            dictionaries.propertiesToFetch = [sum]
            #expect(try stack.root.fetch(dictionaries).first?["sum"] as? Int == 6)
        }
    }

    // S8
    @Test func withoutPropertyValuesAnObjectIsLoadedWhenItIsUsed() throws {
        let stack = try IncrementalStack()
        try stack.save(("Item", ["key": "a"]))
        try stack.reopen()
        try stack.root.performAndWait { () throws in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.includesPropertyValues = false
            let item = try #require(try stack.root.fetch(request).first)
            #expect(item.isFault && stack.store.calls() == ["fetch Item type 1 limit 0 offset 0"])
            #expect(item.value(forKey: "key") as? String == "a")
            #expect(stack.store.calls().filter { $0.hasPrefix("values") } == ["values 1"])
        }
    }

    // S8
    @Test(arguments: [false, true]) func relationshipsOfAllKindsAreWrittenAndRead(omittingToOnes omits: Bool) throws {
        let stack = try IncrementalStack(options: omits ? [JSONFileStore.omitsToOnesOption: true] : nil)
        try stack.root.performAndWait { () throws in
            let department = stack.root.make("Department", ["name": "D"]), badge = stack.root.make("Badge", ["number": 7])
            let skills = ["x", "y"].map { stack.root.make("Skill", ["name": $0]) }
            let ann = stack.root.make("Person", ["name": "Ann", "department": department, "badge": badge, "skills": Set(skills)])
            stack.root.make("Engineer", ["name": "Eve", "department": department, "manager": ann, "skills": Set(skills.suffix(1))])
            let playlist = stack.root.make("Playlist", ["title": "P"])
            playlist.setValue(["b", "a", "c"].map { stack.root.make("Track", ["title": $0]) }, forKey: "tracks")
            try stack.root.save()
        }
        try stack.reopen()
        func names(_ value: Any?) -> [String] {
            ((value as? Set<NSManagedObject>) ?? []).map { $0.value(forKey: "name") as? String ?? "?" }.sorted()
        }
        try stack.root.performAndWait { () throws in
            let department = try #require(try stack.root.all("Department").first)
            #expect(names(department.value(forKey: "employees")) == ["Ann", "Eve"])
            let eve = try #require(try stack.root.all("Person", "name == 'Eve'").first)
            #expect(eve.entity.name == "Engineer" && (eve.value(forKey: "manager") as? NSManagedObject)?.value(forKey: "name") as? String == "Ann")
            let ann = try #require(eve.value(forKey: "manager") as? NSManagedObject)
            #expect(names(ann.value(forKey: "skills")) == ["x", "y"] && names(ann.value(forKey: "reports")) == ["Eve"])
            #expect((ann.value(forKey: "badge") as? NSManagedObject)?.value(forKey: "number") as? Int == 7)
            let skill = try #require(try stack.root.all("Skill", "name == 'y'").first)
            #expect(names(skill.value(forKey: "people")) == ["Ann", "Eve"])
            let tracks = try #require(try stack.root.all("Playlist").first?.value(forKey: "tracks") as? NSOrderedSet)
            #expect(tracks.compactMap { ($0 as? NSManagedObject)?.value(forKey: "title") as? String } == ["b", "a", "c"])
            #expect(try stack.root.all("Person", "department.name == 'D' AND ANY skills.name == 'x'").count == 1)
            #expect(stack.store.calls().contains("manager of 5") == omits)
        }
    }

    // S8
    @Test func changedToManysAreAmongTheChangedValues() throws {
        let stack = try IncrementalStack()
        try stack.save(("Department", ["name": "D"]), ("Person", ["name": "Ann"]), ("Skill", ["name": "x"]))
        try stack.root.performAndWait { () throws in
            let ann = try #require(try stack.root.all("Person").first)
            ann.setValue(try stack.root.all("Department").first, forKey: "department")
            ann.setValue(Set(try stack.root.all("Skill")), forKey: "skills")
            _ = stack.store.calls()
            try stack.root.save()
            let calls = stack.store.calls()
            #expect(calls.filter { $0.hasPrefix("save") } == ["save +0 ~3 -0 locked 0"])
            let changed = calls.filter { $0.hasPrefix("changed") }.sorted()
            #expect(changed == ["changed department", "changed employees", "changed people", "changed skills"])
        }
    }

    // S8
    @Test func childContextsWorkOnIt() throws {
        let stack = try IncrementalStack()
        try stack.save(("Person", ["name": "Ann"]))
        let child = stack.child()
        let id = try child.performAndWait { () throws -> NSManagedObjectID in
            let ann = try #require(try child.all("Person").first)
            ann.setValue("Anna", forKey: "name")
            let person = child.make("Person", ["name": "Bob", "manager": ann])
            try child.save()
            #expect(stack.store.calls().allSatisfy { !$0.hasPrefix("save") && !$0.hasPrefix("obtain") })
            #expect(person.objectID.isTemporaryID && child.make("Item").objectID.isTemporaryID)
            return person.objectID
        }
        try stack.root.performAndWait { () throws in
            #expect(try stack.root.names("Person") == ["Anna", "Bob"])
            try stack.root.save()
            #expect(!id.isTemporaryID && id.uriRepresentation().lastPathComponent == "p2")
        }
        try stack.reopen()
        try stack.root.performAndWait { () throws in
            #expect(try stack.root.names("Person", "name", "manager.name == 'Anna'") == ["Bob"])
        }
    }

    // S8
    @Test func unsavedChangesLieOverWhatTheStoreFinds() throws {
        let stack = try IncrementalStack()
        try stack.save(("Item", ["key": "a"]), ("Item", ["key": "b"]), ("Item", ["key": "c"]))
        try stack.root.performAndWait { () throws in
            let items = try stack.root.all("Item", sort: "key")
            items[0].setValue("z", forKey: "key")
            stack.root.delete(items[1])
            stack.root.make("Item", ["key": "d"])
            #expect(try stack.root.names("Item", "key") == ["c", "d", "z"])
            #expect(try stack.root.names("Item", "key", "key == 'a'").isEmpty)
        }
    }

    // S8
    @Test func anObjectThatIsGoneIsAnotherThingThanOneThatCannotBeRead() throws {
        let stack = try IncrementalStack()
        try stack.save(("Item", ["key": "a"]))
        try stack.reopen()
        try stack.root.performAndWait { () throws in
            let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Item"])
            let gone = stack.store.newObjectID(for: entity, referenceObject: "99")
            #expect(throws: (any Error).self) { try stack.root.existingObject(with: gone) }
            do { _ = try stack.root.existingObject(with: gone) } catch { #expect((error as NSError).code == 133000) }
            let there = stack.store.newObjectID(for: entity, referenceObject: "1")
            stack.store.failReads(POSIXError(.EIO))
            #expect(throws: POSIXError(.EIO)) { try stack.root.existingObject(with: there) }
            #expect(try stack.root.existingObject(with: there).value(forKey: "key") as? String == "a")
        }
    }

    // S8
    @Test func aValueOfAnotherTypeIsAnError() throws {
        let stack = try IncrementalStack()
        try stack.save(("Item", ["key": "a"]))
        stack.store.change("Item", "1", "a", to: "text")
        let error = stack.root.performAndWait { #expect(throws: NSError.self) { try stack.root.all("Item") } }
        #expect(error?.code == 134060 && error?.localizedDescription.contains("text as the value of a") == true)
    }

    // S8
    @Test func anAnswerThatIsNoneIsAnError() throws {
        // Has no state of its own.
        final class Odd: NSIncrementalStore, @unchecked Sendable {
            override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any { "nothing" }
        }
        NSPersistentStoreCoordinator.registerStoreClass(Odd.self, forStoreType: "Odd")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
        try coordinator.addPersistentStore(ofType: "Odd", configurationName: nil, at: nil)
        let context = IncrementalStack.context(coordinator)
        let error = context.performAndWait { #expect(throws: NSError.self) { try context.all("Item") } }
        #expect(error?.code == 134060 && error?.localizedDescription.contains("String") == true)
    }

    // S8, G7
    @Test func aStoreThatGivesReferencesIsNotMigrated() throws {
        let stack = try IncrementalStack()
        try stack.save(("Item", ["key": "a"]))
        let place = FileManager.default.temporaryDirectory.appendingPathComponent("moved-\(UUID().uuidString).sqlite")
        let coordinator = try #require(stack.store.persistentStoreCoordinator)
        let error = #expect(throws: NSError.self) {
            try coordinator.migratePersistentStore(stack.store, to: place, withType: NSSQLiteStoreType)
        }
        #expect(error?.code == 134070 && !FileManager.default.fileExists(atPath: place.path))
        #expect(coordinator.persistentStores == [stack.store])
    }

    /// Notes which contexts it is handed.
    // As its property says.
    private final class Watching: NSIncrementalStore, @unchecked Sendable {
        // Used on the test's thread only.
        nonisolated(unsafe) private(set) var contexts: [NSManagedObjectContext?] = []
        let made: String

        required init(
            persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,
            options: [AnyHashable: Any]? = nil
        ) {
            made = options?["made"] as? String ?? ""
            super.init(persistentStoreCoordinator: root, configurationName: name, at: url, options: options)
        }

        override func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
            contexts.append(context)
            return [NSManagedObjectID]()
        }
    }

    private func watching() throws -> (Watching, NSManagedObjectContext) {
        NSPersistentStoreCoordinator.registerStoreClass(Watching.self, forStoreType: "Watching")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
        let store = try coordinator.addPersistentStore(ofType: "Watching", configurationName: nil, at: nil, options: ["made": "by hand"])
        return (try #require(store as? Watching), IncrementalStack.context(coordinator))
    }

    // S8
    @Test func aSubclassMayHaveAnInitialiserOfItsOwn() throws { #expect(try watching().0.made == "by hand") }

    // S8
    @Test func theContextOfACallIsTheStoresOwn() throws {
        let (store, context) = try watching()
        try context.performAndWait { () throws in #expect(try context.all("Item").isEmpty) }
        let handed = try #require(store.contexts.first ?? nil)
        #expect(handed !== context && handed.persistentStoreCoordinator === context.persistentStoreCoordinator)
    }

    // S8
    @Test func theStoreIsToldWhichObjectsContextsHave() throws {
        let stack = try IncrementalStack()
        try stack.save(("Item", ["key": "a"]), ("Item", ["key": "b"]))
        let child = stack.child()
        func told(_ context: NSManagedObjectContext) throws -> [String] {
            // What is noted is told before the store is asked anything else.
            _ = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Badge"))
            return stack.store.told().sorted()
        }
        try stack.root.performAndWait { () throws in
            #expect(try told(stack.root) == ["register 1", "register 2", "unregister 1", "unregister 2"])
            var items = try stack.root.all("Item")
            #expect(try told(stack.root) == ["register 1", "register 2"])
            let id = items[0].objectID
            items[0].setValue(5, forKey: "a")
            items = []
            #expect(try told(stack.root) == ["unregister 2"])
            try child.performAndWait { () throws in
                let item = child.object(with: id)
                #expect(try told(child) == ["register 1"])
                withExtendedLifetime(item) { child.reset() }
                #expect(try told(child) == ["unregister 1"])
            }
            try stack.root.save()
            #expect(try told(stack.root) == ["unregister 1"])
            let new = stack.root.make("Item", ["key": "c"])
            #expect(try told(stack.root).isEmpty)
            try stack.root.save()
            #expect(try told(stack.root) == ["register 3"])
            stack.root.delete(new)
            try stack.root.save()
            #expect(try told(stack.root) == ["unregister 3"])
        }
    }

    // S8
    @Test func aRequestThatTheStoreDoesNotKnowIsRefused() throws {
        let stack = try IncrementalStack()
        let error = #expect(throws: NSError.self) { try stack.store.execute(NSPersistentStoreRequest(), with: stack.root) }
        #expect(error?.code == 134091)
    }

    // S8
    @Test func contextsOnManyThreadsAreServedOneAtATime() async throws {
        let stack = try IncrementalStack()
        try stack.save(("Item", ["key": "start"]))
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                let context = stack.independent()
                group.addTask {
                    for number in 0..<10 {
                        await context.perform {
                            #expect(throws: Never.self) {
                                context.make("Item", ["key": "\(writer)-\(number)"])
                                try context.save()
                                _ = try context.all("Item", "key BEGINSWITH '\(writer)'")
                            }
                        }
                    }
                }
            }
        }
        #expect(try stack.root.performAndWait { try stack.root.all("Item").count } == 41)
    }
}
