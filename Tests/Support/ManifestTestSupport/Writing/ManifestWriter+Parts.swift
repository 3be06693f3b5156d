extension ManifestWriter {
    /// What templates call the parts of a stream, a name for each router.
    func partitionFields(_ stream: StreamFacts) -> [String] {
        switch stream.word("partition") {
        case "list": [listField]
        case "parent", "group+parent":
            // Several parents of one router are known by one name.
            parents(stream).isEmpty ? [] : [parentField(parents(stream)[0], stream)]
        case "parent+parent": parents(stream).map { parentField($0, stream) }
        default: []
        }
    }

    private var listField: String { "region" }

    func parents(_ stream: StreamFacts) -> [StreamFacts] { stream.words("parents").compactMap { named($0) } }

    private func parentField(_ parent: StreamFacts, _ stream: StreamFacts) -> String {
        if stream.has("templates", "path:nested-partition") { return "owner" }
        // Plain `id` is common, too; two of them would be one.
        return chance("field \(stream.stream)", 3) && stream.word("partition") == "parent" ? "id" : "\(slug(parent))_id"
    }

    /// What the parent's own part is known by.
    func grandparentField(_ stream: StreamFacts) -> String? { parents(stream).first.flatMap { partitionFields($0).first } }

    func router(_ stream: StreamFacts) -> DataValue? {
        switch stream.word("partition") {
        case "", "none": return nil
        case "list": return list(stream)
        case "parent": return substream(parents(stream), stream)
        case "parent+parent": return .list(parents(stream).map { substream([$0], stream) })
        case "group+parent":
            return .having([
                ("type", .text("GroupingPartitionRouter")), ("group_size", .int(10)),
                ("underlying_partition_router", substream(parents(stream), stream)),
            ])
        default: return .having([("type", .text("CustomPartitionRouter")), ("class_name", .text("source.components.Router"))])
        }
    }

    private func list(_ stream: StreamFacts) -> DataValue {
        let isGiven = stream.word("list from") == "configuration"
        let values = isGiven ? DataValue.text(config("values_\(slug(stream))")) : .list([.text("north"), .text("east"), .text("far south")])
        return .having([
            ("type", .text("ListPartitionRouter")), ("values", values), ("cursor_field", .text(listField)),
            ("request_option", option(inWords: stream.words("partition in").first ?? "", listField)),
        ])
    }

    private func substream(_ parents: [StreamFacts], _ stream: StreamFacts) -> DataValue {
        var configs: [DataValue] = []
        for parent in parents {
            let isNested = stream.has("templates", "path:nested-partition")
            let field = stream.word("partition") == "parent" ? partitionFields(stream).first ?? "id" : parentField(parent, stream)
            configs.append(
                .having([
                    ("type", .text("ParentStreamConfig")), ("stream", reference(parent)),
                    ("parent_key", .text(isNested ? "owner" : identity(parent))), ("partition_field", .text(field)),
                    ("request_option", option(inWords: stream.words("partition in").first ?? "", field)),
                    ("incremental_dependency", flag(stream.holds("parent incremental"))),
                ]))
        }
        return .having([("type", .text("SubstreamPartitionRouter")), ("parent_stream_configs", .list(configs))])
    }

    // MARK: Changes

    func cursorField(_ stream: StreamFacts) -> String { choice("cursor \(stream.stream)", 3) == 0 ? "created_at" : "updated_at" }

    func incremental(_ stream: StreamFacts) -> DataValue? {
        let kind = stream.word("incremental")
        guard !kind.isEmpty, kind != "none" else { return nil }
        if kind == "custom" {
            return .having([("type", .text("CustomIncrementalSync")), ("class_name", .text("source.components.Cursor"))])
        }
        let request = pattern(stream.word("request format"), stream)
        let records = stream.words("record formats").map { DataValue.text(pattern($0, stream)) }
        // Times that a template or the path says are no options.
        let isInTemplate = ["query", "body", "path"].contains { stream.has("templates", "\($0):start") }
        let since = isInTemplate ? nil : option(inWords: stream.words("since in").first ?? "", "since")
        let until = isInTemplate ? nil : option(inWords: stream.words("until in").first ?? "", "until")
        let day = "%Y-%m-%dT%H:%M:%SZ"
        let start = DataValue.having([
            ("type", .text("MinMaxDatetime")), ("datetime", .text(config("start_date"))), ("datetime_format", .text(day)),
        ])
        let end = DataValue.having([
            ("type", .text("MinMaxDatetime")), ("datetime", .text("{{ now_utc().strftime('\(day)') }}")), ("datetime_format", .text(day)),
        ])
        let needsEnd = until != nil || isInTemplate || chance("end \(stream.stream)", 2)
        let hasStep = stream.holds("step")
        var members: [(String, DataValue?)] = [
            ("type", .text("DatetimeBasedCursor")), ("cursor_field", .text(cursorField(stream))), ("datetime_format", .text(request)),
        ]
        if !records.isEmpty { members.append(("cursor_datetime_formats", .list(records))) }
        members.append(("start_datetime", start))
        members.append(("end_datetime", needsEnd ? end : nil))
        members.append(("start_time_option", since))
        members.append(("end_time_option", until))
        members.append(("step", text("P25D", if: hasStep)))
        members.append(("cursor_granularity", text(granularity(request), if: hasStep)))
        members.append(("lookback_window", text("P2D", if: stream.holds("lookback"))))
        members.append(("is_data_feed", flag(stream.holds("data feed"))))
        members.append(("is_client_side_incremental", flag(stream.holds("client-side"))))
        return .having(members)
    }

    private func granularity(_ pattern: String) -> String {
        if pattern.contains("%f") || pattern == "%ms" { return "PT0.001S" }
        return pattern == "%Y-%m-%d" ? "P1D" : "PT1S"
    }

    /// A pattern of a family.
    func pattern(_ family: String, _ stream: StreamFacts) -> String {
        switch family {
        case "rfc3339-like, fixed zeros": "%Y-%m-%dT%H:%M:%S.000Z"
        case "date": "%Y-%m-%d"
        case "unix": "%s"
        case "unix-ms": "%ms"
        case "unix-us": "%epoch_microseconds"
        case "unix float": "%s_as_float"
        case "other pattern": "%Y-%m-%d %H:%M:%S"
        default: ["%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S.%fZ"][choice("pattern \(stream.stream)", 3)]
        }
    }
}
