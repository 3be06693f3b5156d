/// A limit that was exceeded, by the name it has in the configuration.
public struct JSONLimit: Sendable, Hashable, CustomStringConvertible {
    public enum Name: String, Sendable, Hashable {
        case maxDepth = "max_depth"
        case maxString = "max_string"
        case maxKey = "max_key"
        case maxNumberDigits = "max_number_digits"
        case maxRecordsPerPage = "max_records_per_page"
        case maxCells = "max_cells"
        /// What the structural index can address; not configurable.
        case maxDocument = "document size"
    }

    public let name: Name
    /// Levels, bytes, digits, records or cells.
    public let value: Int

    init(_ name: Name, _ value: Int) {
        self.name = name
        self.value = value
    }

    /// `max_depth = 128`.
    public var description: String { "\(name.rawValue) = \(value)" }

    /// What there was too much of.
    var subject: String {
        switch name {
        case .maxDepth: "nesting"
        case .maxString: "a string"
        case .maxKey: "a key"
        case .maxNumberDigits: "the digits of a number"
        case .maxRecordsPerPage: "the number of records"
        case .maxCells: "the number of values taken out of a record"
        case .maxDocument: "the document"
        }
    }
}
