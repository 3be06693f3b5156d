import Foundation

/// The `sqlite3` program: reads a store's file the way its users do, through nothing of ours.
struct SQLiteShell {
    let file: URL

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The rows of a query, each its values as text; NULL is "∅".
    func rows(_ sql: String) throws -> [[String]] {
        let process = Process(), output = Pipe(), errors = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["sqlite3", "-batch", "-noheader", "-ascii", "-nullvalue", "∅", file.path, sql]
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        let complaint = try errors.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw Failure(description: String(decoding: complaint, as: UTF8.self)) }
        // -ascii: unit separators between columns, record separators after rows.
        return String(decoding: data, as: UTF8.self).split(separator: "\u{1E}").map { row in
            row.split(separator: "\u{1F}", omittingEmptySubsequences: false).map(String.init)
        }
    }

    /// The first column of every row.
    func column(_ sql: String) throws -> [String] { try rows(sql).map { $0[0] } }
}
