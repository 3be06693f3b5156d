/// What a connector asks its user for (`spec.connection_specification`), and what the user has said of it.
///
/// Secrets become credentials. Of the rest, what the user has set comes first, then what the manifest says by default; what neither says and must be
/// there becomes a placeholder.
final class ConnectorSettings {
    /// What a field comes to.
    enum Answer: Hashable {
        case secret
        case value(Term)
        /// It may be left out, and is.
        case unset
        /// It holds fields.
        case fields
        case unknown
    }

    /// Where a value comes from that was put into the configuration.
    enum Source: Hashable {
        case set, manifest, placeholder
    }

    /// A field whose value was put into the configuration.
    struct Use: Hashable {
        let field: String
        let value: String
        let source: Source
        let title: String
    }

    private struct Field {
        var schemas: [ManifestMapping]
        var isRequired: Bool

        var isSecret: Bool { schemas.contains { $0["airbyte_secret"]?.isTruthy == true } }
    }

    private let manifest: Manifest
    private let root: ManifestMapping?
    private let given: [String: String]
    /// In the order in which they came up.
    private(set) var uses: [Use] = []
    private(set) var unusedSettings: Set<String>

    /// - Parameter given: what the user has set, by the names of fields, those of inner ones divided by dots.
    init(_ manifest: Manifest, given: [String: String]) throws {
        self.manifest = manifest
        self.given = given
        unusedSettings = Set(given.keys)
        let spec = try manifest.root["spec"].map { try manifest.resolved($0) }?.mapping
        root = try spec?["connection_specification"].map { try manifest.plain($0) }?.mapping
    }

    func answer(_ path: [String]) -> Answer {
        let name = path.joined(separator: ".")
        guard let field = field(path) else {
            guard let value = given[name] else { return .unknown }
            return use(name, .text(value), .set, title: "")
        }
        func first(_ key: String) -> ManifestValue? { field.schemas.lazy.compactMap { $0[key] }.first }
        let title = ManifestValue.shortened(first("title")?.text ?? "", limit: 60)
        if field.isSecret { return .secret }
        if let value = given[name] { return use(name, typed(value, first("type")), .set, title: title) }
        if first("properties") != nil || first("oneOf") != nil { return .fields }
        if let value = first("default"), !value.isNull { return use(name, Term(value), .manifest, title: title) }
        if let value = first("const") { return use(name, Term(value), .manifest, title: title) }
        guard field.isRequired else { return .unset }
        return use(name, placeholder(path, first), .placeholder, title: title)
    }

    /// Whether the user has said something of a field.
    func isSet(_ path: [String]) -> Bool { given[path.joined(separator: ".")] != nil }

    /// What a field is called by the manifest; empty: nothing.
    func title(_ path: [String]) -> String {
        ManifestValue.shortened(field(path)?.schemas.lazy.compactMap { $0["title"]?.text }.first ?? "", limit: 60)
    }

    /// The fields that the user has set and that nothing asked for, sorted.
    var strangers: [String] { unusedSettings.filter { field($0.split(separator: ".").map(String.init)) == nil }.sorted() }

    /// The settings that name secrets, sorted.
    var givenSecrets: [String] {
        given.keys.filter { field($0.split(separator: ".").map(String.init))?.isSecret == true }.sorted()
    }

    // MARK: Fields

    /// The field at a path: in the first alternative that has it, and as any of them describes it.
    private func field(_ path: [String]) -> Field? {
        guard let root, !path.isEmpty else { return nil }
        var current = Field(schemas: [root], isRequired: true)
        for name in path {
            var found: [ManifestMapping] = [], isRequired = false
            for schema in current.schemas.flatMap({ alternatives(of: $0, depth: 0) }) {
                guard let inner = schema["properties"]?.mapping?[name]?.mapping else { continue }
                if found.isEmpty { isRequired = schema["required"]?.list?.contains { $0.text == name } ?? false }
                found.append(inner)
            }
            if found.isEmpty { return nil }
            current = Field(schemas: found, isRequired: current.isRequired && isRequired)
        }
        return current
    }

    private func alternatives(of schema: ManifestMapping, depth: Int) -> [ManifestMapping] {
        guard depth < 8 else { return [] }
        let inner = ["oneOf", "anyOf", "allOf"].flatMap { schema[$0]?.list ?? [] }.compactMap(\.mapping)
        return [schema] + inner.flatMap { alternatives(of: $0, depth: depth + 1) }
    }

    private func use(_ name: String, _ term: Term, _ source: Source, title: String) -> Answer {
        unusedSettings.remove(name)
        let value = term.constantText ?? "…"
        if !uses.contains(where: { $0.field == name }) { uses.append(Use(field: name, value: value, source: source, title: title)) }
        return .value(term)
    }

    private func typed(_ value: String, _ type: ManifestValue?) -> Term {
        let types = type?.list?.compactMap(\.text) ?? [type?.text].compactMap { $0 }
        if types.contains("boolean") { return .bool(["true", "yes", "1"].contains(value.lowercased())) }
        if types.contains("integer"), let number = Int(value) { return .integer(number) }
        if types.contains("number"), let number = Double(value) { return .number(number) }
        if types.contains("array") { return .list(value.split(separator: ",").map { .text($0.trimmed) }) }
        return .text(value)
    }

    /// Something that a configuration takes and nobody takes for the real thing.
    private func placeholder(_ path: [String], _ first: (String) -> ManifestValue?) -> Term {
        let name = path.last ?? ""
        let words = name.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? String($0) : "-" }.joined()
        let type = first("type")?.text ?? first("type")?.list?.compactMap(\.text).first { $0 != "null" }
        switch type {
        case "boolean": return .bool(false)
        case "integer": return .integer(first("minimum")?.integer ?? 1)
        case "number": return .integer(first("minimum")?.integer ?? 1)
        case "array": return .list([.text("fill-in-\(words)")])
        default: break
        }
        if let choice = first("enum")?.list?.first?.text { return .text(choice) }
        let format = first("format")?.text ?? "", pattern = first("pattern")?.text ?? ""
        if format == "date" { return .text("2020-01-01") }
        if format == "date-time" || name.hasSuffix("date") || name.hasSuffix("_from") {
            return .text(pattern.contains("T") || format == "date-time" || pattern.isEmpty ? "2020-01-01T00:00:00Z" : "2020-01-01")
        }
        return .text("fill-in-\(words)")
    }
}

extension Substring {
    /// Without blanks around it.
    var trimmed: String {
        var rest = drop(while: \.isWhitespace)
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }
}
