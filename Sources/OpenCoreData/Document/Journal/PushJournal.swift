import Foundation
import Glibc
import Synchronization

/// The pushes into a document's context that its store does not have yet, in files of the document's package.
///
/// The files are numbered by the first entry that they may hold; entries are added to the last one. A file goes when all of its entries are
/// resolved: committed or thrown away. `docs/decisions/0015-push-journal.md` says why it is as it is.
// `io` and `notes` guard what changes; `pushLock` orders pushes.
final class PushJournal: PushRecorder, @unchecked Sendable {
    private struct State {
        /// Nil when it has ended.
        var lock: PushJournalLock?
        var files: [PushJournalFile] = []
        /// The number of the last entry.
        var last: UInt64
        /// Everything up to here is committed or was thrown away.
        var resolved: UInt64
        /// What was thrown away of what comes later.
        var gone = IndexSet()
        /// The entries that insert objects which are in no store yet.
        var insertions: [NSManagedObjectID: UInt64] = [:]
        /// What was thrown away waits to be written down by the journal that comes after this one.
        var isResting = false
    }

    private enum Note {
        case forget(PushForget)
        case turn(PushTurn)
    }

    private let place: PushJournalPlace
    let isSynchronized: Bool
    private let header: PushJournalHeader
    private let headerBytes: [UInt8]
    private weak let coordinator: NSPersistentStoreCoordinator?
    /// Recursive: an archived value may run code of its own, and that may save.
    private let pushLock = NSRecursiveLock()
    private let io: Mutex<State>
    /// Thrown away, or turned out to be others, and not written down yet.
    private let notes = Mutex<[Note]>([])
    private let queue = DispatchQueue(label: "UIManagedDocument push journal")

    /// A new file begins where the last one has grown beyond this.
    static let fileLimit = 4 << 20

    /// - Parameter last: the number after which entries are numbered.
    /// - Parameter left: files of an earlier process, whose entries are unsaved in the root context and end with that number.
    init(
        place: PushJournalPlace, lock: PushJournalLock, coordinator: NSPersistentStoreCoordinator, isSynchronized: Bool, after last: UInt64,
        keeping left: [URL]
    ) {
        self.place = place
        self.coordinator = coordinator
        self.isSynchronized = isSynchronized
        header = PushJournalHeader(coordinator: coordinator)
        headerBytes = header.bytes
        let files = left.map { PushJournalFile(keeping: $0, last: last) }
        io = Mutex(State(lock: lock, files: files, last: last, resolved: left.isEmpty ? last : 0))
    }

    // MARK: Writing

    func inTurn<T>(_ body: () throws -> T) rethrows -> T {
        pushLock.lock()
        defer { pushLock.unlock() }
        return try body()
    }

    func unrecorded(_ ids: Set<NSManagedObjectID>) -> Set<NSManagedObjectID> {
        io.withLock { state in
            forgetInsertions(&state)
            return ids.filter { state.insertions[$0] == nil }
        }
    }

    func write(_ changes: ChangeSet, needing rows: [NSManagedObjectID: RowSnapshot]) throws -> UInt64 {
        var records = PushRecordWriter(stores: header.stores)
        try records.write(changes, needing: rows)
        guard records.bytes.count < Int(UInt32.max) - PushFrame.overhead else {
            throw NSError.coreData(
                .persistentStoreSave, "The save is too large for the push journal of \(place.folder.path): \(records.bytes.count) bytes.")
        }
        do {
            return try io.withLock { state in
                try writeNotes(&state)
                let number = state.last + 1
                try add(PushFrame.bytes(.push, number, records.bytes), &state)
                state.last = number
                state.files.last?.last = number
                for id in changes.ids(.inserted) { state.insertions[id] = number }
                for id in rows.keys { state.insertions[id] = number }
                return number
            }
        } catch {
            throw NSError.coreData(
                .persistentStoreSave,
                "The save was not accepted: the document's push journal can't be written. Nothing was changed; make room and save again.",
                underlying: error)
        }
    }

    /// Adds a frame to the last file, or to a new one.
    private func add(_ frame: [UInt8], _ state: inout State) throws {
        try place.observer.tell(.write(frame.count))
        let file = try file(&state), before = file.size
        try file.append(frame)
        if isSynchronized { try file.synchronize(orCutTo: before, place.observer) }
    }

    private func file(_ state: inout State) throws -> PushJournalFile {
        if let file = state.files.last, !file.isBroken, file.size < Self.fileLimit { return file }
        func url(_ attempt: Int) -> URL { place.folder.appendingPathComponent(PushJournalFolder.name(of: state.last + 1, attempt: attempt)) }
        var attempt = 0
        // One of that name is there if it broke before anything was in it.
        while FileManager.default.fileExists(atPath: url(attempt).path) { attempt += 1 }
        let file = try PushJournalFile(creating: url(attempt), in: place, startingWith: headerBytes, after: state.last)
        do {
            if isSynchronized { try place.synchronizeNames(in: place.folder) }
        } catch {
            // Nobody would ever remove it.
            unlink(file.url.path)
            throw error
        }
        state.files.append(file)
        return file
    }

    // MARK: Notes

    func forget(_ entries: ClosedRange<UInt64>, only ids: Set<NSManagedObjectID>?) { add(.forget(PushForget(entries: entries, ids: ids))) }

    func turned(_ turn: PushTurn) { add(.turn(turn)) }

    private func add(_ note: Note) {
        notes.withLock { $0.append(note) }
        // The caller may be the main queue, with locks held. What is not written yet goes before the next push.
        queue.async { [self] in
            try? io.withLock { try writeNotes(&$0) }
        }
    }

    func willCommit(_ turn: PushTurn) throws {
        do {
            try io.withLock { try write(turn, isCommitted: false, &$0) }
        } catch {
            throw NSError.coreData(
                .persistentStoreSave,
                "The save was not made: the document's push journal can't be written. Nothing was changed; make room and save again.",
                underlying: error)
        }
    }

    /// - Parameter isCommitted: false: it holds only if the store says that it has what was saved.
    private func write(_ turn: PushTurn, isCommitted: Bool, _ state: inout State) throws {
        var records = PushRecordWriter(stores: header.stores)
        try records.turn(turn, at: turn.entry ?? (isCommitted ? state.last : 0), isCommitted: isCommitted)
        try add(PushFrame.bytes(.turn, state.last, records.bytes), &state)
    }

    private func forgetInsertions(_ state: inout State) {
        for case .forget(let forget) in notes.withLock({ $0 }) {
            if let ids = forget.ids {
                for id in ids { state.insertions[id] = nil }
            } else {
                state.insertions = state.insertions.filter { !forget.entries.contains($0.value) }
            }
        }
    }

    private func writeNotes(_ state: inout State) throws {
        forgetInsertions(&state)
        if state.isResting { return }
        let waiting = notes.withLock { $0 }
        for note in waiting {
            switch note {
            case .forget(let forget) where forget.entries.upperBound > state.resolved:
                var records = PushRecordWriter(stores: header.stores)
                records.forget(forget)
                try add(PushFrame.bytes(.forget, state.last, records.bytes), &state)
            // Of entries that are resolved nobody asks any more.
            case .turn(let turn) where state.resolved < state.last: try write(turn, isCommitted: true, &state)
            case .forget, .turn: continue
            }
        }
        notes.withLock { $0.removeFirst(waiting.count) }
        for case .forget(let forget) in waiting where forget.ids == nil {
            state.gone.insert(integersIn: Int(forget.entries.lowerBound)...Int(forget.entries.upperBound))
        }
        resolve(state.resolved, &state)
    }

    /// Returns when what was thrown away until now is written down, if it can be.
    func flush() {
        queue.sync {}
    }

    // MARK: Trimming

    func didCommit(through entry: UInt64) {
        io.withLock { state in
            // Without the log on the disk the commit could be gone after a loss of power, and the journal with it. What an earlier process left may
            // have been promised to survive that, whatever is promised now.
            if isSynchronized || state.files.contains(where: \.isLeft) {
                do { try place.synchronize(coordinator?.persistentStores ?? []) } catch { return }
            }
            resolve(entry, &state)
        }
    }

    private func resolve(_ entry: UInt64, _ state: inout State) {
        var entry = max(entry, state.resolved)
        while let next = state.gone.rangeView.first, next.lowerBound <= entry + 1 {
            entry = max(entry, UInt64(next.upperBound - 1))
            state.gone.remove(integersIn: next)
        }
        guard entry > state.resolved else { return }
        state.resolved = entry
        if state.insertions.count > 0 {
            state.insertions = entry >= state.last ? [:] : state.insertions.filter { $0.value > entry }
        }
        // The oldest first: entries of a file that is left count on what is said of them in later ones.
        while state.files.count > 1, let first = state.files.first, first.last <= entry { drop(first, &state) }
        guard state.files.count == 1, let file = state.files.first, file.last <= entry else { return }
        if file.isBroken || file.size >= Self.fileLimit { drop(file, &state) } else { file.cut(to: headerBytes.count) }
    }

    private func drop(_ file: PushJournalFile, _ state: inout State) {
        unlink(file.url.path)
        state.files.removeAll { $0 === file }
    }

    /// Removes the files and gives the folder up, whoever still has this: nothing is unsaved, and no push comes any more.
    func end() {
        io.withLock { state in
            for file in state.files { unlink(file.url.path) }
            state.files = []
            state.resolved = state.last
            state.insertions = [:]
            state.gone = []
            state.lock = nil
            // Taken out only within `io`, as in `writeNotes`.
            notes.withLock { $0 = [] }
        }
    }

    // MARK: Going elsewhere

    /// What the journal of a document goes on with at another place.
    struct Carried: Sendable {
        /// The files, in the order of their entries.
        var names: [String] = []
        /// The number of the last entry.
        let last: UInt64
    }

    /// Copies what is not resolved, for stores that have other UUIDs there. Within `inTurn`. Nothing is written here any more, until `goOn()` or
    /// `end(handingNotesTo:)`. Throws what the disk says; then this goes on as if nothing had been.
    func carry(to place: PushJournalPlace, renaming uuids: [String: String]) throws -> Carried {
        try io.withLock { state in
            try writeNotes(&state)
            var carried = Carried(last: state.last)
            for file in state.files where file.last > state.resolved {
                let bytes = [UInt8](try Data(contentsOf: file.url))
                // Where the header is damaged, the file was kept aside when the journal was opened.
                guard let found = try? PushJournalHeader.read(bytes) else { continue }
                let name = file.url.lastPathComponent, copied = found.header.renamed(uuids).bytes + bytes[found.end...]
                try place.observer.tell(.write(copied.count))
                let copy = try PushJournalFile(creating: place.folder.appendingPathComponent(name), in: place, startingWith: copied, after: file.last)
                if isSynchronized || file.isLeft { try copy.synchronize(orCutTo: 0, place.observer) }
                carried.names.append(name)
            }
            if isSynchronized || state.files.contains(where: \.isLeft) { try place.synchronizeNames(in: place.folder) }
            state.isResting = true
            return carried
        }
    }

    /// The document has stayed where it is.
    func goOn() { io.withLock { $0.isResting = false } }

    /// Ends this in favour of a journal that has its entries. Within `inTurn`, when nobody is told of this one any more.
    func end(handingNotesTo other: PushJournal) {
        let waiting = io.withLock { _ in
            notes.withLock { notes in
                defer { notes = [] }
                return notes
            }
        }
        for note in waiting { other.add(note) }
        end()
    }

    /// How many bytes the files have, for tests and measurements.
    var size: Int { io.withLock { $0.files.reduce(0) { $0 + $1.size } } }
}
