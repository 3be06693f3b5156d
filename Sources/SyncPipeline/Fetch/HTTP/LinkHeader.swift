/// One link of a `Link` header (RFC 8288).
public struct LinkHeader: Sendable, Hashable {
    /// The text between `<` and `>`, unchanged; relative to the address of the response.
    public let target: String
    /// The relation types, in lower case, in the order they were written.
    public let relations: [String]
    /// The other parameters, names in lower case; the first of several with one name.
    public let parameters: [String: String]

    /// The links of all `Link` headers of a response, in order.
    ///
    /// What cannot be read is left out, up to the next comma outside of quotes and angle brackets: one malformed link does not hide the
    /// others. A link that names another context (`anchor`) says nothing about the response and is left out too.
    public static func parse(_ values: [String]) -> [LinkHeader] {
        read(values).links
    }

    /// The links of all `Link` headers, and the text of what stands among them and cannot be read.
    static func read(_ values: [String]) -> (links: [LinkHeader], unreadable: [String]) {
        var links: [LinkHeader] = [], unreadable: [String] = []
        for value in values {
            var scanner = Scanner(bytes: Array(value.utf8))
            while true {
                scanner.skipSeparators()
                if scanner.isAtEnd { break }
                let start = scanner.position
                let (link, isRead) = scanner.link()
                if let link { links.append(link) }
                scanner.skipToNextLink()
                if !isRead { unreadable.append(String(decoding: scanner.bytes[start..<scanner.position], as: UTF8.self)) }
            }
        }
        return (links, unreadable)
    }

    /// The distinct targets with the relation type `relation` (compared without case), in order.
    public static func targets(of relation: String, in links: [LinkHeader]) -> [String] {
        let wanted = relation.lowercased()
        var seen: Set<String> = []
        return links.filter { $0.relations.contains(wanted) && seen.insert($0.target).inserted }.map(\.target)
    }

    private struct Scanner {
        let bytes: [UInt8]
        var position = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        var isAtEnd: Bool { position >= bytes.count }

        private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

        private mutating func skipSpaces() {
            while let byte = current, byte == 0x20 || byte == 0x09 { position += 1 }
        }

        private mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard current == UInt8(ascii: character) else { return false }
            position += 1
            return true
        }

        /// Moves past the next comma that separates links.
        mutating func skipToNextLink() {
            while let byte = current {
                switch byte {
                case UInt8(ascii: ","):
                    position += 1
                    return
                case UInt8(ascii: "\""):
                    if quotedString() == nil { position = bytes.count }
                case UInt8(ascii: "<"):
                    while let inner = current, inner != UInt8(ascii: ">") { position += 1 }
                default:
                    position += 1
                }
            }
        }

        mutating func skipSeparators() {
            while let byte = current, byte == 0x20 || byte == 0x09 || byte == UInt8(ascii: ",") { position += 1 }
        }

        /// The link that begins here, and whether it could be read: one of another context is, and says nothing about this one.
        mutating func link() -> (link: LinkHeader?, isRead: Bool) {
            guard skip("<") else { return (nil, false) }
            let start = position
            while let byte = current, byte != UInt8(ascii: ">") { position += 1 }
            guard !isAtEnd else { return (nil, false) }
            let target = String(decoding: bytes[start..<position], as: UTF8.self)
            position += 1
            var parameters: [String: String] = [:]
            while true {
                skipSpaces()
                guard skip(";") else { break }
                skipSpaces()
                if current == nil || current == UInt8(ascii: ";") || current == UInt8(ascii: ",") { continue }
                guard let (name, value) = parameter() else { return (nil, false) }
                if parameters[name] == nil { parameters[name] = value }
            }
            guard current == nil || current == UInt8(ascii: ",") else { return (nil, false) }
            guard parameters["anchor"] == nil else { return (nil, true) }
            let relations = (parameters.removeValue(forKey: "rel") ?? "").lowercased().split { $0 == " " || $0 == "\t" }.map(String.init)
            return (LinkHeader(target: target, relations: relations, parameters: parameters), true)
        }

        private mutating func parameter() -> (name: String, value: String)? {
            guard let name = token() else { return nil }
            skipSpaces()
            guard skip("=") else { return (name.lowercased(), "") }
            skipSpaces()
            guard let value = current == UInt8(ascii: "\"") ? quotedString() : token() else { return nil }
            return (name.lowercased(), value)
        }

        /// Everything up to a separator. Unquoted values are read generously: relation types that are addresses are sent without quotes.
        private mutating func token() -> String? {
            let start = position
            while let byte = current, byte > 0x20, byte != 0x7F, !"=;,\"<>".utf8.contains(byte) { position += 1 }
            return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
        }

        private mutating func quotedString() -> String? {
            position += 1
            var text: [UInt8] = []
            while let byte = current {
                position += 1
                switch byte {
                case UInt8(ascii: "\""):
                    return String(decoding: text, as: UTF8.self)
                case UInt8(ascii: "\\"):
                    guard let escaped = current else { return nil }
                    text.append(escaped)
                    position += 1
                default:
                    text.append(byte)
                }
            }
            return nil
        }
    }
}
