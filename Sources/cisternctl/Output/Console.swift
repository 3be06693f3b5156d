import Foundation
import Glibc

/// Where a verb writes, and what kind of reader sits there.
struct Console: Sendable {
    /// Writes text as it is.
    var write: @Sendable (String) -> Void
    var writeError: @Sendable (String) -> Void
    /// Whether a person looks at it: progress is drawn then, and tables fit the width.
    var isTerminal: Bool
    var width: Int
    /// `NO_COLOR` and a pipe switch it off.
    var hasColour: Bool

    /// A line of output.
    func out(_ line: String) { write(line + "\n") }

    /// A line for the person, beside the output.
    func error(_ line: String) { writeError(line + "\n") }

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
