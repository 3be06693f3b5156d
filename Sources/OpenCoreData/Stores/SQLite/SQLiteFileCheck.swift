import Foundation
import GRDB
import GRDBSQLite
import Glibc

/// SQLite's own check of a file, and what is concluded from it. It reports pages that it could not read as it reports damage: in words.
struct SQLiteFileCheck {
    /// The paths of what is read.
    let files: [String]

    /// The file of a store, and its log.
    init(_ path: String) { files = [path, path + "-wal"] }

    /// The damage that is found, in SQLite's words; none if there is none. A file is not called damaged for what the disk did once; what the disk does not
    /// give out at all is thrown.
    ///
    /// - Parameter pragma: `quick_check` or `integrity_check`, with how much is listed.
    func damage(in database: Database, by pragma: String) throws -> [String] {
        var report: [String] = []
        for _ in 1...2 {
            report = try String.fetchAll(database, sql: "PRAGMA \(pragma)")
            if report == ["ok"] { return [] }
        }
        if let failure = Self.failureToRead(report) ?? failureToRead() { throw failure }
        return report
    }

    /// What the system says where one of the files can't be read from its beginning to its end; nil where all can be.
    func failureToRead() -> SQLiteError? { files.lazy.compactMap(Self.failureToRead(path:)).first }

    /// What a report says of pages that could not be had: the code that it gives, where that is not damage itself.
    static func failureToRead(_ report: [String]) -> SQLiteError? {
        let lines = report.flatMap { $0.split(separator: "\n") }
        for line in lines {
            guard let mark = line.range(of: "error code="), let code = Int32(line[mark.upperBound...].prefix { $0.isNumber }) else { continue }
            let primary = code & 0xFF
            guard primary != SQLITE_OK, primary != SQLITE_CORRUPT, primary != SQLITE_NOTADB else { continue }
            return SQLiteError(code: code, message: String(line), operation: "while checking")
        }
        return nil
    }

    /// Not every sentence of a report has a code: whether the file can be read from its beginning to its end.
    static func failureToRead(path: String) -> SQLiteError? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        if file < 0 { return nil }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(file, &buffer, buffer.count)
            if count > 0 || count < 0 && errno == EINTR { continue }
            if count == 0 { return nil }
            return SQLiteError(
                code: SQLiteError.unreadable, message: "\(path) can't be read: \(String(cString: strerror(errno)))", operation: "while checking")
        }
    }
}
