/// What the schemas of a description say of values.
struct OpenAPISchema {
    let document: OpenAPIDocument

    /// How deep schemas are looked into that are made of others.
    private static let deepest = 16

    /// What a value is.
    enum Kind {
        /// An attribute of this type.
        case scalar(String)
        case list(ManifestValue)
        case object(Shape)
        /// Anything else: it is kept as JSON.
        case any
    }

    /// What an object has.
    struct Shape {
        struct Property {
            let name: String
            let schema: ManifestValue
        }

        private(set) var properties: [Property] = []
        private var places: [String: Int] = [:]
        /// Those that are always there, and never null.
        var required: Set<String> = []
        /// The schema of the document that it is.
        var component: String?

        subscript(name: String) -> ManifestValue? { places[name].map { properties[$0].schema } }

        /// What comes later is more exact, and stands where the property was named first.
        mutating func take(_ property: Property) {
            if let place = places[property.name] {
                properties[place] = property
            } else {
                places[property.name] = properties.count
                properties.append(property)
            }
        }

        /// Takes in all that another one has.
        mutating func take(_ other: Shape) {
            for property in other.properties { take(property) }
            required.formUnion(other.required)
        }
    }

    /// - Throws: `Unsayable` for references out of the document, and schemas that are nested too deeply.
    func kind(of schema: ManifestValue, depth: Int = 0) throws(Unsayable) -> Kind {
        guard depth <= Self.deepest else { throw Unsayable("its schemas are nested more than \(Self.deepest) deep") }
        let resolved = try document.resolved(schema)
        guard let mapping = resolved.value.mapping else { return .any }
        let types = Self.types(of: mapping)
        if let options = Self.options(of: mapping) {
            // Null is no kind of its own.
            let real = try options.filterSchemas { option throws(Unsayable) in try !isNull(option) }
            if real.count == 1 { return try kind(of: real[0], depth: depth + 1) }
            return try common(real, depth: depth)
        }
        if types == ["array"] {
            guard let items = mapping["items"] else { return .any }
            return .list(items)
        }
        if types == ["object"] || types.isEmpty, let object = try shape(of: schema, depth: depth) { return .object(object) }
        if types.isEmpty, let parts = mapping["allOf"]?.list, let only = parts.first, parts.count == 1 { return try kind(of: only, depth: depth + 1) }
        return Self.scalar(mapping, types).map { .scalar($0) } ?? .any
    }

    /// What several schemas have in common of which one holds.
    private func common(_ options: [ManifestValue], depth: Int) throws(Unsayable) -> Kind {
        var result: String?
        for option in options {
            guard case .scalar(let type) = try kind(of: option, depth: depth + 1) else { return .any }
            guard let known = result, known != type else {
                result = type
                continue
            }
            // A text may say anything, and a decimal each number.
            let numbers: Set<String> = ["int32", "int64", "decimal", "double"]
            result = numbers.isSuperset(of: [known, type]) ? "decimal" : "string"
        }
        return result.map { .scalar($0) } ?? .any
    }

    /// The members of an object; nil: it is none, or nothing is said of them.
    func shape(of schema: ManifestValue, depth: Int = 0) throws(Unsayable) -> Shape? {
        guard depth <= Self.deepest else { throw Unsayable("its schemas are nested more than \(Self.deepest) deep") }
        let resolved = try document.resolved(schema)
        guard let mapping = resolved.value.mapping else { return nil }
        let types = Self.types(of: mapping)
        guard types.isEmpty || types == ["object"] else { return nil }
        var shape = Shape()
        for part in mapping["allOf"]?.list ?? [] {
            if let other = try self.shape(of: part, depth: depth + 1) { shape.take(other) }
        }
        if let options = Self.options(of: mapping) {
            var shapes: [Shape] = []
            for option in options where try !isNull(option) {
                if let other = try self.shape(of: option, depth: depth + 1) { shapes.append(other) }
            }
            if shapes.count == 1, shape.properties.isEmpty, mapping["properties"] == nil { shape.component = shapes[0].component }
            // What only one of them has need not be there.
            let all = shapes.dropFirst().reduce(shapes.first?.required ?? []) { $0.intersection($1.required) }
            for var other in shapes {
                other.required = all
                shape.take(other)
            }
        }
        var own = Shape()
        for entry in mapping["properties"]?.mapping?.entries ?? [] { own.take(Shape.Property(name: entry.key, schema: entry.value)) }
        for name in mapping["required"]?.list ?? [] { if let text = name.scalar { own.required.insert(text) } }
        shape.take(own)
        guard !shape.properties.isEmpty else { return nil }
        if let component = resolved.component { shape.component = component }
        return shape
    }

    /// Whether a value may be null.
    func mayBeNull(_ schema: ManifestValue, depth: Int = 0) throws(Unsayable) -> Bool {
        guard depth <= Self.deepest, let mapping = try document.resolved(schema).value.mapping else { return false }
        if mapping["nullable"]?.isTruthy == true || mapping["x-nullable"]?.isTruthy == true { return true }
        if mapping["type"]?.list?.contains(where: { $0.text == "null" || $0.isNull }) == true { return true }
        if mapping["enum"]?.list?.contains(where: \.isNull) == true { return true }
        for option in Self.options(of: mapping) ?? [] {
            if try isNull(option) { return true }
            if try mayBeNull(option, depth: depth + 1) { return true }
        }
        return false
    }

    private func isNull(_ schema: ManifestValue) throws(Unsayable) -> Bool {
        guard let type = try document.resolved(schema).value.mapping?["type"] else { return false }
        return type.text == "null" || type.isNull
    }

    private static func options(of mapping: ManifestMapping) -> [ManifestValue]? { mapping["oneOf"]?.list ?? mapping["anyOf"]?.list }

    private static func types(of mapping: ManifestMapping) -> Set<String> {
        let named = (mapping["type"]?.list ?? [mapping["type"]].compactMap { $0 }).compactMap(\.text)
        var types = Set(named)
        types.remove("null")
        if types.isEmpty, mapping["items"] != nil { return ["array"] }
        return types
    }

    private static func scalar(_ mapping: ManifestMapping, _ types: Set<String>) -> String? {
        let format = mapping["format"]?.text ?? ""
        switch types.sorted() {
        case ["string"]:
            return switch format {
            case "date-time", "date": "date"
            case "uuid": "uuid"
            case "uri", "url": "uri"
            case "byte", "base64": "data(base64)"
            default: "string"
            }
        case ["integer"]: return format == "int32" ? "int32" : "int64"
        case ["number"]: return format == "double" || format == "float" ? "double" : "decimal"
        case ["integer", "number"]: return "decimal"
        case ["boolean"]: return "bool"
        case []:
            let values = (mapping["enum"]?.list ?? [mapping["const"]].compactMap { $0 }).filter { !$0.isNull }
            guard !values.isEmpty else { return nil }
            if values.allSatisfy({ $0.text != nil }) { return "string" }
            return values.allSatisfy { $0.integer != nil } ? "int64" : nil
        default: return types.isSubset(of: ["string", "integer", "number", "boolean"]) && types.contains("string") ? "string" : nil
        }
    }
}

extension [ManifestValue] {
    /// Those for which something holds that may not be sayable.
    fileprivate func filterSchemas(_ isMeant: (ManifestValue) throws(Unsayable) -> Bool) throws(Unsayable) -> [ManifestValue] {
        var result: [ManifestValue] = []
        for element in self where try isMeant(element) { result.append(element) }
        return result
    }
}
