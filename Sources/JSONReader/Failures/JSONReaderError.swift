/// A page that must not be used: nothing that was handed out of it before the error was thrown counts.
public struct JSONReaderError: Error, Sendable, Hashable {
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
        /// JSON, but a string, number or boolean stands at the path of the record list.
        case recordsNotAList
        /// A key on the way to the record list or to an envelope value stands twice.
        case ambiguousEnvelope
        case outOfMemory
    }

    public let kind: Kind
    /// What is wrong, in words, without anything of the document's content.
    public let message: String
    public let location: JSONLocation
    /// Some of the text around the place, which is marked by `▸`: content of the document, so not for every log.
    public let excerpt: String
}

extension JSONReaderError: CustomStringConvertible {
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
