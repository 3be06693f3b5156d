import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// One random life of several stores: edits of several contexts, saves that fail, and after each what must be so.
struct SeveralStoresRun {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let seed: Int
    private let stores: SeveralStores
    /// A child of the first, if there is one, is what edits and saves through.
    private let contexts: [NSManagedObjectContext]
    private var random: SeededRandom
    private var log: [String] = []

    /// What went wrong with this seed; nil: nothing.
    static func failure(seed: Int, withFiles: Bool) throws -> Failure? {
        var random = SeededRandom(seed: seed + 1)
        for _ in 0..<8 { _ = random.next() }
        let count = 2 + random.next(upTo: 2)
        let usable = withFiles ? StoreKind.allCases : [.memory, .json]
        var kinds = (0..<count).map { _ in usable[random.next(upTo: usable.count)] }
        if withFiles { kinds[random.next(upTo: count)] = .file }
        let stores = try SeveralStores(kinds, isSharedByTwo: withFiles && random.next(upTo: 2) == 0)
        let first = stores.context()
        var contexts = [first, stores.context()]
        if random.next(upTo: 3) == 0 { contexts[0] = stores.child(of: first) }
        if let beside = stores.beside { contexts.append(stores.context(on: beside)) }
        var run = Self(seed: seed, stores: stores, contexts: contexts, random: random)
        do {
            try holding(first, contexts[1]) { () throws in
                try holding(contexts[0], contexts[contexts.count - 1]) { () throws in
                    for _ in 0..<12 { try run.step() }
                }
            }
            return nil
        } catch {
            let kinds = kinds.map(\.rawValue).joined(separator: ", ")
            return Failure(description: "seed \(seed) (\(kinds)): \(error)\n  \(run.log.joined(separator: "\n  "))")
        }
    }

    private init(seed: Int, stores: SeveralStores, contexts: [NSManagedObjectContext], random: SeededRandom) {
        self.seed = seed
        self.stores = stores
        self.contexts = contexts
        self.random = random
    }

    private mutating func step() throws {
        let number = random.next(upTo: contexts.count), context = contexts[number]
        let names = zip(SeveralStores.names, stores.kinds).filter { number < 2 || $0.1 == .file }.map(\.0)
        for _ in 0...random.next(upTo: 5) { try edit(context, number, names) }
        if random.next(upTo: 4) == 0 { return }
        try save(context, number)
        if random.next(upTo: 6) == 0 {
            log.append("\(number) reset")
            context.reset()
            root(of: context).reset()
        }
    }

    private func root(of context: NSManagedObjectContext) -> NSManagedObjectContext { context.parent ?? context }

    // MARK: Edits

    private mutating func edit(_ context: NSManagedObjectContext, _ number: Int, _ names: [String]) throws {
        let name = names[random.next(upTo: names.count)]
        let objects = try context.all(name).sorted { $0.objectID.key < $1.objectID.key }
        guard let object = random.element(objects), random.next(upTo: 3) > 0 else {
            let values: [String: Any] = ["key": key(), "x": x(), "y": random.next(upTo: 9)]
            let made = context.make(name, values)
            log.append("\(number) make \(name)\(made.objectID.key) \(values.sorted { $0.key < $1.key })")
            return
        }
        switch random.next(upTo: 8) {
        case 0:
            log.append("\(number) delete \(name)\(object.objectID.key)")
            context.delete(object)
        case 1:
            let key = key()
            log.append("\(number) \(name)\(object.objectID.key).key = \(key)")
            object.setValue(key, forKey: "key")
        case 2:
            guard let other = random.element(objects) else { return }
            log.append("\(number) \(name)\(object.objectID.key).links + \(other.objectID.key)")
            object.mutableSetValue(forKey: "links").add(other)
        default:
            let x = x()
            log.append("\(number) \(name)\(object.objectID.key).x = \(x)")
            object.setValue(x, forKey: "x")
        }
    }

    private mutating func key() -> String { random.next(upTo: 4) == 0 ? "k\(random.next(upTo: 4))" : "u\(random.next(upTo: 1 << 30))" }
    private mutating func x() -> Int { random.next(upTo: 16) == 0 ? SeveralStores.poison : 20 + random.next(upTo: 70) }

    // MARK: Saves

    private static let policies: [NSMergePolicy] = [
        .error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
    ]

    private mutating func save(_ context: NSManagedObjectContext, _ number: Int) throws {
        let root = root(of: context)
        root.mergePolicy = random.next(upTo: 2) == 0 ? .error : Self.policies[random.next(upTo: Self.policies.count)]
        if random.next(upTo: 5) == 0, number < 2, let (store, name) = random.element(Array(zip(stores.stores, SeveralStores.names))) {
            log.append("\(number) metadata of \(name)")
            var metadata = stores.coordinator.metadata(for: store)
            metadata["note"] = "\(log.count)"
            stores.coordinator.setMetadata(metadata, for: store)
        }
        let failing = random.next(upTo: 3) == 0 ? random.next(upTo: stores.stores.count) : nil
        if let failing, number < 2 { fail(stores.stores[failing]) }
        let before = try stores.stored(), pending = unsaved(context)
        let wasError = root.mergePolicy === NSMergePolicy.error
        log.append("\(number) save, \(root.mergePolicy.mergeType)\(failing.map { ", \(SeveralStores.names[$0]) fails" } ?? "")")
        do {
            try context.saveToStore()
            for store in stores.stores { heal(store) }
            return try checkSaved(context, pending: pending, strictly: wasError)
        } catch let failure as Failure { throw failure } catch {
            for store in stores.stores { heal(store) }
            log.append("  refused: \((error as NSError).code) \(error.localizedDescription)")
            try checkUnsaved(context, error as NSError, before: before, pending: pending)
        }
        // The cause goes away, whatever it was.
        for object in [context, root].flatMap({ $0.insertedObjects.union($0.updatedObjects) })
        where object.value(forKey: "x") as? Int == SeveralStores.poison { object.setValue(1, forKey: "x") }
        if root.mergePolicy === NSMergePolicy.error { root.mergePolicy = random.next(upTo: 2) == 0 ? .overwrite : .mergeByPropertyObjectTrump }
        log.append("\(number) save again, \(root.mergePolicy.mergeType)")
        let again = unsaved(context)
        do { try context.saveToStore() } catch {
            throw Failure(description: "without a cause the save fails: \((error as NSError).code) \(error.localizedDescription)")
        }
        try checkSaved(context, pending: again, strictly: false)
    }

    private func fail(_ store: NSPersistentStore) {
        let error = CocoaError(.persistentStoreSave)
        if let store = store as? JSONFileStore { store.failSaves(error) }
        if let store = store as? InMemoryStore {
            store.observe { request in
                if case .save = request { throw error }
            }
        }
    }

    private func heal(_ store: NSPersistentStore) {
        (store as? JSONFileStore)?.failSaves()
        (store as? InMemoryStore)?.observe(nil)
    }

    // MARK: What must be so

    /// What a context has unsaved of an object.
    private struct Unsaved: Comparable, CustomStringConvertible {
        let level: Int
        let kind: ChangeKind
        let name: String
        let key: Int64
        var isTemporary = false
        var values: [String] = []
        var links: [Int64] = []
        var changed: [String] = []

        var description: String {
            "\(kind) \(name)\(key) at \(level)\(isTemporary ? ", temporary" : ""): \(values) \(links) \(changed)"
        }

        static func < (left: Self, right: Self) -> Bool { left.description < right.description }
    }

    private static let attributes = ["key", "x", "y"]

    /// What a context and its parent have unsaved.
    private func unsaved(_ context: NSManagedObjectContext) -> [Unsaved] {
        // What follows from an edit, as from a deletion, is part of it.
        for level in [context, context.parent].compactMap({ $0 }) { level.processPendingChanges() }
        return [context, context.parent].compactMap { $0 }.enumerated().flatMap { level, context in
            let kinds: [(ChangeKind, Set<NSManagedObject>)] = [
                (.inserted, context.insertedObjects), (.updated, context.updatedObjects), (.deleted, context.deletedObjects),
            ]
            return kinds.flatMap { kind, objects in
                objects.map { object -> Unsaved in
                    var result = Unsaved(level: level, kind: kind, name: object.entity.name ?? "", key: object.objectID.key)
                    if kind == .deleted { return result }
                    result.isTemporary = object.objectID.isTemporaryID
                    result.values = Self.attributes.map { "\(object.value(forKey: $0) ?? "–")" }
                    result.links = object.objectIDs(forRelationshipNamed: "links").map(\.key).sorted()
                    if kind == .updated { result.changed = object.changedValues().keys.sorted() }
                    return result
                }
            }
        }.sorted()
    }

    private func checkUnsaved(_ context: NSManagedObjectContext, _ error: NSError, before: [String], pending: [Unsaved]) throws {
        var missing = SeveralStores.names
        if error.code == CocoaError.Code.persistentStoreIncompleteSave.rawValue {
            // All of some stores is committed, nothing of the others.
            let left = error.userInfo[NSAffectedStoresErrorKey] as? [NSPersistentStore] ?? []
            missing = zip(SeveralStores.names, stores.stores).filter { _, store in left.contains { $0 === store } }.map(\.0)
        }
        func ofMissing(_ lines: [String]) -> [String] { lines.filter { missing.contains(String($0.prefix(1))) } }
        let after = ofMissing(try stores.stored()), before = ofMissing(before)
        if after != before { throw difference("the stores after a save that failed", before, after) }
        let now = unsaved(context), wanted = pending.filter { missing.contains($0.name) }
        if now != wanted { throw difference("unsaved after a save that failed", wanted, now) }
        try checkCaches()
    }

    /// - Parameter strictly: no policy had a say, so what is stored is what was unsaved.
    private func checkSaved(_ context: NSManagedObjectContext, pending: [Unsaved], strictly: Bool) throws {
        let levels = [context, context.parent].compactMap { $0 }
        for level in levels where level.hasChanges { throw Failure(description: "unsaved after a save: \(unsaved(context))") }
        for change in pending {
            guard let coordinator = root(of: context).persistentStoreCoordinator else { continue }
            let store = try stores.store(change.name, of: coordinator), entity = coordinator.managedObjectModel.entitiesByName[change.name]
            let row = try store.fetch(FetchPlan(entity: try #require(entity))).first { $0.id.key == change.key }?.row
            let stored = Self.attributes.map { "\(row?[$0].plain ?? "–")" }
            // What the parent changed of it may be newer.
            let isNewest = change.level == levels.count - 1 || !pending.contains { $0.name == change.name && $0.key == change.key && $0 != change }
            if strictly && isNewest {
                if (row == nil) != (change.kind == .deleted) { throw Failure(description: "saved was \(change), stored is \(stored)") }
                for (index, name) in Self.attributes.enumerated() where change.kind == .inserted || change.changed.contains(name) {
                    if stored[index] != change.values[index] { throw Failure(description: "saved was \(change), stored is \(stored)") }
                }
            }
            for level in levels where row != nil {
                guard let object = level.registeredObjects.first(where: { $0.entity === entity && $0.objectID.key == change.key }) else { continue }
                let shown = Self.attributes.map { "\(object.value(forKey: $0) ?? "–")" }
                if shown != stored { throw Failure(description: "saved was \(change), stored is \(stored), its context shows \(shown)") }
            }
        }
        try checkCaches()
    }

    /// A row in the cache is what is stored, or an older version of it.
    private func checkCaches() throws {
        for coordinator in [stores.coordinator, stores.beside].compactMap({ $0 }) {
            for store in coordinator.persistentStores where !(store is JSONFileStore) {
                for name in SeveralStores.names {
                    guard let entity = coordinator.managedObjectModel.entitiesByName[name], store.keeps(entity) else { continue }
                    for found in try store.fetch(FetchPlan(entity: entity)) {
                        guard let row = found.row, let cached = coordinator.rowCache[found.id] else { continue }
                        // Behind another coordinator's back it may be older.
                        if cached.version < row.version && stores.beside != nil { continue }
                        if cached.version == row.version && Self.attributes.allSatisfy({ cached[$0] == row[$0] }) { continue }
                        throw Failure(description: "\(name)\(found.id.key) is \(cached) in the cache and \(row) in its store")
                    }
                }
            }
        }
    }

    private func difference<T: Equatable>(_ what: String, _ before: [T], _ after: [T]) -> Failure {
        let gone = before.filter { !after.contains($0) }, new = after.filter { !before.contains($0) }
        return Failure(description: "\(what): gone \(gone), new \(new)")
    }
}
