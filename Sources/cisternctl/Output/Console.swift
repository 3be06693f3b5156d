import Foundation
import Glibc
import SyncControl
import SyncPipeline

/// Where a verb writes, and what kind of reader is there. Text from outside is harmless when it leaves here.
struct Console: Sendable {
    /// Writes text as it is. For this type only: all others say what kind of text it is.
    var write: @Sendable (String) -> Void
    var writeError: @Sendable (String) -> Void
    /// Whether a person looks at it: progress is drawn then, and tables fit the width.
    var isTerminal: Bool
    var width: Int
    /// `NO_COLOR` and a pipe switch it off.
    var hasColour: Bool

    /// A line of output.
    func out(_ line: String) { write(RemoteText.line(line, limit: .max) + "\n") }

    /// A line for the person, beside the output.
    func error(_ line: String) { writeError(RemoteText.line(line, limit: .max) + "\n") }

    /// An error: the sentence and its advice, then each problem, a line each.
    func error(_ error: ControlError) {
        self.error("cisternctl: \(error.error)" + (error.advice.map { "; \($0)" } ?? ""))
        for problem in error.problems ?? [] { self.error(problem) }
    }

    /// Text of several lines, such as a record as it came.
    func block(_ text: String) { write(RemoteText.block(text) + (text.hasSuffix("\n") ? "" : "\n")) }

    /// Text of several lines, beside the output.
    func errorBlock(_ text: String) { writeError(RemoteText.block(text) + (text.hasSuffix("\n") ? "" : "\n")) }

    /// A part of what another program writes, lines and all.
    func part(_ text: String) { write(RemoteText.block(text)) }

    /// A part of what another program writes as JSON.
    func jsonPart(_ text: String) { write(Self.harmlessJSON(text)) }

    /// A part of what another program writes beside its output.
    func errorPart(_ text: String) { writeError(RemoteText.block(text)) }

    /// A table. Its cells are harmless, and the colours are ours.
    func table(_ table: TextTable) {
        for line in table.lines(width: isTerminal ? width : nil, hasColour: hasColour) { write(line + "\n") }
    }

    /// A value as JSON.
    func json(_ value: some Encodable, pretty: Bool = false) throws {
        write(Self.harmlessJSON(String(decoding: try ControlCoding.encode(value, pretty: pretty), as: UTF8.self)) + "\n")
    }

    /// Anything that a terminal could take for a control sequence is escaped, which changes nothing for a reader of JSON.
    private static func harmlessJSON(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == "\n" || RemoteText.isHarmless(scalar) {
                escaped.append(scalar)
            } else {
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    escaped.append(contentsOf: ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).unicodeScalars)
                }
            }
        }
        return String(escaped)
    }

    /// Replaces the last line that was drawn.
    func redraw(_ line: String = "") { write("\r\u{1B}[K" + RemoteText.line(line)) }

    /// A screen is drawn anew; elsewhere a blank line divides what follows from what was before.
    func clear() { write(isTerminal ? "\u{1B}[H\u{1B}[2J" : "\n") }

    /// Standard output and standard error.
    static func standard(environment: [String: String]) -> Console {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        var size = winsize()
        let width = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
        return Console(
            write: { FileHandle.standardOutput.write(Data($0.utf8)) }, writeError: { FileHandle.standardError.write(Data($0.utf8)) },
            isTerminal: isTerminal, width: width, hasColour: colour(isTerminal: isTerminal, environment: environment))
    }

    static func colour(isTerminal: Bool, environment: [String: String]) -> Bool {
        isTerminal && environment["NO_COLOR"].map(\.isEmpty) ?? true && environment["TERM"] != "dumb"
    }
}
