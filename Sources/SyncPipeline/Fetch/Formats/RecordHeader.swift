import JSONReader

/// The row of a page that names its columns.
struct RecordHeader: Sendable {
    let names: [String]
    /// Where it stands, counted from 1; nil: in no line of its own.
    let line: Int?

    /// More than anybody shows.
    private static let longestText = 8192

    /// What is wrong with it as one of records that are told apart by what stands at these paths, of each list at one of them; nil: nothing.
    ///
    /// Any text is a header and no rows: without this it would be a list that has ended.
    func problem(keys: [[JSONPath]]) -> FormatError? {
        let known = Set(names)
        func isThere(_ path: JSONPath) -> Bool { path.column.map { known.contains($0) } ?? true }
        for paths in keys where !paths.isEmpty && !paths.contains(where: isThere) {
            let found = String(names.joined(separator: ", ").prefix(Self.longestText))
            return FormatError("no column is \(paths[0]), by which records are told apart; the header says “\(found)”", line: line)
        }
        return nil
    }
}

extension JSONPath {
    /// The column in which it begins; nil: it leads to the whole record, or into a list.
    fileprivate var column: String? {
        if case .key(let name)? = segments.first { name } else { nil }
    }
}
