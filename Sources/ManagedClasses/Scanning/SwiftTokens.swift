/// A Swift source in words: names, marks and literals with their places; comments and the insides of literals are left out.
struct SwiftTokens {
    enum Kind: Hashable {
        /// A name or a keyword; one in backticks without them.
        case word
        /// `#if`, `#endif` and so on, with the mark.
        case directive
        /// A string, a number or a regular expression.
        case literal
        /// One character of anything else; `->` is one, too.
        case mark
    }

    struct Token {
        let kind: Kind
        let text: String
        /// In bytes of the source.
        let range: Range<Int>
        /// Counted from 1.
        let line: Int
        /// In bytes, counted from 1.
        let column: Int
        /// A word in backticks is never a keyword.
        var isQuoted = false
    }

    let source: [UInt8]
    private(set) var tokens: [Token] = []
    /// The texts of line comments, without the slashes, by line.
    private(set) var comments: [(line: Int, text: String)] = []
    private var position = 0
    private var line = 1
    private var lineStart = 0

    init(_ text: String) {
        source = Array(text.utf8)
        // A first line for the shell.
        if source.starts(with: Array("#!".utf8)) { skipLine() }
        while position < source.count { next() }
    }

    func text(_ range: Range<Int>) -> String { String(decoding: source[range], as: UTF8.self) }

    private func byte(_ ahead: Int = 0) -> UInt8 { position + ahead < source.count ? source[position + ahead] : 0 }
    private func isAhead(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { source[position...].starts(with: $0) }
    }

    private mutating func next() {
        switch byte() {
        case UInt8(ascii: "\n"): newLine()
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): position += 1
        case UInt8(ascii: "/") where isAhead("//"): lineComment()
        case UInt8(ascii: "/") where isAhead("/*"): blockComment()
        case UInt8(ascii: "/") where beginsExpression && skipRegularExpression(): break
        case UInt8(ascii: "\""): string(hashes: 0)
        case UInt8(ascii: "#"): hash()
        case UInt8(ascii: "`"): quotedWord()
        case UInt8(ascii: "-") where isAhead("->"): add(.mark, length: 2)
        case let first where Self.isWord(first): word(first)
        default: add(.mark, length: 1)
        }
    }

    private mutating func newLine() {
        position += 1
        line += 1
        lineStart = position
    }

    private mutating func add(_ kind: Kind, length: Int, text: Range<Int>? = nil, isQuoted: Bool = false) {
        let range = position..<position + length
        tokens.append(
            Token(
                kind: kind, text: self.text(text ?? range), range: range, line: line, column: position - lineStart + 1, isQuoted: isQuoted))
        position += length
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
            UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }

    private mutating func word(_ first: UInt8) {
        var length = 1
        while Self.isWord(byte(length)) { length += 1 }
        add((UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) ? .literal : .word, length: length)
    }

    private mutating func quotedWord() {
        var length = 1
        while byte(length) != UInt8(ascii: "`"), byte(length) != UInt8(ascii: "\n"), position + length < source.count { length += 1 }
        let end = min(position + length + 1, source.count)
        add(.word, length: end - position, text: position + 1..<max(position + 1, end - 1), isQuoted: true)
    }

    // MARK: Comments

    private mutating func skipLine() {
        while position < source.count, byte() != UInt8(ascii: "\n") { position += 1 }
    }

    private mutating func lineComment() {
        let start = position + 2
        skipLine()
        comments.append((line, text(start..<position)))
    }

    private mutating func blockComment() {
        var depth = 0
        while position < source.count {
            if isAhead("/*") {
                depth += 1
                position += 2
            } else if isAhead("*/") {
                depth -= 1
                position += 2
                if depth == 0 { return }
            } else if byte() == UInt8(ascii: "\n") {
                newLine()
            } else {
                position += 1
            }
        }
    }

    // MARK: Literals

    private mutating func hash() {
        var hashes = 1
        while byte(hashes) == UInt8(ascii: "#") { hashes += 1 }
        switch byte(hashes) {
        case UInt8(ascii: "\""):
            string(hashes: hashes)
        case UInt8(ascii: "/"):
            skipExtendedRegularExpression(hashes: hashes)
        default:
            var length = 1
            while Self.isWord(byte(length)) { length += 1 }
            add(length > 1 ? .directive : .mark, length: length)
        }
    }

    /// From the first mark to the last, with what is interpolated.
    private mutating func string(hashes: Int) {
        let start = (position, line, column: position - lineStart + 1)
        position += hashes
        let isLong = isAhead("\"\"\"")
        position += isLong ? 3 : 1
        while position < source.count {
            switch byte() {
            case UInt8(ascii: "\\") where hasHashes(hashes, at: 1):
                position += 1 + hashes
                if byte() == UInt8(ascii: "(") { interpolation() } else if byte() == UInt8(ascii: "\n") { newLine() } else { position += 1 }
            case UInt8(ascii: "\"") where isLong ? isAhead("\"\"\"") && hasHashes(hashes, at: 3) : hasHashes(hashes, at: 1):
                position += (isLong ? 3 : 1) + hashes
                addLiteral(from: start)
                return
            case UInt8(ascii: "\n"):
                // Not a string after all; the compiler says so.
                if !isLong { return addLiteral(from: start) }
                newLine()
            default: position += 1
            }
        }
        addLiteral(from: start)
    }

    private mutating func addLiteral(from start: (position: Int, line: Int, column: Int)) {
        tokens.append(
            Token(kind: .literal, text: "\"\"", range: start.position..<position, line: start.line, column: start.column))
    }

    private func hasHashes(_ count: Int, at ahead: Int) -> Bool {
        (0..<count).allSatisfy { byte(ahead + $0) == UInt8(ascii: "#") }
    }

    private mutating func interpolation() {
        let known = tokens.count
        var depth = 0
        repeat {
            if byte() == UInt8(ascii: "(") { depth += 1 }
            if byte() == UInt8(ascii: ")") { depth -= 1 }
            next()
        } while depth > 0 && position < source.count
        tokens.removeSubrange(known...)
    }

    private mutating func skipExtendedRegularExpression(hashes: Int) {
        let start = (position, line, column: position - lineStart + 1)
        position += hashes + 1
        while position < source.count {
            if byte() == UInt8(ascii: "/"), hasHashes(hashes, at: 1) {
                position += 1 + hashes
                break
            }
            if byte() == UInt8(ascii: "\\") { position += 1 }
            if byte() == UInt8(ascii: "\n") { newLine() } else { position += 1 }
        }
        addLiteral(from: start)
    }

    /// Whether a slash here can begin a regular expression: no value stands before it.
    private var beginsExpression: Bool {
        guard let last = tokens.last else { return true }
        switch last.kind {
        case .literal: return false
        case .word: return ["return", "in", "case", "where", "try", "await", "else"].contains(last.text)
        default: return ![")", "]", "}", ">", "?", "!"].contains(last.text)
        }
    }

    private mutating func skipRegularExpression() -> Bool {
        guard byte(1) != UInt8(ascii: " "), byte(1) != UInt8(ascii: "/") else { return false }
        var length = 1
        while byte(length) != UInt8(ascii: "/") {
            if byte(length) == UInt8(ascii: "\\") { length += 1 }
            if position + length >= source.count || byte(length) == UInt8(ascii: "\n") { return false }
            length += 1
        }
        add(.literal, length: length + 1)
        return true
    }
}
