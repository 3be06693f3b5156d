public import JSONPaths

/// `format`: how a response holds its records.
public enum ContentFormat: Sendable, Hashable {
    /// `json`: a JSON document; the default.
    case json
    /// `ndjson`: one JSON value a line, and nothing around them.
    case ndjson
    /// `json-seq`: JSON values, each after a record separator (RFC 7464).
    case jsonSequence
    /// `csv`: rows of cells (RFC 4180), which become objects of texts.
    case csv(CSVFormat)

    /// Whether it is a document, which may say something around its records; the others are their records and nothing else.
    package var isDocument: Bool { self == .json }

    /// Whether all values of its records are texts: what else is asked of one is asked of what the text says.
    package var holdsTexts: Bool { if case .csv = self { true } else { false } }

    /// Its media types, where the configuration does not say which.
    var contentTypes: [String] {
        switch self {
        case .json: ParsePolicy().contentTypes
        case .ndjson:
            [
                "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonl", "application/jsonlines",
                "application/x-jsonlines", "application/json-lines", "text/plain", "application/octet-stream", "binary/octet-stream",
            ]
        case .jsonSequence: ["application/json-seq", "application/*+json-seq", "text/plain", "application/octet-stream", "binary/octet-stream"]
        case .csv:
            [
                "text/csv", "application/csv", "text/tab-separated-values", "text/plain", "application/octet-stream",
                "binary/octet-stream",
            ]
        }
    }
}

/// `csv`: how rows and cells are written.
public struct CSVFormat: Sendable, Hashable {
    /// What a cell without any text is.
    public enum EmptyCell: String, Sendable, Hashable, CaseIterable {
        /// No value, quoted or not; the default.
        case null
        /// An empty text.
        case text
    }

    /// `csv.delimiter`, default a comma: what stands between two cells. ASCII.
    public var delimiter = UInt8(ascii: ",")
    /// `csv.quote`, default `"`: what stands around a cell that holds delimiters, ends of lines or, written twice, itself; `nil`: cells are never quoted.
    public var quote: UInt8? = UInt8(ascii: "\"")
    /// `csv.header`, default true: whether the first row names the columns.
    public var hasHeader = true
    /// `csv.columns`: the names of the columns. Where there is a header, it has to say the same; `nil`: it may say anything.
    public var columns: [String]?
    /// `csv.empty`, default `null`.
    public var empty = EmptyCell.null

    /// As RFC 4180 has it, with a header.
    public init() {}
}

/// `columns`: what names the values of records that are lists of them.
public enum ColumnNames: Sendable, Hashable {
    /// A list: these names, in this order.
    case fixed([String])
    /// `header`: the first of the records.
    case header
    /// A path to a list of names. Behind a wildcard it leads to the name in each of the list's elements, as in `$.fields[*].name`.
    case path(JSONPath)
    /// `members`: where the records are to be, an object has a list for each column, under its name.
    case members
}

/// `unpack`: the file that a body is, besides what HTTP makes of it for its way.
public enum Unpacking: Sendable, Hashable {
    /// A gzip file, of any number of members.
    case gzip
    /// A zip file. `zip_entry`: the name of the file in it, or a pattern as a shell has them; `nil`: the only one.
    case zip(entry: String?)

    /// Its media types, where the configuration does not say which.
    var contentTypes: [String] {
        switch self {
        case .gzip: ["application/gzip", "application/x-gzip"]
        case .zip: ["application/zip", "application/x-zip-compressed"]
        }
    }
}

extension ResourceConfiguration {
    /// Whether a response is its records, and nothing is around them.
    package var isRecordsOnly: Bool { !format.isDocument || columns == .members && (records ?? .root) == .root }
}
