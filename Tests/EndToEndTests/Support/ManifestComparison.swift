import Foundation
import JSONPaths
import ManifestTestSupport
import SyncConfiguration

/// Compares the rows of an entity with what the streams have that its resources list.
struct ManifestComparison {
    let entity: EntityConfiguration
    /// Of all streams whose records become this entity.
    let truths: [StreamTruth]
    /// The attributes that records do not say.
    let assigned: Set<String>

    private var records: [StreamTruth.Record] { truths.flatMap(\.records) }
    private var unknown: Set<String> { truths.reduce(into: []) { $0.formUnion($1.unknownFields) } }

    /// The rows as lists of values in JSON, one a line.
    var query: String {
        let columns = attributes.map { "\"\($0.name)\"" }
        return "SELECT json_array(\(columns.joined(separator: ", "))) FROM \"\(entity.name)\""
    }

    /// Those that can be compared as values.
    private var attributes: [AttributeConfiguration] {
        entity.attributes.filter { attribute in
            if case .data = attribute.type { return false }
            return attribute.name != EntityConfiguration.keyAttribute
        }
    }

    /// What is wrong with the rows; nil: nothing.
    func complaint(_ lines: [String]) throws -> String? {
        let rows = try lines.map { try DataValue(json: $0.utf8).list ?? [] }
        let isKeyless = entity.derivedKey == .content
        let most = records.count + (isKeyless ? truths.reduce(0) { $0 + $1.changedCount } : 0)
        guard rows.count >= records.count, rows.count <= most else { return "\(rows.count) rows of \(records.count) records" }
        // What no row has a value of was not brought over, and said to be left out; of anything else every row has to be right.
        let compared = attributes.enumerated().filter { index, attribute in
            isKnown(attribute) && (isInRecords(attribute) || rows.contains { index < $0.count && !$0[index].isNull })
        }
        guard !compared.isEmpty || records.isEmpty else { return "nothing of \(entity.name) can be compared" }
        var found: [String: Int] = [:]
        for row in rows {
            let cells = compared.map { index, attribute in index < row.count ? Self.text(ofCell: row[index], attribute) : "" }
            found[cells.joined(separator: " | "), default: 0] += 1
        }
        for record in records {
            let text = compared.map { _, attribute in self.text(of: record, attribute) }.joined(separator: " | ")
            guard let count = found[text], count > 0 else {
                let names = compared.map { $0.element.name }.joined(separator: " | ")
                let example = found.first { $0.value > 0 }?.key ?? "none"
                return "no row is \(text) (\(names)); a row that no record is: \(example)"
            }
            found[text] = count - 1
        }
        return nil
    }

    // MARK: What a record says of an attribute

    /// Whether it can be known beforehand.
    private func isKnown(_ attribute: AttributeConfiguration) -> Bool {
        if unknown.contains(attribute.name) { return false }
        for path in attribute.paths {
            guard let keys = Self.keys(path) else { return false }
            if let first = keys.first, unknown.contains(first) { return false }
        }
        // What is the part's and not the record's is known where transformations have put it into the record.
        return attribute.isRead && !assigned.contains(attribute.name) || records.allSatisfy { member(like: attribute.name, of: $0.final) != nil }
    }

    private func isInRecords(_ attribute: AttributeConfiguration) -> Bool {
        records.contains { read(attribute, $0.raw).map { !$0.isNull } ?? false }
    }

    private func text(of record: StreamTruth.Record, _ attribute: AttributeConfiguration) -> String {
        let value = read(attribute, record.raw) ?? member(like: attribute.name, of: record.final) ?? .null
        return Self.text(ofValue: value, attribute)
    }

    /// What the record has at the attribute's paths, or under its name.
    private func read(_ attribute: AttributeConfiguration, _ record: DataValue) -> DataValue? {
        guard attribute.isRead else { return nil }
        if attribute.paths.isEmpty {
            let names = NameMatch.candidates(for: attribute.name, in: entity)
            return names.lazy.compactMap { record[$0] }.first
        }
        return attribute.paths.lazy.compactMap { path in Self.keys(path).flatMap { record.at($0) } }.first
    }

    /// The member that is called so, but for the case and what is no letter.
    private func member(like name: String, of record: DataValue) -> DataValue? {
        record.members?.first { Self.plain($0.name) == Self.plain(name) }?.value
    }

    static func plain(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }

    private static func keys(_ path: JSONPath) -> [String]? {
        var keys: [String] = []
        for segment in path.segments {
            if case .key(let key) = segment {
                keys.append(key)
            } else if case .index(let index) = segment {
                keys.append("\(index)")
            } else {
                return nil
            }
        }
        return keys
    }

    // MARK: Values as text

    private static func text(ofValue value: DataValue, _ attribute: AttributeConfiguration) -> String {
        if value.isNull { return "null" }
        switch attribute.type {
        case .bool: return value == .bool(true) ? "1" : value == .bool(false) ? "0" : value.shown
        case .date: return RecordTime.milliseconds(value, format: attribute.format.description).map { "\($0)" } ?? "no time: \(value.shown)"
        case .json: return value.canonical
        case .int16, .int32, .int64, .decimal, .double: return Double(value.shown).map { "\($0)" } ?? value.shown
        default: return value.shown
        }
    }

    private static func text(ofCell cell: DataValue, _ attribute: AttributeConfiguration) -> String {
        if cell.isNull { return "null" }
        switch attribute.type {
        case .date: return RecordTime.milliseconds(cell, format: "rfc3339").map { "\($0)" } ?? "no time: \(cell.shown)"
        case .json: return (try? DataValue(json: cell.shown.utf8))?.canonical ?? "no JSON: \(cell.shown)"
        case .int16, .int32, .int64, .decimal, .double: return Double(cell.shown).map { "\($0)" } ?? cell.shown
        default: return cell.shown
        }
    }
}
