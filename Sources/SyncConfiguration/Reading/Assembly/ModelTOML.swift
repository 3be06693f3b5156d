import JSONPaths

/// A property as the table that declares it.
extension AttributeConfiguration {
    var toml: String {
        var entries: [String] = []
        if let paths = Codec<[JSONPath]>.jsonPaths.toml(paths) { entries.append("path = \(paths)") }
        entries.append("type = \"\(type)\"")
        entries.append("optional = \(isOptional)")
        if let defaultValue { entries.append("default = \(defaultValue.toml)") }
        entries.append("index = \(isIndexed)")
        if type == .date { entries.append("format = \(tomlQuoted(format.description))") }
        return "{ \(entries.joined(separator: ", ")) }"
    }
}

extension RelationshipConfiguration {
    var toml: String {
        var entries = ["to = \(tomlQuoted(destination))"]
        if let paths = Codec<[JSONPath]>.jsonPaths.toml(paths) { entries.append("path = \(paths)") }
        entries.append("many = \(isToMany)")
        entries.append("ordered = \(isOrdered)")
        if case .declared(let name) = inverse { entries.append("inverse = \(tomlQuoted(name))") }
        entries.append("on_delete = \"\(onDelete.rawValue)\"")
        entries.append("match = \"\(match.rawValue)\"")
        entries.append("mode = \"replace\"")
        entries.append("unresolved = \"stub\"")
        return "{ \(entries.joined(separator: ", ")) }"
    }
}
