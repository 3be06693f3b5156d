public import JSONPaths

/// What a record has to say at a path.
public struct DeletionCondition: Sendable, Hashable {
    /// A value of JSON that is neither null nor a list nor an object.
    public enum Scalar: Sendable, Hashable {
        /// `true` or `false`.
        case bool(Bool)
        /// A whole number, however it is written.
        case integer(Int64)
        /// A text.
        case text(String)
    }

    /// What is asked of the value.
    public enum Test: Sendable, Hashable {
        /// It is there, and neither null nor false; the default.
        case holds
        /// `exists`: it is there, null included; or it is not.
        case exists(Bool)
        /// `equals` and `in`: it is one of these.
        case isAny([Scalar])
    }

    /// Where the value is in the record.
    public var path: JSONPath
    /// What is asked of it.
    public var test: Test

    /// A value that is there, and neither null nor false, unless something else is asked.
    public init(_ path: JSONPath, _ test: Test = .holds) {
        self.path = path
        self.test = test
    }
}
