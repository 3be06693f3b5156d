import Foundation

/// Writes what could not be applied where people find it: JSON, one object an element, with the reason.
enum PushKeptAside {
    /// Writes the refused changes to a file named after the first entry; the same replay writes the same file.
    static func keep(_ refused: [PushReplay.Refused], in folder: URL, after number: UInt64) throws -> URL {
        let list = refused.map { refused -> [String: Any] in
            var values: [String: Any] = [:]
            if refused.change.kind != .deleted, let row = refused.change.row {
                for slot in 0..<row.count where refused.change.kind == .inserted || refused.change.changed.contains(slot) {
                    values[row.layout.names[slot]] = text(row[slot], attribute: row.layout.names[slot])
                }
            }
            return [
                "entity": refused.id.entity.name ?? "", "object": refused.id.uriRepresentation().absoluteString, "change": "\(refused.change.kind)",
                "reason": refused.reason, "values": values,
            ]
        }
        let data = try JSONSerialization.data(withJSONObject: list, options: [.prettyPrinted, .sortedKeys])
        let aside = PushJournalFolder.keptAside(folder)
        try FileManager.default.createDirectory(at: aside, withIntermediateDirectories: true)
        let url = aside.appendingPathComponent("\(number).json")
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

    private static func text(_ value: AttributeValue, attribute: String) -> Any {
        switch value {
        case .null: NSNull()
        case .int64(let value): NSNumber(value: value)
        case .double(let value): value.isFinite ? NSNumber(value: value) : "\(value)"
        case .bool(let value): NSNumber(value: value)
        case .date(let seconds): ISO8601DateFormatter().string(from: Date(timeIntervalSinceReferenceDate: seconds))
        case .string(let value): value
        case .data(let value): value.base64EncodedString()
        case .uuid(let value): value.uuidString
        case .decimal(let value): value.description
        case .objectID(let id): id.uriRepresentation().absoluteString
        case .object(let box):
            (box.value.base as? URL)?.absoluteString ?? (try? TransformableCoding.data(box.value, attribute: attribute).base64EncodedString())
                ?? "\(box.value)"
        }
    }
}
