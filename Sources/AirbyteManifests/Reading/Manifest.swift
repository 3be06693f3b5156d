/// A manifest whose references can be followed.
///
/// A reference is a text `#/definitions/NAME`, or the key `$ref` of a mapping, whose other keys come before those of what it refers to. Nothing is
/// written out before it is asked for, and following is bounded, so that references that lead in a circle end with an error.
final class Manifest {
    static let maxChain = 50
    static let maxDepth = 64
    static let maxSteps = 2_000_000

    let file: String
    let root: ManifestMapping
    private var steps = 0

    init(file: String, root: ManifestMapping) {
        self.file = file
        self.root = root
    }

    func error(line: Int, _ message: String) -> ManifestError { ManifestError(file: file, line: line, message) }

    /// The value itself, if it is a reference what that leads to; what is inside of it is left as it is.
    func resolved(_ value: ManifestValue, chain: Int = 0) throws -> ManifestValue {
        steps += 1
        guard steps <= Self.maxSteps else { throw error(line: value.line, "its references lead to more than can be followed") }
        switch value.content {
        case .text(let text) where text.hasPrefix("#/"): return try target(of: text, line: value.line, chain: chain)
        case .mapping(let mapping):
            guard let reference = mapping["$ref"] else { return value }
            guard let text = reference.text, text.hasPrefix("#/") else {
                throw error(line: reference.line, "$ref: \(reference.brief) is no reference within this file")
            }
            let base = try target(of: text, line: reference.line, chain: chain)
            guard let inherited = base.mapping else { return base }
            return ManifestValue(.mapping(mapping.without("$ref").over(inherited)), line: value.line)
        case .null, .bool, .integer, .number, .text, .list: return value
        }
    }

    /// The value with all references in it followed.
    func plain(_ value: ManifestValue, depth: Int = 0) throws -> ManifestValue {
        guard depth <= Self.maxDepth else { throw error(line: value.line, "it is nested too deeply; does a $ref lead back to itself?") }
        let value = try resolved(value)
        switch value.content {
        case .list(let elements): return ManifestValue(.list(try elements.map { try plain($0, depth: depth + 1) }), line: value.line)
        case .mapping(let mapping):
            let entries = try mapping.entries.map { entry in
                ManifestMapping.Entry(key: entry.key, value: try plain(entry.value, depth: depth + 1), line: entry.line)
            }
            return ManifestValue(.mapping(ManifestMapping(entries)), line: value.line)
        case .null, .bool, .integer, .number, .text: return value
        }
    }

    private func target(of reference: String, line: Int, chain: Int) throws -> ManifestValue {
        guard chain < Self.maxChain else { throw error(line: line, "\(ManifestValue.shortened(reference)) leads back to itself") }
        var current = ManifestValue(.mapping(root), line: 1), rest = reference.dropFirst(2)
        while !rest.isEmpty {
            current = try resolved(current, chain: chain + 1)
            guard let (value, after) = step(from: current, along: rest) else {
                throw error(line: line, "\(ManifestValue.shortened(reference)) leads nowhere")
            }
            (current, rest) = (value, after)
        }
        return try resolved(current, chain: chain + 1)
    }

    /// Keys may have slashes in them: the longest that is there counts.
    private func step(from value: ManifestValue, along path: Substring) -> (ManifestValue, Substring)? {
        var head = path
        while true {
            let after = path[head.endIndex...].drop { $0 == "/" }
            if let found = value.mapping?[String(head)] { return (found, after) }
            if let list = value.list, let index = Int(head), list.indices.contains(index) { return (list[index], after) }
            guard let slash = head.lastIndex(of: "/") else { return nil }
            head = head[..<slash]
        }
    }
}
