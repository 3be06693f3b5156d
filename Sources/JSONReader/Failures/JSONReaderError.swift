/// A page that must not be used: nothing that was handed out before the error was thrown counts.
public struct JSONReaderError: Error, Sendable, Hashable {
    /// What is wrong, for code that must tell the cases apart.
    public enum Kind: Sendable, Hashable {
        /// Nothing, or white space only, where a document was expected.
        case emptyBody
        /// UTF-16 or UTF-32, or a byte order mark that is not wanted.
        case encoding
        /// Bytes that are not UTF-8.
        case invalidUTF8
        /// Not JSON.
        case syntax
        /// A well-formed document, followed by something else.
        case trailingData
        /// More than one of the ``JSONReaderLimits`` allows.
        case limit(JSONLimit)
        /// JSON, but there is nothing at the path of the record list.
        case recordsMissing
        /// JSON, but there is a string, number or boolean at the path of the record list.
        case recordsNotAList
        /// A key on the path to the record list or to an envelope value appears twice.
        case ambiguousEnvelope
        /// Not enough memory for the index of a document of this size, or for what is read from it.
        case outOfMemory
    }

    /// The case; ``message`` puts it in words.
    public let kind: Kind
    /// What is wrong, in words, without anything of the document's content.
    public let message: String
    /// The place of the error in the body.
    public let location: JSONLocation
    /// Some of the text around the place, which is marked by `▸`: content of the document, so not for every log.
    public let excerpt: String
}

extension JSONReaderError: CustomStringConvertible {
    /// Message, place and, if there is one, the excerpt: the latter is content of the document, so not for every log.
    public var description: String {
        excerpt.isEmpty ? "\(message), at \(location)" : "\(message), at \(location): \(excerpt)"
    }
}

extension JSONReaderError {
    init(_ kind: Kind, _ message: String, offset: Int, in body: UnsafeBufferPointer<UInt8>) {
        self.kind = kind
        self.message = message
        location = JSONLocation(offset: offset, in: body)
        excerpt = JSONReaderError.excerpt(around: offset, in: body)
    }

    /// The same error, of bytes that only start so far into the body: its line is not known, unless that is not far at all.
    package func moved(by distance: Int) -> JSONReaderError {
        guard distance != 0 else { return self }
        let place = JSONLocation(byteOffset: location.byteOffset + distance)
        return JSONReaderError(kind: kind, message: message, location: place, excerpt: excerpt)
    }

    /// At most 24 bytes before and 40 after, on one line, whole characters only.
    private static func excerpt(around offset: Int, in body: UnsafeBufferPointer<UInt8>) -> String {
        guard !body.isEmpty else { return "" }
        let offset = min(max(offset, 0), body.count)
        var start = max(offset - 24, 0)
        var end = min(offset + 40, body.count)
        while start > 0, start < offset, body[start] & 0xC0 == 0x80 { start += 1 }
        while end < body.count, end > offset, body[end] & 0xC0 == 0x80 { end -= 1 }
        let before = printable(body[start..<offset])
        let after = printable(body[offset..<end])
        return (start > 0 ? "…" : "") + before + "▸" + after + (end < body.count ? "…" : "")
    }

    /// Control characters (C0, DEL, C1) as blanks, what is not UTF-8 as U+FFFD.
    private static func printable(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        var text = String.UnicodeScalarView()
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
            // Directional marks would turn the rest of a log line around.
            let isDirection = (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
            text.append(isControl || isDirection ? " " : scalar)
        }
        return String(text)
    }
}

/// A limit that was exceeded, by the name it has in the configuration.
public struct JSONLimit: Sendable, Hashable, CustomStringConvertible {
    /// The raw value is the key under `[defaults.limits]`, but for `max_cells` and `document size`, which are not configurable.
    public enum Name: String, Sendable, Hashable {
        /// Arrays and objects inside each other: ``JSONReaderLimits/maxDepth``.
        case maxDepth = "max_depth"
        /// Bytes of one string, escapes decoded: ``JSONReaderLimits/maxString``.
        case maxString = "max_string"
        /// Bytes of one key, escapes decoded: ``JSONReaderLimits/maxKey``.
        case maxKey = "max_key"
        /// Digits of one number, exponent included: ``JSONReaderLimits/maxNumberDigits``.
        case maxNumberDigits = "max_number_digits"
        /// Records of one page, bad ones included: ``JSONReaderLimits/maxRecordsPerPage``.
        case maxRecordsPerPage = "max_records_per_page"
        /// Cells taken out of one record, not configurable: ``JSONReaderLimits/maxCells``.
        case maxCells = "max_cells"
        /// What the structural index can address; not configurable.
        case maxDocument = "document size"
    }

    /// Which limit it was.
    public let name: Name
    /// Levels, bytes, digits, records or cells.
    public let value: Int

    init(_ name: Name, _ value: Int) {
        self.name = name
        self.value = value
    }

    /// `max_depth = 128`.
    public var description: String { "\(name.rawValue) = \(value)" }

    /// What there was too much of.
    var subject: String {
        switch name {
        case .maxDepth: "nesting"
        case .maxString: "a string"
        case .maxKey: "a key"
        case .maxNumberDigits: "the digits of a number"
        case .maxRecordsPerPage: "the number of records"
        case .maxCells: "the number of values taken out of a record"
        case .maxDocument: "the document"
        }
    }
}

/// A place in a body, for people.
public struct JSONLocation: Sendable, Hashable, CustomStringConvertible {
    /// Bytes before it; in the body as it was given, a byte order mark included.
    public let byteOffset: Int
    /// From 1; a line ends with LF. 0: not known, since the bytes before it have been given away.
    public let line: Int
    /// Characters (Unicode scalars) from the start of the line, from 1; 0 with the line.
    public let column: Int

    /// A place of which the line is not known.
    init(byteOffset: Int) {
        self.byteOffset = byteOffset
        line = 0
        column = 0
    }

    init(offset: Int, in body: UnsafeBufferPointer<UInt8>) {
        let offset = min(max(offset, 0), body.count)
        var line = 1
        var start = 0
        for position in 0..<offset where body[position] == UInt8(ascii: "\n") {
            line += 1
            start = position + 1
        }
        // Every byte but the continuation bytes starts a character.
        let column = body[start..<offset].reduce(into: 1) { count, byte in if byte & 0xC0 != 0x80 { count += 1 } }
        self.byteOffset = offset
        self.line = line
        self.column = column
    }

    /// `line 3, column 17 (byte 204)`; `byte 204` without a line.
    public var description: String { line > 0 ? "line \(line), column \(column) (byte \(byteOffset))" : "byte \(byteOffset)" }
}
