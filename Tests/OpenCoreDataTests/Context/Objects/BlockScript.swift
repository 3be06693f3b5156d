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
    private let model: NSManagedObjectModel
    /// How many blocks were written to the file without anybody having looked into them.
    private(set) var sealedBlocks = 0
    private var imports: [Int: RowImport] = [:]

    static let names = ["root", "main", "side", "one", "two"]
    private static let toOnes = ["owner", "maker", "area"]
    private static let lists = ["fans", "views"]

    /// Places, each with the owner that it has, its maker, with whom it goes, and an area that does not know of it; and with many fans, and views of many
    /// areas, which do not know of them.
    static func model() -> NSManagedObjectModel {
        let place = Company.entity("Place"), owner = Company.entity("Owner"), area = Company.entity("Area")
        for named in [owner, area] {
            named.properties = [Company.attribute("code", .string, optional: false), Company.attribute("text", .string)]
            named.uniquenessConstraints = [["code"]]
        }
        place.properties = [
            Company.attribute("code", .string, optional: false), Company.attribute("size", .integer16, default: 7),
            Company.attribute("text", .string),
            Company.attribute("at", .date), Company.attribute("share", .double), Company.attribute("isOpen", .boolean),
            Company.attribute("tag", .uuid), Company.attribute("raw", .binaryData),
        ]
        place.uniquenessConstraints = [["code"]]
        Company.relate(owner, "ownerOf", many: true, place, "owner", many: false)
        Company.relate(owner, "makerOf", many: true, place, "maker", many: false, rule: .cascadeDeleteRule)
        place.properties.append(NSRelationshipDescription(name: "area", destination: area, toMany: false))
        Company.relate(owner, "fanOf", many: true, place, "fans", many: true)
        place.properties.append(NSRelationshipDescription(name: "views", destination: area, toMany: true))
        return NSManagedObjectModel(entities: [place, owner, area])
    }

    /// - Parameter isQuiet: no context makes objects for whom it tells of changes, which opens blocks.
    init(isFile: Bool, policy: NSMergePolicy, isDissolving: Bool, hasHistory: Bool, isQuiet: Bool) throws {
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
            coordinator.blockSpillLimits.keys = 5
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
        self.model = model
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
        if isQuiet { for context in contexts { context.materializesNotificationObjects = false } }
    }

    func close() {
        for store in coordinator.persistentStores { try? coordinator.remove(store) }
        if let folder { try? FileManager.default.removeItem(at: folder) }
    }

    /// How many blocks of unsaved rows there are that nobody has looked into.
    var unopenedBlocks: Int {
        contexts[0].chain.withLock { contexts.reduce(0) { $0 + $1.level.pending.blocks.count(where: \.isSealed) } }
    }

    /// What a step comes to, in words that say nothing of identities.
    func run(_ step: BlockStep) -> String {
        do {
            switch step {
            case .foreignDelete(let kind, let code):
                guard let stranger else { return "nobody" }
                return try stranger.performAndWait {
                    defer { stranger.reset() }
                    guard let found = try Self.find(code, in: stranger, kind) else { return "nobody" }
                    stranger.delete(found)
                    try stranger.save()
                    try readPlaces()
                    return "done"
                }
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

    /// Of rows that came in blocks nothing is cached, of others what they were: now both are known as they are in the file.
    private func readPlaces() throws {
        let reader = NSManagedObjectContext(.privateQueueConcurrencyType)
        reader.persistentStoreCoordinator = coordinator
        _ = try reader.performAndWait { try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Place")).map { $0.value(forKey: "code") } }
    }

    private func act(_ action: BlockStep.Action, _ number: Int, in context: NSManagedObjectContext) throws -> String {
        switch action {
        case .importBlock(let codes, let size): return try importBlock(codes, size, number, in: context)
        case .importRows(let codes, let size):
            let set = SlotSet((["code", "size"] + Self.toOnes).compactMap { entity.layout.slot(of: $0) })
            return try importRows(codes, size, in: context, set)
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
        case .own(let code, let other):
            guard let object = try Self.find(code, in: context) else { return "nobody" }
            object.setValue(try Self.find(other, in: context, "Owner"), forKey: "owner")
        case .addFan(let code, let other), .removeFan(let code, let other):
            guard let object = try Self.find(code, in: context), let owner = try Self.find(other, in: context, "Owner") else { return "nobody" }
            let fans = object.mutableSetValue(forKey: "fans")
            if case .addFan = action { fans.add(owner) } else { fans.remove(owner) }
        case .refresh(let kind, let code):
            guard let object = try Self.find(code, in: context, kind) else { return "nobody" }
            context.refresh(object, mergeChanges: false)
        case .makeNamed(let kind, let code):
            NSEntityDescription.insertNewObject(forEntityName: kind, into: context).setValue(code, forKey: "code")
        case .deleteNamed(let kind, let code):
            guard let object = try Self.find(code, in: context, kind) else { return "nobody" }
            context.delete(object)
        case .members(let code):
            guard let object = try Self.find(code, in: context, "Owner") else { return "nobody" }
            return Self.members(of: object)
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
        var targets: [NSManagedObjectContext.Located] = [], stubs: [(code: String, id: NSManagedObjectID)] = []
        func target(_ named: (entity: NSEntityDescription, code: String)) throws -> Int {
            targets += try context.findOrReserve(named.entity, constraint: 0, keys: [.one(.string(named.code))])
            if targets.last?.row == nil, let id = targets.last?.id { stubs.append((named.code, id)) }
            return targets.count - 1
        }
        for code in codes {
            for (number, relationship) in layout.toManys.enumerated() {
                for listed in listed(relationship, size) { rows.builder.list(target: try target(listed), in: number) }
            }
            for (slot, value) in values(code, size).enumerated() {
                if let named = named(slot, size) {
                    let number = try target(named)
                    precondition(rows.builder.put(target: number))
                } else {
                    precondition(rows.builder.put(value))
                }
            }
            precondition(rows.builder.endRow())
        }
        if try rows.insert(targets: targets.map(\.id)) != nil {
            for (code, id) in stubs { stub(code, id, in: context) }
            if isDissolving {
                for block in context.chain.withLock({ context.level.pending.blocks }) { _ = block.rows }
                context.chain.withLock { context.level.pending.pairs.loosen { _ in true } }
            }
            return "imported \(codes.count)"
        }
        rows.builder.removeAll()
        return try importRows(codes, size, in: context, SlotSet(0..<layout.count))
    }

    /// What a to-one of a place leads to; nil: to nothing, or it is none.
    private func named(_ slot: Int, _ size: Int) -> (entity: NSEntityDescription, code: String)? {
        let name = entity.layout.names[slot]
        guard let number = Self.toOnes.firstIndex(of: name), size % (number + 3) > 0 else { return nil }
        return model.entitiesByName[name == "area" ? "Area" : "Owner"].map { ($0, "o\((size + number * 5) % 4)") }
    }

    /// The objects that a place lists, one of them twice.
    private func listed(_ relationship: NSRelationshipDescription, _ size: Int) -> [(entity: NSEntityDescription, code: String)] {
        guard let list = Self.lists.firstIndex(of: relationship.name), let entity = relationship.destinationEntity else { return [] }
        return (0..<(size + list) % 4).map { (entity, "o\(($0 * 3 + size) % 4)") }
    }

    /// An object of which nothing but its name is known.
    private func stub(_ code: String, _ id: NSManagedObjectID, in context: NSManagedObjectContext) {
        let row = RowSnapshot.defaults(id.layout)
        guard let slot = id.layout.slot(of: "code") else { return }
        row.update(slot, to: .string(code))
        context.insertRow(id, row, set: SlotSet([slot]))
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
            case "raw": size % 4 == 0 ? .null : .data(Data((0..<(size % 7)).map { UInt8(truncatingIfNeeded: $0 &* size) }))
            case _ where Self.toOnes.contains(name): .null
            default: .uuid(Self.tag)
            }
        }
    }

    private static let tag = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    /// One by one, with these values and no others.
    private func importRows(
        _ codes: [String], _ size: Int, in context: NSManagedObjectContext, _ set: SlotSet
    ) throws -> String {
        let layout = entity.layout
        for code in Set(codes).sorted() {
            let located = try context.findOrReserve(entity, constraint: 0, keys: [.one(.string(code))])[0]
            let row = located.row?.copy() ?? RowSnapshot.defaults(layout)
            var values = values(code, size)
            for slot in layout.toOneSlots {
                guard let named = named(slot, size) else { continue }
                let target = try context.findOrReserve(named.entity, constraint: 0, keys: [.one(.string(named.code))])[0]
                if target.row == nil { stub(named.code, target.id, in: context) }
                values[slot] = .objectID(target.id)
            }
            set.forEach { row.update($0, to: values[$0]) }
            if let base = located.row {
                context.updateRow(located.id, to: row, changed: row.differences(from: base), base: base)
            } else {
                context.insertRow(located.id, row, set: set)
            }
            for (number, relationship) in layout.toManys.enumerated() {
                let key = RelationshipKey(owner: located.id, toMany: number)
                let ids = try listed(relationship, size).map { listed in
                    let target = try context.findOrReserve(listed.entity, constraint: 0, keys: [.one(.string(listed.code))])[0]
                    if target.row == nil { stub(listed.code, target.id, in: context) }
                    return target.id
                }
                context.setMembers(of: key, from: located.row == nil ? [] : try context.members(of: key), to: ids)
            }
        }
        return "imported \(codes.count)"
    }

    private static func place(_ context: NSManagedObjectContext) throws -> NSEntityDescription {
        guard let entity = NSEntityDescription.entity(forEntityName: "Place", in: context) else { throw CocoaError(.featureUnsupported) }
        return entity
    }

    private static func find(_ code: String, in context: NSManagedObjectContext, _ entity: String = "Place") throws -> NSManagedObject? {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: "code == %@", code)
        request.sortDescriptors = [NSSortDescriptor(key: entity == "Place" ? "size" : "text", ascending: true)]
        return try context.fetch(request).first
    }

    /// Every object of a context with its values.
    private func state(of context: NSManagedObjectContext) throws -> String {
        let places = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Place")).map { object in
            let values = entity.layout.names.map { name -> String in
                if let raw = object.value(forKey: name) as? Data { return raw.base64EncodedString() + "=" }
                guard Self.toOnes.contains(name) else { return "\(object.value(forKey: name) ?? "-")" }
                guard let owner = object.value(forKey: name) as? NSManagedObject else { return "-" }
                return owner.isDeleted || owner.managedObjectContext == nil ? "gone" : "\(owner.value(forKey: "code") ?? "?")"
            }
            return (values + Self.lists.map { Self.codes(object.value(forKey: $0)) }).joined(separator: "·")
                + (object.objectID.isTemporaryID ? "*" : "")
        }
        let owners = try ["Owner", "Area"].flatMap { try context.fetch(NSFetchRequest<NSManagedObject>(entityName: $0)) }.map { owner in
            "\(owner.value(forKey: "code") ?? "-") of \(Self.members(of: owner))" + (owner.objectID.isTemporaryID ? "*" : "")
        }
        return (places.sorted() + owners.sorted()).joined(separator: "\n")
    }

    private static func members(of owner: NSManagedObject) -> String {
        (toOnes + ["fan"]).compactMap { name in
            owner.entity.relationshipsByName["\(name)Of"] == nil ? nil : codes(owner.value(forKey: "\(name)Of"))
        }.joined(separator: ";")
    }

    private static func codes(_ members: Any?) -> String {
        ((members as? Set<NSManagedObject>) ?? []).map { "\($0.value(forKey: "code") ?? "-")" }.sorted().joined(separator: ",")
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
