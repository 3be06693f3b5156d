import JSONReader

/// Reads a whole document as a tree. What is JSON is decided by the reader that the pipeline uses; this one only follows it.
struct SampleReader {
    /// More values than anybody needs to see to make a draft, and as many as fit into memory.
    static let mostValues = 3_000_000
    /// Arrays and objects inside each other, as `limits.max_depth` has it.
    static let mostLevels = JSONReaderLimits().maxDepth
    /// As many records as a page may have by default, as `limits.max_records_per_page` has it.
    static let mostRecords = JSONReaderLimits().maxRecordsPerPage

    private let bytes: [UInt8]
    private var position = 0
    private var levels = 0
    private var values = 0

    /// The document, and why the pipeline would not take all of it as it is; nil: it would.
    /// - Throws: ``SourceDraftError`` if it is not JSON, or too large.
    static func read(_ body: [UInt8]) throws(SourceDraftError) -> (value: SampleValue, problem: String?) {
        var problem: String?
        do {
            problem = try JSONRecordReader().validate(body: body)?.description
        } catch {
            throw SourceDraftError("this is not JSON: \(error)", advice: "give an address or a file whose content is JSON")
        }
        let hasMark = body.starts(with: [0xEF, 0xBB, 0xBF])
        var reader = SampleReader(hasMark ? Array(body.dropFirst(3)) : body)
        let value = try reader.document()
        return (value, problem)
    }

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func malformed() -> SourceDraftError {
        SourceDraftError("this is not JSON: something is wrong at byte \(position)", advice: "give an address or a file whose content is JSON")
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func take(_ byte: UInt8) throws(SourceDraftError) {
        guard next == byte else { throw malformed() }
        position += 1
    }

    private mutating func document() throws(SourceDraftError) -> SampleValue {
        let value = try self.value()
        skipSpace()
        guard next == nil else { throw malformed() }
        return value
    }

    private mutating func value() throws(SourceDraftError) -> SampleValue {
        skipSpace()
        values += 1
        guard values <= Self.mostValues else {
            throw SourceDraftError("the document has more than \(Self.mostValues) values", advice: "save a part of it, and give that file")
        }
        switch next {
        case UInt8(ascii: "{"): return .object(try object())
        case UInt8(ascii: "["): return .list(try list())
        case UInt8(ascii: "\""): return .text(try text())
        default: return try word()
        }
    }

    private mutating func descend() throws(SourceDraftError) {
        position += 1
        levels += 1
        guard levels <= Self.mostLevels else { throw malformed() }
    }

    private mutating func object() throws(SourceDraftError) -> SampleObject {
        try descend()
        defer { levels -= 1 }
        var object = SampleObject()
        skipSpace()
        if next == UInt8(ascii: "}") {
            position += 1
            return object
        }
        while true {
            skipSpace()
            let name = MemberName(try text())
            skipSpace()
            try take(UInt8(ascii: ":"))
            let value = try self.value()
            object.add(name, value)
            skipSpace()
            if next == UInt8(ascii: ",") {
                position += 1
                continue
            }
            try take(UInt8(ascii: "}"))
            return object
        }
    }

    private mutating func list() throws(SourceDraftError) -> [SampleValue] {
        try descend()
        defer { levels -= 1 }
        var elements: [SampleValue] = []
        skipSpace()
        if next == UInt8(ascii: "]") {
            position += 1
            return elements
        }
        while true {
            elements.append(try value())
            skipSpace()
            if next == UInt8(ascii: ",") {
                position += 1
                continue
            }
            try take(UInt8(ascii: "]"))
            return elements
        }
    }

    private mutating func text() throws(SourceDraftError) -> String {
        try take(UInt8(ascii: "\""))
        let start = position
        // Most texts have no escapes.
        while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { position += 1 }
        var units = Array(bytes[start..<position])
        while let byte = next, byte != UInt8(ascii: "\"") {
            position += 1
            guard byte == UInt8(ascii: "\\") else {
                units.append(byte)
                continue
            }
            units.append(contentsOf: try escape())
        }
        try take(UInt8(ascii: "\""))
        return String(decoding: units, as: UTF8.self)
    }

    private mutating func escape() throws(SourceDraftError) -> [UInt8] {
        guard let letter = next else { throw malformed() }
        position += 1
        switch letter {
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "u"):
            var units = [try codeUnit()]
            // The other half of a character beyond the first 65,536 follows at once.
            if UTF16.isLeadSurrogate(units[0]), bytes[position...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) {
                position += 2
                units.append(try codeUnit())
            }
            return Array(String(decoding: units, as: UTF16.self).utf8)
        default: return [letter]
        }
    }

    private mutating func codeUnit() throws(SourceDraftError) -> UInt16 {
        guard position + 4 <= bytes.count, let unit = UInt16(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16) else {
            throw malformed()
        }
        position += 4
        return unit
    }

    /// A number, or `true`, `false` or `null`.
    private mutating func word() throws(SourceDraftError) -> SampleValue {
        let start = position
        while let byte = next, !" \t\r\n,]}:".utf8.contains(byte) { position += 1 }
        let word = String(decoding: bytes[start..<position], as: UTF8.self)
        switch word {
        case "null": return .null
        case "true": return .bool(true)
        case "false": return .bool(false)
        default:
            guard let first = word.utf8.first, first == UInt8(ascii: "-") || (0x30...0x39).contains(first) else { throw malformed() }
            return .number(word)
        }
    }
}
