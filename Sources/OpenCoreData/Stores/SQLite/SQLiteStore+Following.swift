import GRDB
import Synchronization

extension SQLiteStore {
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
