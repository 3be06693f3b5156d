import Foundation
import GRDB
import Synchronization
import Testing

@testable import OpenCoreData

/// Keys for objects that may be assigned to any of several stores.
@Suite struct KeyReservoirTests {
    private static func id(_ entity: NSEntityDescription, _ key: Int64) -> NSManagedObjectID {
        NSManagedObjectID(entity: entity, key: key, store: .unbound, isTemporary: true)
    }

    // S9
    @Test func anotherStoreThatIsBusyCostsNoKeys() throws {
        let first = try StoreFixture(StoreModels.animals()), entity = try first.entity("Person"), reservoir = KeyReservoir()
        let second = try StoreFixture(first.model, options: [NSPersistentStoreTimeoutOption: 0.1])
        let other = try DatabaseQueue(path: second.file.path)
        defer { try? other.close() }
        try other.inDatabase { database in
            try database.inTransaction(.immediate) {
                let keys = (0..<3).map { _ in reservoir.key(for: entity, in: first.store, beside: [second.store]) }
                #expect(keys == [1, 2, 3])
                return .rollback
            }
        }
        // It has not taken them, but has given none out either.
        #expect(try second.store.largestKey(for: entity) == 0)
        #expect(reservoir.takes(Self.id(entity, 3), second.store) && !reservoir.takes(Self.id(entity, 2), second.store))
        #expect(reservoir.key(for: entity, in: first.store, beside: [second.store]) == 4)
    }

    // S9
    @Test func anotherStoreThatIsClosedCostsNoKeys() throws {
        let first = try StoreFixture(StoreModels.animals()), entity = try first.entity("Person"), reservoir = KeyReservoir()
        let second = try StoreFixture(first.model)
        try second.store.close()
        #expect((0..<3).map { _ in reservoir.key(for: entity, in: first.store, beside: [second.store]) } == [1, 2, 3])
    }

    // S9
    @Test(arguments: [true, false]) func aKeyIsTakenByOneOfThoseWhoAskAtOnce(_ isFile: Bool) throws {
        let fixture = try StoreFixture(StoreModels.animals()), entity = try fixture.entity("Person"), second = try fixture.second()
        defer { try? second.close() }
        let memory = InMemoryStore(entities: fixture.model.entities), reservoirs = [KeyReservoir(), KeyReservoir()]
        let stores: [NSPersistentStore] = isFile ? [fixture.store, second] : [memory, memory]
        for round in 1...Int64(isFile ? 200 : 2000) {
            let id = Self.id(entity, round), takers = Mutex(0)
            DispatchQueue.concurrentPerform(iterations: 2) { number in
                if reservoirs[number].takes(id, stores[number]) { takers.withLock { $0 += 1 } }
            }
            try #require(takers.withLock { $0 } == 1, "key \(round)")
        }
    }

    @Test(arguments: [true, false]) func keysAreTakenAboveAllThatWereGivenOut(_ isFile: Bool) throws {
        let fixture = try StoreFixture(StoreModels.animals()), entity = try fixture.entity("Person")
        let store: NSPersistentStore = isFile ? fixture.store : InMemoryStore(entities: fixture.model.entities)
        #expect(try store.takeKeys(10...20, for: entity) && store.largestKey(for: entity) == 20)
        #expect(try !store.takeKeys(20...30, for: entity) && store.largestKey(for: entity) == 20)
        #expect(try store.takeKeys(21...21, for: entity) && store.largestKey(for: entity) == 21)
        #expect(try store.reserveKeys(for: entity, count: 1) == 22..<23)
    }

    // GB8: it may be full, or another program may hold it, and each question would wait as long as the first.
    @Test func aStoreThatGivesNoKeysIsNotAskedAgainForEachObject() throws {
        let fixture = try StoreFixture(StoreModels.animals()), entity = try fixture.entity("Person"), reservoir = KeyReservoir()
        let store = InMemoryStore(entities: fixture.model.entities), asked = Mutex(0)
        store.observe { request in
            guard case .reserveKeys = request else { return }
            asked.withLock { $0 += 1 }
            throw NSError.coreData(.persistentStoreSave, "busy")
        }
        let keys = (0..<3000).map { _ in reservoir.key(for: entity, in: store) }
        #expect(Set(keys).count == 3000 && keys.allSatisfy(UnreservedKeys.contains))
        #expect(asked.withLock { $0 } == 2)
    }

    // GB8: what is given back is given out again.
    @Test func keysThatNoStoreWasAskedForAreNotGivenBackToOne() throws {
        let fixture = try StoreFixture(StoreModels.animals(), options: [NSPersistentStoreTimeoutOption: 0.1])
        let entity = try fixture.entity("Person"), reservoir = KeyReservoir(), other = try DatabaseQueue(path: fixture.file.path)
        defer { try? other.close() }
        try other.inDatabase { database in
            try database.inTransaction(.immediate) {
                #expect(UnreservedKeys.contains(reservoir.key(for: entity, in: fixture.store)))
                return .rollback
            }
        }
        reservoir.release(to: fixture.store)
        #expect(try fixture.store.reserveKeys(for: entity, count: 1) == 1..<2)
    }

    // GB8: another program may hold the file from the first save on.
    @Test func manyObjectsAfterASaveOfOneNeedNoTransaction() throws {
        let fixture = try StoreFixture(StoreModels.animals()), entity = try fixture.entity("Person"), reservoir = KeyReservoir()
        var changes = ChangeSet()
        try fixture.insert("Person", [:], into: &changes)
        try fixture.save(changes)
        let before = fixture.store.statements.current
        let keys = (0..<3000).map { _ in reservoir.key(for: entity, in: fixture.store) }
        #expect(Set(keys).count == 3000 && !keys.contains(where: UnreservedKeys.contains))
        #expect(fixture.store.statements.current == before)
    }
}
