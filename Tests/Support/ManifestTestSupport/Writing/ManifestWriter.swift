/// Writes a manifest that has exactly the traits of somebody's streams, in words of its own: the same traits make the same text.
public struct ManifestWriter: Sendable {
    public let connector: String
    public let streams: [StreamFacts]
    /// Scheme, host and port of the service.
    let base: String
    /// Where everything begins, as a manifest's configuration says it.
    let startDate: String

    /// How manifests are laid out.
    enum Layout: Int {
        /// Everything where it is used.
        case inline
        /// What streams have in common under `definitions`, and schemas apart.
        case references
        /// Name, path and key as parameters of each stream.
        case parameters
    }

    let layout: Layout

    /// - Parameters:
    ///   - base: scheme, host and port of the service.
    ///   - now: milliseconds since 1970; the manifest begins seventy days before that.
    public init(connector: String, streams: [StreamFacts], base: String, now: Int) {
        self.connector = connector
        self.streams = streams
        self.base = base
        let day = 86_400_000
        startDate = TimePattern(source: "%Y-%m-%dT%H:%M:%SZ").text((now / day - 70) * day)
        layout = Layout(rawValue: StableHash.number(connector, below: 3)) ?? .inline
    }

    /// The manifest.
    public var yaml: String { document.yaml }

    private var document: DataValue {
        var definitions: [(String, DataValue?)] = [], schemas: [(String, DataValue?)] = []
        var listed: [DataValue] = []
        switch layout {
        case .inline:
            listed = streams.map { component($0) }
        case .references, .parameters:
            definitions.append(("base_requester", baseRequester))
            var components: [(String, DataValue?)] = []
            for stream in streams { components.append((slug(stream), component(stream))) }
            definitions.append(("streams", .having(components)))
            listed = streams.map { .having([("$ref", .text("#/definitions/streams/\(slug($0))"))]) }
            if layout == .references {
                for stream in streams { if let schema = schema(stream) { schemas.append((slug(stream), schema)) } }
            }
        }
        let first = streams.first?.stream ?? ""
        return .having([
            ("version", .text("6.44.0")), ("type", .text("DeclarativeSource")),
            ("check", .having([("type", .text("CheckStream")), ("stream_names", .list([.text(first)]))])),
            ("definitions", definitions.isEmpty ? nil : .having(definitions)), ("streams", .list(listed)),
            ("spec", .having([("type", .text("Spec")), ("connection_specification", specification)])),
            ("schemas", schemas.isEmpty ? nil : .having(schemas)), ("api_budget", budget),
        ])
    }

    private var budget: DataValue? {
        guard streams.contains(where: { $0.holds("api budget") }) else { return nil }
        let rate = DataValue.having([("limit", .int(10_000)), ("interval", .text("PT1M"))])
        let policy = DataValue.having([
            ("type", .text("MovingWindowCallRatePolicy")), ("rates", .list([rate])),
            ("matchers", .list([.having([("method", .text("GET"))])])),
        ])
        return .having([("type", .text("HTTPAPIBudget")), ("policies", .list([policy]))])
    }

    // MARK: A stream

    /// The definition of a stream, by which lists and children refer to it.
    func reference(_ stream: StreamFacts) -> DataValue {
        layout == .inline ? component(stream) : .having([("$ref", .text("#/definitions/streams/\(slug(stream))"))])
    }

    private func component(_ stream: StreamFacts) -> DataValue {
        if stream.word("retriever") == "custom" { return custom("CustomRetriever", stream) }
        var retriever: [(String, DataValue?)] = [("type", .text("SimpleRetriever")), ("requester", requester(stream))]
        retriever.append(("record_selector", selector(stream)))
        retriever.append(("paginator", paginator(stream)))
        retriever.append(("partition_router", router(stream)))
        let names = primaryKey(stream).map { DataValue.text($0) }
        var key: DataValue?
        // One name is written as a list or without.
        if !names.isEmpty { key = names.count == 1 && chance("key \(stream.stream)", 2) ? names[0] : .list(names) }
        var members: [(String, DataValue?)] = [("type", .text("DeclarativeStream"))]
        if layout == .parameters {
            let parameters: [(String, DataValue?)] = [
                ("name", .text(stream.stream)), ("path", .text(path(stream))), ("primary_key", key),
            ]
            members.append(("$parameters", .having(parameters)))
        } else {
            members.append(("name", .text(stream.stream)))
            members.append(("primary_key", key))
        }
        members.append(("retriever", .having(retriever)))
        members.append(("incremental_sync", incremental(stream)))
        members.append(("transformations", transformations(stream)))
        if let schema = schema(stream) {
            let place = layout == .references ? DataValue.having([("$ref", .text("#/schemas/\(slug(stream))"))]) : schema
            members.append(("schema_loader", .having([("type", .text("InlineSchemaLoader")), ("schema", place)])))
        }
        let whole = DataValue.having(members)
        guard stream.holds("state delegating") else { return whole }
        return .having([
            ("type", .text("StateDelegatingStream")), ("name", .text(stream.stream)), ("full_refresh_stream", whole), ("incremental_stream", whole),
        ])
    }

    private func custom(_ type: String, _ stream: StreamFacts) -> DataValue {
        let retriever = DataValue.having([("type", .text(type)), ("class_name", .text("source.components.Retriever"))])
        return .having([("type", .text("DeclarativeStream")), ("name", .text(stream.stream)), ("retriever", retriever)])
    }

    // MARK: Words

    /// A name that may stand in paths and keys; unique among the streams.
    func slug(_ stream: StreamFacts) -> String {
        let index = streams.firstIndex { $0.stream == stream.stream } ?? 0
        let letters = stream.stream.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        return "\(letters.isEmpty ? "stream" : letters)\(index + 1)"
    }

    func named(_ name: String) -> StreamFacts? { streams.first { $0.stream == name } }

    /// One of so many, the same each time.
    func choice(_ subject: String, _ count: Int) -> Int { StableHash.number("\(connector) \(subject)", below: count) }

    func chance(_ subject: String, _ count: Int) -> Bool { choice(subject, count) == 0 }

    /// A member of something, in one of the ways in which templates are written.
    func member(_ root: String, _ name: String, _ subject: String) -> String {
        switch choice("member \(subject)", 3) {
        case 0: "\(root)['\(name)']"
        case 1: "\(root)[\"\(name)\"]"
        default: "\(root).\(name)"
        }
    }

    /// A setting of the user's, as a template.
    func config(_ name: String) -> String { "{{ \(member("config", name, name)) }}" }

    func option(_ place: String, _ name: String) -> DataValue {
        .having([("type", .text("RequestOption")), ("inject_into", .text(place)), ("field_name", .text(name))])
    }

    /// True, or nothing.
    func flag(_ holds: Bool) -> DataValue? { holds ? .bool(true) : nil }

    /// A text, or nothing.
    func text(_ text: String, if holds: Bool) -> DataValue? { holds ? .text(text) : nil }

    /// The option for a place in the words of traits; nil: there is none.
    func option(inWords place: String, _ name: String) -> DataValue? {
        switch place {
        case "query": option("request_parameter", name)
        case "body": option("body_json", name)
        case "body-form": option("body_data", name)
        case "header": option("header", "X-\(name)")
        case "path": .having([("type", .text("RequestPath"))])
        default: nil
        }
    }
}
