import Yams

/// Reads a manifest: YAML 1.1 as Python's reader takes it, aliases and merge keys written out. JSON is YAML.
///
/// What a file may cost is bounded, whatever it says: its size, its depth, and how much there is once aliases are written out.
struct ManifestReader {
    static let maxBytes = 4 << 20
    static let maxDepth = 200
    static let maxValues = 500_000
    /// So many aliases lead to no more than some ten thousand values, however they are stacked.
    static let harmlessAliases = 24

    let file: String
    private let mostBytes: Int
    private let mostValues: Int
    private var count = 0

    init(file: String, mostBytes: Int = Self.maxBytes, mostValues: Int = Self.maxValues) {
        self.file = file
        self.mostBytes = mostBytes
        self.mostValues = mostValues
    }

    mutating func read(_ bytes: [UInt8]) throws -> ManifestValue {
        guard bytes.count <= mostBytes else {
            throw ManifestError(file: file, "it is larger than \(mostBytes >> 20) MiB, which no manifest is")
        }
        guard var text = String(validating: bytes, as: UTF8.self) else { throw ManifestError(file: file, "it is not valid UTF-8") }
        if text.unicodeScalars.first == "\u{FEFF}" { text.unicodeScalars.removeFirst() }
        try refuseCostlyKeys(text)
        let root: Node?
        do {
            // Blank lines at the end keep the shortest texts out of the few bytes that a string has within itself, which the parser points to.
            root = try Parser(yaml: text + String(repeating: "\n", count: 16), encoding: .utf8).singleRoot()
        } catch let error as YamlError {
            throw problem(error, text)
        } catch {
            throw ManifestError(file: file, "\(error)")
        }
        guard let root else { throw ManifestError(file: file, "it is empty") }
        return try value(root, depth: 0)
    }

    private mutating func value(_ node: Node, depth: Int) throws -> ManifestValue {
        let line = node.mark?.line ?? 1
        count += 1
        guard count <= mostValues else {
            throw ManifestError(file: file, line: line, "with its aliases written out it has more than \(mostValues) values")
        }
        guard depth <= Self.maxDepth else { throw ManifestError(file: file, line: line, "it is nested more than \(Self.maxDepth) deep") }
        switch node {
        case .scalar(let scalar): return ManifestValue(content(scalar.string, node), line: line)
        case .sequence(let sequence):
            var elements: [ManifestValue] = []
            for element in sequence { elements.append(try value(element, depth: depth + 1)) }
            return ManifestValue(.list(elements), line: line)
        case .mapping(let mapping): return ManifestValue(.mapping(try entries(mapping, depth: depth)), line: line)
        case .alias: throw ManifestError(file: file, line: line, "an alias leads nowhere")
        }
    }

    private mutating func entries(_ mapping: Node.Mapping, depth: Int) throws -> ManifestMapping {
        var own: [ManifestMapping.Entry] = [], merged = ManifestMapping([])
        for pair in mapping {
            let line = pair.key.mark?.line ?? 1
            guard case .scalar(let key) = pair.key else { throw ManifestError(file: file, line: line, "a key is no text") }
            let inner = try value(pair.value, depth: depth + 1)
            guard pair.key.tag.rawValue == Tag.Name.merge.rawValue else {
                own.append(.init(key: key.string, value: inner, line: line))
                continue
            }
            // Of several the first that has a key counts.
            for source in inner.list ?? [inner] {
                guard let mapping = source.mapping else { throw ManifestError(file: file, line: line, "<< does not lead to a mapping") }
                merged = merged.over(mapping)
            }
        }
        return ManifestMapping(own).over(merged)
    }

    private func content(_ text: String, _ node: Node) -> ManifestValue.Content {
        switch node.tag.rawValue {
        case Tag.Name.null.rawValue: return .null
        case Tag.Name.bool.rawValue: if let flag = node.bool { return .bool(flag) }
        case Tag.Name.int.rawValue: if let number = node.int { return .integer(number) }
        case Tag.Name.float.rawValue: if let number = node.float { return .number(number) }
        default: break
        }
        return .text(text)
    }

    private func problem(_ error: YamlError, _ text: String) -> ManifestError {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _), .composer(_, let problem, let mark, _):
            return ManifestError(file: file, line: mark.line, "it is not YAML: \(problem)")
        case .reader(let problem, let offset, _, _):
            let line = offset.map { text.prefix($0).count { $0.isNewline } + 1 }
            return ManifestError(file: file, line: line, "it is not YAML: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            let names = duplicates.prefix(3).map { "\"\(ManifestValue.shortened($0))\"" }.joined(separator: ", ")
            return ManifestError(file: file, line: context.mark.line, "two values of one mapping have the key \(names)")
        // How deep it may go is a limit of the parser's memory, too.
        case .memory: return ManifestError(file: file, "it is nested too deeply, or too large")
        default: return ManifestError(file: file, "it is not YAML: \(error)")
        }
    }

    /// The parser compares keys as a whole, and where a key consists of aliases of aliases, that never ends.
    private func refuseCostlyKeys(_ text: String) throws {
        let bytes = Array(text.utf8)
        func isSpace(_ index: Int) -> Bool { index >= bytes.count || [0x20, 0x09, 0x0A, 0x0D].contains(bytes[index]) }
        func opensToken(_ index: Int) -> Bool { index == 0 || isSpace(index - 1) || "[{,".utf8.contains(bytes[index - 1]) }
        func isWord(_ byte: UInt8) -> Bool {
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F || byte == 0x2D
        }
        var aliases = 0, line = 1, suspect: Int?
        for index in bytes.indices {
            switch bytes[index] {
            case 0x0A: line += 1
            case UInt8(ascii: "?") where opensToken(index) && isSpace(index + 1): suspect = suspect ?? line
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                if isKeyEnd(bytes, index + 1, isSpace) { suspect = suspect ?? line }
            case UInt8(ascii: "*") where opensToken(index) && index + 1 < bytes.count && isWord(bytes[index + 1]):
                aliases += 1
                var end = index + 1
                while end < bytes.count, isWord(bytes[end]) { end += 1 }
                if isKeyEnd(bytes, end, isSpace) { suspect = suspect ?? line }
            default: break
            }
        }
        guard aliases > Self.harmlessAliases, let suspect else { return }
        throw ManifestError(file: file, line: suspect, "a key seems to consist of other values, and there are aliases: write keys as plain texts")
    }

    /// Whether what ends before an index is a key.
    private func isKeyEnd(_ bytes: [UInt8], _ index: Int, _ isSpace: (Int) -> Bool) -> Bool {
        var index = index
        while index < bytes.count, bytes[index] == 0x20 { index += 1 }
        return index < bytes.count && bytes[index] == UInt8(ascii: ":") && isSpace(index + 1)
    }
}
