import GRDB
import GRDBSQLite
import Synchronization

/// A state of a store's file, which later commits do not change: by others in this process, by other coordinators, by other processes.
///
/// It is a connection of its own that stays in one read transaction. While it does, SQLite can't move what is in the log and newer than this state
/// into the file, nor begin the log anew: the log grows with every commit, until the last state that keeps it is let go. There is one
/// connection to a state, so those who read it at the same time take turns.
final class SQLiteState: Sendable {
    private let snapshot: DatabaseSnapshot
    private let isClosed = Atomic(false)

    fileprivate init(_ store: SQLiteStore) throws {
        snapshot = try store.pool.makeSnapshot()
    }

    func read<T>(_ body: (Database) throws -> T) throws -> T {
        try snapshot.read { database in
            // Outside of its transaction the connection would show what is newest.
            if isClosed.load(ordering: .acquiring) {
                throw SQLiteError(code: SQLITE_MISUSE, message: "its store has been closed", operation: "while reading a state")
            }
            return try body(database)
        }
    }

    /// Lets go of the state and of the file. Reading fails afterwards.
    fileprivate func close() {
        isClosed.store(true, ordering: .releasing)
        try? snapshot.read { try $0.commit() }
        try? snapshot.close()
    }
}

/// The states of a store that somebody reads from.
final class SQLiteStates: Sendable {
    private struct Entry: Sendable {
        weak var state: SQLiteState?
    }

    /// Nil once the store is being closed.
    private let entries = Mutex<[Entry]?>([])

    /// False: the store is being closed, and nobody would let go of the state.
    fileprivate func add(_ state: SQLiteState) -> Bool {
        entries.withLock { entries in
            entries?.removeAll { $0.state == nil }
            return entries?.append(Entry(state: state)) != nil
        }
    }

    /// Before the store is closed: nothing of this process is to hold its file or its log.
    func close() {
        let living = entries.withLock { entries in
            defer { entries = nil }
            return entries?.compactMap(\.state) ?? []
        }
        for state in living { state.close() }
    }
}

extension SQLiteStore {
    /// The state that the file is in now; nil where it has no write-ahead log: keeping a state would keep others from writing.
    func pinnedReader() throws -> SQLiteReader? {
        do {
            guard try pool.unsafeRead({ try String.fetchOne($0, sql: "PRAGMA journal_mode") }) == "wal" else { return nil }
            let state = try SQLiteState(self)
            guard states.add(state) else {
                state.close()
                throw SQLiteError(code: SQLITE_MISUSE, message: "the store has been closed", operation: "while keeping a state")
            }
            return SQLiteReader(self, at: state)
        } catch {
            throw storeError(error, .coreData, doing: "keep a state of")
        }
    }
}
