import Foundation
import Glibc

/// What is in a journal's folder: files of entries, and what could not be applied.
struct PushJournalFolder {
    /// An entry that may have to be applied.
    struct Entry {
        let number: UInt64
        let records: [PushRecord]
    }

    /// Objects that turned out to be others after an entry.
    struct Turn {
        let entry: UInt64
        /// False: it holds only if the store has everything through that entry.
        let isCommitted: Bool
        let identities: [NSManagedObjectID: NSManagedObjectID]
        /// What became of the others then.
        let records: [PushRecord]
    }

    /// A file that can't be read or applied, whole or from some place on.
    struct Problem {
        let url: URL
        let sentence: String
    }

    private(set) var files: [URL] = []
    /// In the order of their numbers.
    private(set) var entries: [Entry] = []
    /// Those that took place, in their order.
    private(set) var turns: [Turn] = []
    private var forgotten: [ClosedRange<UInt64>] = []
    private var forgottenRows: [NSManagedObjectID: [ClosedRange<UInt64>]] = [:]
    private(set) var problems: [Problem] = []
    /// The highest number that was seen.
    private(set) var last: UInt64 = 0

    static func name(of first: UInt64, attempt: Int = 0) -> String {
        let digits = String(first, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits + (attempt == 0 ? "" : "-\(attempt)") + ".pushes"
    }

    static func keptAside(_ folder: URL) -> URL { folder.appendingPathComponent("KeptAside", isDirectory: true) }

    /// The files in a folder, in the order of their entries. Throws if the folder is there and can't be listed.
    static func files(in folder: URL) throws -> [URL] {
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return names.filter { $0.hasSuffix(".pushes") }.sorted().map { folder.appendingPathComponent($0) }
    }

    /// Reads every file. Throws only if one can't be read from the disk.
    ///
    /// - Parameter mark: through which entry everything is committed.
    init(reading folder: URL, coordinator: NSPersistentStoreCoordinator, after mark: UInt64) throws {
        files = try Self.files(in: folder)
        last = mark
        for url in files { try read(url, coordinator, after: mark) }
        entries.sort { $0.number < $1.number }
        turns = turns.enumerated().sorted { ($0.element.entry, $0.offset) < ($1.element.entry, $1.offset) }.map(\.element)
    }

    private mutating func read(_ url: URL, _ coordinator: NSPersistentStoreCoordinator, after mark: UInt64) throws {
        let bytes = [UInt8](try Data(contentsOf: url))
        let found: (header: PushJournalHeader, end: Int)
        do {
            // A file that ends in its header never had an entry.
            guard let header = try PushJournalHeader.read(bytes) else { return }
            found = header
        } catch {
            return problems.append(Problem(url: url, sentence: "\(url.lastPathComponent) is not a journal that this version can read."))
        }
        let (frames, end) = PushFrame.read(bytes[found.end...])
        for frame in frames { last = max(last, frame.number) }
        if end != .damaged && frames.allSatisfy({ $0.number <= mark && $0.kind != .turn }) { return }
        if let refusal = found.header.refusal(by: coordinator) {
            return problems.append(Problem(url: url, sentence: "\(url.lastPathComponent) was not applied: \(refusal)."))
        }
        if end == .damaged {
            problems.append(
                Problem(
                    url: url, sentence: "\(url.lastPathComponent) is damaged after its first \(frames.count) entries; what follows was not applied."))
        }
        guard let reader = try? PushRecordReader(found.header, coordinator: coordinator) else {
            return problems.append(Problem(url: url, sentence: "\(url.lastPathComponent) names things the model does not have; it was not applied."))
        }
        for frame in frames {
            // Whole frames stand behind one that makes no sense: what they say counts.
            do {
                switch frame.kind {
                case .push where frame.number <= mark: continue
                case .push: entries.append(Entry(number: frame.number, records: try reader.records(frame.payload)))
                case .forget: note(try reader.forget(frame.payload))
                case .turn:
                    let turn = try reader.turn(frame.payload)
                    if turn.isCommitted || turn.entry <= mark { turns.append(turn) }
                }
            } catch {
                problems.append(
                    Problem(url: url, sentence: "Entry \(frame.number) of \(url.lastPathComponent) can't be decoded; it was not applied."))
            }
        }
    }

    private mutating func note(_ forget: PushForget) {
        guard let ids = forget.ids else { return forgotten.append(forget.entries) }
        for id in ids { forgottenRows[id, default: []].append(forget.entries) }
    }

    /// Whether an entry was thrown away.
    func isForgotten(_ entry: UInt64) -> Bool { forgotten.contains { $0.contains(entry) } }

    /// Whether that of an entry was thrown away: what it says of an object's row.
    func isForgotten(_ entry: UInt64, _ record: PushRecord) -> Bool {
        switch record {
        case .pairs, .order: false
        default: forgottenRows[record.id]?.contains { $0.contains(entry) } ?? false
        }
    }
}

/// Where a journal is. What is made there may be read by whoever may read the stores: it holds what they will.
package struct PushJournalPlace: Sendable {
    let folder: URL
    let observer: PushJournalObserver
    /// The permissions of a file.
    private let mode: mode_t

    package init(folder: URL, stores: [NSPersistentStore], observer: PushJournalObserver) {
        self.folder = folder
        self.observer = observer
        let modes = stores.compactMap { store -> mode_t? in
            var status = stat()
            return store.url.flatMap { stat($0.path, &status) == 0 ? status.st_mode : nil }
        }
        // The owner writes it, whatever the store is.
        mode = 0o600 | (modes.isEmpty ? 0 : modes.reduce(0o666, &))
    }

    var keptAside: URL { PushJournalFolder.keptAside(folder) }

    /// Makes the journal's folder or one in it, if it is not there.
    func make(_ folder: URL) throws {
        // Who may read may look for names, too.
        let mode = Int(mode | (mode & 0o444) >> 2)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: mode])
    }

    /// Opens a file, making it if it is not there. Throws a POSIX error.
    func open(_ url: URL, _ flags: Int32) throws -> Int32 {
        let descriptor = try Disk.checked("open \(url.path)") { Glibc.open(url.path, flags | O_CREAT | O_CLOEXEC, mode) }
        // The mask of the process took something away, as it did not from the store. Somebody else's file stays as it is.
        _ = fchmod(descriptor, mode)
        return descriptor
    }

    /// Makes the names in a folder durable. Throws a POSIX error.
    func synchronizeNames(in folder: URL) throws {
        try observer.tell(.synchronizeNames(folder))
        try Disk.synchronize(folder: folder)
    }

    /// Makes what the stores committed durable. Throws a POSIX error.
    func synchronize(_ stores: [NSPersistentStore]) throws {
        try observer.tell(.synchronizeStores)
        for store in stores { try store.makeCommitsDurable() }
    }
}

/// The right to a journal's folder: one document has it at a time, and it is given up with the process.
package final class PushJournalLock: Sendable {
    private let descriptor: Int32

    /// Nil: another document has it. Throws a POSIX error.
    package init?(_ place: PushJournalPlace) throws {
        let url = place.folder.appendingPathComponent("lock")
        // Once `descriptor` is set, `deinit` runs wherever this returns, and a number that is closed twice may be somebody else's by then.
        let opened = try place.open(url, O_RDWR)
        if flock(opened, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            close(opened)
            if code == EWOULDBLOCK { return nil }
            errno = code
            _ = try Disk.checked("lock \(url.path)") { -1 }
        }
        descriptor = opened
    }

    deinit { close(descriptor) }
}

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
                    values[row.layout.names[slot]] = value(row[slot], row.layout.attribute(atSlot: slot))
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
    private static func value(_ value: AttributeValue, _ attribute: NSAttributeDescription?) -> Any? {
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
            (box.value.base as? URL)?.absoluteString ?? (try? TransformableCoding.data(box.value, of: attribute, named: attribute?.name ?? ""))
                ?? "\(box.value)"
        }
    }
}
