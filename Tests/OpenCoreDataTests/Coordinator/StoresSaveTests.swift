import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// One save into several stores, without a coordinator's context.
@Suite struct StoresSaveTests {
    private func parts(_ stores: [NSPersistentStore]) -> [StoresSave.Part] {
        stores.map { StoresSave.Part(store: $0, changes: ChangeSet()) }
    }

    @Test(arguments: [false, true]) func theMarkOfAPushJournalGoesWithTheLastTransaction(
        isReversed: Bool
    ) throws {
        let stores = try SeveralStores([.memory, .file])
        let memory = stores.stores[0]
        let file = stores.stores[1]
        try StoresSave(
            parts(isReversed ? [file, memory] : [memory, file]), journaled: 3...5, conflict: nil
        ).run()
        #expect(try file.pushMark == 5 && memory.pushMark == 0)
    }

    @Test(arguments: [false, true]) func withoutATransactionItGoesWithTheLastThatCommits(
        isReversed: Bool
    ) throws {
        let stores = try SeveralStores([.memory, .memory]).stores.sorted {
            ($0.identifier ?? "") < ($1.identifier ?? "")
        }
        try StoresSave(parts(isReversed ? stores.reversed() : stores), journaled: 3...5, conflict: nil)
            .run()
        #expect(try stores.map { try $0.pushMark } == [0, 5])
    }

    @Test func conflictsOfAllStoresAreThrownTogetherAndVersionsFirst() throws {
        let stores = try SeveralStores([.memory, .memory])
        func id(_ name: String, _ key: Int64) throws -> NSManagedObjectID {
            let entity = try #require(stores.coordinator.managedObjectModel.entitiesByName[name])
            return NSManagedObjectID(
                entity: entity, key: key, store: try stores.store(name).identity, isTemporary: false)
        }
        let gone = try ["P", "Q"].map { try id($0, 7) }
        let new = try ["P", "Q"].map { name in try (1...2).map { try id(name, $0) } }
        func row(_ id: NSManagedObjectID) throws -> RowSnapshot {
            let row = RowSnapshot.make(id.layout, version: 3)
            row.update(try #require(id.layout.slot(of: "key")), to: .string("k"))
            return row
        }
        func found(watching: Int, keyed: [Int]) throws -> StoreConflict? {
            var parts = parts(stores.stores)
            for number in 0..<2 {
                if number < watching { parts[number].changes.watched[gone[number]] = try row(gone[number]) }
                guard keyed.contains(number) else { continue }
                for id in new[number] {
                    parts[number].changes.set(
                        id, PendingRow(kind: .inserted, row: try row(id).copy(version: 0)))
                }
            }
            let save = StoresSave(parts, journaled: nil, conflict: nil)
            let error = #expect(throws: StoreConflict.self) { try save.run() }
            #expect(
                save.committed.isEmpty && stores.stores.allSatisfy { ($0 as? InMemoryStore)?.rowCount == 0 }
            )
            return error
        }
        if case .versions(let conflicts)? = try found(watching: 2, keyed: []) {
            #expect(Set(conflicts.map(\.id)) == Set(gone))
        } else {
            Issue.record("no versions")
        }
        if case .constraints(let conflicts)? = try found(watching: 0, keyed: [0, 1]) {
            #expect(Set(conflicts.map(\.id)) == [new[0][1], new[1][1]])
        } else {
            Issue.record("no keys")
        }
        if case .versions(let conflicts)? = try found(watching: 1, keyed: [1]) {
            #expect(conflicts.map(\.id) == [gone[0]])
        } else {
            Issue.record("versions do not come first")
        }
    }

    @Test func referencesToNobodyAreThrownAsSuch() throws {
        let model = Company.model()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let stores = [InMemoryStore(entities: model.entities), InMemoryStore(entities: model.entities)]
        for store in stores { coordinator.add(store) }
        let entity = try #require(model.entitiesByName["Person"])
        let department = try #require(model.entitiesByName["Department"])
        let id = NSManagedObjectID(
            entity: entity, key: 1, store: stores[0].identity, isTemporary: false)
        let row = RowSnapshot.defaults(id.layout).copy()
        let gone = NSManagedObjectID(
            entity: department, key: 1, store: stores[0].identity, isTemporary: false)
        row.update(try #require(id.layout.slot(of: "department")), to: .objectID(gone))
        var parts = parts(stores)
        parts[0].changes.set(id, PendingRow(kind: .inserted, row: row))
        let error = #expect(throws: StoreConflict.self) {
            try StoresSave(parts, journaled: nil, conflict: nil).run()
        }
        if case .references(let found)? = error {
            #expect(found.map(\.target) == [gone])
        } else {
            Issue.record("no references")
        }
    }
}
