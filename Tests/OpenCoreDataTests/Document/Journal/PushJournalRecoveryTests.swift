import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// What can't be brought back does not keep the document from opening, is kept aside and told.
@Suite struct PushJournalRecoveryTests {
    // GB31
    @Test func theJournalOfAnotherStoreIsNotApplied() async throws {
        let fixture = try JournalFixture(), document = try fixture.opened(), other = try fixture.opened(.off)
        try document.push { $0.make("Department", ["code": "a", "name": "Ours"]) }
        try other.push { $0.make("Department", ["code": "a", "name": "Theirs"]) }
        try await other.close()
        try FileManager.default.copyItem(
            at: try fixture.crashed(document).appendingPathComponent("StoreContent/PushJournal"), to: other.pushJournalURL)
        let again = try fixture.reopened(other.fileURL)
        #expect(try again.look { try $0.values("Department", "name") } == ["Theirs"])
        #expect(again.pushRecovery?.problems.first?.contains("belongs to the store") == true && again.keptAside.count == 1)
        #expect(again.errors.map(\.code) == [134040] && !again.documentState.contains(.closed))
    }

    // GB31, N18
    @Test func aTakenKeyIsKeptAsideWithItsReasonAndTheRestApplied() throws {
        let fixture = try JournalFixture(), memory = InMemoryStore(entities: fixture.model.entities)
        let document = try fixture.opened(memory: memory)
        try document.push { context in
            let department = context.make("Department", ["code": "taken", "name": "Ours"])
            context.make("Person", ["name": "P", "department": department])
            context.make("Item", ["key": "fine"])
        }
        let copy = try fixture.crashed(document)
        try Self.write("Department", ["code": "taken", "name": "Theirs"], to: memory, fixture.model)
        let again = try fixture.reopened(copy, memory: memory)
        try again.look { context throws in
            #expect(try context.values("Department", "name") == ["Theirs"] && context.values("Item", "key") == ["fine"])
            #expect(try context.all("Person").map { $0.value(forKey: "department") == nil } == [true])
        }
        let text = try again.textAside()
        #expect(text.contains("<string>Ours</string>") && text.contains("unique key"))
        #expect(again.errors.map(\.code) == [134040] && again.pushRecovery?.isCommitted == true && again.pushRecovery?.keptAside.count == 1)
        #expect(again.journalFiles.isEmpty)
    }

    // GB31
    @Test func aMergePolicyOfTheRootSettlesATakenKeyAsInAnySave() throws {
        let fixture = try JournalFixture(), memory = InMemoryStore(entities: fixture.model.entities)
        let document = try fixture.opened(memory: memory)
        try document.push { $0.make("Item", ["key": "taken", "a": 5]) }
        let copy = try fixture.crashed(document)
        try Self.write("Item", ["key": "taken", "b": 6], to: memory, fixture.model)
        let again = JournalDocument(copy, fixture.model, memory: memory)
        again.root.mergePolicy = .mergeByPropertyObjectTrump
        try again.openStore(creating: false)
        // By property: what ours set is set, and what it never did stays.
        #expect(try again.look { try $0.all("Item").map { [$0.value(forKey: "a") as? Int, $0.value(forKey: "b") as? Int] } } == [[5, 6]])
        #expect(again.errors.isEmpty && again.keptAside.isEmpty && !again.hasUnsavedChanges)
    }

    // GB31: who has the key is stored, and changed by these pushes, too.
    @Test func aMergePolicySettlesATakenKeyWhoseOwnerWasPushedAsWell() async throws {
        let fixture = try JournalFixture(), memory = InMemoryStore(entities: fixture.model.entities)
        let document = try fixture.opened(memory: memory)
        let owner = try document.push { $0.make("Item", ["key": "taken", "a": 1]).objectID }
        try await document.save()
        try document.push { $0.make("Item", ["key": "taken", "b": 6]) }
        try document.push { $0.object(with: owner).setValue(7, forKey: "c") }
        let again = JournalDocument(try fixture.crashed(document), fixture.model, memory: memory)
        again.root.mergePolicy = .mergeByPropertyObjectTrump
        try again.openStore(creating: false)
        let found = try again.look { try $0.all("Item").map { item in ["a", "b", "c"].map { item.value(forKey: $0) as? Int } } }
        #expect(found == [[1, 6, 7]])
        #expect(again.pushRecovery?.problems == [] && again.keptAside.isEmpty && !again.hasUnsavedChanges)
    }

    // GB31
    @Test func anUpdateOfARowThatIsGoneIsKeptAside() async throws {
        let fixture = try JournalFixture(), memory = InMemoryStore(entities: fixture.model.entities)
        let document = try fixture.opened(memory: memory)
        let gone = try document.push { $0.make("Item", ["key": "gone"]).objectID }
        try await document.save()
        try document.push { context in
            context.object(with: gone).setValue(77, forKey: "a")
            context.make("Item", ["key": "new"])
        }
        let copy = try fixture.crashed(document)
        var deletion = ChangeSet()
        deletion.set(gone, PendingRow(kind: .deleted, row: nil))
        _ = try memory.save(deletion)
        let again = try fixture.reopened(copy, memory: memory)
        #expect(try again.look { try $0.values("Item", "key") } == ["new"])
        let text = try again.textAside()
        #expect(text.contains("77") && text.contains("no longer exists") && again.errors.count == 1)
    }

    // GB31, N8
    @Test func aPrimaryKeyThatSomebodyElseTookCostsTheNewObjectItsKeyNotItsValues() throws {
        let fixture = try JournalFixture(), memory = InMemoryStore(entities: fixture.model.entities)
        let document = try fixture.opened(memory: memory)
        let department = try document.push { context in
            let department = context.make("Department", ["name": "Ours"])
            context.make("Person", ["name": "P", "department": department])
            return department.objectID
        }
        let copy = try fixture.crashed(document)
        let row = RowSnapshot.defaults(department.layout)
        row.update(try #require(department.layout.slot(of: "name")), to: .string("Theirs"))
        var insertion = ChangeSet()
        insertion.set(department, PendingRow(kind: .inserted, row: row))
        _ = try memory.save(insertion)
        let again = try fixture.reopened(copy, memory: memory)
        try again.look { context throws in
            #expect(try context.values("Department", "name") == ["Ours", "Theirs"])
            #expect(try context.all("Person").map { $0.value(forKeyPath: "department.name") as? String } == ["Ours"])
        }
        #expect(again.errors.isEmpty)
    }

    // GB31: in its length, its checksums, and itself
    @Test(arguments: [2, 3, 5, 10, 20, 30])
    func aDamagedEntryIsKeptAsideAndWhatStoodBeforeItApplied(_ place: Int) throws {
        let fixture = try JournalFixture(), document = try fixture.opened()
        var end = 0
        for key in ["first", "second", "third"] {
            try document.push { $0.make("Item", ["key": key]) }
            if key == "first" { end = try #require(document.pushJournalSize) }
        }
        let copy = try fixture.crashed(document)
        var damaged = Data()
        let name = try fixture.rewriteEntries(of: copy) { bytes in
            bytes[end + place] ^= 0x40
            damaged = bytes
        }
        let again = try fixture.reopened(copy)
        #expect(try again.look { try $0.values("Item", "key") } == ["first"])
        #expect(again.keptAside == [name] && again.pushRecovery?.problems.first?.contains("damaged") == true && again.errors.count == 1)
        #expect(try Data(contentsOf: again.keptAsideURL.appendingPathComponent(name)) == damaged)
    }

    // GB31: in the magic, the length, its checksum, and the body
    @Test(arguments: [3, 10, 11, 17, 40])
    func aFileWithADamagedHeaderIsKeptAside(_ place: Int) throws {
        let fixture = try JournalFixture(), document = try fixture.opened()
        try document.push { $0.make("Item", ["key": "a"]) }
        let copy = try fixture.crashed(document), name = try fixture.rewriteEntries(of: copy) { $0[place] ^= 0x40 }
        let again = try fixture.reopened(copy)
        #expect(again.keptAside == [name] && again.pushRecovery?.problems.count == 1 && again.errors.count == 1 && again.journalFiles.isEmpty)
    }

    // GB31
    @Test func anEntryThatMakesNoSenseDoesNotTakeThoseBehindItAlong() async throws {
        let fixture = try JournalFixture(), document = try fixture.opened(), main = document.managedObjectContext
        try document.push { $0.make("Item", ["key": "stored", "a": 1]) }
        try await document.save()
        for key in ["first", "second"] { try document.push { $0.make("Item", ["key": key]) } }
        try document.push { try $0.all("Item", "key == 'stored'").first?.setValue(2, forKey: "a") }
        await main.perform {
            #expect(throws: Never.self) { try main.all("Item", "key == 'stored'").forEach { main.refresh($0, mergeChanges: false) } }
        }
        try document.push { $0.make("Item", ["key": "third"]) }
        let copy = try fixture.crashed(document)
        let name = try fixture.rewriteEntries(of: copy) { bytes in bytes = try fixture.sealed(bytes) { if $0 == 1 { $1[0] = 99 } } }
        let again = try fixture.reopened(copy)
        #expect(try again.look { try $0.values("Item", "key") } == ["first", "stored", "third"])
        // What was thrown away behind it stays away.
        #expect(try again.look { try $0.all("Item", "key == 'stored'").map { $0.value(forKey: "a") as? Int } } == [1])
        #expect(again.keptAside == [name] && again.errors.count == 1 && again.journalFiles.isEmpty)
        #expect(again.pushRecovery?.problems.count == 1 && again.pushRecovery?.problems.first?.contains("Entry 3 ") == true)
    }

    // GB31
    @Test(arguments: [UInt64(1), 2, 3, 4, 5, 6])
    func whateverStandsInTheFilesTheDocumentOpens(_ seed: UInt64) throws {
        let fixture = try JournalFixture(), document = try fixture.opened()
        for number in 0..<3 { try document.push { $0.make("Person", ["name": "\(number)", "department": $0.make("Department")]) } }
        let whole = try fixture.crashed(document)
        var random = SeededRandom(seed: Int(seed))
        func spoil(_ byte: inout UInt8) { byte ^= UInt8(1 + random.next(upTo: 255)) }
        for round in 0..<20 {
            let copy = fixture.folder.appendingPathComponent("broken-\(round)"), isSealed = round % 2 == 0
            try FileManager.default.copyItem(at: whole, to: copy)
            try fixture.rewriteEntries(of: copy) { bytes in
                // Under checksums that are right, so that what decodes has to make out what it is.
                if isSealed {
                    bytes = try fixture.sealed(bytes) { _, payload in spoil(&payload[random.next(upTo: payload.count)]) }
                } else {
                    spoil(&bytes[random.next(upTo: bytes.count)])
                }
            }
            let again = try fixture.reopened(copy)
            #expect(!again.documentState.contains(.closed))
            if !isSealed {
                let found = try again.look { try $0.values("Person", "name") }.joined(separator: " ")
                #expect(["", "0", "0 1"].contains(found), "seed \(seed), round \(round)")
                #expect(again.keptAside.count == 1 && again.errors.count == 1, "seed \(seed), round \(round)")
            }
            try? FileManager.default.removeItem(at: copy)
        }
    }

    // GB31
    @Test func anotherVersionOfTheModelIsNotReadByTheNewOne() throws {
        let fixture = try JournalFixture(StoreModels.animals()), memory = InMemoryStore(entities: fixture.model.entities)
        let document = try fixture.opened(memory: memory)
        try document.push { $0.make("Person", ["name": "P"]) }
        let copy = try fixture.crashed(document), model = StoreModels.animals()
        model.entitiesByName["Person"]?.versionHashModifier = "2"
        let again = JournalDocument(copy, model, memory: memory)
        try again.openStore(creating: false)
        #expect(memory.rowCount == 0 && again.keptAside.count == 1 && again.journalFiles.isEmpty)
        #expect(again.pushRecovery?.problems.first?.contains("another version of the model") == true && again.errors.count == 1)
    }

    // GB31, GB30
    @Test func aStoreThatIsFullNowGetsTheEntriesLater() async throws {
        let fixture = try JournalFixture(), memory = InMemoryStore(entities: fixture.model.entities)
        let document = try fixture.opened(memory: memory)
        try document.push { $0.make("Item", ["key": "a"]) }
        let copy = try fixture.crashed(document)
        memory.observe { if case .save = $0 { throw NSError.storeIsFull } }
        let again = try fixture.reopened(copy, .off, memory: memory)
        #expect(again.pushRecovery?.isCommitted == false && again.hasUnsavedChanges && again.journalFiles.count == 1)
        #expect(try again.look { try $0.values("Item", "key") } == ["a"])
        memory.observe(nil)
        try await again.save()
        #expect(memory.rowCount == 1 && again.journalFiles.isEmpty && !again.hasUnsavedChanges)
    }

    // GB31
    @Test func aDocumentOpenedForReadingLeavesTheJournalAlone() throws {
        let fixture = try JournalFixture(), document = try fixture.opened()
        try document.push { $0.make("Item", ["key": "a"]) }
        let copy = try fixture.crashed(document), reader = JournalDocument(copy, fixture.model, .written)
        reader.persistentStoreOptions = [NSReadOnlyPersistentStoreOption: true]
        try reader.openStore(creating: false)
        #expect(try reader.look { try $0.all("Item").isEmpty } && reader.journalFiles.count == 1)
        #expect(reader.pushRecovery?.isCommitted == false && reader.errors.count == 1)
        let writer = try fixture.reopened(copy)
        #expect(try writer.look { try $0.values("Item", "key") } == ["a"])
    }

    // GB31, L28: members are counted when the document's context saves. Refused when they are brought back, they would be lost.
    @Test(arguments: [Turn.none, .push, .replay]) func tooFewMembersAreBroughtBackAndTold(_ turn: Turn) async throws {
        let fixture = try JournalFixture(Keyed.model(isCounted: true))
        let document = try fixture.made { $0.root.mergePolicy = .overwrite }
        try document.push { worker in for code in ["p", "q"] { worker.make("Thing", ["code": code]) } }
        try await document.save()
        try document.push { worker in
            let things = try worker.all("Thing"), owner = worker.make("Thing", ["code": turn == .push ? "p" : "r"])
            // One of its two members turns out to be the owner, and is none under the policy.
            for thing in things { thing.setValue(owner, forKey: "parent") }
        }
        if turn == .replay {
            try await document.save()
            try document.push { $0.make("Thing", ["code": "p"]) }
        }
        let again = try fixture.reopened(fixture.crashed(document)) { $0.root.mergePolicy = .overwrite }
        let recovery = try #require(again.pushRecovery)
        #expect(recovery.isCommitted && recovery.pushes == 1 && recovery.problems.isEmpty)
        #expect(try again.look { try $0.all("Thing").count { $0.value(forKey: "parent") != nil } } == (turn == .none ? 2 : 1))
        guard turn != .none else {
            #expect(recovery.miscounted.isEmpty && again.errors.isEmpty)
            return
        }
        let sentence = try #require(recovery.miscounted.first)
        #expect(recovery.miscounted.count == 1 && sentence.contains("kids has 1 objects, needs at least 2"))
        #expect(again.errors.map(\.code) == [CocoaError.Code.managedObjectValidation.rawValue])
        #expect(again.errors.first?.localizedDescription.contains(sentence) == true)
        #expect(throws: NSError.self) { try again.push { worker in for thing in try worker.all("Thing") { thing.setValue(1, forKey: "a") } } }
        try again.push { worker in for thing in try worker.all("Thing") { thing.setValue(nil, forKey: "parent") } }
    }

    // GB31: what is committed is not taken back for that.
    @Test func membersThatCannotBeCountedAreBroughtBackAndToldSo() throws {
        let fixture = try JournalFixture(Keyed.model(isCounted: true)), memory = InMemoryStore(entities: fixture.model.entities)
        let document = try fixture.opened(memory: memory)
        try document.push { worker in
            let owner = worker.make("Thing", ["code": "p"])
            for code in ["q", "r"] { worker.make("Thing", ["code": code, "parent": owner]) }
        }
        let copy = try fixture.crashed(document)
        memory.observe { request in
            switch request {
            case .relatedIDs, .related: throw CocoaError(.fileReadUnknown)
            default: break
            }
        }
        let again = try fixture.reopened(copy, memory: memory), recovery = try #require(again.pushRecovery)
        memory.observe(nil)
        #expect(recovery.isCommitted && memory.rowCount == 3)
        #expect(recovery.miscounted.count == 1 && recovery.miscounted.first?.hasPrefix("Whether to-manys have the right number") == true)
    }

    /// When an object turns out to be one that there is.
    enum Turn {
        case none
        case push
        case replay
    }

    static func write(_ entity: String, _ values: [String: Any], to store: InMemoryStore, _ model: NSManagedObjectModel) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let (place, context) = (store.persistentStoreCoordinator, NSManagedObjectContext(.privateQueueConcurrencyType))
        coordinator.add(store)
        defer { store.persistentStoreCoordinator = place }
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            context.make(entity, values)
            try context.save()
        }
    }
}
