import Foundation
import GRDB
import OpenCoreData
import TestTraits
import Testing

/// A search: whatever a model was and becomes, what is stored is afterwards what it was, and the file is one of the new model.
struct MigrationPropertyTests {
    // G2, G4
    @Test(.longComputation, arguments: 0..<4) func whatIsStoredOutlivesAnyChangeThatCanBeInferred(_ part: Int) throws {
        try search(part * 9..<(part + 1) * 9)
    }
}

/// The same, ten thousand times: `make stress`.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["CISTERN_STRESS"] == "1", "runs under make stress"))
struct MigrationPropertyStress {
    @Test(arguments: 0..<100) func whatIsStoredOutlivesTenThousandChanges(_ part: Int) throws {
        try search(1_000_000 + part * 100..<1_000_000 + (part + 1) * 100)
    }
}

/// Stops at the first finding.
private func search(_ seeds: Range<Int>) throws {
    for seed in seeds {
        var run = MigrationRun(seed: UInt64(seed))
        do { try run.run() } catch {
            Issue.record("seed \(seed): \(error)")
            return
        }
    }
}

/// Objects by what the test knows of them, beside a store that goes through several versions of its model.
private struct MigrationRun {
    struct Finding: Error, CustomStringConvertible {
        let description: String
    }

    struct Object {
        let entity: Int
        /// As text, by number of the attribute.
        var values: [Int: String]
    }

    let seed: UInt64
    private var random: SeededGenerator
    private var spec: MigrationSpec
    private var objects: [Int64: Object] = [:]
    /// Owner and member, by number of the relationship, in the order of an owner's members.
    private var links: [Int: [(owner: Int64, member: Int64)]] = [:]
    /// The relationships whose members have had an order ever since there were any.
    private var ordered: Set<Int> = []
    private let folder: URL
    private let options: [AnyHashable: Any]
    private let isConstrained: Bool
    private var words: [String] = []
    private var lastTag: Int64 = 0

    init(seed: UInt64) {
        self.seed = seed
        random = SeededGenerator(seed: seed &* 7919)
        spec = .random(using: &random)
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("migration-\(UUID().uuidString)")
        isConstrained = Bool.random(using: &random)
        var options: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            NSSQLitePragmasOption: ["synchronous": "OFF"],
        ]
        if Bool.random(using: &random) { options[SQLiteRowSumsOption] = true }
        if Bool.random(using: &random) { options[NSPersistentHistoryTrackingKey] = true }
        self.options = options
    }

    private var file: URL { folder.appendingPathComponent("store.sqlite") }

    mutating func run() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try inStore { try $0.fill($1) }
        for _ in 0..<3 {
            let (next, changes) = spec.changed(using: &random)
            words += changes + ["|"]
            let before = spec.model(constrained: isConstrained)
            carry(to: next)
            do {
                if isByManager { try migrate(from: before) }
                try inStore { try $0.compare($1) }
                try checkFile()
                try inStore { try $0.goOn($1) }
                try inStore { try $0.compare($1) }
            } catch { throw Finding(description: "\(error) after \(words.joined(separator: ", "))") }
        }
    }

    private mutating func inStore(_ body: (inout MigrationRun, NSManagedObjectContext) throws -> Void) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: spec.model(constrained: isConstrained))
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: options)
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        var copy = self
        try context.performAndWait { try body(&copy, context) }
        self = copy
        try coordinator.remove(store)
    }

    /// One life in three goes object by object into new files.
    private var isByManager: Bool { seed % 3 == 2 }

    private func migrate(from before: NSManagedObjectModel) throws {
        let made = folder.appendingPathComponent("made.sqlite")
        try NSMigrationManager(sourceModel: before, destinationModel: spec.model(constrained: isConstrained)).migrateStore(
            from: file, sourceType: NSSQLiteStoreType, options: options, with: nil, toDestinationURL: made, destinationType: NSSQLiteStoreType,
            destinationOptions: options)
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
        try FileManager.default.moveItem(at: made, to: file)
    }

    // MARK: Making

    private mutating func fill(_ context: NSManagedObjectContext) throws {
        let made = try insert(Int.random(in: 5...30, using: &random), context)
        for pair in spec.pairs { link(pair, made) }
        try context.save()
    }

    /// As much as an object can be used that was there before, and a new one beside it.
    private mutating func goOn(_ context: NSManagedObjectContext) throws {
        let made = try insert(3, context)
        for pair in spec.pairs where links[pair.id] == nil { link(pair, made) }
        try context.save()
    }

    private mutating func insert(_ count: Int, _ context: NSManagedObjectContext) throws -> [Int64: NSManagedObject] {
        var made: [Int64: NSManagedObject] = [:]
        for _ in 0..<count {
            guard let entity = spec.entities.filter({ !$0.isAbstract }).randomElement(using: &random) else { break }
            let object = NSEntityDescription.insertNewObject(forEntityName: entity.name, into: context)
            lastTag += 1
            object.setValue(lastTag, forKey: "tag")
            var known = Object(entity: entity.id, values: [:])
            for attribute in spec.attributes(entity.id) {
                if Int.random(in: 0..<3, using: &random) > 0 || !attribute.isOptional {
                    object.setValue(MigrationValues.value(attribute.type, Int.random(in: 0..<100, using: &random))?.base, forKey: attribute.name)
                }
                known.values[attribute.id] = MigrationValues.text(object.value(forKey: attribute.name))
            }
            objects[lastTag] = known
            made[lastTag] = object
        }
        return made
    }

    private mutating func link(_ pair: MigrationSpec.Pair, _ made: [Int64: NSManagedObject]) {
        let owners = made.keys.filter { spec.isKind(objects[$0]?.entity ?? 0, of: pair.forth.owner) }.sorted()
        let members = made.keys.filter { spec.isKind(objects[$0]?.entity ?? 0, of: pair.target) }.sorted()
        var taken: [(owner: Int64, member: Int64)] = []
        for _ in 0..<Int.random(in: 0...8, using: &random) {
            guard let owner = owners.randomElement(using: &random), let member = members.randomElement(using: &random) else { break }
            if taken.contains(where: { $0.owner == owner && ($0.member == member || !pair.forth.isToMany) }) { continue }
            if pair.back?.isToMany == false, taken.contains(where: { $0.member == member }) { continue }
            taken.append((owner, member))
        }
        for owner in Set(taken.map(\.owner)).sorted() {
            let members = taken.filter { $0.owner == owner }.compactMap { made[$0.member] }
            let value: Any? =
                !pair.forth.isToMany ? members.first : pair.forth.isOrdered ? NSOrderedSet(array: members) as Any : Set(members) as Any
            made[owner]?.setValue(value, forKey: pair.forth.name)
        }
        links[pair.id] = taken
        if pair.forth.isToMany && pair.forth.isOrdered { ordered.insert(pair.id) }
    }

    // MARK: What is expected

    private mutating func carry(to next: MigrationSpec) {
        for (tag, object) in objects {
            guard next.entity(object.entity) != nil else {
                objects[tag] = nil
                continue
            }
            var values: [Int: String] = [:]
            let before = Set(spec.attributes(object.entity).map(\.id))
            for attribute in next.attributes(object.entity) {
                let known = before.contains(attribute.id) ? object.values[attribute.id] : MigrationValues.text(attribute.initial?.base)
                values[attribute.id] = known == "nil" && !attribute.isOptional ? MigrationValues.text(attribute.initial?.base) : known
            }
            objects[tag]?.values = values
        }
        for (id, known) in links {
            guard let pair = next.pairs.first(where: { $0.id == id }) else {
                links[id] = nil
                continue
            }
            if !pair.forth.isOrdered { ordered.remove(id) }
            links[id] = known.filter { link in
                guard let owner = objects[link.owner], let member = objects[link.member] else { return false }
                return next.isKind(owner.entity, of: pair.forth.owner) && next.isKind(member.entity, of: pair.target)
            }
        }
        spec = next
    }

    // MARK: What is there

    private func compare(_ context: NSManagedObjectContext) throws {
        var found: [Int64: NSManagedObject] = [:]
        for root in spec.entities where root.parent == nil {
            for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: root.name)) {
                guard let tag = object.value(forKey: "tag") as? Int64 else { throw Finding(description: "an object of \(root.name) has no tag") }
                if found.updateValue(object, forKey: tag) != nil { throw Finding(description: "object \(tag) is there twice") }
            }
        }
        if Set(found.keys) != Set(objects.keys) {
            throw Finding(description: "objects \(found.keys.sorted()) instead of \(objects.keys.sorted())")
        }
        for (tag, known) in objects.sorted(by: { $0.key < $1.key }) {
            guard let object = found[tag], let entity = spec.entity(known.entity) else { continue }
            if object.entity.name != entity.name {
                throw Finding(description: "object \(tag) is of \(object.entity.name ?? "?"), not \(entity.name)")
            }
            for attribute in spec.attributes(known.entity) {
                let value = MigrationValues.text(object.value(forKey: attribute.name)), expected = known.values[attribute.id]
                if value != expected {
                    throw Finding(description: "\(entity.name).\(attribute.name) of object \(tag) is \(value) instead of \(expected ?? "nothing")")
                }
            }
        }
        for pair in spec.pairs { try compare(pair, found) }
    }

    private func compare(_ pair: MigrationSpec.Pair, _ found: [Int64: NSManagedObject]) throws {
        let known = links[pair.id] ?? []
        for (tag, object) in found where spec.isKind(objects[tag]?.entity ?? 0, of: pair.forth.owner) {
            let members = Self.tags(object.value(forKey: pair.forth.name)), expected = known.filter { $0.owner == tag }.map(\.member)
            let isSame = ordered.contains(pair.id) ? members == expected : members.sorted() == expected.sorted()
            if !isSame { throw Finding(description: "\(pair.forth.name) of object \(tag) is \(members) instead of \(expected)") }
        }
        guard let back = pair.back else { return }
        for (tag, object) in found where spec.isKind(objects[tag]?.entity ?? 0, of: pair.target) {
            let owners = Self.tags(object.value(forKey: back.name)).sorted(), expected = known.filter { $0.member == tag }.map(\.owner).sorted()
            if owners != expected { throw Finding(description: "\(back.name) of object \(tag) is \(owners) instead of \(expected)") }
        }
    }

    private static func tags(_ value: Any?) -> [Int64] {
        let objects: [NSManagedObject] =
            switch value {
            case let object as NSManagedObject: [object]
            case let set as Set<NSManagedObject>: Array(set)
            case let set as NSOrderedSet: set.compactMap { $0 as? NSManagedObject }
            default: []
            }
        return objects.compactMap { $0.value(forKey: "tag") as? Int64 }
    }

    // MARK: The file

    /// The file is as a new one would be.
    private func checkFile() throws {
        let verification = try SQLiteStoreVerification.verify(file)
        if !verification.isSound { throw Finding(description: "the file is not sound: \(verification)") }
        let other = folder.appendingPathComponent("fresh.sqlite")
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: other.path + suffix) } }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: spec.model(constrained: isConstrained))
        let store = try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: other, options: options)
        try coordinator.remove(store)
        let mine = try Self.form(of: file), fresh = try Self.form(of: other)
        let differences = mine.symmetricDifference(fresh).sorted()
        if !differences.isEmpty { throw Finding(description: "the file's form differs: \(differences)") }
    }

    /// Tables, columns, indexes and views, without the numbers of entities, which a migrated file keeps.
    private static func form(of file: URL) throws -> Set<String> {
        let queue = try DatabaseQueue(path: file.path)
        defer { try? queue.close() }
        return try queue.read { database in
            let columns = try String.fetchAll(
                database,
                sql:
                    "SELECT m.name || '.' || c.name || ' ' || c.type FROM sqlite_master AS m, pragma_table_info(m.name) AS c WHERE m.type IN ('table', 'view')"
            )
            let indexes = try String.fetchAll(database, sql: "SELECT 'index ' || coalesce(sql, name) FROM sqlite_master WHERE type = 'index'")
            return Set(
                (columns + indexes).map { text in
                    text.replacing(#/Z_(FOK_)?\d+/#, with: "Z_#").replacing(#/Z\d+_/#, with: "Z#_").replacing(#/IN \([\d, ]+\)/#, with: "IN (#)")
                        .replacing(#/autoindex_.*/#, with: "autoindex")
                })
        }
    }
}
