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
        case _ where isLineEnd(): newLine()
        case UInt8(ascii: " "), UInt8(ascii: "\t"): position += 1
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

    /// A line feed, a carriage return, or both.
    private func isLineEnd(_ ahead: Int = 0) -> Bool { byte(ahead) == UInt8(ascii: "\n") || byte(ahead) == UInt8(ascii: "\r") }

    private mutating func newLine() {
        position += isAhead("\r\n") ? 2 : 1
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
        while byte(length) != UInt8(ascii: "`"), !isLineEnd(length), position + length < source.count { length += 1 }
        let end = min(position + length + 1, source.count)
        add(.word, length: end - position, text: position + 1..<max(position + 1, end - 1), isQuoted: true)
    }

    // MARK: Comments

    private mutating func skipLine() {
        while position < source.count, !isLineEnd() { position += 1 }
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
            } else if isLineEnd() {
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
        let isLong = isAhead("\"\"\"") && !(hashes > 0 && isClosedInLine(hashes: hashes))
        position += isLong ? 3 : 1
        while position < source.count {
            switch byte() {
            case UInt8(ascii: "\\") where hasHashes(hashes, at: 1):
                position += 1 + hashes
                if byte() == UInt8(ascii: "(") { interpolation() } else if isLineEnd() { newLine() } else { position += 1 }
            case UInt8(ascii: "\"") where isLong ? isAhead("\"\"\"") && hasHashes(hashes, at: 3) : hasHashes(hashes, at: 1):
                position += (isLong ? 3 : 1) + hashes
                addLiteral(from: start)
                return
            case _ where isLineEnd():
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

    /// Whether what looks like the beginning of a long string is a short one, as `#"""#` is.
    private func isClosedInLine(hashes: Int) -> Bool {
        var ahead = 2
        while position + ahead < source.count, !isLineEnd(ahead) {
            if byte(ahead) == UInt8(ascii: "\""), hasHashes(hashes, at: ahead + 1) { return true }
            ahead += 1
        }
        return false
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
            if isLineEnd() { newLine() } else { position += 1 }
        }
        addLiteral(from: start)
    }

    // MARK: Slashes

    private static let wordsBeforeValues: Set = [
        "return", "in", "case", "where", "try", "await", "else", "throw", "if", "guard", "while", "switch", "yield", "unsafe",
    ]

    /// Whether a slash here can begin a regular expression: no value stands before it, or one in another line.
    private var beginsExpression: Bool {
        // Marks before it are of the same operator, if nothing is between.
        var index = tokens.endIndex, start = position
        while index > tokens.startIndex, Self.isOperator(tokens[index - 1]), tokens[index - 1].range.upperBound == start {
            index -= 1
            start = tokens[index].range.lowerBound
        }
        guard index > tokens.startIndex, case let last = tokens[index - 1] else { return true }
        if last.kind == .word, !last.isQuoted, ["func", "operator"].contains(last.text) { return false }
        return !isValue(upTo: index) || source[last.range.upperBound..<start].contains { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    }

    private static func isOperator(_ token: Token) -> Bool {
        token.kind == .mark && ["=", "+", "-", "*", "/", "%", "<", ">", "&", "|", "^", "~", "!", "?"].contains(token.text)
    }

    /// Whether what ends before a token can be divided.
    private func isValue(upTo index: Int) -> Bool {
        guard index > tokens.startIndex else { return false }
        let last = tokens[index - 1]
        switch last.kind {
        case .literal: return true
        case .directive: return false
        case .word: return last.isQuoted || !Self.wordsBeforeValues.contains(last.text)
        case .mark:
            if [")", "]", "}"].contains(last.text) { return true }
            // `a!` and `Set<Int>` are values, `!` alone and `a > b` aren't; nor is `try!`.
            guard ["?", "!", ">"].contains(last.text), index > 1, tokens[index - 2].range.upperBound == last.range.lowerBound else { return false }
            return isValue(upTo: index - 1)
        }
    }

    /// Takes a regular expression by the rules of Swift: it neither begins nor ends with a space, and closes no parenthesis that it didn't open.
    private mutating func skipRegularExpression() -> Bool {
        guard ![UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "/")].contains(byte(1)) else { return false }
        var length = 1, open = 0, classes = 0, endsWithSpace = false
        while byte(length) != UInt8(ascii: "/") {
            if position + length >= source.count || isLineEnd(length) { return false }
            endsWithSpace = false
            switch byte(length) {
            case UInt8(ascii: "\\"): length += isLineEnd(length + 1) ? 0 : 1
            case UInt8(ascii: " "), UInt8(ascii: "\t"): endsWithSpace = true
            case UInt8(ascii: "["): classes += 1
            case UInt8(ascii: "]"): classes = max(0, classes - 1)
            case UInt8(ascii: "(") where classes == 0: open += 1
            case UInt8(ascii: ")") where classes == 0:
                if open == 0 { return false }
                open -= 1
            default: break
            }
            length += 1
        }
        guard !endsWithSpace else { return false }
        add(.literal, length: length + 1)
        return true
    }
}
