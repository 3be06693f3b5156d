import JSONPaths

/// How the records of responses are written, and in what they are packed.
extension Assembly {
    /// Fills in format and packing, and complains of what does not fit together.
    ///
    /// - Parameter layers: the defaults, the source and, in the long form, the resource.
    /// - Returns: the lines of `csv`.
    func assembleFormat(
        of resource: inout ResourceConfiguration, _ values: ResourceTable, _ origins: [String: DocumentNode.Place], _ layers: [Layer]
    ) -> [ResolvedConfiguration.Setting] {
        guard let own = layers.last else { return [] }
        func complain(_ key: String, _ message: String, _ suggestion: String) {
            complaints.add(at: origins[key] ?? own.node?.table?[key]?.place ?? own.node?.place, own.subject, key: key, message, suggestion)
        }
        let csv = resolve(CSVFormat.self, layers.dropFirst().map { $0.table("csv") })
        resource.format =
            switch values.format {
            case .json: .json
            case .ndjson: .ndjson
            case .jsonSequence: .jsonSequence
            case .csv: .csv(csv.value)
            }
        resource.columns = values.columns
        if let columns = values.columns { check(columns, of: values, complain) }
        resource.unpacking =
            switch values.packing {
            case .none: nil
            case .gzip: .gzip
            case .zip: .zip(entry: values.zipEntry)
            }
        // What a source says of its files means those of its resources that are such.
        if values.packing != .zip, own.node?.table?["zip_entry"] != nil {
            complain("zip_entry", "there is no zip file that would have entries", "write unpack = \"zip\", or remove zip_entry")
        }
        if values.format != .csv, own.node?.table?["csv"] != nil {
            let format = values.format.rawValue
            complain("csv", "\"csv\" is about format = \"csv\", and the format is \"\(format)\"", "write format = \"csv\", or remove it")
        }
        if values.format == .csv { check(csv.value, csv.origins, layers) }
        if !resource.format.isDocument {
            let format = "format = \"\(values.format.rawValue)\""
            if resource.isGraphQL {
                complain("format", "the answer to a query is JSON, and not \(values.format.rawValue)", "remove format, or the query")
            } else if values.records?.segments.isEmpty == false {
                complain(
                    "records", "with \(format) a response is its records, and there is no path to them", "remove records, or write records = \"$\"")
            }
        }
        return values.format == .csv ? settings(of: csv.value, csv.origins, path: own.subject.keyPath, prefix: "csv.") : []
    }

    /// Complains of columns that nothing could name, and of what has no place beside them.
    private func check(_ columns: ColumnNames, of values: ResourceTable, _ complain: (String, String, String) -> Void) {
        let path = values.records ?? .root, isDocument = values.format == .json
        let isLookedInto = values.conditions.contains { if case .path = $0.subject { true } else { false } }
        if values.format == .csv {
            return complain("columns", "the cells of a table are named by its header, or by csv.columns", "remove columns, or write csv.columns")
        }
        if path.hasWildcard {
            return complain("columns", "records = \"\(path)\" leads to several lists, and columns are those of one", "write a path without wildcards")
        }
        switch columns {
        case .path where !isDocument, .members where !isDocument:
            complain(
                "columns", "with format = \"\(values.format.rawValue)\" a response is its records, and nothing around them could name columns",
                "write columns = \"header\" if the first record does, or a list of names")
        case .path where path.segments.isEmpty:
            complain("columns", "all of the answer is records, and nothing around them could name columns", "write records = \"$.…\", where they are")
        case .members where path.segments.isEmpty && isLookedInto:
            complain(
                "columns", "all of the answer becomes records, and no condition could look into it",
                "write conditions without path, or remove columns")
        case .fixed, .header, .path, .members: break
        }
    }

    /// Where all values are texts, none would be a number.
    ///
    /// - Parameter origins: where the keys of `schema` stand that are in force.
    func checkCoercion(_ resource: ResourceConfiguration, _ origins: [String: DocumentNode.Place], _ own: Layer) {
        guard resource.schema.coercion == .none, resource.format.holdsTexts else { return }
        complaints.add(
            at: origins["coerce"], own.subject.key("schema"), key: "coerce", "all values of \(resource.scope) are texts, and no number would be one",
            "write schema = { coerce = \"safe\" } at this resource")
    }

    private func check(_ csv: CSVFormat, _ origins: [String: DocumentNode.Place], _ layers: [Layer]) {
        let tables = layers.dropFirst().map { $0.table("csv") }
        guard let own = layers.last, let layer = tables.last(where: { $0.node != nil }) ?? tables.last else { return }
        if csv.delimiter == csv.quote {
            complaints.add(
                at: origins["delimiter"] ?? origins["quote"], layer.subject, key: "delimiter", "delimiter and quote are the same character",
                "write quote = \"\" if cells are never quoted")
        }
        // Columns that were refused have been complained about.
        if !csv.hasHeader, csv.columns == nil, !tables.contains(where: { $0.node?.table?["columns"] != nil }) {
            complaints.add(
                at: origins["header"] ?? own.node?.place, layer.subject, key: "columns", "without a header nothing names the columns",
                "write columns = [\"id\", \"name\"]")
        }
    }

    /// How JSON is treated. The media types are those of the format and of what packs it, unless the source or the resource says which: those of
    /// `[defaults.parse]` are about JSON.
    func parsePolicy(of resource: ResourceConfiguration, _ layers: [Layer]) -> (value: ParsePolicy, origins: [String: DocumentNode.Place]) {
        var (policy, origins) = resolve(ParsePolicy.self, layers.map { $0.table("parse") })
        let isSaid = layers.dropFirst().contains { $0.table("parse").node?.table?["content_types"] != nil }
        guard !isSaid, !resource.format.isDocument || resource.unpacking != nil else { return (policy, origins) }
        let plain = resource.format.isDocument ? policy.contentTypes : resource.format.contentTypes
        let packed = resource.unpacking?.contentTypes ?? []
        // A server that does not look into a file often says no more of it than that it is one.
        let others = packed.isEmpty ? [] : ["application/octet-stream", "binary/octet-stream"].filter { !plain.contains($0) }
        policy.contentTypes = packed + plain + others
        origins["content_types"] = nil
        return (policy, origins)
    }

    /// Complains of what pages are to say around their records, where nothing is around them.
    ///
    /// - Parameter layer: the table `pages`.
    func checkPages(of resource: ResourceConfiguration, _ format: ResourceTable.Format, _ layer: Layer) {
        // Of a query it has been said that its answer is JSON.
        guard resource.isRecordsOnly, !resource.isGraphQL else { return }
        let table = layer.node?.table, stop = layer.table("stop")
        func complain(_ layer: Layer, _ key: String, _ suggestion: String) {
            complaints.add(
                at: layer.node?.table?[key]?.place ?? layer.node?.place, layer.subject, key: key,
                "\(what(resource, format)) a response is its records, and nothing around them could say it", suggestion)
        }
        if case .path? = resource.pagination.kind.tokenOrigin {
            let suggestion =
                resource.pagination.kind.tokenIsLink
                ? "use kind = \"link-header\", or pages that are counted" : "write header = \"NAME\" if a header has the token, or use another kind"
            complain(layer, table?["path"] != nil ? "path" : "kind", suggestion)
        }
        let rules = resource.pagination.stop
        let said = [("has_more", rules.hasMore), ("last", rules.last), ("total", rules.total), ("total_pages", rules.totalPages)]
        for (key, path) in said where path != nil { complain(stop, key, "remove \(key)") }
    }

    /// Why nothing is around records.
    private func what(_ resource: ResourceConfiguration, _ format: ResourceTable.Format) -> String {
        resource.format.isDocument ? "with columns = \"members\" and no path to the records" : "with format = \"\(format.rawValue)\""
    }

    /// Complains of a token that a page is to have beside its records, where nothing is beside them.
    ///
    /// - Parameter layer: the table `incremental`.
    func checkToken(of resource: ResourceConfiguration, _ format: ResourceTable.Format, _ layer: Layer) {
        guard resource.isRecordsOnly, !resource.isGraphQL, resource.incremental?.token?.path != nil else { return }
        complaints.add(
            at: layer.node?.table?["path"]?.place ?? layer.node?.place, layer.subject, key: "path",
            "\(what(resource, format)) a response is its records, and nothing around them could say it",
            "write header = \"NAME\" and param if a header has the token, or use another kind")
    }
}
