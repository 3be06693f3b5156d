import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// What rows in blocks list in to-manys.
@Suite struct RowImportListTests {
    private let stack = TestStack(BlockWorld.model())
    private let worker: NSManagedObjectContext
    private let layout: EntityLayout
    private let fans: Int
    private let views: Int

    init() throws {
        worker = stack.child(of: stack.root, name: "worker")
        for context in [worker, stack.root] { context.performAndWait { context.materializesNotificationObjects = false } }
        layout = try #require(stack.coordinator.managedObjectModel.entitiesByName["Place"]).layout
        let lists = layout.entity.relationshipsByName
        fans = try #require(lists["fans"].flatMap(layout.toManyNumber))
        views = try #require(lists["views"].flatMap(layout.toManyNumber))
    }

    /// Inserts places by code, each with its fans.
    private func insert(_ places: [(code: String, fans: [String])]) throws {
        try worker.performAndWait { () throws in
            let rows = RowImport(RowBlockBuilder(layout), into: worker, set: SlotSet(0..<layout.count))
            let owners = Array(Set(places.flatMap(\.fans))).sorted(),
                entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Owner"])
            let ids = try worker.findOrReserve(entity, constraint: 0, keys: owners.map { .one(.string($0)) })
            for (code, located) in zip(owners, ids) where located.row == nil {
                let row = RowSnapshot.defaults(entity.layout), slot = try #require(entity.layout.slot(of: "code"))
                row.update(slot, to: .string(code))
                worker.insertRow(located.id, row, set: SlotSet([slot]))
            }
            for place in places {
                for name in layout.names { #expect(rows.builder.put(name == "code" ? .string(place.code) : .null)) }
                for fan in place.fans { rows.builder.list(target: try #require(owners.firstIndex(of: fan)), in: fans) }
                #expect(rows.builder.endRow())
            }
            #expect(try rows.insert(targets: ids.map(\.id)) != nil)
        }
    }

    private func save(_ context: NSManagedObjectContext) throws { try context.performAndWait { try context.save() } }

    private func codes(_ name: String, of code: String, _ entity: String, in context: NSManagedObjectContext) throws -> [String] {
        try context.performAndWait { () throws in
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = NSPredicate(format: "code == %@", code)
            let found = try #require(try context.fetch(request).first)
            return ((found.value(forKey: name) as? Set<NSManagedObject>) ?? []).map { "\($0.value(forKey: "code") ?? "-")" }.sorted()
        }
    }

    private var blocks: [RowBlock] { stack.root.chain.withLock { stack.root.level.pending.pairs.blocks } }

    @Test func aRowListsWhatItListsTwiceOnce() {
        let builder = RowBlockBuilder(layout)
        for (code, listed) in [("a", [3, 1, 3, 3]), ("b", []), ("c", [1])] {
            for target in listed { builder.list(target: target, in: fans) }
            for target in listed.reversed() { builder.list(target: target, in: views) }
            for name in layout.names { #expect(builder.put(name == "code" ? .string(code) : .null)) }
            #expect(builder.endRow())
        }
        // Of one that does not end nothing is left.
        builder.list(target: 9, in: fans)
        builder.beginRow()
        #expect(builder.listed(byRow: 0) == [fans: [1, 3], views: [1, 3]] && builder.listed(byRow: 1).isEmpty)
        #expect(builder.listed(byRow: 2) == [fans: [1], views: [1]] && builder.largestTarget == 3)
    }

    @Test func bothEndsSeeWhatABlockLists() throws {
        try insert([("A", ["o1", "o2"]), ("B", ["o2"]), ("C", [])])
        try save(worker)
        #expect(blocks.count == 1 && blocks[0].isSealed)
        #expect(try codes("fans", of: "A", "Place", in: stack.root) == ["o1", "o2"])
        #expect(try codes("fanOf", of: "o2", "Owner", in: stack.root) == ["A", "B"])
        #expect(try codes("fans", of: "C", "Place", in: stack.root) == [])
        try save(stack.root)
        let reader = stack.child(of: stack.root)
        #expect(try codes("fanOf", of: "o2", "Owner", in: reader) == ["A", "B"])
    }

    // What is said of the same to-many elsewhere leaves the block as it is, and so does the deletion of what another block lists.
    @Test func changesOfOtherPairsOpenNoBlock() throws {
        try insert([("A", ["o1"]), ("B", ["o1"])])
        try save(worker)
        try insert([("C", ["o2"])])
        try save(worker)
        try stack.root.performAndWait { () throws in
            let owner = try #require(
                stack.root.fetch(NSFetchRequest<NSManagedObject>(entityName: "Owner")).first { $0.value(forKey: "code") as? String == "o1" })
            let place = NSEntityDescription.insertNewObject(forEntityName: "Place", into: stack.root)
            place.setValue("D", forKey: "code")
            place.mutableSetValue(forKey: "fans").add(owner)
            stack.root.publish()
        }
        #expect(blocks.count == 2)
        #expect(try codes("fanOf", of: "o1", "Owner", in: stack.root) == ["A", "B", "D"])
        try stack.root.performAndWait { () throws in
            let owners = try stack.root.fetch(NSFetchRequest<NSManagedObject>(entityName: "Owner"))
            for owner in owners where owner.value(forKey: "code") as? String == "o2" { stack.root.delete(owner) }
        }
        try save(stack.root)
        let reader = stack.child(of: stack.root)
        #expect(try codes("fanOf", of: "o1", "Owner", in: reader) == ["A", "B", "D"] && codes("fans", of: "C", "Place", in: reader) == [])
    }

    // A pair that was taken back is not there, whoever lists it.
    @Test func aLaterWordCountsMoreThanABlocks() throws {
        try insert([("A", ["o1", "o2"]), ("B", ["o1"])])
        try save(worker)
        try stack.root.performAndWait { () throws in
            let places = try stack.root.fetch(NSFetchRequest<NSManagedObject>(entityName: "Place"))
            let place = try #require(places.first { $0.value(forKey: "code") as? String == "A" })
            let fans = place.mutableSetValue(forKey: "fans")
            for case let fan as NSManagedObject in fans.allObjects where fan.value(forKey: "code") as? String == "o1" { fans.remove(fan) }
            stack.root.publish()
        }
        #expect(try codes("fanOf", of: "o1", "Owner", in: stack.root) == ["B"])
        try save(stack.root)
        #expect(try codes("fanOf", of: "o1", "Owner", in: stack.child(of: stack.root)) == ["B"])
        #expect(try codes("fans", of: "A", "Place", in: stack.child(of: stack.root)) == ["o2"])
    }

    /// The object with a code.
    private func id(_ code: String, _ entity: String, in context: NSManagedObjectContext) throws -> NSManagedObjectID {
        try context.performAndWait { () throws in
            let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
            return try #require(found.first { $0.value(forKey: "code") as? String == code }).objectID
        }
    }

    /// An owner without a place, in the store.
    private func makeOwner(_ code: String) throws {
        stack.root.performAndWait { NSEntityDescription.insertNewObject(forEntityName: "Owner", into: stack.root).setValue(code, forKey: "code") }
        try save(stack.root)
    }

    // Whoever throws away what is pending of an object takes it out of what blocks list; it does not come back on the way up, whatever else is there.
    @Test(arguments: [false, true]) func whatWasTakenOutOfABlockDoesNotComeBack(isRootClean: Bool) throws {
        try makeOwner("o1")
        try insert([("A", ["o1"]), ("B", ["o1", "o2"])])
        let owner = try id("o1", "Owner", in: worker)
        worker.performAndWait { worker.refresh(worker.object(with: owner), mergeChanges: false) }
        #expect(try codes("fans", of: "A", "Place", in: worker) == [] && codes("fans", of: "B", "Place", in: worker) == ["o2"])
        if !isRootClean {
            stack.root.performAndWait {
                NSEntityDescription.insertNewObject(forEntityName: "Area", into: stack.root).setValue("x", forKey: "code")
                stack.root.publish()
            }
        }
        try save(worker)
        try save(stack.root)
        let reader = stack.child(of: stack.root)
        #expect(try codes("fans", of: "A", "Place", in: reader) == [] && codes("fans", of: "B", "Place", in: reader) == ["o2"])
    }

    // Their members changed, so they are told of; an area does not know who views it.
    @Test func whoIsListedIsToldOf() throws {
        try makeOwner("o1")
        try insert([("A", ["o1"])])
        try worker.performAndWait { () throws in
            let rows = RowImport(RowBlockBuilder(layout), into: worker, set: SlotSet(0..<layout.count))
            let area = NSEntityDescription.insertNewObject(forEntityName: "Area", into: worker)
            area.setValue("x", forKey: "code")
            for name in layout.names { #expect(rows.builder.put(name == "code" ? .string("B") : .null)) }
            rows.builder.list(target: 0, in: views)
            #expect(rows.builder.endRow())
            #expect(try rows.insert(targets: [area.objectID]) != nil)
        }
        let owner = try id("o1", "Owner", in: worker), area = try id("x", "Area", in: worker)
        let changes = worker.chain.withLock { worker.level.pending }
        #expect(changes.relationshipOwners == [owner] && changes.changesToMany(of: owner) && !changes.changesToMany(of: area))
        #expect(ChangedObjectIDs(changes).updated == [owner])
    }

    // What is set of a to-many is all that is said of it, whatever a block lists there.
    @Test func whatIsSetOfAToManyIsAllThatIsSaid() throws {
        try insert([("A", ["o1", "o2"]), ("B", ["o1"])])
        let place = try id("A", "Place", in: worker), owner = try id("o1", "Owner", in: worker), other = try id("B", "Place", in: worker)
        let back = try #require(layout.toManys[fans].key(of: owner))
        for key in [RelationshipKey(owner: place, toMany: fans), back] {
            var pairs = worker.chain.withLock { worker.level.pending.pairs }
            #expect(pairs[key]?.added.count == 2)
            pairs[key] = PairChanges(removed: [owner])
            #expect(pairs[key]?.added == [] && pairs[key]?.removed == [owner])
            pairs[key] = nil
            #expect(pairs[key] == nil && pairs[RelationshipKey(owner: other, toMany: fans)]?.added == [owner])
        }
    }

    // To-manys that are ordered, bounded, kept in their members, or of the entity itself are in no block.
    @Test func whatHasAnOrderOrANumberIsListedInNoBlock() throws {
        func isListable(_ change: (NSRelationshipDescription, NSRelationshipDescription) -> Void) throws -> Bool {
            let model = BlockWorld.model()
            let place = try #require(model.entitiesByName["Place"]), owner = try #require(model.entitiesByName["Owner"])
            change(try #require(place.relationshipsByName["fans"]), try #require(owner.relationshipsByName["fanOf"]))
            model.freeze()
            let number = try #require(place.relationshipsByName["fans"].flatMap(place.layout.toManyNumber))
            return place.layout.isListable(number)
        }
        #expect(try isListable { _, _ in })
        #expect(try !isListable { fans, _ in fans.isOrdered = true })
        #expect(try !isListable { _, back in back.isOrdered = true })
        #expect(try !isListable { fans, _ in fans.maxCount = 5 })
        #expect(try !isListable { _, back in back.minCount = 1 })
        #expect(try !isListable { _, back in back.maxCount = 1 })
    }

    /// Inserts places, each of which lists all of some owners, into the root context of a stack with a file.
    private func insert(_ places: Int, listing owners: [NSManagedObjectID], into stack: SQLiteStack) throws {
        let layout = try #require(stack.coordinator.managedObjectModel.entitiesByName["Place"]).layout
        let fans = try #require(layout.entity.relationshipsByName["fans"].flatMap(layout.toManyNumber))
        let rows = RowImport(RowBlockBuilder(layout), into: stack.root, set: SlotSet(0..<layout.count))
        for place in 0..<places {
            for name in layout.names { #expect(rows.builder.put(name == "code" ? .string("c\(place)") : .null)) }
            for number in owners.indices { rows.builder.list(target: number, in: fans) }
            #expect(rows.builder.endRow())
        }
        #expect(try rows.insert(targets: owners) != nil)
    }

    private func makeOwners(_ count: Int, in stack: SQLiteStack) throws -> [NSManagedObjectID] {
        let owners = (0..<count).map { stack.root.make("Owner", ["code": "o\($0)"]) }
        try stack.root.save()
        return owners.map(\.objectID)
    }

    // Another context has deleted it since it was listed.
    @Test func aPairWithWhatIsGoneIsNotWritten() throws {
        let stack = try SQLiteStack(BlockWorld.model()), other = NSManagedObjectContext(.privateQueueConcurrencyType)
        other.persistentStoreCoordinator = stack.coordinator
        try stack.root.performAndWait { () throws in
            let owners = try makeOwners(2, in: stack)
            try insert(2, listing: owners, into: stack)
            try other.performAndWait { () throws in
                other.delete(try other.existingObject(with: owners[0]))
                try other.save()
            }
            try stack.root.save()
        }
        let pairs = try stack.fixture.shell.column("SELECT count(*) FROM \(joinTable(stack))")
        #expect(pairs == ["2"])
    }

    // More than go one by one come before the index of an empty table, which is made afterwards.
    @Test func aJoinTableThatIsFilledAtOnceHasItsIndex() throws {
        let stack = try SQLiteStack(BlockWorld.model())
        try stack.root.performAndWait { () throws in
            try insert(SaveOperation.bulkThreshold / 10 + 1, listing: makeOwners(10, in: stack), into: stack)
            try stack.root.save()
        }
        let table = try joinTable(stack)
        #expect(try stack.fixture.shell.column("SELECT count(*) FROM \(table)") == ["\(SaveOperation.bulkThreshold + 10)"])
        #expect(
            try stack.fixture.shell.column("SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND tbl_name = '\(table)' AND sql IS NOT NULL")
                == ["1"])
    }

    /// The table of the places' fans.
    private func joinTable(_ stack: SQLiteStack) throws -> String {
        let tables = try stack.fixture.shell.column(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'Z\\__%' ESCAPE '\\' AND name GLOB 'Z_[0-9]*' ORDER BY name")
        return try #require(tables.first { $0.contains("FAN") })
    }
}
