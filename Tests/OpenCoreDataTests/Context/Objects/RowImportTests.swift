import Foundation
import OpenCoreDataTestSupport
import Synchronization
import Testing

@testable import OpenCoreData

/// New rows that an importer inserts in blocks, beside others who look for their keys.
@Suite struct RowImportTests {
    private let stack = TestStack(BlockWorld.model())
    private let one: NSManagedObjectContext
    private let other: NSManagedObjectContext
    private let entity: NSEntityDescription

    init() throws {
        one = stack.child(of: stack.root, name: "one")
        other = stack.child(of: stack.root, name: "other")
        entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Place"])
        stack.root.performAndWait { stack.root.mergePolicy = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType) }
    }

    private func rows(_ context: NSManagedObjectContext) -> RowImport {
        RowImport(RowBlockBuilder(entity.layout), into: context, set: SlotSet(0..<entity.layout.count))
    }

    private func write(_ codes: [String], to rows: RowImport) {
        for code in codes {
            for name in entity.layout.names { #expect(rows.builder.put(name == "code" ? .string(code) : .null)) }
            #expect(rows.builder.endRow())
        }
    }

    private func insert(_ codes: String..., by rows: RowImport, in context: NSManagedObjectContext) throws -> Range<Int64>? {
        write(codes, to: rows)
        return try context.performAndWait { try rows.insert() }
    }

    /// Looks a key up, and inserts a row for it where there is none.
    @discardableResult
    private func locate(_ code: String, in context: NSManagedObjectContext) throws -> NSManagedObjectContext.Located {
        try Self.locate(code, entity, in: context)
    }

    @discardableResult
    private static func locate(
        _ code: String, _ entity: NSEntityDescription, in context: NSManagedObjectContext
    ) throws -> NSManagedObjectContext.Located {
        try context.performAndWait { () throws in
            let located = try context.findOrReserve(entity, constraint: 0, keys: [.one(.string(code))])[0]
            guard located.row == nil else { return located }
            let row = RowSnapshot.defaults(entity.layout), slot = try #require(entity.layout.slot(of: "code"))
            row.update(slot, to: .string(code))
            context.insertRow(located.id, row, set: SlotSet([slot]))
            return located
        }
    }

    // A to-one that must lead somewhere is not written where it leads nowhere, and so the row is in no block.
    @Test(arguments: [false, true]) func aRequiredToOneIsNoNullInABlock(isRequired: Bool) throws {
        let model = BlockWorld.model()
        model.entitiesByName["Place"]?.relationshipsByName["owner"]?.isOptional = !isRequired
        model.freeze()
        let layout = try #require(model.entitiesByName["Place"]).layout
        #expect(layout.isBlockable)
        let builder = RowBlockBuilder(layout)
        for name in layout.names {
            if name == "owner" {
                #expect(builder.putNull() == !isRequired)
                return
            }
            #expect(builder.put(name == "code" ? .string("a") : .null))
        }
        Issue.record("a place has no owner")
    }

    private func save(_ context: NSManagedObjectContext) throws { try context.performAndWait { try context.save() } }

    private func codes(_ context: NSManagedObjectContext) throws -> [String] {
        try context.performAndWait { () throws in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Place")).map { "\($0.value(forKey: "code") ?? "nil")" }.sorted()
        }
    }

    @Test func whoLooksAKeyUpThatIsInABlockGetsTheIDOfItsRow() throws {
        let rows = rows(one)
        let keys = try #require(try insert("A", "B", "C", by: rows, in: one))
        let located = try locate("B", in: other)
        #expect(located.row == nil && located.id.key == keys.lowerBound + 1)
        try save(other)
        try save(one)
        #expect(try codes(stack.root) == ["A", "B", "C"])
        try save(stack.root)
        #expect(try codes(stack.child(of: stack.root)) == ["A", "B", "C"] && !located.id.isTemporaryID)
    }

    // A few other rows, in any level, say no more than that none of them has one of the keys.
    @Test func rowsThatAreInNoBlockLeaveTheOthersInTheirs() throws {
        for context in [stack.root, one, other] { context.performAndWait { context.materializesNotificationObjects = false } }
        let rows = rows(one)
        try locate("X", in: other)
        try save(other)
        try locate("Y", in: one)
        #expect(try insert("A", "B", "C", by: rows, in: one) != nil)
        try locate("Z", in: one)
        #expect(try insert("D", "E", "F", "G", by: rows, in: one) != nil)
        try save(one)
        let blocks = stack.root.chain.withLock { stack.root.level.pending.entities[entity.number]?.blocks ?? [] }
        #expect(blocks.count == 2 && blocks.allSatisfy(\.isSealed))
        #expect(try codes(stack.root) == ["A", "B", "C", "D", "E", "F", "G", "X", "Y", "Z"])
        // One of them is a key of these.
        #expect(try insert("H", "I", "J", "K", "Z", by: rows, in: one) == nil)
    }

    // Between the announcement of a key and the block with its row somebody makes a row for it, saves, and has let go of it when the block comes.
    // Few keys are looked up at once; for many the store is asked before whether it has any row.
    @Test(arguments: [3, 300]) func aKeyThatSomebodyMadeARowForMeanwhileIsNotInserted(among count: Int) throws {
        let isAsked = Mutex(false)
        stack.store.observe { [other, entity] request in
            guard request.kind == (count == 3 ? "objects" : "fetch"),
                isAsked.withLock({ asked in
                    asked
                        ? false
                        : {
                            asked = true; return true
                        }()
                })
            else { return }
            try Self.locate("B", entity, in: other)
            try other.performAndWait { try other.save() }
        }
        let rows = rows(one)
        write(["A", "B", "C"] + (3..<count).map { "N\($0)" }, to: rows)
        #expect(try one.performAndWait { try rows.insert() } == nil && isAsked.withLock { $0 })
        #expect(rows.builder.count == count && stack.root.reservedKeyCount == 0)
        // Looked up one by one, they are found or made.
        #expect(try locate("B", in: one).row != nil && (try locate("A", in: one)).row == nil)
        try save(one)
        #expect(try codes(stack.root) == ["A", "B"])
    }

    @Test func anImportThatWasRefusedGoesOn() throws {
        try locate("B", in: other)
        let rows = rows(one)
        #expect(try insert("A", "B", by: rows, in: one) == nil)
        rows.builder.removeAll()
        let keys = try #require(try insert("A", "C", "D", by: rows, in: one))
        for (place, code) in ["A", "C", "D"].enumerated() {
            #expect(try locate(code, in: stack.child(of: stack.root, name: "third")).id.key == keys.lowerBound + Int64(place))
        }
        // Twice in one batch is once too many.
        #expect(try insert("E", "F", "E", by: rows, in: one) == nil)
        rows.builder.removeAll()
        #expect(try insert("E", "F", by: rows, in: one) != nil)
        try save(one)
        #expect(try codes(stack.root) == ["A", "C", "D", "E", "F"])
    }

    @Test func anImportGoesOnAfterItsContextWasSaved() throws {
        let rows = rows(one)
        #expect(try insert("A", by: rows, in: one) != nil)
        try save(one)
        #expect(try insert("A", by: rows, in: one) == nil)
        rows.builder.removeAll()
        let keys = try #require(try insert("B", by: rows, in: one))
        #expect(try locate("B", in: other).id.key == keys.lowerBound)
        one.performAndWait { one.reset() }
        other.performAndWait { other.reset() }
        // What was thrown away is nobody's any more.
        #expect(try locate("B", in: other).id.key != keys.lowerBound)
        #expect(try insert("C", by: rows, in: one) != nil)
        try save(one)
        #expect(try codes(stack.root) == ["A", "C"])
    }

    // The level above has the block as it is; whether it has a table of the keys by then or makes one, the row is found.
    @Test(arguments: [false, true]) func aRowInABlockIsFoundByItsKeyInALevelAbove(isIndexed: Bool) throws {
        if isIndexed {
            #expect(try insert("Z", by: self.rows(other), in: other) != nil)
            try save(other)
            try locate("Y", in: other)
            other.performAndWait { other.reset() }
        }
        let rows = rows(one)
        let keys = try #require(try insert("A", "B", by: rows, in: one))
        try save(one)
        let located = try locate("B", in: stack.child(of: stack.root, name: "third"))
        #expect(located.row != nil && located.id.key == keys.lowerBound + 1)
    }

    // Whoever inserts an object without asking for its key may have one that a block has, too.
    @Test(arguments: [false, true]) func anObjectWithAKeyOfABlockIsTheSameObject(blockComesFirst: Bool) throws {
        let rows = rows(one)
        #expect(try insert("A", "B", by: rows, in: one) != nil)
        other.performAndWait { _ = other.make("Place", ["code": "B", "text": "mine"]) }
        for context in blockComesFirst ? [one, other] : [other, one] { try save(context) }
        #expect(try codes(stack.root) == ["A", "B"])
    }

    // Rows go eight by one statement: the one that is refused is found, whether it is among eight or among those that are left over.
    @Test(arguments: [3, 9]) func theRowOfABlockWhosePrimaryKeyIsTakenIsNamedAndNothingIsWritten(place: Int64) throws {
        let stack = try SQLiteStack(BlockWorld.model()), entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Place"])
        try stack.root.performAndWait { () throws in
            let rows = RowImport(RowBlockBuilder(entity.layout), into: stack.root, set: SlotSet(0..<entity.layout.count))
            write((0..<10).map { "c\($0)" }, to: rows)
            let taken = try #require(try rows.insert()).lowerBound + place
            _ = try stack.fixture.shell.rows(
                "INSERT INTO ZPLACE (Z_PK, Z_ENT, Z_OPT, ZCODE) SELECT \(taken), Z_ENT, 1, 'taken' FROM Z_PRIMARYKEY WHERE Z_NAME = 'Place'")
            let error = try #require(throws: NSError.self) { try stack.root.save() }
            #expect(error.localizedDescription.contains("already has a row \(taken)."), "\(error.localizedDescription)")
            #expect(try stack.fixture.shell.column("SELECT ZCODE FROM ZPLACE") == ["taken"])
        }
    }

    @Test func aValueThatARuleForbidsIsNotWritten() {
        let builder = RowBlockBuilder(entity.layout)
        for name in entity.layout.names {
            switch name {
            case "code":
                #expect(!builder.putNull() && !builder.put(integer: 1))
                #expect(builder.put(.string("A")))
            case "size":
                #expect(!builder.put(integer: 32_768) && !builder.put(integer: -32_769) && !builder.put(double: 1))
                #expect(builder.put(integer: -32_768))
            case "text":
                #expect(!builder.put(.string(String(repeating: "x", count: 65_536))))
                #expect(builder.put(.string(String(repeating: "x", count: 65_535))))
            case "at": #expect(!builder.put(date: .nan) && !builder.put(double: 1) && builder.put(date: -0.5))
            case "share": #expect(!builder.put(double: .nan) && builder.put(double: -0.0))
            case "isOpen": #expect(!builder.put(integer: 1) && builder.put(bool: false))
            case "raw":
                #expect(!builder.put(.data(Data(count: 1_048_577))) && !builder.put(.string("")))
                #expect(builder.put(.data(Data(repeating: 7, count: 1_048_576))))
            default: #expect(!builder.put(.decimal(1)) && builder.putNull())
            }
        }
        #expect(builder.endRow())
        let row = builder.row(0)
        #expect(row["size"] == .int64(-32_768) && row["at"] == .date(-0.5) && row["isOpen"] == .bool(false) && row["tag"].isNull)
        if case .double(let share) = row["share"] { #expect(share.sign == .minus) } else { Issue.record("no double") }
        #expect(row["raw"] == .data(Data(repeating: 7, count: 1_048_576)))
        if case .string(let text) = row["text"] { #expect(text.utf8.count == 65_535) } else { Issue.record("no text") }
    }
}
