import Foundation
import Glibc

/// Writes what could not be applied where people find it: refused objects as a property list in XML, one an element, with the reason; files as they
/// are. Nothing that stands there is ever written over: it may be all that is left of it.
struct PushKeptAside {
    private let place: PushJournalPlace
    /// What was kept of refused objects, and whether this made the file.
    private(set) var list: (url: URL, isMine: Bool)?

    init(_ place: PushJournalPlace) { self.place = place }

    /// Writes the refused changes, instead of those that it wrote before. The file is named after the first entry.
    mutating func keep(_ refused: [PushReplay.Refused], after number: UInt64) throws {
        // The journal still has all of it.
        if let list, list.isMine { unlink(list.url.path) }
        list = nil
        if !refused.isEmpty { list = try write(Self.propertyList(refused), as: "\(number).plist") }
    }

    /// Copies a file of entries that can't be read, as it is.
    func keep(_ file: URL) throws -> URL { try write(Data(contentsOf: file), as: file.lastPathComponent).url }

    /// Writes bytes under a name that nothing has yet; where they stand already, that is the file. On return they survive loss of power.
    private func write(_ data: Data, as name: String) throws -> (url: URL, isMine: Bool) {
        try place.observer.tell(.keep(name))
        let aside = place.keptAside
        try place.make(aside)
        var url = aside.appendingPathComponent(name), attempt = 1
        while FileManager.default.fileExists(atPath: url.path) {
            if try Data(contentsOf: url) == data {
                try synchronizeNames()
                return (url, false)
            }
            attempt += 1
            url = aside.appendingPathComponent("\(attempt)-\(name)")
        }
        // Whole under its name, or not at all.
        let draft = aside.appendingPathComponent("draft")
        unlink(draft.path)
        let file = try PushJournalFile(creating: draft, in: place, startingWith: [UInt8](data), after: 0)
        do {
            try file.synchronize(orCutTo: 0, place.observer)
            _ = try Disk.checked("rename \(draft.path)") { rename(draft.path, url.path) }
        } catch {
            unlink(draft.path)
            throw error
        }
        try synchronizeNames()
        return (url, true)
    }

    private func synchronizeNames() throws {
        for folder in [place.keptAside, place.folder] { try place.synchronizeNames(in: folder) }
    }

    private static func propertyList(_ refused: [PushReplay.Refused]) throws -> Data {
        // In an order of its own, so that the same replay writes the same bytes.
        let ordered = refused.map { (place: "\($0.id.uriRepresentation().absoluteString) \($0.reason)", $0) }.sorted { $0.place < $1.place }
        let list = ordered.map { _, refused -> [String: Any] in
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
        return try PropertyListValue.bytes(list, format: .xml)
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
