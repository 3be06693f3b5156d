/// A component of a manifest: a mapping with a type, and the parameters that reach it.
///
/// Parameters come down from the components around it; its own come before those, and its fields before all of them.
struct Component {
    let manifest: Manifest
    let fields: ManifestMapping
    let type: String
    let parameters: [String: ManifestValue]
    let line: Int
    private let depth: Int

    /// - Parameters:
    ///   - defaultType: what it is where it does not say so.
    ///   - parameters: those that come from around it.
    init(
        _ value: ManifestValue, defaultType: String, parameters: [String: ManifestValue] = [:], of manifest: Manifest, depth: Int = 0
    ) throws {
        let value = try manifest.resolved(value)
        guard let fields = value.mapping else {
            throw manifest.error(line: value.line, "\(defaultType): a mapping was expected, found \(value.brief)")
        }
        guard depth <= Manifest.maxDepth else {
            throw manifest.error(line: value.line, "components are nested too deeply; does a $ref lead back to itself?")
        }
        var all = parameters
        if let own = try fields["$parameters"].map({ try manifest.resolved($0) })?.mapping {
            for entry in own.entries { all[entry.key] = entry.value }
        }
        self.manifest = manifest
        self.fields = fields.without("$parameters")
        self.parameters = all
        self.line = value.line
        self.depth = depth
        type = fields["type"]?.text ?? (fields["class_name"] == nil ? defaultType : "Custom\(defaultType)")
    }

    /// The value of a field, else of a parameter of that name.
    func value(_ key: String) throws -> ManifestValue? {
        let own = try fields[key].map { try manifest.resolved($0) }
        if let own, own.isTruthy { return own }
        guard let parameter = parameters[key] else { return own }
        return try manifest.resolved(parameter)
    }

    /// Where a field stands.
    func line(of key: String) -> Int { fields.line(of: key) ?? line }

    /// A component in a field; nil: there is none.
    func component(_ key: String, _ defaultType: String) throws -> Component? {
        guard let value = try value(key), !value.isNull else { return nil }
        return try inner(value, key, defaultType)
    }

    /// The components in a field: of a list, or one.
    func components(_ key: String, _ defaultType: String) throws -> [Component] {
        guard let value = try value(key), !value.isNull else { return [] }
        return try (value.list ?? [value]).map { try inner($0, key, defaultType) }
    }

    /// A value of a field as a component.
    func inner(_ value: ManifestValue, _ key: String, _ defaultType: String) throws -> Component {
        // A parameter does not reach what stands under its own name.
        var reaching = parameters
        reaching[key] = nil
        return try Component(value, defaultType: defaultType, parameters: reaching, of: manifest, depth: depth + 1)
    }

    /// Whether a flag is set.
    func flag(_ key: String) throws -> Bool { try value(key)?.isTruthy ?? false }

    /// The fields that nobody handles and that are none of those that manifests carry without meaning anything by them.
    func fields(besides handled: [String]) -> [ManifestMapping.Entry] {
        let meaningless: Set<String> = [
            "type", "name", "title", "description", "primary_key", "cursor_field", "path", "stream_cursor_field", "class_name", "metadata",
        ]
        let known = meaningless.union(handled)
        return fields.entries.filter { !known.contains($0.key) && !$0.value.isNull }
    }
}
