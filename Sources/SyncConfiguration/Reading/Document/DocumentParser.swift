import Foundation

/// Bytes of one file to a tree of nodes.
package struct DocumentParser {
    let file: String
    let rank: Int

    /// - Parameter rank: the position of the file among those that are merged.
    package init(file: String, rank: Int = 0) {
        self.file = file
        self.rank = rank
    }

    /// - Throws: with the one problem that keeps the file from being understood at all.
    package func parse(_ bytes: [UInt8]) throws(ConfigurationError) -> DocumentNode {
        if bytes.count > ConfigurationReader.maxFileSize.bytes {
            throw problem(
                "the file is larger than \(ConfigurationReader.maxFileSize)",
                "split it into several files in conf.d, or check that it is a configuration file")
        }
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw problem("the file is not valid UTF-8", "save it as UTF-8", line: Self.firstInvalidLine(bytes))
        }
        if let zero = bytes.firstIndex(of: 0) {
            let line = bytes[..<zero].count { $0 == UInt8(ascii: "\n") } + 1
            throw problem("the file contains a NUL byte", "remove it", line: line)
        }
        var reader = TOMLReader(bytes, file: file, rank: rank)
        do throws(TOMLReader.SyntaxError) {
            return try reader.read()
        } catch {
            throw problem("syntax: \(error.message)", error.suggestion, line: error.line, column: error.column)
        }
    }

    private func problem(_ message: String, _ suggestion: String, line: Int? = nil, column: Int? = nil) -> ConfigurationError {
        let problem = ConfigurationProblem(file: file, line: line, column: column, message: message, suggestion: suggestion)
        return ConfigurationError(problems: [problem])
    }

    private static func firstInvalidLine(_ bytes: [UInt8]) -> Int {
        var line = 1
        for part in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            if String(validating: part, as: UTF8.self) == nil { return line }
            line += 1
        }
        return line
    }
}

/// A value of a configuration file, with its place.
package struct DocumentNode: Sendable {
    package indirect enum Value: Sendable {
        case string(String)
        case integer(Int64)
        case number(Double)
        case boolean(Bool)
        /// A TOML date or time; no key takes one.
        case moment(String)
        case array([DocumentNode])
        case table([String: DocumentNode])
    }

    package struct Place: Sendable, Hashable {
        package var file: String
        /// The position of the file in the order of merging.
        var rank: Int
        package var line: Int?
        var column: Int?
    }

    package var value: Value
    package var place: Place

    /// The value in words, for complaints: `the integer 15`.
    package var found: String {
        switch value {
        case .string(let text): "the text \(tomlQuoted(text.count > 60 ? text.prefix(60) + "…" : text))"
        case .integer(let integer): "the integer \(integer)"
        case .number(let number): "the number \(number)"
        case .boolean(let flag): "\(flag)"
        case .moment: "a date or time"
        case .array: "an array"
        case .table: "a table"
        }
    }

    package var table: [String: DocumentNode]? {
        if case .table(let table) = value { table } else { nil }
    }

    package var array: [DocumentNode]? {
        if case .array(let array) = value { array } else { nil }
    }

    package var string: String? {
        if case .string(let string) = value { string } else { nil }
    }
}

extension [String: DocumentNode] {
    /// The entries in the order they stand in the files.
    package var ordered: [(key: String, value: DocumentNode)] {
        func rank(_ entry: Element) -> (Int, Int, Int, String) {
            let place = entry.value.place
            return (place.rank, place.line ?? .max, place.column ?? .max, entry.key)
        }
        return sorted { rank($0) < rank($1) }
    }
}

extension DocumentNode {
    /// This file with a later one merged over it, as ``merged(_:named:)`` does with any number of them.
    func merged(with later: DocumentNode) -> DocumentNode {
        Self.merged([self, later])
    }

    /// Files merged in their order: tables key by key; the elements of `source`, and of `resource` within one, by their `name`; anything else is
    /// replaced. All of them at once, because many small files would otherwise each copy everything.
    /// - Parameter nodes: at least one.
    static func merged(_ nodes: [DocumentNode], named: String? = nil) -> DocumentNode {
        let layers = nodes.suffix(from: startOfLayers(nodes, named))
        guard let first = layers.first, layers.count > 1 else { return nodes[nodes.count - 1] }
        var result = first
        if first.table != nil {
            var entries: [String: [DocumentNode]] = [:]
            for (index, layer) in layers.enumerated() {
                // Only few tables are called so, and few files say anything of one.
                let layer = named == "schedule" ? layers[(index + 1)...].reduce(layer) { $0.yieldingTimes(to: $1) } : layer
                for (key, node) in layer.table ?? [:] { entries[key, default: []].append(node) }
            }
            var table: [String: DocumentNode] = [:]
            for (key, nodes) in entries { table[key] = merged(nodes, named: key) }
            result.value = .table(table)
        } else {
            result.value = .array(mergedElements(layers.map { $0.array ?? [] }))
        }
        return result
    }

    /// What comes before it is replaced; what follows is all of one mergeable kind.
    private static func startOfLayers(_ nodes: [DocumentNode], _ named: String?) -> Int {
        let mergesArrays = named == "source" || named == "resource"
        var start = nodes.count - 1
        while start > 0 {
            let (earlier, later) = (nodes[start - 1], nodes[start])
            guard (earlier.table != nil && later.table != nil) || (mergesArrays && earlier.array != nil && later.array != nil) else { break }
            start -= 1
        }
        return start
    }

    private static func mergedElements(_ files: [[DocumentNode]]) -> [DocumentNode] {
        var elements: [[DocumentNode]] = []
        var indices: [String: Int] = [:]
        for file in files {
            // A name that appears twice in one file is left for the complaint about duplicates.
            var taken: Set<Int> = []
            let before = elements.count
            for node in file {
                if let name = node.table?["name"]?.string, let index = indices[name], taken.insert(index).inserted {
                    elements[index].append(node)
                } else {
                    elements.append([node])
                }
            }
            for index in before..<elements.count {
                if let name = elements[index][0].table?["name"]?.string, indices[name] == nil { indices[name] = index }
            }
        }
        return elements.map { merged($0) }
    }
}
