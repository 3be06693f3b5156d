import Foundation
import OpenCoreData
import OpenCoreDataTestSupport

/// What is true of a graph in any context at any time, whatever was done before. Each finds the first thing that is not; nil: nothing.
enum KeyedInvariants {
    /// Looks at everything in a context which has read nothing yet, and which shows what is stored or what is unsaved as well; of each relationship one owner, chosen by `turn`, is asked for by predicate, too.
    static func failure(in context: NSManagedObjectContext, isStored: Bool, isCounted: Bool = true, turn: Int) throws -> String? {
        var all: [String: [NSManagedObject]] = [:]
        for entity in Keyed.entities { all[entity] = try context.all(entity) }
        let alive = Set(all.values.joined().map(\.objectID))
        if let failure = reference(alive, all) { return failure }
        for (owner, name, member, inverse) in Keyed.oneToManys {
            if let failure = try oneToMany(context, all[owner] ?? [], name, all[member] ?? [], member, inverse, turn) { return failure }
        }
        return try pairs(context, all, turn) ?? badges(all) ?? (isStored ? keys(all) ?? (isCounted ? counts(all) : nil) : nil)
            ?? instances(of: context)
    }

    /// No to-one names an object that is not there.
    private static func reference(_ alive: Set<NSManagedObjectID>, _ all: [String: [NSManagedObject]]) -> String? {
        for object in all.values.joined() {
            for (name, relationship) in object.entity.relationshipsByName where !relationship.isToMany {
                for target in object.objectIDs(forRelationshipNamed: name) where !alive.contains(target) {
                    return "\(object.objectID).\(name) names \(target), which is not there"
                }
            }
        }
        return nil
    }

    /// Members by to-many = objects by to-one = fetch by predicate.
    private static func oneToMany(
        _ context: NSManagedObjectContext, _ owners: [NSManagedObject], _ name: String, _ members: [NSManagedObject], _ entity: String,
        _ inverse: String, _ turn: Int
    ) throws -> String? {
        var byOne: [NSManagedObjectID: [NSManagedObjectID]] = [:]
        for member in members {
            if let owner = member.objectIDs(forRelationshipNamed: inverse).first { byOne[owner, default: []].append(member.objectID) }
        }
        for (place, owner) in owners.enumerated() {
            let listed = owner.objectIDs(forRelationshipNamed: name)
            let pointing = byOne[owner.objectID] ?? []
            if listed.isEmpty && pointing.isEmpty && place != turn % owners.count { continue }
            if listed.count != Set(listed).count || Set(listed) != Set(pointing) {
                return "\(owner.objectID).\(name) has \(listed), but \(pointing) have it as their \(inverse)"
            }
            guard place == turn % owners.count else { continue }
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = NSPredicate(format: "%K == %@", inverse, owner)
            let found = try context.fetch(request).map(\.objectID)
            if Set(found) != Set(listed) { return "\(owner.objectID).\(name) has \(listed), but a fetch finds \(found)" }
        }
        return nil
    }

    /// Both sides of a many-to-many say the same.
    private static func pairs(_ context: NSManagedObjectContext, _ all: [String: [NSManagedObject]], _ turn: Int) throws -> String? {
        func pairs(_ entity: String, _ name: String, swapped: Bool) -> [[NSManagedObjectID]] {
            (all[entity] ?? []).flatMap { object in
                object.objectIDs(forRelationshipNamed: name).map { swapped ? [$0, object.objectID] : [object.objectID, $0] }
            }
        }
        let mine = pairs("Thing", "tags", swapped: false), theirs = pairs("Tag", "things", swapped: true)
        if mine.count != Set(mine).count { return "a thing has a tag twice: \(mine)" }
        if Set(mine) != Set(theirs) { return "tags by thing are \(mine), things by tag are \(theirs)" }
        let alive = Set((all["Tag"] ?? []).map(\.objectID))
        if let lost = mine.first(where: { !alive.contains($0[1]) }) { return "\(lost[0]) has the tag \(lost[1]), which is not there" }
        let tags = all["Tag"] ?? []
        if !tags.isEmpty {
            let tag = tags[turn % tags.count]
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            request.predicate = NSPredicate(format: "ANY tags == %@", tag)
            let found = Set(try context.fetch(request).map(\.objectID))
            if found != Set(tag.objectIDs(forRelationshipNamed: "things")) {
                return "\(tag.objectID).things has \(tag.objectIDs(forRelationshipNamed: "things")), but a fetch finds \(found)"
            }
        }
        return nil
    }

    private static func badges(_ all: [String: [NSManagedObject]]) -> String? {
        var thingOf: [NSManagedObjectID: NSManagedObjectID] = [:]
        for badge in all["Badge"] ?? [] { thingOf[badge.objectID] = badge.objectIDs(forRelationshipNamed: "thing").first }
        var badgeOf: [NSManagedObjectID: NSManagedObjectID] = [:]
        for thing in all["Thing"] ?? [] { badgeOf[thing.objectID] = thing.objectIDs(forRelationshipNamed: "badge").first }
        for (badge, thing) in thingOf where badgeOf[thing] != badge {
            return "badge \(badge) is of \(thing), whose badge is \(badgeOf[thing].map { "\($0)" } ?? "none")"
        }
        for (thing, badge) in badgeOf where thingOf[badge] != thing {
            return "\(thing) has badge \(badge), which is of \(thingOf[badge].map { "\($0)" } ?? "none")"
        }
        return nil
    }

    /// One object a key.
    private static func keys(_ all: [String: [NSManagedObject]]) -> String? {
        var owners: [String: NSManagedObjectID] = [:]
        for object in all.values.joined() {
            guard let key = Keyed.key(object) else { continue }
            if let other = owners.updateValue(object.objectID, forKey: key) { return "\(other) and \(object.objectID) both have the key \(key)" }
        }
        return nil
    }

    /// To-manys have as many members as the model asks for.
    private static func counts(_ all: [String: [NSManagedObject]]) -> String? {
        for thing in all["Thing"] ?? [] {
            for (name, bounds) in Keyed.counts {
                let count = thing.objectIDs(forRelationshipNamed: name).count
                if count > 0 && !bounds.contains(count) { return "\(thing.objectID) has \(count) \(name)" }
            }
        }
        return nil
    }

    /// One instance an ID.
    static func instances(of context: NSManagedObjectContext) -> String? {
        var known: Set<NSManagedObjectID> = []
        for object in context.registeredObjects {
            if !known.insert(object.objectID).inserted { return "\(context.name ?? "?") has two instances of \(object.objectID)" }
            if context.registeredObject(for: object.objectID) !== object {
                return "\(context.name ?? "?") has an instance of \(object.objectID) that it does not find by its ID"
            }
        }
        return nil
    }
}
