import Foundation
import GRDB
import GRDBSQLite
import Glibc

/// A failure that SQLite reported: its extended result code, its words, and what was being done.
package struct SQLiteError: Error, Sendable, CustomStringConvertible {
    /// The extended result code.
    package let code: Int32
    package let message: String
    /// What was being done, as the end of a sentence: "while writing ZCITY".
    package let operation: String

    package init(code: Int32, message: String, operation: String) {
        self.code = code
        self.message = message
        self.operation = operation
    }

    init(connection: OpaquePointer?, operation: String) {
        let code = sqlite3_extended_errcode(connection), words = sqlite3_errmsg(connection).map { String(cString: $0) } ?? "unknown"
        self.init(code: code, systemError: Self.systemError(connection), message: words, operation: operation)
    }

    /// To SQLite a disk is full where the system says ENOSPC; to us also where a quota or a limit on the size of files leaves no room. Memory that
    /// is missing says nothing of the disk. And what the disk did not give out SQLite calls damage.
    init(code: Int32, systemError: Int32, message: String, operation: String) {
        let isOfDisk = code & 0xFF == SQLITE_IOERR
        switch systemError {
        case EDQUOT where isOfDisk, EFBIG where isOfDisk, ENOSPC where isOfDisk:
            self.init(code: SQLITE_FULL, message: "\(message): \(String(cString: strerror(systemError)))", operation: operation)
        case EIO where code & 0xFF == SQLITE_CORRUPT, ENXIO where code & 0xFF == SQLITE_CORRUPT:
            self.init(code: Self.unreadable, message: "\(message): \(String(cString: strerror(systemError)))", operation: operation)
        case ENOMEM where isOfDisk: self.init(code: SQLITE_NOMEM, message: message, operation: operation)
        default: self.init(code: code, message: message, operation: operation)
        }
    }

    /// What the system said when the log, or the file, was written last and could not be; 0: nothing.
    private static func systemError(_ connection: OpaquePointer?) -> Int32 {
        var log: UnsafeMutablePointer<sqlite3_file>?, error: Int32 = 0
        sqlite3_file_control(connection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log)
        if let log { _ = log.pointee.pMethods?.pointee.xFileControl?(log, SQLITE_FCNTL_LAST_ERRNO, &error) }
        if error == 0 { sqlite3_file_control(connection, "main", SQLITE_FCNTL_LAST_ERRNO, &error) }
        return error
    }

    /// With what the system said.
    init(_ error: DatabaseError, connection: OpaquePointer?, operation: String) {
        let plain = Self(error, operation: operation)
        self.init(code: plain.code, systemError: Self.systemError(connection), message: plain.message, operation: operation)
    }

    init(_ error: DatabaseError, operation: String) {
        self.init(
            code: error.extendedResultCode.rawValue, message: error.message ?? String(describing: error.resultCode), operation: operation)
    }

    package var description: String { "SQLite error \(code) \(operation): \(message)" }

    /// Extended codes, which SQLite's header computes and Swift does not import.
    static let uniqueViolation: Int32 = SQLITE_CONSTRAINT | 8 << 8
    static let primaryKeyViolation: Int32 = SQLITE_CONSTRAINT | 6 << 8
    /// `SQLITE_IOERR_CORRUPTFS`.
    static let unreadable: Int32 = SQLITE_IOERR | 33 << 8
    /// `SQLITE_READONLY_DBMOVED`.
    static let moved: Int32 = SQLITE_READONLY | 4 << 8

    /// The code without its extension.
    package var primaryCode: Int32 { code & 0xFF }

    /// Whether SQLite takes the file to be damaged, or to be none of its own.
    var isDamage: Bool { primaryCode == SQLITE_CORRUPT || primaryCode == SQLITE_NOTADB }

    /// Whether SQLite's parser gave up on a statement because its parts stand within each other too deep: it has no code of its own for that.
    var isTooDeep: Bool {
        primaryCode == SQLITE_ERROR && (message == "parser stack overflow" || message.hasPrefix("Expression tree is too large"))
    }

    /// Whether the same call may succeed later without anybody changing the program or the file: disk full, locked, input or output failed.
    package var isTransient: Bool { Self.transientCodes.contains(primaryCode) }

    private static let transientCodes: Set<Int32> = [
        SQLITE_BUSY, SQLITE_LOCKED, SQLITE_FULL, SQLITE_IOERR, SQLITE_NOMEM, SQLITE_INTERRUPT, SQLITE_PROTOCOL,
    ]

    /// The SQLite failure at the bottom of an error that a store threw; nil if there is none.
    package init?(in error: any Error) {
        if let found = error as? SQLiteError {
            self = found
            return
        }
        if let found = error as? DatabaseError {
            self.init(found, operation: "")
            return
        }
        let outer = error as NSError
        if let code = outer.userInfo[NSSQLiteErrorDomain] as? NSNumber {
            self.init(
                code: code.int32Value, message: outer.userInfo[NSLocalizedDescriptionKey] as? String ?? "", operation: "")
            return
        }
        guard let underlying = outer.userInfo[NSUnderlyingErrorKey] as? any Error else { return nil }
        self.init(in: underlying)
    }

    /// Whether the cause of an error is a SQLite failure that may pass.
    package static func isTransient(_ error: any Error) -> Bool { SQLiteError(in: error)?.isTransient ?? false }

    /// The error as callers of Core Data know it: SQLite's code stands in `userInfo` under `NSSQLiteErrorDomain` and in the underlying error.
    package func cocoaError(_ code: CocoaError.Code, _ sentence: String) -> NSError {
        let underlying = NSError(
            domain: NSSQLiteErrorDomain, code: Int(self.code), userInfo: [NSLocalizedDescriptionKey: "\(message) (\(self.code))"])
        return NSError.coreData(
            code, "\(sentence) SQLite says: \(message) (code \(self.code)).", underlying: underlying,
            userInfo: [NSSQLiteErrorDomain: NSNumber(value: self.code)])
    }

    /// What to do about it, as a sentence.
    var advice: String {
        switch primaryCode {
        case SQLITE_FULL: "The disk is full: free some space. Nothing was written; saving again is safe."
        case SQLITE_BUSY, SQLITE_LOCKED: "Another process holds the file's lock: wait, or stop it. Nothing was written; trying again is safe."
        case SQLITE_IOERR: "The disk could not be read or written: look at the system's log. Nothing was written; trying again is safe."
        case SQLITE_READONLY where code == Self.moved:
            "Nothing was written, since nobody would find it: close the store, put its files back or remove what is left, and open it again."
        case SQLITE_READONLY: "The file or its directory can't be written: check owner and permissions."
        // SQLite calls it so, too, when the disk fails while it reads.
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            "Look for disk errors in the system's log, and open it again. If it is still damaged, restore it from a copy, or move it away so "
                + "that a new one is made."
        case SQLITE_CANTOPEN: "The file can't be opened: check that its directory exists and is writable."
        default: "Trying again will not help."
        }
    }
}

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
