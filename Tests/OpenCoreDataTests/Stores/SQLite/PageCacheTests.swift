import GRDB
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// A connection keeps little of the file in memory, and more while many rows change in many places.
@Suite struct PageCacheTests {
    private static let small = -PageCache.writer
    private static let large = -PageCache.scattered

    private static func size(_ store: SQLiteStore) throws -> Int { try #require(try store.pragma("cache_size").flatMap { Int($0) }) }

    /// The size of the cache while the changes are in an open transaction, and when it has ended.
    private static func sizes(of changes: ChangeSet, _ store: SQLiteStore) throws -> (during: Int, after: Int) {
        var during = 0
        try SQLiteWriter(store).prepare(changes) { prepared in
            during = try store.pool.unsafeReentrantWrite { try Int.fetchOne($0, sql: "PRAGMA cache_size") ?? 0 }
            _ = try prepared.commit()
        }
        return (during, try size(store))
    }

    private static func cities(_ numbers: Range<Int>, in fixture: StoreFixture) throws -> (changes: ChangeSet, ids: [NSManagedObjectID]) {
        var changes = ChangeSet()
        let ids = try numbers.map {
            try fixture.insert(
                "City", ["code": .string("\(String(($0 * 7919) % 1_000_003).reversed())"), "number": .int64(Int64($0))], into: &changes)
        }
        return (changes, ids)
    }

    @Test func anEmptyTableThatIsFilledTakesNoMore() throws {
        let fixture = try StoreFixture(StoreModels.keys())
        let sizes = try Self.sizes(of: try Self.cities(0..<SaveOperation.bulkThreshold + 1, in: fixture).changes, fixture.store)
        #expect(sizes == (Self.small, Self.small))
    }

    @Test(arguments: [PageCache.manyRows - 1, PageCache.manyRows]) func manyRowsAmongOthersTakeMore(count: Int) throws {
        let fixture = try StoreFixture(StoreModels.keys()), expected = count < PageCache.manyRows ? Self.small : Self.large
        try fixture.save(try Self.cities(0..<1, in: fixture).changes)
        let (inserts, ids) = try Self.cities(1..<1 + count, in: fixture)
        #expect(try Self.sizes(of: inserts, fixture.store) == (expected, Self.small))
        let stored = try fixture.store.rows(for: ids)
        var updates = ChangeSet(), deletions = ChangeSet()
        for (id, row) in stored { try updates.update(id, from: row, ["number": .int64(-id.key)]) }
        #expect(try Self.sizes(of: updates, fixture.store) == (expected, Self.small))
        for id in ids { deletions.delete(id, base: nil) }
        #expect(try Self.sizes(of: deletions, fixture.store) == (expected, Self.small))
    }

    @Test func aSaveThatIsRefusedGivesTheRoomBack() throws {
        let fixture = try StoreFixture(StoreModels.keys())
        try fixture.save(try Self.cities(0..<1, in: fixture).changes)
        let changes = try Self.cities(0..<PageCache.manyRows, in: fixture).changes
        #expect(throws: (any Error).self) { try fixture.save(changes) }
        #expect(try Self.size(fixture.store) == Self.small)
    }

    // S6
    @Test func whatTheOptionsSayStays() throws {
        let fixture = try StoreFixture(StoreModels.keys(), options: [NSSQLitePragmasOption: ["cache_size": "-2000"]])
        try fixture.save(try Self.cities(0..<1, in: fixture).changes)
        #expect(try Self.sizes(of: try Self.cities(1..<1 + PageCache.manyRows, in: fixture).changes, fixture.store) == (-2000, -2000))
    }
}
