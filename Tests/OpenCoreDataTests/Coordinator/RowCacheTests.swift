import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// How much the cache keeps. An ID that only the cache refers to lives as long as the cache keeps its row.
@Suite struct RowCacheTests {
    private final class Life {
        weak var id: NSManagedObjectID?
        let cost: Int

        init(_ id: NSManagedObjectID, cost: Int) {
            self.id = id
            self.cost = cost
        }
    }

    /// Persons with names of these lengths, the first with key 1, and what becomes of their managers' IDs, which nothing but the rows refers to.
    private func rows(_ lengths: [Int], of stack: TestStack, version: Int64 = 1) throws -> (rows: [FetchedRow], lives: [Life]) {
        let entity = try #require(stack.coordinator.managedObjectModel.entitiesByName["Person"])
        func id(_ key: Int) -> NSManagedObjectID {
            NSManagedObjectID(entity: entity, key: Int64(key), store: stack.store.identity, isTemporary: false)
        }
        var rows: [FetchedRow] = [], lives: [Life] = []
        for (number, length) in lengths.enumerated() {
            let row = RowSnapshot.make(entity.layout, version: version), manager = id(1_000_000 + number)
            row.update(try #require(entity.layout.slot(of: "name")), to: .string(String(repeating: "x", count: length)))
            row.update(try #require(entity.layout.slot(of: "manager")), to: .objectID(manager))
            rows.append(FetchedRow(id: id(number + 1), row: row))
            lives.append(Life(manager, cost: row.cost))
        }
        return (rows, lives)
    }

    private func kept(_ lives: [Life]) -> Int { lives.reduce(0) { $0 + ($1.id == nil ? 0 : $1.cost) } }

    @Test(arguments: [[10], [10, 10, 10, 10, 10, 10, 10, 20_000]]) func aFetchThatBringsMoreThanTheCacheHoldsIsNotKept(_ lengths: [Int]) throws {
        let stack = TestStack(), share = 1 << 17, cache = RowCache(share: share)
        var lives: [Life] = [], last: NSManagedObjectID?
        // Every fetch is large; the long names are in rows that no regular choice of a few rows has to meet.
        for _ in 0..<3 {
            let (rows, found) = try rows((0..<4000).map { lengths[($0 * 7 + $0 / 8) % lengths.count] }, of: stack)
            cache.add(rows)
            lives += found
            last = rows.last?.id
        }
        #expect(lives.reduce(0) { $0 + $1.cost } > 10 * share)
        #expect(kept(lives) <= 2 * share)
        #expect(kept(lives) > share / 2)
        let id = try #require(last)
        #expect(cache[id] != nil)
        #expect(kept(lives) <= 3 * share)
    }

    @Test func rowsThatGrowCountWithWhatTheyHaveBecome() throws {
        let stack = TestStack(), share = 1 << 17, cache = RowCache(share: share)
        var lives: [Life] = []
        for (version, length) in [10, 10_000].enumerated() {
            let (rows, found) = try rows(Array(repeating: length, count: 200), of: stack, version: Int64(version + 1))
            for row in rows { cache.add([row]) }
            lives += found
        }
        #expect(kept(lives) <= 3 * share)
        #expect(kept(lives) > share / 2)
    }

    // A8: a derived value changes without the version.
    @Test func aDerivedValueThatIsReadLaterReplacesTheOneBeforeUnlessItWasReadBeforeACommit() throws {
        let entity = NSEntityDescription(), value = NSDerivedAttributeDescription()
        entity.name = "A"
        value.name = "x"
        value.type = .string
        entity.properties = [value]
        let model = NSManagedObjectModel(entities: [entity])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model), cache = RowCache()
        let id = NSManagedObjectID(entity: entity, key: 1, store: StoreIdentity(uuid: "u"), isTemporary: false)
        func row(_ text: String) -> RowSnapshot {
            let row = RowSnapshot.make(entity.layout, version: 1)
            row.update(0, to: .string(text))
            return row
        }
        var before = cache.derivedStamp
        cache.add([FetchedRow(id: id, row: row("a"))], asOf: before)
        cache.add([FetchedRow(id: id, row: row("b"))], asOf: before)
        #expect(cache[id]?[0] == .string("b"))
        before = cache.derivedStamp
        cache.commit(ChangeSet(), SavedRows(computed: [id: ComputedRow(row: row("c"), slots: entity.layout.derivedSlots)]))
        cache.add([FetchedRow(id: id, row: row("b"))], asOf: before)
        #expect(cache[id]?[0] == .string("c"))
        before = cache.derivedStamp
        cache.removeDerived([id])
        cache.removeAll()
        cache.add([FetchedRow(id: id, row: row("c"))], asOf: before)
        #expect(cache[id] == nil)
        withExtendedLifetime(coordinator) {}
    }
}
