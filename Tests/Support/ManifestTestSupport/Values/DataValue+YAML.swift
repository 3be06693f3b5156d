import Yams

extension DataValue {
    /// The value of a document of YAML: plain words are what the core schema makes of them, times stay texts.
    public init(yaml: String) throws {
        guard let node = try compose(yaml: yaml) else {
            self = .null
            return
        }
        self = Self.value(of: node)
    }

    private static func value(of node: Node) -> DataValue {
        if let mapping = node.mapping {
            var members: [Member] = []
            for pair in mapping {
                members.append(Member(pair.key.scalar?.string ?? "", value(of: pair.value)))
            }
            return .object(members)
        }
        if let sequence = node.sequence {
            var values: [DataValue] = []
            for element in sequence { values.append(value(of: element)) }
            return .list(values)
        }
        guard let scalar = node.scalar else { return .null }
        return scalar.style == .plain ? plain(scalar.string) : .text(scalar.string)
    }

    private static func plain(_ word: String) -> DataValue {
        switch word {
        case "", "~", "null", "Null", "NULL": return .null
        case "true", "True", "TRUE": return .bool(true)
        case "false", "False", "FALSE": return .bool(false)
        default: break
        }
        guard let first = word.utf8.first, "+-.0123456789".utf8.contains(first) else { return .text(word) }
        if let number = Int(word) { return .int(number) }
        // Not what Swift takes for a number besides: inf, nan, hexadecimal digits.
        if word.utf8.allSatisfy({ "+-.eE0123456789".utf8.contains($0) }), let number = Double(word) { return .double(number) }
        return .text(word)
    }

    /// As YAML in blocks.
    public var yaml: String { block.joined(separator: "\n") + "\n" }

    private var block: [String] {
        switch self {
        case .object(let members) where !members.isEmpty:
            return members.flatMap { member -> [String] in
                let name = Self.plainOrQuoted(member.name)
                if let inline = member.value.inline { return ["\(name): \(inline)"] }
                return ["\(name):"] + member.value.block.map { "  " + $0 }
            }
        case .list(let values) where !values.isEmpty:
            return values.flatMap { value -> [String] in
                if let inline = value.inline { return ["- \(inline)"] }
                return value.block.enumerated().map { ($0.offset == 0 ? "- " : "  ") + $0.element }
            }
        default: return [inline ?? ""]
        }
    }

    /// On one line; nil where it takes several.
    private var inline: String? {
        switch self {
        case .null: return "null"
        case .bool(let flag): return flag ? "true" : "false"
        case .int(let number): return "\(number)"
        case .double(let number): return "\(number)"
        case .text(let text): return Self.plainOrQuoted(text)
        case .list(let values): return values.isEmpty ? "[]" : nil
        case .object(let members): return members.isEmpty ? "{}" : nil
        }
    }

    private static func plainOrQuoted(_ text: String) -> String {
        let isWord = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x2D || byte == 0x5F
        }
        // What YAML 1.1 takes for something else than a text is quoted, too.
        let others = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"]
        let beginsAsName = text.utf8.first.map { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) } ?? false
        return isWord && beginsAsName && !others.contains(text.lowercased()) ? text : quoted(text)
    }
}
