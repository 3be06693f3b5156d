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

    /// How many rows the store goes through for it.
    package let rows: Int

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
        rows = plan.rows
        all = plan.changes.filter { !$0.isOurs }
        let taking = all.filter(\.takesValues)
        losses = taking.filter { dropped.contains($0.name) }
        refused = taking.filter { !dropped.contains($0.name) }
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
        }
    }
}
