extension ManifestWriter {
    // MARK: Where records are

    func fieldPath(_ stream: StreamFacts) -> [String] {
        switch stream.word("records") {
        case "one key": [chance("named \(stream.stream)", 2) ? slug(stream) : "data"]
        case "path": ["result", "items"]
        case "wildcard inside": ["data", "*", "item"]
        case "wildcard at the end": ["data", "*"]
        default: []
        }
    }

    func selector(_ stream: StreamFacts) -> DataValue {
        var extractor = DataValue.having([
            ("type", .text("DpathExtractor")), ("field_path", .list(fieldPath(stream).map { DataValue.text($0) })),
        ])
        if stream.word("records") == "custom" {
            extractor = .having([("type", .text("CustomRecordExtractor")), ("class_name", .text("source.components.Extractor"))])
        }
        return .having([("type", .text("RecordSelector")), ("extractor", extractor), ("record_filter", filter(stream))])
    }

    private func filter(_ stream: StreamFacts) -> DataValue? {
        switch stream.word("filter") {
        case "", "none": return nil
        case "custom": return .having([("type", .text("CustomRecordFilter")), ("class_name", .text("source.components.Filter"))])
        case "client-side increment":
            let condition = "{{ record['\(cursorField(stream))'] >= stream_interval['start_time'] }}"
            return .having([("type", .text("RecordFilter")), ("condition", .text(condition))])
        case "by a configured date":
            let condition = "{{ record['\(cursorField(stream))'] >= config['start_date'] }}"
            return .having([("type", .text("RecordFilter")), ("condition", .text(condition))])
        default:
            let conditions = ["{{ record['status'] == 'active' }}", "{{ record.status != 'closed' }}"]
            return .having([("type", .text("RecordFilter")), ("condition", .text(conditions[choice("filter \(stream.stream)", 2)]))])
        }
    }

    // MARK: What records are recognised by

    /// The field that is unique, and what others know a record by.
    func identity(_ stream: StreamFacts) -> String {
        switch stream.word("key candidates") {
        case "strong": "id"
        case "weak": chance("weak \(stream.stream)", 2) ? "name" : "code"
        case "some id": "\(slug(stream))_id"
        default: stream.word("primary key") == "none" ? "title" : "ref"
        }
    }

    func primaryKey(_ stream: StreamFacts) -> [String] {
        switch stream.word("primary key") {
        case "single": return [identity(stream)]
        case "compound":
            guard stream.has("transformations", "from parent"), let field = partitionFields(stream).first else {
                return ["kind_id", identity(stream)]
            }
            return [addedName(field, stream), identity(stream)]
        default: return []
        }
    }

    // MARK: Transformations

    func transformations(_ stream: StreamFacts) -> DataValue? {
        var list: [DataValue] = []
        func add(_ path: String, _ value: String) {
            let field = DataValue.having([
                ("type", .text("AddedFieldDefinition")), ("path", .list([.text(path)])), ("value", .text(value)),
            ])
            list.append(.having([("type", .text("AddFields")), ("fields", .list([field]))]))
        }
        for kind in stream.words("transformations") {
            switch kind {
            case "copy":
                // What is taken away afterwards is what was copied from.
                let isMoved = stream.has("transformations", "remove")
                let name = isMoved ? identity(stream) : "copied_id"
                add(name, isMoved ? "{{ record['entry']['\(name)'] }}" : "{{ record['\(identity(stream))'] }}")
                if isMoved { list.append(remove(["entry", name])) }
            case "remove":
                if !stream.has("transformations", "copy") { list.append(remove(["secret_note"])) }
            case "from parent":
                for field in partitionFields(stream) where !stream.has("templates", "path:nested-partition") {
                    let root = chance("from \(stream.stream)", 2) ? "stream_slice" : "stream_partition"
                    add(addedName(field, stream), "{{ \(root)['\(field)'] }}")
                }
            case "now": add("synced_at", "{{ now_utc().strftime('%Y-%m-%dT%H:%M:%SZ') }}")
            case "interval": add("window_start", "{{ stream_interval['start_time'] }}")
            case "expression": add("label", "{{ record['\(identity(stream))'] ~ '-x' }}")
            case "constant": add("kind", "fixed")
            case "configuration": add("account", config("account_id"))
            case "custom":
                list.append(.having([("type", .text("CustomTransformation")), ("class_name", .text("source.components.Transformation"))]))
            case "flatten": list.append(.having([("type", .text("FlattenFields"))]))
            case "key names": list.append(.having([("type", .text("KeysToSnakeCase"))]))
            default: break
            }
        }
        return list.isEmpty ? nil : .list(list)
    }

    /// A field from above is not put over the record's own.
    private func addedName(_ field: String, _ stream: StreamFacts) -> String {
        field == "id" || (field == identity(stream) && stream.word("primary key") != "compound") ? "parent_id" : field
    }

    private func remove(_ path: [String]) -> DataValue {
        .having([("type", .text("RemoveFields")), ("field_pointers", .list([.list(path.map { DataValue.text($0) })]))])
    }

    // MARK: Schema

    /// Nil where a manifest does not say what records look like.
    func schema(_ stream: StreamFacts) -> DataValue? {
        guard stream.word("key candidates") != "unknown" else { return nil }
        var properties: [(String, DataValue?)] = []
        func add(_ name: String, _ schema: DataValue) {
            if !properties.contains(where: { $0.0 == name }) { properties.append((name, schema)) }
        }
        let isNumbered = chance("numbered \(stream.stream)", 2)
        let identity = identity(stream)
        if !["title", "ref"].contains(identity) { add(identity, nullable(isNumbered && identity.hasSuffix("id") ? "integer" : "string")) }
        for name in primaryKey(stream) where name != identity { add(name, nullable("string")) }
        if stream.word("key candidates") == "page taken for a record" {
            let entry = DataValue.having([
                ("type", .text("object")), ("properties", .having([("id", nullable("string")), ("label", nullable("string"))])),
            ])
            add("data", .having([("type", .list([.text("null"), .text("array")])), ("items", entry)]))
            add("total", nullable("integer"))
        }
        add("title", nullable("string"))
        add("note", nullable("string"))
        add("score", nullable("integer"))
        add("amount", nullable("number"))
        add("active", nullable("boolean"))
        add("tags", nullable("array"))
        let owner: [(String, DataValue?)] = [("uuid", nullable("string")), ("label", nullable("string"))]
        add("owner", .having([("type", .list([.text("null"), .text("object")])), ("properties", .having(owner))]))
        if stream.word("filter") == "simple" {
            add("status", .having([("type", .text("string")), ("enum", .list([.text("active"), .text("closed"), .text("open")]))]))
        }
        let kind = stream.word("incremental")
        if !kind.isEmpty, kind != "none" { add(cursorField(stream), cursorSchema(stream)) }
        for name in ["synced_at", "window_start", "label", "copied_id", "kind", "account"] where isAdded(name, stream) {
            add(name, nullable("string"))
        }
        if stream.has("transformations", "from parent") {
            for field in partitionFields(stream) { add(addedName(field, stream), .having([("type", .list([.text("null"), .text("string")]))])) }
        }
        return .having([
            ("type", .text("object")), ("$schema", .text("http://json-schema.org/schema#")), ("additionalProperties", .bool(true)),
            ("properties", .having(properties)),
        ])
    }

    private func isAdded(_ name: String, _ stream: StreamFacts) -> Bool {
        let kinds = [
            "synced_at": "now", "window_start": "interval", "label": "expression", "copied_id": "copy", "kind": "constant",
            "account": "configuration",
        ]
        guard let kind = kinds[name], stream.has("transformations", kind) else { return false }
        return name != "copied_id" || !stream.has("transformations", "remove")
    }

    private func cursorSchema(_ stream: StreamFacts) -> DataValue {
        let family = stream.words("record formats").first ?? stream.word("request format")
        switch family {
        case "unix", "unix-ms", "unix-us": return nullable("integer")
        case "unix float": return nullable("number")
        case "rfc3339-like":
            return chance("format \(stream.stream)", 2) ? nullable("string") : .having([("type", .text("string")), ("format", .text("date-time"))])
        default: return nullable("string")
        }
    }

    private func nullable(_ name: String) -> DataValue { .having([("type", .list([.text("null"), .text(name)]))]) }
}
