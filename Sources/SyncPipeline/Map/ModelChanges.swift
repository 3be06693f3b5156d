package import Foundation
package import OpenCoreData

/// What a changed `[entity]` means for what a store holds: told before anything is done.
package struct ModelChanges: Sendable {
    /// What the configuration knows of; the pipeline's own tables are its own business.
    package let all: [StoreMigrationPlan.Change]
    /// Those of them that take values, which the configuration says may go.
    package let losses: [StoreMigrationPlan.Change]
    /// Those of them that take values, of which the configuration says nothing.
    package let refused: [StoreMigrationPlan.Change]

    /// What the store goes through for it, a table each.
    private let passes: [StoreMigrationPlan.Pass]
    /// Whether the store is of the model but for its indexes, to which it is brought whatever else the configuration says.
    package let isOfModel: Bool

    /// How many rows the store goes through for it, each as often as it does.
    package var rows: Int { passes.reduce(0) { $0 + $1.rows * $1.times } }

    /// How many objects it goes through, however often.
    package var objects: Int { passes.reduce(0) { $0 + ($1.arePairs ? 0 : $1.rows) } }

    /// How long that takes, roughly.
    package var seconds: Double { Double(rows) / Self.rowsPerSecond }

    /// Of a table that is written anew, with an index or two: half of what docs/PERFORMANCE.md measures without any.
    private static let rowsPerSecond = 300_000.0

    /// Nil where the store is of the model, or is not there.
    ///
    /// - Parameter dropped: what may go, as `[entity]` says: `City`, or `City.name`.
    /// - Throws: what reading the file throws; 134190 where a change can't be made at all.
    package init?(store url: URL, model: NSManagedObjectModel, dropped: Set<String>) throws {
        guard let plan = try StoreMigrationPlan.plan(for: url, model: model) else { return nil }
        self.init(plan, dropped: dropped)
    }

    init(_ plan: StoreMigrationPlan, dropped: Set<String>) {
        passes = plan.passes
        isOfModel = plan.isOfModel
        all = plan.changes.filter { !$0.isOurs }
        let taking = all.filter(\.takesValues)
        losses = taking.filter { dropped.contains($0.name) }
        refused = taking.filter { !dropped.contains($0.name) }
    }

    /// What is gone through, and how often: "500 objects, gone through 3 times"; empty where nothing is.
    package var work: String { Self.words(of: passes) }

    static func words(of passes: [StoreMigrationPlan.Pass]) -> String {
        func words(_ passes: [StoreMigrationPlan.Pass], _ one: String, _ several: String) -> String? {
            let rows = passes.reduce(0) { $0 + $1.rows }, times = Set(passes.map(\.times)), most = times.max() ?? 0
            if rows == 0 { return nil }
            let often = most == 1 ? "once" : most == 2 ? "twice" : "\(most) times"
            return "\(rows) \(rows == 1 ? one : several), gone through \(times.count == 1 ? "" : "up to ")\(often)"
        }
        let objects = words(passes.filter { !$0.arePairs }, "object", "objects")
        let pairs = words(passes.filter(\.arePairs), "pair of a relationship", "pairs of relationships")
        return [objects, pairs].compactMap(\.self).joined(separator: ", and ")
    }
}

extension StoreMigrationPlan.Change {
    /// Of the pipeline's own entities and properties, which the configuration does not know.
    fileprivate var isOurs: Bool {
        switch self {
        case .addedEntity(let name), .renamedEntity(let name, _), .removedEntity(let name, _), .changedConstraints(let name): Self.isOurs(name)
        case .addedProperty(let name, let entity), .renamedProperty(let name, let entity, _), .removedProperty(let name, let entity, _),
            .changedProperty(let name, let entity, _, _):
            Self.isOurs(entity) || Self.isOurs(name)
        case .addedIndex(let names, let entity), .removedIndex(let names, let entity): Self.isOurs(entity) || names.contains(where: Self.isOurs)
        }
    }

    private static func isOurs(_ name: String) -> Bool { name.lowercased().hasPrefix("cistern") }

    fileprivate var takesValues: Bool {
        switch self {
        case .removedEntity(_, let count), .removedProperty(_, _, let count): count > 0
        default: false
        }
    }

    /// As `drop` names it.
    fileprivate var name: String {
        switch self {
        case .removedEntity(let name, _): name
        case .removedProperty(let name, let entity, _): "\(entity).\(name)"
        default: ""
        }
    }

    /// Without a full stop: "City.mayor is new".
    package var words: String {
        switch self {
        case .addedEntity(let name): "entity \(name) is new"
        case .renamedEntity(let name, let old): "entity \(old) is called \(name)"
        case .removedEntity(let name, let count): "entity \(name) goes with \(count) \(count == 1 ? "object" : "objects")"
        case .addedProperty(let name, let entity): "\(entity).\(name) is new"
        case .renamedProperty(let name, let entity, let old): "\(entity).\(old) is called \(name)"
        case .removedProperty(let name, let entity, let count): "\(entity).\(name) goes with \(count) \(count == 1 ? "value" : "values")"
        case .changedProperty(let name, let entity, let old, let new): "\(entity).\(name) was \(old) and is \(new)"
        case .changedConstraints(let entity): "\(entity) has another key"
        case .addedIndex(let names, let entity): "an index over \(Self.list(names, entity)) is made"
        case .removedIndex(let names, let entity): "the index over \(Self.list(names, entity)) goes"
        }
    }

    private static func list(_ names: [String], _ entity: String) -> String { names.map { "\(entity).\($0)" }.joined(separator: " and ") }
}
