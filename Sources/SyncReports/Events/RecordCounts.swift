/// What happened to the records of a page or a run. A count is a property and a line in ``kinds``; sums, the control protocol, the journal and
/// sentences take it from there.
public struct RecordCounts: Sendable, Hashable {
    public var inserted = 0
    public var updated = 0
    public var unchanged = 0
    public var deleted = 0
    public var quarantined = 0

    public init() {}

    /// A count, and what it is called.
    public struct Kind: Sendable {
        /// In JSON, SQL and the journal.
        public let name: String
        /// In sentences; nil: they pass over it.
        public let word: String?
        /// Whether it counts records that were looked at.
        let isOfRecords: Bool
        public let path: any WritableKeyPath<RecordCounts, Int> & Sendable

        fileprivate init(_ name: String, _ path: any WritableKeyPath<RecordCounts, Int> & Sendable, word: String?, isOfRecords: Bool = true) {
            self.name = name
            self.word = word
            self.isOfRecords = isOfRecords
            self.path = path
        }
    }

    public static let kinds = [
        Kind("inserted", \.inserted, word: "inserted"), Kind("updated", \.updated, word: "updated"), Kind("unchanged", \.unchanged, word: nil),
        Kind("deleted", \.deleted, word: "deleted", isOfRecords: false), Kind("quarantined", \.quarantined, word: "set aside"),
    ]

    public static func += (left: inout RecordCounts, right: RecordCounts) {
        for kind in kinds { left[keyPath: kind.path] += right[keyPath: kind.path] }
    }

    /// How many records were looked at.
    public var records: Int { Self.kinds.reduce(0) { $1.isOfRecords ? $0 + self[keyPath: $1.path] : $0 } }

    /// How many rows were changed in the database.
    public var changes: Int { inserted + updated + deleted }

    /// `12 inserted, 3 updated`; empty if nothing was changed.
    public var inWords: String {
        Self.kinds.compactMap { kind in
            let count = self[keyPath: kind.path]
            return count > 0 ? kind.word.map { "\(count) \($0)" } : nil
        }.joined(separator: ", ")
    }
}

extension RecordCounts: Codable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// What is not there is zero: it may come from a version that did not count it.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        for kind in Self.kinds { self[keyPath: kind.path] = try values.decodeIfPresent(Int.self, forKey: Key(stringValue: kind.name)) ?? 0 }
    }

    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        for kind in Self.kinds { try values.encode(self[keyPath: kind.path], forKey: Key(stringValue: kind.name)) }
    }
}
