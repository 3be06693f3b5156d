import CSimdJSON
// Callers say what to read with a JSONPath: its names are part of this interface.
@_exported import JSONPaths
import Synchronization

/// The fields of one kind of record, compiled so that a reader finds each of them in passing.
///
/// A plan may be made first and told its fields later, so that plans can name each other and themselves:
///
///     let person = JSONFieldPlan()
///     person.define([JSONField(key: "id"), JSONField(key: "mother", capture: .record(person))])
///
/// Defined plans do not change and may be used by any number of readers at the same time. A plan keeps the plans it names alive; plans
/// that name each other in a circle keep each other until ``invalidate()`` is called on one of them.
// The compiled form is written once, by `define`, under the lock, and only read afterwards.
public final class JSONFieldPlan: @unchecked Sendable {
    private struct State {
        var fields: [JSONField]?
        var isInvalidated = false
    }

    let compiled: OpaquePointer
    private let state = Mutex(State())

    /// A plan whose fields follow with ``define(_:collectsUnknownKeys:)``.
    public init() {
        compiled = csj_plan_create()
    }

    /// A plan of these fields. `record[n]` is the cell of `fields[n]`.
    public convenience init(_ fields: [JSONField], collectsUnknownKeys: Bool = false) {
        self.init()
        define(fields, collectsUnknownKeys: collectsUnknownKeys)
    }

    deinit {
        csj_plan_destroy(compiled)
    }

    /// Gives the plan its fields, once; a second time traps. With `collectsUnknownKeys`, ``JSONRecord/unknownKeys`` lists the keys of a
    /// record which no field starts with.
    public func define(_ fields: [JSONField], collectsUnknownKeys: Bool = false) {
        state.withLock { state in
            precondition(state.fields == nil && !state.isInvalidated, "JSONFieldPlan: the fields are already defined")
            for field in fields {
                csj_plan_add_field(compiled)
                for path in field.paths {
                    compile(path, field.capture)
                }
            }
            if collectsUnknownKeys { csj_plan_collect_unknown_keys(compiled) }
            csj_plan_seal(compiled)
            state.fields = fields
        }
    }

    /// The fields in the order of their indices; empty before `define`.
    public var fields: [JSONField] {
        state.withLock { $0.fields ?? [] }
    }

    /// Breaks the cycle of plans that this one is part of: it and all plans that it leads to and that lead back to it release the plans they name.
    /// None of them can be used afterwards, and no reader may be using one now. A plan outside any cycle only releases its own.
    public func invalidate() {
        // Collect all of them first: releasing one hides the way back from others.
        let circle = reachable().filter { plan in plan === self || plan.reachable().contains { $0 === self } }
        for plan in circle {
            plan.state.withLock { state in
                state.isInvalidated = true
                state.fields = nil
            }
        }
    }

    /// This plan and all that it leads to.
    private func reachable() -> [JSONFieldPlan] {
        var reached: [ObjectIdentifier: JSONFieldPlan] = [:]
        var open = [self]
        while let plan = open.popLast() {
            guard reached.updateValue(plan, forKey: ObjectIdentifier(plan)) == nil else { continue }
            for case .record(let nested) in plan.fields.lazy.map(\.capture) { open.append(nested) }
        }
        return Array(reached.values)
    }

    private func compile(_ path: JSONPath, _ capture: JSONField.Capture) {
        var nested: OpaquePointer?
        var kind = CSJ_CAPTURE_VALUE
        switch capture {
        case .value, .presence: break
        case .raw: kind = CSJ_CAPTURE_RAW
        case .record(let plan):
            kind = CSJ_CAPTURE_RECORD
            nested = plan.compiled
        }
        JSONFieldPlan.add(path, to: compiled, capture: kind, nested: nested)
    }

    /// Adds a path to the field opened last.
    static func add(_ path: JSONPath, to plan: OpaquePointer, capture: Int, nested: OpaquePointer?) {
        path.withSegments { csj_plan_add_path(plan, $0.baseAddress, $0.count, Int32(capture), nested) }
    }

    /// Traps if this plan or one that it leads to has no fields (yet, or any more). Looked at before each page: a handful of plans.
    func checkComplete() {
        for plan in reachable() {
            plan.state.withLock { state in
                precondition(!state.isInvalidated, "JSONFieldPlan: a plan in use was invalidated")
                precondition(state.fields != nil, "JSONFieldPlan: a plan in use has no fields; call define")
            }
        }
    }
}

/// One thing that is wanted of every record: where it is, and in which shape.
public struct JSONField: Sendable {
    /// In which shape a value is handed out.
    public enum Capture: Sendable {
        /// A scalar as itself; an object or array as its JSON text.
        case value
        /// The JSON text of the value, whatever it is (also of a scalar and of `null`).
        case raw
        /// The same as a value, of which only matters whether it is there: of a list or of what is around one, elements may be left out.
        case presence
        /// An object as a record of its own, read by the plan; an array as a ``JSONArray`` of such records or scalars; a scalar as itself
        /// (a foreign key).
        case record(JSONFieldPlan)
    }

    /// For messages only.
    public let name: String
    /// The alternatives: the first one that exists in the record wins, and a `null` exists.
    public let paths: [JSONPath]
    /// The shape; ``Capture/value`` unless said otherwise.
    public let capture: Capture

    /// - Precondition: there is at least one path, and none has a wildcard; the path of a `.record` field is not `$` (a record is not its own field).
    public init(_ name: String, paths: [JSONPath], capture: Capture = .value) {
        precondition(!paths.isEmpty, "JSONField \(name): a field needs a path")
        precondition(!paths.contains(where: \.hasWildcard), "JSONField \(name): a field has one value, a path with a wildcard leads to many")
        if case .record = capture {
            precondition(!paths.contains(.root), "JSONField \(name): $ is the record itself, it cannot be a nested record as well")
        }
        self.name = name
        self.paths = paths
        self.capture = capture
    }

    /// A field with a single path, without alternatives. Traps if the path of a `.record` field is `$`.
    public init(_ name: String, path: JSONPath, capture: Capture = .value) {
        self.init(name, paths: [path], capture: capture)
    }

    /// The value of the record's own key of this name.
    public init(key: String, capture: Capture = .value) {
        self.init(key, path: JSONPath(keys: [key]), capture: capture)
    }
}
