import Foundation
import OpenCoreDataTestSupport

@testable import OpenCoreData

/// One chain of contexts over one store, in which a script imports rows in blocks and does what else may meet them.
///
/// - root, with main and side below it, two workers below main, and another coordinator on the same file.
final class BlockWorld {
    /// Whether every block is opened as soon as it is made: then its rows are what rows always were.
    private let isDissolving: Bool
    private let coordinator: NSPersistentStoreCoordinator
    private let contexts: [NSManagedObjectContext]
    private let stranger: NSManagedObjectContext?
    private let folder: URL?
    private let entity: NSEntityDescription
    /// How many blocks were written to the file without anybody having looked into them.
    private(set) var sealedBlocks = 0
    private var imports: [Int: RowImport] = [:]

    static let names = ["root", "main", "side", "one", "two"]

    static func model() -> NSManagedObjectModel {
        let place = Company.entity("Place")
        place.properties = [
            Company.attribute("code", .string, optional: false), Company.attribute("size", .integer16, default: 7),
            Company.attribute("text", .string),
            Company.attribute("at", .date), Company.attribute("share", .double), Company.attribute("isOpen", .boolean),
            Company.attribute("tag", .uuid),
        ]
        place.uniquenessConstraints = [["code"]]
        return NSManagedObjectModel(entities: [place])
    }

    init(isFile: Bool, policy: NSMergePolicy, isDissolving: Bool, hasHistory: Bool) throws {
        self.isDissolving = isDissolving
        let model = Self.model()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        self.coordinator = coordinator
        if isFile {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("blocks-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let url = folder.appendingPathComponent("store.sqlite", isDirectory: false)
            let options: [AnyHashable: Any] = [SQLiteRowSumsOption: true, NSPersistentHistoryTrackingKey: hasHistory]
            try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
            // Some blocks are on the heap, the others in a file.
            coordinator.blockSpillLimits.heap = 500
            coordinator.blockSpillLimits.leavesFree = 0
            let other = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
            try other.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
            let stranger = NSManagedObjectContext(.privateQueueConcurrencyType)
            stranger.persistentStoreCoordinator = other
            self.folder = folder
            self.stranger = stranger
        } else {
            try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: nil)
            (folder, stranger) = (nil, nil)
        }
        entity = model.entitiesByName["Place"].unsafelyUnwrapped
        func context(_ name: String, _ parent: NSManagedObjectContext?) -> NSManagedObjectContext {
            let context = NSManagedObjectContext(.privateQueueConcurrencyType)
            context.name = name
            if let parent { context.parent = parent } else { context.persistentStoreCoordinator = coordinator }
            context.mergePolicy = policy
            return context
        }
        let root = context("root", nil), main = context("main", root)
        contexts = [root, main, context("side", root), context("one", main), context("two", main)]
        contexts[3].parentConflictPolicy = .error
        contexts[3].materializesNotificationObjects = false
    }

    func close() {
        for store in coordinator.persistentStores { try? coordinator.remove(store) }
        if let folder { try? FileManager.default.removeItem(at: folder) }
    }

    /// What a step comes to, in words that say nothing of identities.
    func run(_ step: BlockStep) -> String {
        do {
            switch step {
            case .foreign(let code, let size):
                guard let stranger else { return "nobody" }
                return try stranger.performAndWait {
                    defer { stranger.reset() }
                    let found = try Self.find(code, in: stranger) ?? NSManagedObject(entity: try Self.place(stranger), insertInto: stranger)
                    found.setValue(code, forKey: "code")
                    found.setValue(size, forKey: "size")
                    try stranger.save()
                    return "done"
                }
            case .inContext(let number, let action):
                let context = contexts[number]
                return try context.performAndWait { try act(action, number, in: context) }
            case .saveUp(let number):
                var next: NSManagedObjectContext? = contexts[number]
                while let context = next, let number = contexts.firstIndex(of: context) {
                    _ = try context.performAndWait { try act(.save, number, in: context) }
                    next = context.parent
                }
                return "done"
            }
        } catch {
            return "refused \((error as NSError).code)"
        }
    }

    private func act(_ action: BlockStep.Action, _ number: Int, in context: NSManagedObjectContext) throws -> String {
        switch action {
        case .importBlock(let codes, let size): return try importBlock(codes, size, number, in: context)
        case .importRows(let codes, let size):
            return try importRows(codes, in: context, SlotSet(["code", "size"].compactMap { entity.layout.slot(of: $0) })) { values($0, size) }
        case .make(let code, let size):
            let object = NSManagedObject(entity: try Self.place(context), insertInto: context)
            object.setValue(code, forKey: "code")
            object.setValue(size, forKey: "size")
        case .change(let code, let size):
            guard let object = try Self.find(code, in: context) else { return "nobody" }
            object.setValue(size, forKey: "size")
        case .rename(let code, let other):
            guard let object = try Self.find(code, in: context) else { return "nobody" }
            object.setValue(other, forKey: "code")
        case .delete(let code):
            guard let object = try Self.find(code, in: context) else { return "nobody" }
            context.delete(object)
        case .save:
            if number == 0 { sealedBlocks += context.level.pending.blocks.count(where: \.isSealed) }
            imports[number] = nil
            try context.save()
        case .saveThrough: try context.saveToStore()
        case .rollback: context.rollback()
        case .reset:
            imports[number] = nil
            context.reset()
        case .fetch: return try state(of: context)
        case .count: return "\(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Place")))"
        case .inserted: return "\(context.insertedObjects.count) \(context.updatedObjects.count) \(context.deletedObjects.count)"
        }
        return "done"
    }

    /// As an importer does it: what may be there already is looked up.
    private func importBlock(_ codes: [String], _ size: Int, _ number: Int, in context: NSManagedObjectContext) throws -> String {
        let layout = entity.layout
        let rows = imports[number] ?? RowImport(RowBlockBuilder(entity.layout), into: context, set: SlotSet(0..<layout.count))
        imports[number] = rows
        for code in codes {
            for value in values(code, size) { precondition(rows.builder.put(value)) }
            precondition(rows.builder.endRow())
        }
        if try rows.insert() != nil {
            if isDissolving { for block in context.chain.withLock({ context.level.pending.blocks }) { _ = block.rows } }
            return "imported \(codes.count)"
        }
        rows.builder.removeAll()
        return try importRows(codes, in: context, SlotSet(0..<layout.count)) { values($0, size) }
    }

    /// In the order of the slots.
    private func values(_ code: String, _ size: Int) -> [AttributeValue] {
        entity.layout.names.map { name in
            switch name {
            case "code": .string(code)
            case "size": .int64(Int64(size))
            case "text": size % 3 == 0 ? .null : .string(String(repeating: code, count: size % 5))
            case "at": .date(Double(size) / 2)
            case "share": .double(-Double(size))
            case "isOpen": .bool(size % 2 == 0)
            default: .uuid(Self.tag)
            }
        }
    }

    private static let tag = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    /// One by one, with these values and no others.
    private func importRows(
        _ codes: [String], in context: NSManagedObjectContext, _ set: SlotSet, _ values: (String) -> [AttributeValue]
    ) throws -> String {
        let layout = entity.layout
        for code in Set(codes).sorted() {
            let located = try context.findOrReserve(entity, constraint: 0, keys: [.one(.string(code))])[0]
            let row = located.row?.copy() ?? RowSnapshot.defaults(layout), values = values(code)
            set.forEach { row.update($0, to: values[$0]) }
            if let base = located.row {
                context.updateRow(located.id, to: row, changed: row.differences(from: base), base: base)
            } else {
                context.insertRow(located.id, row, set: set)
            }
        }
        return "imported \(codes.count)"
    }

    private static func place(_ context: NSManagedObjectContext) throws -> NSEntityDescription {
        guard let entity = NSEntityDescription.entity(forEntityName: "Place", in: context) else { throw CocoaError(.featureUnsupported) }
        return entity
    }

    private static func find(_ code: String, in context: NSManagedObjectContext) throws -> NSManagedObject? {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Place")
        request.predicate = NSPredicate(format: "code == %@", code)
        request.sortDescriptors = [NSSortDescriptor(key: "size", ascending: true)]
        return try context.fetch(request).first
    }

    /// Every object of a context with its values.
    private func state(of context: NSManagedObjectContext) throws -> String {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Place")).map { object in
            entity.layout.names.map { "\(object.value(forKey: $0) ?? "-")" }.joined(separator: "·") + (object.objectID.isTemporaryID ? "*" : "")
        }.sorted().joined(separator: "\n")
    }

    /// What every context sees, and what the file holds.
    func state() throws -> String {
        var states = try contexts.map { context in try context.performAndWait { try state(of: context) } }
        if let stranger {
            states.append(
                try stranger.performAndWait {
                    stranger.reset()
                    return try state(of: stranger)
                })
        }
        return zip(Self.names + ["file"], states).map { name, state in
            state.split(separator: "\n").map { "\(name) has \($0)\n" }.joined()
        }.joined()
    }

    /// What is wrong with the file; empty: nothing.
    func damage() throws -> [String] {
        guard let folder else { return [] }
        let found = try SQLiteStoreVerification.verify(folder.appendingPathComponent("store.sqlite", isDirectory: false))
        return found.isSound ? [] : ["\(found)"]
    }
}

enum BlockStep: CustomStringConvertible {
    indirect enum Action {
        case importBlock([String], Int)
        case importRows([String], Int)
        case make(String, Int)
        case change(String, Int)
        case rename(String, String)
        case delete(String)
        case save, saveThrough, rollback, reset, fetch, count, inserted
    }

    case inContext(Int, Action)
    /// Save after save to the store.
    case saveUp(Int)
    case foreign(String, Int)

    var description: String {
        switch self {
        case .inContext(let number, let action): "\(BlockWorld.names[number]): \(action)"
        case .saveUp(let number): "\(BlockWorld.names[number]): saveUp"
        case .foreign(let code, let size): "stranger: \(code) = \(size)"
        }
    }

    /// - Parameter isQuiet: nobody looks for an object, so that blocks go all the way unopened.
    static func random(_ random: inout SeededRandom, isQuiet: Bool) -> BlockStep {
        func code() -> String { "c\(random.next(upTo: 12))" }
        func size() -> Int { random.next(upTo: 40) }
        func some() -> [String] {
            // Mostly others than before, so that blocks are made at all.
            let first = random.next(upTo: 4) > 0 ? 12 + random.next(upTo: 400) : random.next(upTo: 12)
            let codes = (0..<1 + random.next(upTo: 4)).map { "c\(first + $0)" }
            return random.next(upTo: 12) == 0 ? codes + [codes[0]] : codes
        }
        let number = random.next(upTo: BlockWorld.names.count)
        switch random.next(upTo: 32) {
        case 11..<16 where isQuiet, 20..<23 where isQuiet: return .saveUp(number)
        case 0..<9: return .inContext(number, .importBlock(some(), size()))
        case 9..<11: return .inContext(number, .importRows(some(), size()))
        case 11: return .inContext(number, .make(code(), size()))
        case 12, 13: return .inContext(number, .change(code(), size()))
        case 14: return .inContext(number, .rename(code(), code()))
        case 15: return .inContext(number, .delete(code()))
        case 16: return .foreign(code(), size())
        case 17: return .inContext(number, .saveThrough)
        case 18: return .inContext(number, .rollback)
        case 19: return .inContext(number, .reset)
        case 20: return .inContext(number, .fetch)
        case 21: return .inContext(number, .count)
        case 22: return .inContext(number, .inserted)
        case 23..<26: return .saveUp(number)
        default: return .inContext(number, .save)
        }
    }
}
