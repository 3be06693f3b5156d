import Foundation

/// Bytes of one file to a tree of nodes.
struct DocumentParser {
    let file: String
    let rank: Int

    /// - Throws: with the one problem that keeps the file from being understood at all.
    func parse(_ bytes: [UInt8]) throws(ConfigurationError) -> DocumentNode {
        if bytes.count > ConfigurationReader.maxFileSize.bytes {
            throw problem(
                "the file is larger than \(ConfigurationReader.maxFileSize)",
                "split it into several files in conf.d, or check that it is a configuration file")
        }
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw problem("the file is not valid UTF-8", "save it as UTF-8", line: Self.firstInvalidLine(bytes))
        }
        if let zero = bytes.firstIndex(of: 0) {
            let line = bytes[..<zero].count { $0 == UInt8(ascii: "\n") } + 1
            throw problem("the file contains a NUL byte", "remove it", line: line)
        }
        var reader = TOMLReader(bytes, file: file, rank: rank)
        do throws(TOMLReader.SyntaxError) {
            return try reader.read()
        } catch {
            throw problem("syntax: \(error.message)", error.suggestion, line: error.line, column: error.column)
        }
    }

    private func problem(_ message: String, _ suggestion: String, line: Int? = nil, column: Int? = nil) -> ConfigurationError {
        let problem = ConfigurationProblem(file: file, line: line, column: column, message: message, suggestion: suggestion)
        return ConfigurationError(problems: [problem])
    }

    private static func firstInvalidLine(_ bytes: [UInt8]) -> Int {
        var line = 1
        for part in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            if String(validating: part, as: UTF8.self) == nil { return line }
            line += 1
        }
        return line
    }
}
