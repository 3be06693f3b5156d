import Foundation
import OpenCoreData
import OpenCoreDataTestSupport

/// A graph of one entity with every kind of relationship, edited at random, and what it looks like at a moment.
final class UndoGraph {
    static func model() -> NSManagedObjectModel {
        let node = Company.entity("Node")
        node.properties = [
            Company.attribute("name", .string), Company.attribute("count", .integer64, default: 0), Company.transient("mark", .string),
        ]
        Company.relate(node, "children", many: true, node, "parent", many: false, rule: .cascadeDeleteRule)
        Company.relate(node, "likes", many: true, node, "likedBy", many: true)
        Company.relate(node, "steps", many: true, node, "plan", many: false, ordered: true)
        Company.relate(node, "books", many: true, node, "shelves", many: true, ordered: true)
        Company.relate(node, "partner", many: false, node, "partnerOf", many: false)
        Company.relate(node, "things", many: true, node, "owner", many: false, rule: .noActionDeleteRule)
        return NSManagedObjectModel(entities: [node])
    }

    /// One object: its values and members, and what its flags say.
    struct Moment: Equatable {
        var values: [String: String] = [:]
        var members: [String: [Int64]] = [:]
        var flags = ""
    }

    static let toManys = ["children", "likes", "likedBy", "steps", "books", "shelves", "things"]
    static let toOnes = ["parent", "plan", "partner", "partnerOf", "owner"]

    let context: NSManagedObjectContext
    private(set) var history: [String] = []
    private var next = 0

    init(_ context: NSManagedObjectContext) { self.context = context }

    /// Everything that can be seen, by key.
    static func look(at context: NSManagedObjectContext, flags: Bool) throws -> [Int64: Moment] {
        var result: [Int64: Moment] = [:]
        for object in try context.all("Node") {
            var moment = Moment()
            for key in ["name", "count"] { moment.values[key] = object.value(forKey: key).map { "\($0)" } }
            for key in toOnes { moment.members[key] = object.objectIDs(forRelationshipNamed: key).map(\.key) }
            for key in toManys {
                let keys = object.objectIDs(forRelationshipNamed: key).map(\.key)
                moment.members[key] = ["steps", "books"].contains(key) ? keys : keys.sorted()
            }
            if flags {
                moment.values["mark"] = object.value(forKey: "mark").map { "\($0)" }
                moment.flags =
                    "\(object.isInserted) \(object.isUpdated) \(object.isDeleted) \(object.hasPersistentChangedValues) "
                    + object.changedValues().keys.sorted().joined(separator: ",")
            }
            result[object.objectID.key] = moment
        }
        return result
    }

    /// A few edits, which are one event.
    func editAtRandom(_ random: inout SeededRandom) throws {
        for _ in 0..<(1 + random.next(upTo: 4)) {
            let nodes = try context.all("Node").filter { !$0.isDeleted }.sorted { $0.objectID.key < $1.objectID.key }
            guard let node = random.element(nodes), nodes.count > 2 else {
                insert()
                continue
            }
            try edit(node, among: nodes, &random)
        }
        context.processPendingChanges()
        history.append("|")
    }

    private func insert() {
        next += 1
        let node = context.make("Node", ["name": "new \(next)"])
        history.append("insert \(node.objectID.key)")
    }

    private func edit(_ node: NSManagedObject, among nodes: [NSManagedObject], _ random: inout SeededRandom) throws {
        next += 1
        func some() -> [NSManagedObject] { nodes.filter { _ in random.next(upTo: 3) == 0 }.shuffled(using: &random) }
        let key = node.objectID.key
        switch random.next(upTo: 13) {
        case 0, 1: insert()
        case 2:
            node.setValue("name \(next)", forKey: "name")
            history.append("name \(key)")
        case 3:
            node.setValue(random.next(upTo: 3), forKey: "count")
            node.setValue("mark \(next)", forKey: "mark")
            history.append("count \(key)")
        case 4:
            // No circles of cascades: nobody is his own ancestor.
            let parent = random.element(nodes.filter { $0.objectID.key < key })
            node.setValue(parent, forKey: "parent")
            history.append("\(key).parent = \(parent?.objectID.key ?? 0)")
        case 5, 6:
            let name = ["likes", "likedBy"][random.next(upTo: 2)], others = some()
            node.setValue(Set(others), forKey: name)
            history.append("\(key).\(name) = \(others.map(\.objectID.key))")
        case 7:
            let steps = some()
            node.setValue(NSOrderedSet(array: steps), forKey: "steps")
            history.append("\(key).steps = \(steps.map(\.objectID.key))")
        case 8:
            let books = some()
            node.setValue(NSOrderedSet(array: books), forKey: "books")
            history.append("\(key).books = \(books.map(\.objectID.key))")
        case 9:
            let plan = random.element(nodes)
            node.setValue(plan, forKey: "plan")
            history.append("\(key).plan = \(plan?.objectID.key ?? 0)")
        case 10:
            let partner = random.next(upTo: 3) == 0 ? nil : random.element(nodes)
            node.setValue(partner, forKey: "partner")
            history.append("\(key).partner = \(partner?.objectID.key ?? 0)")
        case 11:
            let owner = random.element(nodes)
            node.setValue(owner, forKey: "owner")
            history.append("\(key).owner = \(owner?.objectID.key ?? 0)")
        default:
            context.delete(node)
            history.append("delete \(key)")
        }
    }

    func save() throws {
        try context.save()
        history.append("save |")
    }

    func note(_ what: String) { history.append(what) }
}
