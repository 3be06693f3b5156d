import JSONPaths

/// One thing that is wanted of every record: where it is, and in which shape.
public struct JSONField: Sendable {
    /// In which shape a value is handed out.
    public enum Capture: Sendable {
        /// A scalar as itself; an object or array as its JSON text.
        case value
        /// The JSON text of the value, whatever it is (also of a scalar and of `null`).
        case raw
        /// An object as a record of its own, read by the plan; an array as a ``JSONArray`` of such records or scalars; a scalar as itself
        /// (a foreign key).
        case record(JSONFieldPlan)
    }

    /// For messages only.
    public let name: String
    /// The alternatives: the first one that exists in the record wins, and a `null` exists.
    public let paths: [JSONPath]
    public let capture: Capture

    /// - Precondition: there is at least one path; the path of a `.record` field is not `$` (a record is not its own field).
    public init(_ name: String, paths: [JSONPath], capture: Capture = .value) {
        precondition(!paths.isEmpty, "JSONField \(name): a field needs a path")
        if case .record = capture {
            precondition(!paths.contains(.root), "JSONField \(name): $ is the record itself, it cannot be a nested record as well")
        }
        self.name = name
        self.paths = paths
        self.capture = capture
    }

    public init(_ name: String, path: JSONPath, capture: Capture = .value) {
        self.init(name, paths: [path], capture: capture)
    }

    /// The value of the record's own key of this name.
    public init(key: String, capture: Capture = .value) {
        self.init(key, path: JSONPath(keys: [key]), capture: capture)
    }
}
