/// An attribute as it is drafted.
struct AttributeDraft {
    let name: String
    /// From the record; empty: it is not in the record, but the name under which that stands.
    let path: [String]
    var type: String
    /// For dates that are written in another way than the usual one.
    var format: String?
    var isKey = false
    /// Why this type; nil where that is plain.
    var remark: String?

    /// What becomes of values, as type and format.
    ///
    /// - Parameters:
    ///   - name: of the last member on the path.
    ///   - values: without nulls; may be empty.
    static func choose(for values: [SampleValue], name: String, isKey: Bool) -> (type: String, format: String?, remark: String?) {
        if values.isEmpty { return ("json", nil, "never anything but null here: the type is not known") }
        if values.contains(where: { $0.list != nil || $0.object != nil }) {
            if values.allSatisfy({ $0.list != nil }) { return ("json", nil, "a list") }
            return ("json", nil, values.allSatisfy({ $0.object != nil }) ? "an object" : "sometimes one thing, sometimes another")
        }
        let texts = values.compactMap(\.text)
        if texts.count == values.count { return choose(forTexts: texts, isKey: isKey) }
        if values.allSatisfy({ $0.bool != nil }) { return ("bool", nil, nil) }
        let numbers = values.compactMap(\.digits)
        guard numbers.count == values.count else { return ("string", nil, "sometimes a text, sometimes something else: kept as a text") }
        return choose(forNumbers: numbers, values, name: name, isKey: isKey)
    }

    private static func choose(forTexts texts: [String], isKey: Bool) -> (type: String, format: String?, remark: String?) {
        if texts.allSatisfy(ScalarForm.isUUID) { return ("uuid", nil, nil) }
        guard !isKey, let format = ScalarForm.dateFormat(of: texts) else { return ("string", nil, nil) }
        return ("date", format == "rfc3339" ? nil : format, format == "rfc3339" ? nil : "every text here has this form")
    }

    private static func choose(
        forNumbers numbers: [String], _ values: [SampleValue], name: String, isKey: Bool
    ) -> (type: String, format: String?, remark: String?) {
        guard values.allSatisfy({ $0.integer != nil }) else {
            // What a double cannot hold is kept in its own digits.
            let fit = numbers.allSatisfy { digits in
                guard let value = Double(digits), value.isFinite else { return false }
                return value != 0 || !digits.prefix { $0 != "e" && $0 != "E" }.contains { ("1"..."9").contains($0) }
            }
            return fit ? ("double", nil, nil) : ("string", nil, "numbers that a double cannot hold: kept as text")
        }
        let integers = values.compactMap(\.int64)
        guard integers.count == values.count else {
            let isShort = numbers.allSatisfy { $0.utf8.count <= 30 }
            return (isShort ? "decimal" : "string", nil, "integers beyond 64 bits")
        }
        if !isKey, isTime(name) {
            // From 2001 to 2100.
            if integers.allSatisfy({ (978_307_200...4_102_444_800).contains($0) }) { return ("date", "unix", "seconds since 1970, by name and size") }
            if integers.allSatisfy({ (978_307_200_000...4_102_444_800_000).contains($0) }) {
                return ("date", "unix-ms", "milliseconds since 1970, by name and size")
            }
        }
        return ("int64", nil, nil)
    }

    /// Whether the name says that it is a moment.
    private static func isTime(_ name: String) -> Bool {
        let words = DraftNames.words(name).map { $0.lowercased() }
        guard let last = words.last else { return false }
        let joined = words.joined()
        return ["at", "time", "date", "timestamp", "created", "updated", "modified", "expires", "ts", "on"].contains(last)
            || ["time", "timestamp", "date"].contains { joined.hasSuffix($0) }
    }
}

/// A relationship as it is drafted: always to objects that the record holds.
struct RelationshipDraft {
    let name: String
    let path: [String]
    /// The place of its entity among the drafts.
    let target: Int
    let isMany: Bool
}
