import Foundation
import Glibc
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Primary keys are handed out from reserved blocks, unique keys are looked up in one query.
struct SQLiteKeysTests {
    // GB8
    @Test func keysCostATransactionOnlyABlock() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        let entity = try fixture.entity("Person"), before = fixture.store.statements.current
        var seen: Set<Int64> = []
        for _ in 0..<1000 { seen.formUnion(try fixture.store.reserveKeys(for: entity, count: 1)) }
        #expect(seen == Set(1...1000))
        #expect((fixture.store.statements.current - before).transactions == 1)
    }

    // GB8
    @Test func twoStoresOnOneFileNeverHandOutTheSameKey() async throws {
        let fixture = try StoreFixture(StoreModels.animals())
        let second = try fixture.second(), stores = [fixture.store, second], entity = try fixture.entity("Person")
        let ranges = try await withThrowingTaskGroup(of: [Range<Int64>].self) { group in
            for worker in 0..<4 {
                group.addTask {
                    try (1...200).map { try stores[worker % 2].reserveKeys(for: entity, count: $0 % 37 + 1) }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let sorted = ranges.sorted { $0.lowerBound < $1.lowerBound }
        #expect(sorted.count == 800)
        #expect(zip(sorted, sorted.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound })
        try second.close()
    }

    @Test func unusedKeysAreGivenBackWhenTheStoreIsClosed() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        try fixture.insert("Person", [:])
        let range = try fixture.store.reserveKeys(for: try fixture.entity("Person"), count: 500)
        fixture.store.releaseKeys(for: try fixture.entity("Person"), unused: (range.lowerBound + 1)..<range.upperBound)
        try fixture.store.close()
        #expect(try fixture.shell.column("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Person'") == ["2"])
    }

    // They are reserved when the reservation is committed, which is after it was made: where that fails, the next process would hand them out again.
    @Test func keysWhoseReservationCannotBeCommittedAreHandedToNobody() async {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            let fixture = try StoreFixture(StoreModels.animals()), entity = try fixture.entity("Person")
            _ = try fixture.store.reserveKeys(for: entity, count: 1)
            let log = try FileManager.default.attributesOfItem(atPath: "\(fixture.file.path)-wal")[.size] as? Int ?? 0
            var limit = rlimit(rlim_cur: rlim_t(log), rlim_max: rlim_t.max)
            guard setrlimit(__rlimit_resource_t(1), &limit) == 0 else { exit(2) }  // RLIMIT_FSIZE
            #expect(throws: (any Error).self) { try fixture.store.reserveKeys(for: entity, count: 5000) }
            limit.rlim_cur = limit.rlim_max
            guard setrlimit(__rlimit_resource_t(1), &limit) == 0 else { exit(2) }
            let keys = try fixture.store.reserveKeys(for: entity, count: 5000)
            let largest = try fixture.shell.column("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Person'").first.flatMap { Int64($0) }
            #expect(try #require(largest) >= keys.upperBound - 1)
        }
    }

    // Objects that were made before there is a store, or while it could not be written, have keys that no store was asked for.
    @Test func keysThatNoStoreWasAskedForAreNotReservedAfterwards() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        try fixture.store.close()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: fixture.model)
        let contexts = (0..<3).map { _ in
            let context = NSManagedObjectContext(.privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            return context
        }
        for context in contexts.prefix(2) { context.performAndWait { _ = context.make("Person") } }
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: fixture.file, options: nil)
        for context in [contexts[0], contexts[2], contexts[1]] {
            try context.performAndWait { () throws in
                if !context.hasChanges { for _ in 0..<3000 { context.make("Person") } }
                try context.save()
            }
        }
        #expect(try fixture.shell.column("SELECT COUNT(*) FROM ZPERSON") == ["3002"])
    }

    // GB8
    @Test func aSaveReservesTheKeysOfTheNextOne() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        let entity = try fixture.entity("Person")
        var changes = ChangeSet()
        for _ in 0..<1024 { try fixture.insert("Person", [:], into: &changes) }
        try fixture.save(changes)
        let before = fixture.store.statements.current
        _ = try fixture.store.reserveKeys(for: entity, count: 1024)
        #expect(fixture.store.statements.current == before)
    }

    @Test func keysAreFoundInOneQueryHoweverMany() throws {
        let fixture = try StoreFixture(StoreModels.keys())
        var changes = ChangeSet()
        for number in 0..<2000 {
            try fixture.insert("City", ["code": .string("c\"\\\(number)é"), "number": .int64(Int64(number))], into: &changes)
        }
        try fixture.save(changes)
        let entity = try fixture.entity("City"), before = fixture.store.statements.current
        let codes = (1000..<3000).map { UniqueKey.one(.string("c\"\\\($0)é")) }
        let byCode = try fixture.store.objects(of: entity, constraint: 0, keys: codes)
        #expect(byCode.count == 1000)
        #expect(byCode[codes[5]]?.row?["number"] == .int64(1005))
        let byNumber = try fixture.store.objects(of: entity, constraint: 1, keys: (1990..<2010).map { .one(.int64($0)) })
        #expect(byNumber.count == 10)
        #expect((fixture.store.statements.current - before).selects == 2)
    }

    @Test func noKeysAreLookedUpInATableWithoutRows() throws {
        let fixture = try StoreFixture(StoreModels.keys())
        let entity = try fixture.entity("City"), keys = (0..<2000).map { UniqueKey.one(.string("c\($0)")) }
        var before = fixture.store.statements.current
        #expect(try fixture.store.objects(of: entity, constraint: 0, keys: keys).isEmpty)
        #expect((fixture.store.statements.current - before).keys == 0)
        let city = try fixture.insert("City", ["code": .string("c7"), "number": .int64(7)])
        before = fixture.store.statements.current
        #expect(try fixture.store.objects(of: entity, constraint: 0, keys: keys).values.map(\.id) == [city])
        #expect((fixture.store.statements.current - before).keys == 2000)
    }

    // Few keys stand in the statement, many are a list; where a key has no form for a list, they are asked for in several statements.
    @Test(arguments: [0, 7]) func keysOfEveryTypeAreFound(among others: Int) throws {
        let fixture = try StoreFixture(StoreModels.keys())
        let uuid = UUID(), amount = Decimal(string: "12345678901234567890.5") ?? 0
        let pair = try fixture.insert("Pair", ["left": .string("a\u{0}b"), "right": .date(0.1)])
        let plain = try fixture.insert("Pair", ["left": .string("it's"), "right": .date(1e-300)])
        let token = try fixture.insert("Token", ["uuid": .uuid(uuid), "amount": .decimal(amount)])
        let keys: [UniqueKey] = [
            .many([.string("it's"), .date(1e-300)]), .many([.string("it's"), .date(1)]), .many([.string("a\u{0}b"), .date(0.1)]),
        ]
        let missing = (0..<others).map { UniqueKey.many([.string("missing"), .date(Double($0))]) }
        let found = try fixture.store.objects(of: try fixture.entity("Pair"), constraint: 0, keys: missing + keys)
        #expect(found.mapValues(\.id) == [keys[0]: plain, keys[2]: pair])
        let plainKeys = Array(keys.prefix(2)) + missing
        #expect(try fixture.store.objects(of: try fixture.entity("Pair"), constraint: 0, keys: plainKeys).mapValues(\.id) == [keys[0]: plain])
        let tokens = try fixture.entity("Token")
        let uuids = (0...others).map { _ in UniqueKey.one(.uuid(UUID())) }, amounts = (0...others).map { UniqueKey.one(.decimal(Decimal($0))) }
        #expect(try fixture.store.objects(of: tokens, constraint: 0, keys: uuids + [.one(.uuid(uuid))]).values.map(\.id) == [token])
        #expect(try fixture.store.objects(of: tokens, constraint: 1, keys: amounts + [.one(.decimal(amount))]).values.map(\.id) == [token])
    }

    @Test func theIndexAnswersTheLookUp() throws {
        let fixture = try StoreFixture(StoreModels.keys())
        let plan = try fixture.shell.rows(
            "EXPLAIN QUERY PLAN SELECT t.Z_PK FROM json_each('[1]') AS k CROSS JOIN ZCITY AS t WHERE t.ZNUMBER = k.value")
        #expect(plan.contains { $0.joined().contains("USING COVERING INDEX Z_City_UNIQUE_number") })
        let partial = try fixture.shell.rows(
            "EXPLAIN QUERY PLAN SELECT t.* FROM json_each('[1]') AS k CROSS JOIN ZITEM AS t WHERE t.ZTAG = k.value AND t.Z_ENT IN (3)")
        #expect(partial.contains { $0.joined().contains("Z_Labelled_UNIQUE_tag") })
    }

    @Test func anEntityFindsOnlyItsOwnObjectsByAnInheritedKey() throws {
        let fixture = try StoreFixture(StoreModels.keys())
        let labelled = try fixture.insert("Labelled", ["serial": .int64(1)])
        try fixture.insert("Plain", ["serial": .int64(2)])
        let keys: [UniqueKey] = [.one(.int64(1)), .one(.int64(2))]
        #expect(try fixture.store.objects(of: try fixture.entity("Item"), constraint: 0, keys: keys).count == 2)
        #expect(try fixture.store.objects(of: try fixture.entity("Labelled"), constraint: 0, keys: keys).values.map(\.id) == [labelled])
    }
}
