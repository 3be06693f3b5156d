/// What the parameters of a preset are in one source.
struct PresetValues {
    /// The parameters that there are, by name.
    let parameters: [String: PresetParameter]
    /// What is said, or meant where nothing is said. Where a value is missing or wrong, something stands in for it, so that the rest can be checked.
    private var nodes: [String: DocumentNode]
    /// Where values are told.
    let subject: Subject

    /// Reads the table `with`. Mistakes go to the complaints.
    ///
    /// - Parameter source: where the source begins.
    init(of file: PresetFile, _ layer: Layer, source: DocumentNode.Place, _ complaints: Complaints) {
        let known = file.preset.parameters
        parameters = Dictionary(known.map { ($0.name, $0) }) { first, _ in first }
        nodes = file.defaults
        subject = layer.subject
        let table = layer.node?.table ?? [:]
        if let node = layer.node, node.table == nil {
            complaints.add(at: node.place, layer.subject, "expected a table, found \(node.found)", "write [source.with], or with = { … }")
        }
        for (name, node) in table.ordered {
            guard let parameter = parameters[name] else {
                complaints.add(
                    at: node.place, layer.subject, key: name, "the preset \(file.preset.name) has no parameter \"\(name)\"",
                    Self.advice(for: name, known))
                continue
            }
            switch parameter.codec.read(node) {
            case .value: nodes[name] = node
            case .wrong(let message, let suggestion):
                complaints.add(at: node.place, layer.subject.key(name), message, suggestion ?? "write \(parameter.codec.expected)")
                nodes[name] = Self.standIn(for: parameter, at: node.place)
            case .later(let what):
                complaints.add(at: node.place, layer.subject.key(name), "\(what) is not in this version", "write \(parameter.codec.expected)")
                nodes[name] = Self.standIn(for: parameter, at: node.place)
            }
        }
        for parameter in known where parameter.isRequired && nodes[parameter.name] == nil {
            complaints.add(
                at: layer.node?.place ?? source, layer.subject, key: parameter.name, "\"\(parameter.name)\" is missing: \(parameter.meaning)",
                "write \(tomlKey(parameter.name)) = \(parameter.placeholder) in [source.with] (\(Self.listed(known)))")
            nodes[parameter.name] = Self.standIn(for: parameter, at: source)
        }
    }

    /// The value of a parameter; nil: it has none.
    subscript(name: String) -> DocumentNode? { nodes[name] }

    /// What to do about a name that no parameter has.
    private static func advice(for name: String, _ known: [PresetParameter]) -> String {
        if known.isEmpty { return "remove it" }
        let nearest = suggestion(for: name, among: known.map(\.name), kind: "")
        return nearest.hasPrefix("did you mean") ? "\(nearest) (\(listed(known)))" : listed(known)
    }

    private static func listed(_ parameters: [PresetParameter]) -> String {
        "parameters: " + parameters.map { "\($0.name): \($0.requirement)" }.joined(separator: "; ")
    }

    private static func standIn(for parameter: PresetParameter, at place: DocumentNode.Place) -> DocumentNode {
        let text = DocumentNode(value: .string(parameter.choices.first ?? "x"), place: place)
        switch parameter.kind {
        case .text, .name: return text
        case .integer: return DocumentNode(value: .integer(1), place: place)
        case .texts, .names: return DocumentNode(value: .array([text]), place: place)
        }
    }
}
