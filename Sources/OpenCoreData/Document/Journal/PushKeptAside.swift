import Foundation

/// Writes what could not be applied where people find it: a property list in XML, one object an element, with the reason.
enum PushKeptAside {
    /// Writes the refused changes to a file named after the first entry; the same replay writes the same file.
    static func keep(_ refused: [PushReplay.Refused], in folder: URL, after number: UInt64) throws -> URL {
        let list = refused.map { refused -> [String: Any] in
            var values: [String: Any] = [:]
            if refused.change.kind != .deleted, let row = refused.change.row {
                for slot in 0..<row.count where refused.change.kind == .inserted || refused.change.changed.contains(slot) {
                    values[row.layout.names[slot]] = value(row[slot], attribute: row.layout.names[slot])
                }
            }
            return [
                "entity": refused.id.entity.name ?? "", "object": refused.id.uriRepresentation().absoluteString, "change": "\(refused.change.kind)",
                "reason": refused.reason, "values": values,
            ]
        }
        let data = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
        let aside = PushJournalFolder.keptAside(folder)
        try FileManager.default.createDirectory(at: aside, withIntermediateDirectories: true)
        let url = aside.appendingPathComponent("\(number).plist")
        try data.write(to: url, options: .atomic)
        try synchronize(url)
        return url
    }

    /// Copies a file of entries that can't be read, as it is.
    static func keep(_ file: URL, in folder: URL) throws -> URL {
        let aside = PushJournalFolder.keptAside(folder)
        try FileManager.default.createDirectory(at: aside, withIntermediateDirectories: true)
        let data = try Data(contentsOf: file)
        var url = aside.appendingPathComponent(file.lastPathComponent), attempt = 1
        while let there = try? Data(contentsOf: url), there != data {
            attempt += 1
            url = aside.appendingPathComponent("\(attempt)-\(file.lastPathComponent)")
        }
        try data.write(to: url, options: .atomic)
        try synchronize(url)
        return url
    }

    private static func synchronize(_ url: URL) throws {
        try PushJournalFile.synchronize(fileIfAny: url)
        try PushJournalFile.synchronize(folder: url.deletingLastPathComponent())
    }

    /// As a property list has it; nil: null.
    private static func value(_ value: AttributeValue, attribute: String) -> Any? {
        switch value {
        case .null: nil
        case .int64(let value): NSNumber(value: value)
        case .double(let value): value.isFinite ? NSNumber(value: value) : "\(value)"
        case .bool(let value): NSNumber(value: value)
        case .date(let seconds): "\(seconds) s after 2001-01-01 00:00:00 UTC"
        // XML has no way to write most control characters.
        case .string(let value): value.unicodeScalars.contains { $0.value < 0x20 && !"\t\n".unicodeScalars.contains($0) } ? Data(value.utf8) : value
        case .data(let value): value
        case .uuid(let value): value.uuidString
        case .decimal(let value): value.description
        case .objectID(let id): id.uriRepresentation().absoluteString
        case .object(let box):
            (box.value.base as? URL)?.absoluteString ?? (try? TransformableCoding.data(box.value, attribute: attribute)) ?? "\(box.value)"
        }
    }
}
