/// What a user of a manifest fills in: its specification's defaults, and made-up secrets.
public struct ManifestConfiguration: Sendable {
    /// By the names of the specification, objects inside of objects.
    public let value: DataValue
    /// Every value that is a text or a number, by the names that lead to it.
    public let leaves: [(path: [String], text: String, isSecret: Bool)]

    init(_ manifest: DataValue) {
        var value = DataValue.object([])
        var leaves: [(path: [String], text: String, isSecret: Bool)] = []
        Self.fill(manifest["spec"]?["connection_specification"] ?? .null, [], &value, &leaves)
        self.value = value
        self.leaves = leaves
    }

    private static func fill(
        _ specification: DataValue, _ path: [String], _ value: inout DataValue, _ leaves: inout [(path: [String], text: String, isSecret: Bool)]
    ) {
        for choice in specification["oneOf"]?.list ?? [] { fill(choice, path, &value, &leaves) }
        for property in specification["properties"]?.members ?? [] {
            let inner = path + [property.name]
            if property.value["type"]?.text == "object" {
                fill(property.value, inner, &value, &leaves)
                continue
            }
            let isSecret = property.value["airbyte_secret"]?.bool ?? false
            let made = DataValue.text("SECRET-" + inner.joined(separator: "-"))
            let found = property.value["const"] ?? property.value["default"] ?? (isSecret ? made : .text("value-of-\(property.name)"))
            value.set(found, at: inner)
            if found.list == nil, !leaves.contains(where: { $0.path == inner }) {
                leaves.append((path: inner, text: found.shown, isSecret: isSecret))
            }
        }
    }
}
