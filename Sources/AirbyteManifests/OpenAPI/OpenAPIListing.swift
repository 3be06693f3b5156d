import JSONPaths

/// What an operation answers, if that is a list of objects.
struct OpenAPIListing {
    /// The schema of an element.
    let items: ManifestValue
    /// The members that lead to the list; empty: the answer is the list.
    let records: [String]
    /// What else the answer has: members that lead to a value, and its schema.
    let around: [(path: [String], kind: OpenAPISchema.Kind, format: String)]
    /// The headers of the answer that are described, in lower case.
    let headers: Set<String>

    /// `records`, as the configuration has it.
    var recordsPath: String { JSONPath(keys: records).description }

    /// Members that lists are in, where an answer has several.
    private static let usual: Set = [
        "data", "items", "results", "records", "entries", "values", "rows", "list", "content", "objects", "elements", "value",
    ]
    /// Members that hold what is about a page.
    private static let paging: Set = [
        "meta", "_meta", "paging", "pagination", "page", "page_info", "pageinfo", "cursor", "cursors", "links", "_links", "response_metadata",
    ]

    /// - Parameter word: what the path calls the list.
    /// - Throws: `Unsayable` with what it answers instead.
    init(of operation: ManifestMapping, word: String, in document: OpenAPIDocument) throws(Unsayable) {
        let schemas = OpenAPISchema(document: document)
        let response = try Self.response(of: operation, in: document)
        headers = Set((response["headers"]?.mapping?.entries ?? []).map { $0.key.lowercased() })
        guard let schema = try Self.schema(of: response, in: document) else { throw Unsayable("what it answers is not described as JSON") }
        switch try schemas.kind(of: schema) {
        case .scalar, .any: throw Unsayable("it does not answer a list of objects")
        case .list(let items):
            guard try schemas.shape(of: items) != nil else { throw Unsayable("it answers a list, but not of objects that are described") }
            (self.items, records, around) = (items, [], [])
        case .object(let shape):
            let (path, items) = try Self.list(in: shape, word: word, schemas)
            (self.items, records) = (items, path)
            around = try Self.around(shape, besides: path, schemas)
        }
    }

    private static func response(of operation: ManifestMapping, in document: OpenAPIDocument) throws(Unsayable) -> ManifestMapping {
        let responses = operation["responses"]?.mapping?.entries ?? []
        let statuses = ["200", "2XX", "2xx", "203", "206", "default"]
        let found = statuses.lazy.compactMap { status in responses.first { $0.key == status } }.first
        guard let found, let response = try document.resolved(found.value).value.mapping else { throw Unsayable("it has no answer with status 200") }
        return response
    }

    private static func schema(of response: ManifestMapping, in document: OpenAPIDocument) throws(Unsayable) -> ManifestValue? {
        if document.isSwagger { return response["schema"] }
        let contents = response["content"]?.mapping?.entries ?? []
        let json = contents.first { entry in
            let type = entry.key.prefix { $0 != ";" }.lowercased()
            return type.hasSuffix("/json") || type.hasSuffix("+json") || type == "*/*" || type == "application/*"
        }
        return json?.value.mapping?["schema"]
    }

    private static func list(
        in shape: OpenAPISchema.Shape, word: String, _ schemas: OpenAPISchema
    ) throws(Unsayable) -> ([String], ManifestValue) {
        var found: [(path: [String], items: ManifestValue)] = []
        for property in shape.properties {
            if case .list(let items) = try schemas.kind(of: property.schema), try schemas.shape(of: items) != nil {
                found.append(([property.name], items))
            }
        }
        if found.isEmpty {
            for property in shape.properties
            where usual.contains(property.name.lowercased()) || ["result", "response", "_embedded"].contains(property.name) {
                guard case .object(let inner) = try schemas.kind(of: property.schema) else { continue }
                for member in inner.properties {
                    guard case .list(let items) = try schemas.kind(of: member.schema), try schemas.shape(of: items) != nil else { continue }
                    found.append(([property.name, member.name], items))
                }
            }
        }
        guard found.count > 1 else {
            guard let only = found.first else { throw Unsayable("it answers one object, and no list of objects") }
            // An object that can be told apart is a thing that has parts, and no envelope of a page.
            if only.path.count == 1, !usual.contains(only.path[0].lowercased()), only.path[0].lowercased() != word.lowercased(),
                try OpenAPIEntity.identity(of: shape, entity: shape.component ?? "", in: schemas) != nil
            {
                throw Unsayable("it answers one object, which has a list of others")
            }
            return only
        }
        let likely = found.filter { usual.contains(($0.path.last ?? "").lowercased()) || $0.path.last?.lowercased() == word.lowercased() }
        guard likely.count == 1 else {
            let names = found.map { $0.path.joined(separator: ".") }.joined(separator: ", ")
            throw Unsayable("its answer has several lists of objects (\(names)); which one is meant is not known")
        }
        return likely[0]
    }

    private static func around(
        _ shape: OpenAPISchema.Shape, besides list: [String], _ schemas: OpenAPISchema
    ) throws(Unsayable) -> [(path: [String], kind: OpenAPISchema.Kind, format: String)] {
        var result: [(path: [String], kind: OpenAPISchema.Kind, format: String)] = []
        func add(_ shape: OpenAPISchema.Shape, _ prefix: [String]) throws(Unsayable) {
            for property in shape.properties where prefix + [property.name] != list {
                let kind = try schemas.kind(of: property.schema), path = prefix + [property.name]
                let format = try schemas.document.resolved(property.schema).value.mapping?["format"]?.text ?? ""
                result.append((path, kind, format))
                if case .object(let inner) = kind, prefix.count < 2, paging.contains(property.name.lowercased()) || list.first == property.name {
                    try add(inner, path)
                }
            }
        }
        try add(shape, [])
        return result
    }

    /// The first value of a type that has one of these names; the names in lower case, without anything but letters and digits.
    func member(_ names: [String], _ isMeant: (String, _ format: String) -> Bool) -> [String]? {
        for name in names {
            for (path, kind, format) in around {
                guard case .scalar(let type) = kind, Self.plain(path.last ?? "") == name, isMeant(type, format) else { continue }
                return path
            }
        }
        return nil
    }

    static func plain(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }
}
