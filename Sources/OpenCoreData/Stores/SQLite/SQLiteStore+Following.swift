import GRDB
import Synchronization

extension SQLiteStore {
    /// Has `handler` called, soon, if others have committed to the file since this was asked last. Needs no watch of the kernel's, of which a user
    /// has few.
    func askForOthers(_ handler: @escaping @Sendable () -> Void) {
        pool.asyncWriteWithoutTransaction { [weak self] database in
            // A file that can't be read now is asked the next time.
            guard let self, let version = try? database.integer("PRAGMA data_version") else { return }
            let isNew = askedVersion.withLock { asked in
                defer { asked = version }
                return asked != nil && asked != version
            }
            if isNew { handler() }
        }
    }

    /// Follows what others commit to the file. Where that can't begin because the file can't be read, it is not followed.
    func follow(_ handler: @escaping @Sendable () -> Void) {
        let pool = pool
        let version: @Sendable () throws -> Int64 = {
            try pool.writeWithoutTransaction { try $0.integer("PRAGMA data_version") ?? 0 }
        }
        guard let commits = try? ForeignCommits(file: path, version: version, handler: handler) else { return }
        foreignCommits.withLock { $0 = commits }
    }
}
