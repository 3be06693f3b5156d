import Foundation
import OpenCoreDataTestSupport

@testable import OpenCoreData

/// What one save makes of the parent, or of the store: told from what both showed before, by whoever saves, and by nothing else. So it holds in every
/// sequence, whatever happened before: with deletions, subentities, one-to-ones, keys that change, under every policy.
///
/// There an object has the values that were changed by whoever saves, and its own where nothing was changed. What is new is there, what was deleted
/// is gone with what its rules take along, and what named it names nothing. One new object whose key another object has is one with it, whose values
/// the policy says. Tags, and every order, are there what they were for whoever saves. After a save that is refused all is as it was.
///
/// Where the outcome hangs on more than that, nothing is said of the object, nor of whoever names it:
/// - of a key that three objects claim, or two new ones, or that a stored one was given: which is made first, and what it had set before, is for
///   `KeyedValues`, which counts objects in the order in which they are made;
/// - of what was changed and is gone in the parent or the store: that is for the root's policy to say, and it depends on why it is gone;
/// - of a row of the store that others have written, and that is changed here: what was read of it decides what the policy says;
/// - of a reference to what was deleted before, or what the root did not know of: it may be emptied here, or wait for the save of the deletion. None of
///   them is stored;
/// - of two members that the order does not name: a child shows them as they came, and its parent by key, as the store will;
/// - of an order out of which something is deleted: it is what the context that deletes has read of it, which may be old (N12);
/// - of a one-to-one that two objects claim: both sides say the same afterwards (`KeyedInvariants`), but who is the later one depends on keys;
/// - of a to-one that was set to another object and back: it may count as changed or not, so it is one of both;
/// - of an object that a new one turned out to be, where the policy is to overwrite: then the new one brings all of its values over, and whether one of
///   them is what the object had already is not told by `changedValues()`. So it is one of both, too.
struct KeyedTransition {
    struct Name: Hashable, Comparable, CustomStringConvertible {
        let entity: String
        let key: Int64

        init(_ id: NSManagedObjectID) {
            entity = id.entity.superentity?.name ?? id.entity.name ?? "?"
            key = id.key
        }

        var description: String { "\(entity)\(key)" }
        static func < (left: Self, right: Self) -> Bool { (left.entity, left.key) < (right.entity, right.key) }
    }

    enum Value: Hashable, CustomStringConvertible {
        case none
        case number(Int)
        case text(String)
        case one(Name)

        var description: String {
            switch self {
            case .none: "nothing"
            case .number(let number): "\(number)"
            case .text(let text): text
            case .one(let name): "\(name)"
            }
        }

        var name: Name? {
            if case .one(let name) = self { name } else { nil }
        }
    }

    struct Object: Equatable {
        let entity: String
        var values: [String: Value]
        var key: String?
    }

    /// What somebody sees.
    struct World: Equatable {
        var objects: [Name: Object] = [:]
        /// Of things their tags, of shelves their things.
        var lists: [Name: [Name]] = [:]

        init(_ context: NSManagedObjectContext) throws {
            for entity in Keyed.entities {
                for object in try context.all(entity) {
                    let name = Name(object.objectID)
                    objects[name] = Object(entity: object.entity.name ?? "?", values: KeyedTransition.values(of: object), key: Keyed.key(object))
                    let list = entity == "Thing" ? "tags" : entity == "Shelf" ? "things" : nil
                    if let list { lists[name] = object.objectIDs(forRelationshipNamed: list).map(Name.init) }
                }
            }
        }
    }

    /// What the level that saves has changed.
    struct Changes {
        var inserted: [Name: Set<String>] = [:]
        var updated: [Name: Set<String>] = [:]
        var deleted: Set<Name> = []

        init(_ context: NSManagedObjectContext) {
            context.processPendingChanges()
            for object in context.insertedObjects { inserted[Name(object.objectID)] = Set(object.changedValues().keys) }
            for object in context.updatedObjects { updated[Name(object.objectID)] = Set(object.changedValues().keys) }
            for object in context.deletedObjects { deleted.insert(Name(object.objectID)) }
        }
    }

    private static func values(of object: NSManagedObject) -> [String: Value] {
        var values: [String: Value] = [:]
        for (name, _) in object.entity.attributesByName {
            switch object.value(forKey: name) {
            case let number as Int: values[name] = .number(number)
            case let text as String: values[name] = .text(text)
            default: values[name] = Value.none
            }
        }
        for (name, relationship) in object.entity.relationshipsByName where !relationship.isToMany {
            values[name] = object.objectIDs(forRelationshipNamed: name).first.map { .one(Name($0)) } ?? Value.none
        }
        return values
    }

    private let changes: Changes
    private let policy: NSMergePolicyType
    /// Rows that others have written.
    private let foreign: Set<Name>
    /// Objects that new ones turned out to be.
    private let unified: Set<Name>
    /// Whether the root did something that what is unsaved in its children may not know of.
    private let isLoose: Bool
    /// Whether objects of one key have to be one afterwards.
    private let isStored: Bool
    /// What whoever saves shows.
    private let sender: World
    /// What the parent or the store shows.
    private let before: World
    /// Of shelves and things, whom the order names that decides: the unsaved one that is nearest to whoever saves.
    private let ordered: [Name: Set<Name>]

    /// Looks at both sides before the save.
    ///
    /// - Parameters:
    ///   - foreign: rows that others have written.
    ///   - unified: objects that new ones turned out to be.
    init(_ level: Int, of stack: KeyedStack, policy: NSMergePolicyType, foreign: Set<Name>, unified: Set<Name>, isLoose: Bool) throws {
        // What turned out to be another object is laid over that one's values when its context has its turn.
        for each in [0, 1] where each < level { stack.contexts[each].performAndWait { stack.contexts[each].processPendingChanges() } }
        let context = stack.contexts[level]
        changes = context.performAndWait { Changes(context) }
        self.policy = policy
        self.foreign = foreign
        self.unified = unified
        self.isLoose = isLoose
        isStored = level == 0
        sender = try Self.world(stack.reader(of: level))
        var ordered: [Name: Set<Name>] = [:]
        for context in level > 1 ? [context, stack.main, stack.root] : stack.contexts[...level].reversed() {
            context.performAndWait {
                for (key, members) in context.level.pending.orders where ordered[Name(key.owner)] == nil {
                    ordered[Name(key.owner)] = Set(members.map(Name.init))
                }
            }
        }
        self.ordered = ordered
        before = try Self.receiver(level, of: stack)
    }

    private static func world(_ reader: NSManagedObjectContext) throws -> World { try reader.performAndWait { try World(reader) } }

    private static func receiver(_ level: Int, of stack: KeyedStack) throws -> World {
        try world(level == 0 ? stack.independent() : stack.reader(of: stack.parent(of: level)))
    }

    /// What is wrong after a save of the same level; nil: nothing.
    func failure(_ level: Int, of stack: KeyedStack, isRefused: Bool, isCounted: Bool) throws -> String? {
        let after = try Self.receiver(level, of: stack)
        if isRefused { return after == before ? nil : "a save that was refused changed its parent or the store: \(Self.difference(before, after))" }
        return failure(after) ?? (isStored ? Self.dangling(after) ?? (isCounted ? Self.miscounted(after) : nil) : nil)
    }

    private static func dangling(_ world: World) -> String? {
        for (name, object) in world.objects {
            for (key, value) in object.values {
                if let target = value.name, world.objects[target] == nil { return "\(name).\(key) names \(target), which is not there" }
            }
        }
        return nil
    }

    private static func difference(_ before: World, _ after: World) -> String {
        let names = Set(before.objects.keys).union(after.objects.keys).sorted()
        let changed = names.filter { before.objects[$0] != after.objects[$0] || before.lists[$0] != after.lists[$0] }
        return changed.map { "\($0) was \(before.objects[$0]?.values ?? [:]), is \(after.objects[$0]?.values ?? [:])" }.joined(separator: "; ")
    }

    /// Whether something that is saved, or what the policy makes of it, has the wrong number of members: what a save may be refused for.
    var breaksCounts: Bool {
        if Self.miscounted(sender) != nil { return true }
        guard isStored else { return false }
        var merged = sender
        let expected = expected(sender)
        if !expected.open.isEmpty { return true }
        merged.objects = expected.objects
        for (twin, owner) in expected.merged {
            merged.lists[owner] = Array(Set(sender.lists[twin] ?? []).union(sender.lists[owner] ?? before.lists[owner] ?? []))
            merged.lists[twin] = nil
        }
        return Self.miscounted(merged) != nil
    }

    private static func miscounted(_ world: World) -> String? {
        var counts: [String: [Name: Int]] = ["tags": world.lists.filter { $0.key.entity == "Thing" }.mapValues(\.count), "kids": [:]]
        for object in world.objects.values { if let parent = object.values["parent"]?.name { counts["kids"]?[parent, default: 0] += 1 } }
        for (relationship, bounds) in Keyed.counts {
            for (owner, count) in counts[relationship] ?? [:] where count > 0 && !bounds.contains(count) {
                return "\(owner) has \(count) \(relationship)"
            }
        }
        return nil
    }
}

// MARK: What should be

extension KeyedTransition {
    /// What is expected in the parent or the store, as far as it is certain.
    private struct Expected {
        var objects: [Name: Object]
        /// Of which nothing is said.
        var open: Set<Name> = []
        /// New objects that are one with another.
        var merged: [Name: Name] = [:]
        /// What a to-one may be as well.
        var others: [Name: [String: Set<Value>]] = [:]
    }

    private func failure(_ after: World) -> String? {
        let expected = expected(after)
        for name in Set(expected.objects.keys).union(after.objects.keys).sorted() where !expected.open.contains(name) {
            guard let wanted = expected.objects[name] else { return "\(name) is there: \(after.objects[name]?.values ?? [:])" }
            guard let found = after.objects[name] else { return "\(name) is gone: it was to be \(wanted.values)" }
            for (key, value) in wanted.values.sorted(by: { $0.key < $1.key }) {
                let now = found.values[key] ?? .none
                let others = expected.others[name]?[key] ?? []
                if now == value || others.contains(now) { continue }
                if others.union([value, now]).contains(where: { $0.name.map(expected.open.contains) == true }) { continue }
                if ["badge", "thing"].contains(key), !isCertain(name, key, value, expected) { continue }
                return "\(name).\(key) is \(now), not \(value); whoever saved has \(sender.objects[name]?.values[key] ?? .none), "
                    + "and it was \(before.objects[name]?.values[key] ?? .none)"
            }
        }
        return lists(after, expected)
    }

    /// Members and orders are what they were for whoever saved.
    private func lists(_ after: World, _ expected: Expected) -> String? {
        let unclear = expected.open.union(expected.merged.keys).union(expected.merged.values)
        for (owner, found) in after.lists.sorted(by: { $0.key < $1.key }) where !unclear.contains(owner) {
            guard let shown = sender.lists[owner] else { continue }
            // What cascades in the parent was not known to whoever saved.
            let shownHere = shown.filter { !unclear.contains($0) && after.objects[$0] != nil }, foundHere = found.filter { !unclear.contains($0) }
            if owner.entity == "Thing", Set(shownHere) != Set(foundHere) { return "\(owner) has the tags \(found), whoever saved has \(shown)" }
            let common = Set(shownHere).intersection(foundHere)
            if !isSameOrder(foundHere.filter(common.contains), shownHere.filter(common.contains), of: owner) {
                return "\(owner) has the order \(found), whoever saved has \(shown)"
            }
        }
        return nil
    }

    /// Whether members stand as they were shown, but for two that no order names and that stand by key now.
    private func isSameOrder(_ found: [Name], _ shown: [Name], of owner: Name) -> Bool {
        let places = Dictionary(shown.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first }), named = ordered[owner] ?? []
        return found.indices.allSatisfy { index in
            let after = found[index]
            return found[..<index].allSatisfy { before in
                places[before, default: 0] < places[after, default: 0] || before < after && named.isDisjoint(with: [before, after])
            }
        }
    }

    /// Whether both sides of a one-to-one say the same and nobody else says otherwise.
    private func isCertain(_ name: Name, _ key: String, _ value: Value, _ expected: Expected) -> Bool {
        guard let other = value.name else { return false }
        let back = key == "badge" ? "thing" : "badge"
        // Set to another and back it counts as changed, which nobody can see.
        if let keys = changes.updated[name], !keys.contains(key) { return false }
        if let keys = changes.updated[other], !keys.contains(back) { return false }
        guard expected.objects[other]?.values[back]?.name == name else { return false }
        return expected.objects.allSatisfy { third, object in
            third == name && object.values[key]?.name == other || third == other
                || object.values[key]?.name != other && object.values[back]?.name != name
        }
    }

    private func expected(_ after: World) -> Expected {
        var result = Expected(objects: before.objects)
        for name in changes.inserted.keys { result.objects[name] = sender.objects[name] }
        for (name, keys) in changes.updated {
            guard let mine = sender.objects[name], let theirs = before.objects[name], !foreign.contains(name) else {
                result.open.insert(name)
                result.objects[name] = sender.objects[name]
                continue
            }
            let bringsAll = policy == .overwriteMergePolicyType && unified.contains(name)
            for key in mine.values.keys {
                if keys.contains(key) {
                    result.objects[name]?.values[key] = mine.values[key]
                } else if mine.values[key]?.name != theirs.values[key]?.name || key == "code" || bringsAll {
                    if let value = mine.values[key] { result.others[name, default: [:]][key] = [value] }
                }
            }
        }
        let gone = delete(&result)
        unify(&result, after)
        for (name, others) in result.others {
            for (key, values) in others {
                for target in values.compactMap(\.name) {
                    if let owner = result.merged[target] { result.others[name]?[key]?.insert(.one(owner)) }
                    if result.objects[result.merged[target] ?? target] == nil { result.others[name]?[key]?.insert(Value.none) }
                }
            }
        }
        for (name, object) in result.objects {
            for (key, value) in object.values {
                guard let target = value.name else { continue }
                if let owner = result.merged[target] { result.objects[name]?.values[key] = .one(owner) }
                if result.objects[result.merged[target] ?? target] != nil { continue }
                if gone.contains(target) && (isStored || !isLoose) {
                    result.objects[name]?.values[key] = Value.none
                } else {
                    result.others[name, default: [:]][key, default: []].insert(Value.none)
                }
            }
        }
        return result
    }

    /// What was deleted is gone, and what is in a box with it.
    private func delete(_ result: inout Expected) -> Set<Name> {
        var gone = changes.deleted, all = gone
        while !gone.isEmpty {
            for name in gone { result.objects[name] = nil }
            gone = Set(result.objects.filter { $0.value.values["box"]?.name.map(gone.contains) == true }.keys)
            all.formUnion(gone)
        }
        return all
    }

    private func unify(_ result: inout Expected, _ after: World) {
        func key(_ name: Name) -> String? {
            let values = result.objects[name]?.values
            switch name.entity {
            case "Box", "Badge": return nil
            case "Spot": return "Spot \(values?["x"] ?? .none)/\(values?["y"] ?? .none)"
            default: return "\(name.entity) \(values?["code"] ?? .none)"
            }
        }
        var claims: [String: [Name]] = [:], turned: Set<Name> = []
        for name in result.objects.keys {
            guard let key = key(name) else { continue }
            claims[key, default: []].append(name)
            // Who is given another key may have to keep its own; and who has got another one in the parent, while something of it was changed here,
            // is still called here by the former one.
            let others = [before.objects[name]?.key, changes.updated[name] == nil ? nil : sender.objects[name]?.key]
            for other in Set(others.compactMap(\.self)) where other != key {
                turned.insert(name)
                claims[other, default: []].append(name)
            }
        }
        for (_, names) in claims.sorted(by: { $0.key < $1.key }) where names.count > 1 {
            if !turned.isDisjoint(with: names) {
                result.open.formUnion(names)
                continue
            }
            let new = names.filter { changes.inserted[$0] != nil }
            let known = names.filter { changes.inserted[$0] == nil && before.objects[$0]?.key == sender.objects[$0]?.key }
            guard names.count == 2, let twin = new.first, let owner = known.first, !result.open.contains(owner) else {
                // Two that were there before, and that nobody has touched, stay.
                if names.allSatisfy({ changes.inserted[$0] == nil && changes.updated[$0] == nil }) && !isStored { continue }
                result.open.formUnion(names)
                continue
            }
            // In the parent, objects are one where the level is asked for the key at all: what is clean there meets its key when the root saves.
            if after.objects[twin] != nil && !isStored { continue }
            let mine = result.objects.removeValue(forKey: twin)
            result.merged[twin] = owner
            guard let mine, policy == .mergeByPropertyObjectTrumpMergePolicyType || policy == .overwriteMergePolicyType else { continue }
            for (name, value) in mine.values where result.objects[owner]?.values[name] != nil {
                if policy == .overwriteMergePolicyType || changes.inserted[twin]?.contains(name) == true {
                    result.objects[owner]?.values[name] = value
                    result.others[owner]?[name] = nil
                }
            }
        }
    }
}
