import Foundation
import GRDBSQLite
import Glibc
import Testing

@testable import OpenCoreData

/// What is concluded from what SQLite's check of a file says.
@Suite struct SQLiteFileCheckTests {
    @Test func aPageThatCannotBeReadIsNoDamage() {
        let report = ["*** in database main ***\nPage 145: unable to get the page. error code=8458", "Page 7: never used"]
        let failure = SQLiteFileCheck.failureToRead(report)
        #expect(failure?.code == 8458 && failure?.primaryCode == SQLITE_IOERR && failure?.isTransient == true)
        #expect(failure?.message == "Page 145: unable to get the page. error code=8458")
        #expect(SQLiteFileCheck.failureToRead(["Page 3: unable to get the page. error code=7"])?.primaryCode == SQLITE_NOMEM)
    }

    // To SQLite every page that the system has an input error for is damaged.
    @Test func whatTheSystemDidNotGiveOutIsNoDamageEither() {
        for code in [SQLITE_CORRUPT, SQLITE_CORRUPT | 1 << 8] {
            for system in [EIO, ENXIO] {
                let error = SQLiteError(code: code, systemError: system, message: "malformed", operation: "while reading")
                #expect(error.primaryCode == SQLITE_IOERR && error.isTransient && !error.isDamage && error.message.hasPrefix("malformed: "))
            }
            for system in [0, ENOSPC, EINTR] {
                #expect(SQLiteError(code: code, systemError: system, message: "malformed", operation: "while reading").isDamage)
            }
        }
        #expect(SQLiteError(code: SQLITE_NOTADB, systemError: 0, message: "no database", operation: "while reading").isDamage)
    }

    @Test func damageIsDamage() {
        for code in [11, 267, 26] { #expect(SQLiteFileCheck.failureToRead(["Page 21: btreeInitPage() returns error code \(code)"]) == nil) }
        for code in [11, 26] { #expect(SQLiteFileCheck.failureToRead(["Page 21: unable to get the page. error code=\(code)"]) == nil) }
        #expect(SQLiteFileCheck.failureToRead(["row 3 missing from index i"]) == nil && SQLiteFileCheck.failureToRead([]) == nil)
    }

    @Test func aFileIsReadToItsEnd() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("check-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("whole")
        try Data(repeating: 1, count: 200_000).write(to: file)
        #expect(SQLiteFileCheck.failureToRead(path: file.path) == nil)
        #expect(SQLiteFileCheck.failureToRead(path: folder.appendingPathComponent("none").path) == nil)
        // A directory can be opened, and not read.
        let failure = SQLiteFileCheck.failureToRead(path: folder.path)
        #expect(failure?.primaryCode == SQLITE_IOERR && failure?.message.hasPrefix("\(folder.path) can't be read: ") == true)
    }
}
