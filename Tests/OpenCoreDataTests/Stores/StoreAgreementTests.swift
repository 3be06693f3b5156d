import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// All kinds of store hold the same after the same changes, also when they are opened again.
@Suite(.timeLimit(.minutes(60))) struct StoreAgreementTests {
    static let types = [
        NSInMemoryStoreType, NSSQLiteStoreType, NSBinaryStoreType, NSXMLStoreType, JSONFileStore.storeType, ListFileStore.storeType,
    ]

    // S1, S7
    @Test(arguments: 0..<12) func theSameChangesLeaveTheSameInEveryKindOfStore(seed: UInt64) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("agreement-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let stacks = try Self.types.map { try AgreementStack($0, at: folder.appendingPathComponent($0)) }
        var script = RandomChanges(seed: seed)
        for step in 0..<12 {
            let changes = script.next()
            var dumps: [[String]] = []
            for stack in stacks {
                try stack.apply(changes)
                dumps.append(try stack.dump())
            }
            for (stack, dump) in zip(stacks, dumps).dropFirst() where dump != dumps[0] {
                Issue.record("seed \(seed), step \(step): \(stack.type) differs: \(Set(dump).symmetricDifference(dumps[0]).sorted())")
                return
            }
            guard step % 4 == 3 else { continue }
            for stack in stacks where stack.type != NSInMemoryStoreType {
                try stack.reopen()
                let again = try stack.dump()
                #expect(again == dumps[0], "seed \(seed), step \(step): \(stack.type), opened again")
            }
        }
    }
}

/// One store with a context, whatever type it is.
private final class AgreementStack {
    let type: String
    private let url: URL
    private var coordinator: NSPersistentStoreCoordinator
    private var context: NSManagedObjectContext

    init(_ type: String, at url: URL) throws {
        _ = JSONFileStore.isRegistered
        _ = ListFileStore.isRegistered
        self.type = type
        self.url = url
        (coordinator, context) = try Self.open(type, url)
    }

    deinit { for store in coordinator.persistentStores { try? coordinator.remove(store) } }

    private static func open(_ type: String, _ url: URL) throws -> (NSPersistentStoreCoordinator, NSManagedObjectContext) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: StoreModels.relations())
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return (coordinator, context)
    }

    /// As a new process would find it.
    func reopen() throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        (coordinator, context) = try Self.open(type, url)
    }

    func apply(_ changes: [RandomChanges.Change]) throws {
        try context.performAndWait { () throws in
            for change in changes { try carryOut(change) }
            try context.save()
        }
    }

    private func carryOut(_ change: RandomChanges.Change) throws {
        switch change {
        case .insert(let entity, let name): context.make(entity, [RandomChanges.names[entity] ?? "": name])
        case .rename(let entity, let name, let new): try object(entity, name)?.setValue(new, forKey: RandomChanges.names[entity] ?? "")
        case .delete(let entity, let name): if let object = try object(entity, name) { context.delete(object) }
        case .one(let entity, let name, let key, let target, let other):
            try object(entity, name)?.setValue(try other.flatMap { try object(target, $0) }, forKey: key)
        case .many(let entity, let name, let key, let target, let members):
            guard let owner = try object(entity, name) else { return }
            let found = try members.compactMap { try object(target, $0) }
            let isOrdered = owner.entity.relationshipsByName[key]?.isOrdered == true
            owner.setValue(isOrdered ? NSOrderedSet(array: found) as Any : Set(found) as Any, forKey: key)
        }
    }

    private func object(_ entity: String, _ name: String) throws -> NSManagedObject? {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: "%K == %@", RandomChanges.names[entity] ?? "", name)
        return try context.fetch(request).first
    }

    /// Every object with its relationships, by name, as a context finds it that knows nothing yet.
    func dump() throws -> [String] {
        let fresh = NSManagedObjectContext(.privateQueueConcurrencyType)
        fresh.persistentStoreCoordinator = coordinator
        return try fresh.performAndWait { () throws in
            func name(_ object: NSManagedObject) -> String {
                let entity = object.entity.name ?? ""
                return "\(entity) \(object.value(forKey: RandomChanges.names[entity] ?? "") ?? "nil")"
            }
            var lines: [String] = []
            for entity in RandomChanges.names.keys.sorted() {
                for object in try fresh.all(entity) {
                    var line = name(object)
                    for (key, relationship) in object.entity.relationshipsByName.sorted(by: { $0.key < $1.key }) {
                        let members: [NSManagedObject] =
                            switch object.value(forKey: key) {
                            case let ordered as NSOrderedSet: ordered.array.compactMap { $0 as? NSManagedObject }
                            case let set as Set<NSManagedObject>: Array(set)
                            case let one as NSManagedObject: [one]
                            default: []
                            }
                        let names = members.map(name)
                        line += " \(key): \(relationship.isOrdered ? names : names.sorted())"
                    }
                    lines.append(line)
                }
            }
            return lines.sorted()
        }
    }
}

/// Random changes over `StoreModels.relations()`, the same for the same seed; every object has a name of its own.
private struct RandomChanges {
    enum Change {
        case insert(String, String)
        case rename(String, String, String)
        case delete(String, String)
        case one(String, String, key: String, target: String, String?)
        case many(String, String, key: String, target: String, [String])
    }

    static let names = ["Author": "name", "Book": "title", "Tag": "word"]
    private static let manys = [
        ("Author", "books", "Book"), ("Author", "seen", "Book"), ("Author", "friends", "Author"), ("Book", "tags", "Tag"),
        ("Book", "chapters", "Tag"),
        ("Tag", "books", "Book"), ("Tag", "chapterOf", "Book"),
    ]

    private var numbers: SeededNumbers
    private var count = 0
    private var living: [String: [String]] = ["Author": [], "Book": [], "Tag": []]

    init(seed: UInt64) { numbers = SeededNumbers(seed: seed &* 6_364_136_223 &+ 11) }

    mutating func next() -> [Change] { (0..<Int.random(in: 1...8, using: &numbers)).flatMap { _ in change() } }

    private mutating func change() -> [Change] {
        let entity = ["Author", "Book", "Tag"].randomElement(using: &numbers) ?? "Tag"
        switch Int.random(in: 0..<12, using: &numbers) {
        case 0..<4: return [insert(entity)]
        case 4:
            guard let name = living[entity]?.randomElement(using: &numbers) else { return [insert(entity)] }
            living[entity]?.removeAll { $0 == name }
            return [.delete(entity, name)]
        case 5:
            guard let name = living[entity]?.randomElement(using: &numbers) else { return [insert(entity)] }
            count += 1
            let new = "renamed \(count)"
            living[entity]?.removeAll { $0 == name }
            living[entity]?.append(new)
            return [.rename(entity, name, new)]
        case 6..<8:
            guard let book = living["Book"]?.randomElement(using: &numbers) else { return [insert("Book")] }
            return [.one("Book", book, key: "author", target: "Author", living["Author"]?.randomElement(using: &numbers))]
        default:
            let (entity, key, target) = Self.manys.randomElement(using: &numbers) ?? Self.manys[0]
            guard let name = living[entity]?.randomElement(using: &numbers) else { return [insert(entity)] }
            let members = (living[target] ?? []).shuffled(using: &numbers).prefix(Int.random(in: 0...4, using: &numbers))
            return [.many(entity, name, key: key, target: target, Array(members))]
        }
    }

    private mutating func insert(_ entity: String) -> Change {
        count += 1
        living[entity]?.append("\(count)")
        return .insert(entity, "\(count)")
    }
}
