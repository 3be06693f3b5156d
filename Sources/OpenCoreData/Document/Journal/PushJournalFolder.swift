import Foundation

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
            return problems.append(Problem(url: url, sentence: "\(url.lastPathComponent) is no journal that this version reads."))
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
            return problems.append(Problem(url: url, sentence: "\(url.lastPathComponent) names what the model does not have; it was not applied."))
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
