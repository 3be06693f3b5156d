/// Reads TOML 1.0, strictly, into nodes that know their lines. Whatever the bytes are, it neither ends the process nor loses anything: it throws for
/// the first thing that is not TOML, with its line and column.
struct TOMLReader {
    /// What is not TOML.
    struct SyntaxError: Error {
        var line: Int
        var column: Int
        var message: String
        var suggestion: String
    }

    /// Deeper nesting than any key has.
    static let maxDepth = 24

    private let file: String
    private let rank: Int
    let bytes: [UInt8]
    var index = 0
    var depth = 0
    private var line = 1
    private var lineStart = 0

    /// The bytes must be valid UTF-8.
    init(_ bytes: [UInt8], file: String, rank: Int) {
        self.bytes = bytes
        self.file = file
        self.rank = rank
    }

    /// The whole document.
    mutating func read() throws(SyntaxError) -> DocumentNode {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
            index = 3
            lineStart = 3
        }
        let root = TOMLTableBuilder(place: place, kind: .header)
        var current = root
        while true {
            try skipBlankLines()
            guard let byte = peek else { return root.node }
            if byte == UInt8(ascii: "[") {
                current = try readHeader(in: root)
            } else {
                try readPair(into: current)
            }
            try endLine()
        }
    }

    // MARK: Bytes

    var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    func peek(_ offset: Int) -> UInt8? { index + offset < bytes.count ? bytes[index + offset] : nil }

    mutating func advance() {
        if peek == UInt8(ascii: "\n") {
            line += 1
            lineStart = index + 1
        }
        index += 1
    }

    mutating func take(_ byte: Character) -> Bool {
        guard let ascii = byte.asciiValue, peek == ascii else { return false }
        advance()
        return true
    }

    var place: DocumentNode.Place {
        .init(file: file, rank: rank, line: line, column: index - lineStart + 1)
    }

    func failure(_ message: String, _ suggestion: String, at place: DocumentNode.Place? = nil) -> SyntaxError {
        let place = place ?? self.place
        return SyntaxError(line: place.line ?? line, column: place.column ?? 1, message: message, suggestion: suggestion)
    }

    /// The next character in words.
    var next: String {
        guard let byte = peek else { return "the end of the file" }
        if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") { return "the end of the line" }
        let character = String(decoding: bytes[index...].prefix(16), as: UTF8.self).first.map(String.init) ?? ""
        return byte < 0x20 || byte == 0x7F ? "a control character" : "\"\(character)\""
    }

    mutating func skipSpaces() {
        while peek == UInt8(ascii: " ") || peek == UInt8(ascii: "\t") { advance() }
    }

    /// Spaces, comments and ends of lines.
    mutating func skipBlankLines() throws(SyntaxError) {
        while true {
            skipSpaces()
            try skipComment()
            guard try takeNewline() else { return }
        }
    }

    mutating func takeNewline() throws(SyntaxError) -> Bool {
        if take("\n") { return true }
        guard peek == UInt8(ascii: "\r") else { return false }
        guard peek(1) == UInt8(ascii: "\n") else { throw failure("a carriage return without a line feed", "end the line with a line feed") }
        advance()
        advance()
        return true
    }

    private mutating func skipComment() throws(SyntaxError) {
        guard peek == UInt8(ascii: "#") else { return }
        while let byte = peek, byte != UInt8(ascii: "\n"), !(byte == UInt8(ascii: "\r") && peek(1) == UInt8(ascii: "\n")) {
            if byte == 0x7F || (byte < 0x20 && byte != UInt8(ascii: "\t")) {
                throw failure("a comment contains a control character", "remove it")
            }
            advance()
        }
    }

    private mutating func endLine() throws(SyntaxError) {
        skipSpaces()
        try skipComment()
        if peek == nil { return }
        guard try takeNewline() else {
            throw failure("expected the end of the line, found \(next)", "begin a new line, or put the value in quotes")
        }
    }

    // MARK: Tables and keys

    private mutating func readHeader(in root: TOMLTableBuilder) throws(SyntaxError) -> TOMLTableBuilder {
        let start = place
        advance()
        let isElement = take("[")
        let keys = try readKey()
        guard take("]"), !isElement || take("]") else {
            throw failure("expected \"]\", found \(next)", "write \(isElement ? "[[name]]" : "[name]")")
        }
        var table = root
        for key in keys.dropLast() {
            switch table.entries[key] {
            case nil:
                let inner = TOMLTableBuilder(place: start, kind: .implicit)
                table.entries[key] = .table(inner)
                table = inner
            case .table(let inner): table = inner
            case .elements(let elements): table = elements.last
            case .value: throw failure("\"\(key)\" is already a value", "remove one of the two", at: start)
            }
        }
        let key = keys[keys.count - 1]
        switch table.entries[key] {
        case nil:
            let inner = TOMLTableBuilder(place: start, kind: .header)
            table.entries[key] = isElement ? .elements(TOMLElements(inner)) : .table(inner)
            return inner
        case .elements(let elements) where isElement:
            let inner = TOMLTableBuilder(place: start, kind: .header)
            elements.append(inner)
            return inner
        case .elements: throw failure("\"\(key)\" is an array of tables", "write [[\(keys.joined(separator: "."))]]", at: start)
        case .table(let inner) where !isElement && inner.kind == .implicit:
            inner.kind = .header
            inner.place = start
            return inner
        default: throw failure("\"\(key)\" appears twice", "join the two, or remove one", at: start)
        }
    }

    mutating func readPair(into table: TOMLTableBuilder) throws(SyntaxError) {
        let start = place
        let keys = try readKey()
        guard take("=") else { throw failure("expected \"=\", found \(next)", "write name = value") }
        skipSpaces()
        var table = table
        for key in keys.dropLast() {
            switch table.entries[key] {
            case nil:
                let inner = TOMLTableBuilder(place: start, kind: .dotted)
                table.entries[key] = .table(inner)
                table = inner
            case .table(let inner) where inner.kind == .dotted: table = inner
            default: throw failure("\"\(key)\" is already set elsewhere", "write all of it in one place", at: start)
            }
        }
        let key = keys[keys.count - 1]
        guard table.entries[key] == nil else { throw failure("\"\(key)\" appears twice", "remove one of the two", at: start) }
        var value = try readValue()
        value.place = start
        table.entries[key] = .value(value)
    }

    /// A key with its dots, and the spaces after it.
    private mutating func readKey() throws(SyntaxError) -> [String] {
        var keys: [String] = []
        repeat {
            skipSpaces()
            switch peek {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                if peek(1) == peek, peek(2) == peek { throw failure("a key cannot be a multi-line text", "use one quote") }
                keys.append(try readString())
            default:
                let start = index
                while let byte = peek, Self.isBare(byte) { advance() }
                guard index > start else { throw failure("expected a key, found \(next)", "write a name, or a name in quotes") }
                keys.append(String(decoding: bytes[start..<index], as: UTF8.self))
            }
            skipSpaces()
            if keys.count > Self.maxDepth { throw failure("a key has more than \(Self.maxDepth) parts", "no key needs that") }
        } while take(".")
        return keys
    }

    static func isBare(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D || byte == 0x5F
    }
}

/// A table while its file is being read.
final class TOMLTableBuilder {
    enum Kind {
        /// Made by a header or the braces of its own, or the document itself.
        case header
        /// Made on the way to another table.
        case implicit
        /// Made by a key with dots.
        case dotted
    }

    enum Entry {
        case value(DocumentNode)
        case table(TOMLTableBuilder)
        case elements(TOMLElements)
    }

    var place: DocumentNode.Place
    var kind: Kind
    var entries: [String: Entry] = [:]

    init(place: DocumentNode.Place, kind: Kind) {
        self.place = place
        self.kind = kind
    }

    var node: DocumentNode {
        let table = entries.mapValues { entry in
            switch entry {
            case .value(let node): node
            case .table(let table): table.node
            case .elements(let elements): elements.node
            }
        }
        return DocumentNode(value: .table(table), place: place)
    }
}

/// The elements of an array of tables while its file is being read. Never empty; a class, as a file may have very many of them, and adding one must
/// not copy the others.
final class TOMLElements {
    private let first: TOMLTableBuilder
    private var others: [TOMLTableBuilder] = []

    init(_ first: TOMLTableBuilder) {
        self.first = first
    }

    var last: TOMLTableBuilder { others.last ?? first }

    func append(_ table: TOMLTableBuilder) {
        others.append(table)
    }

    var node: DocumentNode {
        DocumentNode(value: .array(([first] + others).map(\.node)), place: first.place)
    }
}
