/// What can be said of the text of a GraphQL query without its schema.
enum GraphQLQuery {
    /// Longer ones are a mistake.
    static let longest = ByteCount.kibibytes(256)

    /// What is wrong with a query, and what to do about it; nil: nothing that could be seen.
    static func complaint(_ text: String) -> (message: String, suggestion: String)? {
        if text.utf8.count > longest.bytes { return ("the query is longer than \(longest)", "ask for less at once") }
        if text.unicodeScalars.contains(where: { $0.value < 0x20 && !["\t", "\n", "\r"].contains($0) || $0.value == 0x7F }) {
            return ("the query contains control characters", "remove them")
        }
        let outline = Outline(text)
        if outline.isEmpty { return ("the query is empty", "write a query such as \"{ items { id } }\"") }
        if let refusal = outline.refusal { return refusal }
        return outline.hasBraces ? nil : ("this is no query: it asks for nothing", "write a query such as \"{ items { id } }\"")
    }

    /// The same of a text that need not be GraphQL: words for a search may be any words, but have no braces.
    static func complaint(ofText text: String) -> (message: String, suggestion: String)? {
        let outline = Outline(text)
        return outline.hasBraces ? outline.refusal : nil
    }

    /// Whether a text can be the name of a variable or a field (GraphQL, 2.1.9).
    static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return text.utf8.allSatisfy(isNameByte)
    }

    /// Whether a query may declare a variable: its name is somewhere in the text.
    static func declares(_ variable: String, in text: String) -> Bool {
        let bytes = Array(text.utf8), name = Array("$\(variable)".utf8)
        guard bytes.count >= name.count else { return false }
        return (0...bytes.count - name.count).contains { start in
            let end = start + name.count
            return bytes[start..<end].elementsEqual(name) && (end == bytes.count || !isNameByte(bytes[end]))
        }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "_")
    }

    /// What a text consists of, seen from afar: texts in it and comments say nothing.
    private struct Outline {
        /// The first word of each definition that has one, such as `query` or `fragment`. What follows it may be a name, and names may be any word.
        private(set) var keywords: [String] = []
        private(set) var hasBraces = false
        private(set) var isEmpty = true

        /// What is wrong with it if it does not only read.
        var refusal: (message: String, suggestion: String)? {
            guard let operation = keywords.first(where: { $0 == "mutation" || $0 == "subscription" }) else { return nil }
            return ("this is a \(operation), and cisternd only reads", "write a query")
        }

        init(_ text: String) {
            let bytes = Array(text.utf8)
            // How many brackets of any kind are open, and whether a definition may begin here.
            var index = 0, depth = 0, isStart = true
            while index < bytes.count {
                let byte = bytes[index]
                switch byte {
                case UInt8(ascii: "#"):
                    index = Self.endOfLine(in: bytes, from: index)
                    continue
                case UInt8(ascii: "\""):
                    isEmpty = false
                    index = Self.endOfText(in: bytes, from: index)
                    continue
                case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: ","): break
                // The mark of byte order, which means nothing.
                case 0xEF where bytes[index...].starts(with: [0xEF, 0xBB, 0xBF]):
                    index += 3
                    continue
                case UInt8(ascii: "{"), UInt8(ascii: "("), UInt8(ascii: "["):
                    isEmpty = false
                    if byte == UInt8(ascii: "{") { hasBraces = true }
                    depth += 1
                    isStart = false
                case UInt8(ascii: "}"), UInt8(ascii: ")"), UInt8(ascii: "]"):
                    isEmpty = false
                    depth = max(0, depth - 1)
                    // Every definition of a query ends with a brace.
                    if depth == 0, byte == UInt8(ascii: "}") { isStart = true }
                case _ where GraphQLQuery.isNameByte(byte):
                    isEmpty = false
                    let end = bytes[index...].firstIndex { !GraphQLQuery.isNameByte($0) } ?? bytes.count
                    if isStart, depth == 0 {
                        keywords.append(String(decoding: bytes[index..<end], as: UTF8.self))
                        isStart = false
                    }
                    index = end
                    continue
                default: isEmpty = false
                }
                index += 1
            }
        }

        private static func endOfLine(in bytes: [UInt8], from start: Int) -> Int {
            bytes[start...].firstIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } ?? bytes.count
        }

        /// Where a text in quotes ends, the quotes included: one in single quotes with its line at the latest, and one in triple quotes with those.
        private static func endOfText(in bytes: [UInt8], from start: Int) -> Int {
            let quote = UInt8(ascii: "\""), backslash = UInt8(ascii: "\\"), triple = [quote, quote, quote]
            let isBlock = bytes[start...].starts(with: triple)
            let limit = isBlock ? bytes.count : endOfLine(in: bytes, from: start)
            var index = start + (isBlock ? 3 : 1)
            while index < limit {
                if isBlock {
                    if bytes[index...].starts(with: triple) { return index + 3 }
                    // The only escape that there is.
                    index += bytes[index] == backslash && bytes[(index + 1)...].starts(with: triple) ? 4 : 1
                } else {
                    if bytes[index] == quote { return index + 1 }
                    index += bytes[index] == backslash ? 2 : 1
                }
            }
            return min(index, limit)
        }
    }
}
