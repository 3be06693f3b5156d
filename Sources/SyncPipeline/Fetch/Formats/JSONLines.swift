/// JSON values one after the other: one a line, or each behind a record separator.
///
/// What is between two separators is handed on if it can be one value only: brackets are closed where it ends, and no comma stands outside of them. So a list
/// of such pieces is good JSON exactly if each of them is, and a broken one makes no value together with the next.
final class JSONLines: RecordFormat {
    enum Kind {
        /// Lines; empty ones are passed over.
        case lines
        /// RFC 7464.
        case sequence
    }

    private enum Place {
        /// Where no value has begun.
        case before
        /// In a number or a word.
        case word
        /// Between brackets, and in no string.
        case inside
        case string
        /// Behind the backslash of an escape.
        case escape
        /// The value has ended.
        case after
    }

    private let kind: Kind
    private let separator: UInt8
    private(set) var lines: RecordLines
    /// Each value names what it has.
    var header: RecordHeader? { nil }
    private var place = Place.before
    /// Brackets that are open.
    private var depth = 0
    /// The line, or the number of the text.
    private var line: Int
    private var isEmpty = true
    /// Whether a separator has come.
    private var isSeparated: Bool
    private var output: [UInt8] = []

    init(_ kind: Kind) {
        self.kind = kind
        separator = kind == .lines ? UInt8(ascii: "\n") : 0x1E
        lines = RecordLines(kind == .lines ? .line : .text)
        line = kind == .lines ? 1 : 0
        isSeparated = kind == .lines
    }

    func take(_ bytes: UnsafeRawBufferPointer, to sink: RecordTranscoder.Sink) throws {
        output.removeAll(keepingCapacity: true)
        // What is handed on as it is begins there.
        var start = 0, next = 0
        while next < bytes.count {
            let byte = bytes[next]
            if byte == separator {
                try endValue(at: kind == .lines ? "the line" : "the text")
                keep(bytes, start..<next)
                // Blanks stay what they are; a separator that is none is no part of the list.
                start = kind == .lines ? next : next + 1
                (place, isSeparated) = (.before, true)
                if kind == .lines { line += 1 }
            } else if place == .before, !Self.isBlank(byte) {
                keep(bytes, start..<next)
                start = next
                try beginValue(byte)
            } else {
                try go(over: byte)
            }
            next += 1
            if place == .string {
                // Most of what there is.
                while next < bytes.count, Self.isText(bytes[next]), bytes[next] != separator { next += 1 }
            }
        }
        keep(bytes, start..<bytes.count)
        if !output.isEmpty { try output.withUnsafeBytes { try sink($0) } }
    }

    func finish(to sink: RecordTranscoder.Sink) throws {
        try endValue(at: "the body")
        guard !isEmpty else { return }
        try [UInt8(ascii: "]")].withUnsafeBytes { try sink($0) }
    }

    private func keep(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
        output.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[range]))
    }

    private func beginValue(_ byte: UInt8) throws {
        guard isSeparated else { throw error("the text does not begin with a record separator (RFC 7464)") }
        if kind == .sequence { line += 1 }
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["): (place, depth) = (.inside, 1)
        case UInt8(ascii: "\""): (place, depth) = (.string, 0)
        case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","), UInt8(ascii: ":"): throw error("expected a value")
        default: place = .word
        }
        output.append(UInt8(ascii: isEmpty ? "[" : ","))
        isEmpty = false
        lines.append(line)
    }

    private func endValue(at place: String) throws {
        switch self.place {
        case .before, .word, .after: break
        case .inside: throw error("a JSON value is not complete at the end of \(place)")
        case .string, .escape: throw error("a string is not closed at the end of \(place)")
        }
    }

    private func go(over byte: UInt8) throws {
        switch place {
        case .before: break
        case .inside:
            switch byte {
            case UInt8(ascii: "\""): place = .string
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0 { place = .after }
            default: break
            }
        case .string:
            if byte == UInt8(ascii: "\\") { place = .escape }
            if byte == UInt8(ascii: "\"") { place = depth == 0 ? .after : .inside }
        case .escape: place = .string
        case .word:
            switch byte {
            case _ where Self.isBlank(byte): place = .after
            case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "\""):
                throw error("something follows the value")
            default: break
            }
        case .after: if !Self.isBlank(byte) { throw error("something follows the value") }
        }
    }

    private func error(_ message: String) -> FormatError { FormatError(message, line: max(line, 1), unit: lines.unit) }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\n")
    }

    /// Whether a string goes on after it, whatever comes.
    private static func isText(_ byte: UInt8) -> Bool { byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") }
}
