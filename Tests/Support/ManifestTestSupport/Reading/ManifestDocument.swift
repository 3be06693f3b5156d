/// A manifest as one document: references followed, and the parameters of components handed down to what is inside of them.
struct ManifestDocument: Sendable {
    /// The members of the outermost object, as they are written.
    let source: DataValue
    /// Every stream that the manifest lists, whole.
    let streams: [DataValue]

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    init(yaml: String) throws {
        source = try DataValue(yaml: yaml)
        var streams: [DataValue] = []
        for stream in source["streams"]?.list ?? [] {
            streams.append(Self.handingDown(try Self.resolved(stream, in: source, depth: 0), []))
        }
        self.streams = streams
    }

    // MARK: References

    /// `$ref` in an object is replaced by what it names, over which the object's other members are laid; a text that is a reference is replaced whole.
    private static func resolved(_ value: DataValue, in source: DataValue, depth: Int) throws -> DataValue {
        guard depth < 100 else { throw Failure(description: "references go round in a circle") }
        switch value {
        case .object(let members):
            var result: [DataValue.Member] = []
            if let reference = value["$ref"]?.text {
                result = try target(of: reference, in: source, depth: depth).members ?? []
            }
            for member in members where member.name != "$ref" {
                let resolved = DataValue.Member(member.name, try resolved(member.value, in: source, depth: depth + 1))
                if let index = result.firstIndex(where: { $0.name == member.name }) {
                    result[index] = resolved
                } else {
                    result.append(resolved)
                }
            }
            return .object(result)
        case .list(let list):
            return .list(try list.map { try resolved($0, in: source, depth: depth + 1) })
        case .text(let text) where text.hasPrefix("#/"):
            return try target(of: text, in: source, depth: depth)
        default: return value
        }
    }

    private static func target(of reference: String, in source: DataValue, depth: Int) throws -> DataValue {
        let path = reference.dropFirst(2).split(separator: "/").map(String.init)
        guard reference.hasPrefix("#/"), let target = source.at(path) else { throw Failure(description: "\(reference) names nothing") }
        return try resolved(target, in: source, depth: depth + 1)
    }

    // MARK: Parameters

    /// A component has the parameters of whoever it is in, and its own before those. What it does not say itself, a parameter of that name says.
    private static func handingDown(_ value: DataValue, _ inherited: [DataValue.Member]) -> DataValue {
        switch value {
        case .object(let members):
            var parameters = inherited
            for own in value["$parameters"]?.members ?? [] {
                parameters.removeAll { $0.name == own.name }
                parameters.append(own)
            }
            var result: [DataValue.Member] = []
            for member in members where member.name != "$parameters" {
                // A schema is no component.
                let isPlain = member.name == "schema"
                result.append(DataValue.Member(member.name, isPlain ? member.value : handingDown(member.value, parameters)))
            }
            guard value["type"]?.text != nil else { return .object(result) }
            for parameter in parameters {
                if let index = result.firstIndex(where: { $0.name == parameter.name }) {
                    if result[index].value.isNull { result[index] = parameter }
                } else {
                    result.append(parameter)
                }
            }
            return .object(result)
        case .list(let list): return .list(list.map { handingDown($0, inherited) })
        case .text(let text) where text.contains("{{") && text.contains("parameters"):
            guard let template = try? TemplateText(text), !template.paths(from: "parameters").isEmpty else { return value }
            return template.value(in: TemplateScope(["parameters": .object(inherited)]))
        default: return value
        }
    }
}
