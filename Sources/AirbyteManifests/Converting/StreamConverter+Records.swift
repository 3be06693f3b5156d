import JSONPaths

/// Where the records of an answer are, and which of them count.
extension StreamConverter {
    func convertRecords(of retriever: Component) throws {
        guard let selector = try retriever.component("record_selector", "RecordSelector") else { throw Unsayable("record_selector is missing") }
        guard selector.type == "RecordSelector" else {
            return findings.refuse("record_selector", named(selector), "records that a program selects cannot be carried over")
        }
        expect(selector, handled: ["extractor", "record_filter", "schema_normalization", "transform_before_filtering"])
        guard let extractor = try selector.component("extractor", "DpathExtractor") else { throw Unsayable("extractor is missing") }
        guard extractor.type == "DpathExtractor" else {
            return findings.refuse("record_selector.extractor", named(extractor), "records that a program selects cannot be carried over")
        }
        expect(extractor, handled: ["field_path", "decoder", "record_expander"])
        if let expander = try extractor.value("record_expander"), expander.isTruthy {
            findings.refuse("extractor.record_expander", expander, "lists inside of records cannot be read in this way")
        }
        let decoders = try [retriever.component("decoder", "JsonDecoder"), extractor.component("decoder", "JsonDecoder")].compactMap { $0 }
        if let decoder = decoders.first { try convertDecoder(decoder) }
        if draft.extras["format"] == nil { draft.records = try records(extractor) }
        // The list itself in place of a flag: a page without records is the last in any case.
        if case .table(let stop)? = draft.pages["stop"], let records = draft.records, stop["has_more"] == .text(records) { draft.pages["stop"] = nil }
        if let filter = try selector.component("record_filter", "RecordFilter") {
            // Where a program filters what it was sent anyway, transformations come first unless the manifest says otherwise.
            let isFilteredHere = try increment?.component.flag("is_client_side_incremental") ?? false
            let said = try selector.value("transform_before_filtering")
            try convertFilter(filter, isAfterTransformations: said?.isTruthy ?? isFilteredHere)
        }
    }

    /// The path, with wildcards where the manifest has them.
    private func records(_ extractor: Component) throws -> String {
        let value = try extractor.value("field_path")
        let names = try value.map { try self.names($0, in: extractor) } ?? []
        var text = "$"
        for (number, name) in names.enumerated() where !name.isEmpty {
            guard name == "*" else {
                guard !name.contains("*"), !name.contains("?") else { throw Unsayable("field_path: \"\(name)\" cannot be said") }
                text += JSONPath(keys: [name]).description.dropFirst()
                continue
            }
            text += number == names.count - 1 ? ".*" : "[*]"
        }
        return text
    }

    // MARK: Formats

    private func convertDecoder(_ decoder: Component) throws {
        switch decoder.type {
        case "JsonDecoder": return
        case "JsonlDecoder": draft.extras["format"] = .text("ndjson")
        case "CsvDecoder":
            expect(decoder, handled: ["delimiter", "encoding", "set_values_to_none"])
            if let encoding = try decoder.value("encoding")?.text, !["utf-8", "utf8", "utf-8-sig"].contains(encoding.lowercased()) {
                return findings.refuse("decoder.encoding", try decoder.value("encoding"), "another encoding than UTF-8 cannot be said")
            }
            if let values = try decoder.value("set_values_to_none"), values.isTruthy {
                return findings.refuse("decoder.set_values_to_none", values, "this cannot be said")
            }
            draft.extras["format"] = .text("csv")
            let delimiter = try decoder.value("delimiter")?.text ?? ","
            if delimiter != "," { draft.extras["csv"] = .table(TOMLTable([("delimiter", .text(delimiter == "\\t" ? "\t" : delimiter))])) }
        case "GzipDecoder", "ZipfileDecoder":
            draft.extras["unpack"] = .text(decoder.type == "GzipDecoder" ? "gzip" : "zip")
            for key in ["decoder", "parser"] {
                guard let inner = try decoder.component(key, "JsonDecoder") else { continue }
                guard inner.type != "GzipDecoder", inner.type != "ZipfileDecoder" else {
                    return findings.refuse("decoder", named(inner), "what is packed twice cannot be read")
                }
                try convertDecoder(inner)
            }
        default: findings.refuse("decoder", named(decoder), "answers of this format cannot be read")
        }
    }

    // MARK: Filter

    private func convertFilter(_ filter: Component, isAfterTransformations: Bool) throws {
        guard filter.type == "RecordFilter" else {
            return findings.refuse("record_filter", named(filter), "a filter that is a program cannot be carried over")
        }
        expect(filter, handled: ["condition"])
        guard let value = try filter.value("condition"), value.isTruthy else { return }
        _ = findings.refusing("record_filter.condition", value) {
            guard let text = value.text, let expression = try Evaluator.expression(text) else { throw Unsayable("a condition was expected") }
            let evaluator = evaluator(for: filter)
            if let known = try? evaluator.truth(of: expression) {
                if !known { throw Unsayable("no record would fulfil it") }
                return
            }
            if isBeginOnly(expression, evaluator) {
                return findings.remark("record_filter.condition", value, "what is older than the beginning is kept, too")
            }
            let tests = try evaluator.alternatives(expression)
            guard tests.count == 1, let test = tests.first, test.reference.root == .record, let names = test.reference.keys, !names.isEmpty
            else { throw Unsayable("only a comparison of one field with what is known can be said") }
            // The schema is about what transformations have made.
            if !isAfterTransformations, test.test == .truth, isTransformed(names[0]) {
                throw Unsayable("of what type the field is before the transformations is not known")
            }
            let path = try isAfterTransformations ? transformedPath(of: names) : JSONPath(keys: names)
            draft.filter = .array([.table(try recordTable(test, names, at: path.description))])
        }
    }

    private func isTransformed(_ name: String) -> Bool {
        removed.contains(name) || draft.copies[name] != nil || constants.contains { $0.name == name }
    }

    /// Where a server sends what a field is after the transformations.
    private func transformedPath(of names: [String]) throws -> JSONPath {
        if removed.contains(names[0]) { throw Unsayable("\(names[0]) is removed before records are filtered") }
        if constants.contains(where: { $0.name == names[0] }) { throw Unsayable("\(names[0]) is set before records are filtered, and not sent") }
        let paths = draft.paths(of: names)
        guard paths.count == 1 else { throw Unsayable("in which of the places that are flattened the field is cannot be told") }
        return paths[0]
    }

    /// Whether a condition only compares a record's time with where the increment begins: what it would drop has been read before, or is older than
    /// the start.
    private func isBeginOnly(_ expression: JinjaExpression, _ evaluator: Evaluator) -> Bool {
        guard let plan = increment, case .binary(let sign, let left, let right) = expression, sign == ">" || sign == ">=" else { return false }
        guard case .reference(let field)? = try? evaluator.term(left), case .reference(let begin)? = try? evaluator.term(right) else { return false }
        return field.root == .record && field.keys == [plan.field] && begin.root == .since
    }

    private func recordTable(_ test: Comparison, _ names: [String], at path: String) throws -> TOMLTable {
        if test.test == .truth {
            // What Python takes for true is known of truth values only.
            guard try schemaTypes(of: names) == ["boolean"] else {
                throw Unsayable("whether a value counts as true can be said of truth values only")
            }
            return TOMLTable([("path", .text(path)), (test.isNegated ? "not_equals" : "equals", .bool(true))])
        }
        guard let table = try conditionTable(test, at: path) else { throw Unsayable("this comparison cannot be said") }
        return table
    }

    /// A test as the table of a condition.
    ///
    /// - Returns: nil for what such a table cannot say.
    func conditionTable(_ test: Comparison, at path: String) throws -> TOMLTable? {
        var table = TOMLTable([("path", .text(path))])
        switch (test.test, test.isNegated) {
        case (.missing, true): table["exists"] = .bool(true)
        case (.missing, false): table["exists"] = .bool(false)
        case (.equals(let value), false): table["equals"] = try scalar(value)
        case (.equals(let value), true): table["not_equals"] = try scalar(value)
        case (.among(let values), false): table["in"] = .array(try values.map { try scalar($0) })
        case (.contains(.text(let text)), false): table["contains"] = .text(text)
        case (.truth, true): table["equals"] = .bool(false)
        case (.truth, false), (.among, true), (.contains, _), (.ordered, _): return nil
        }
        return table
    }

    private func scalar(_ term: Term) throws -> TOMLValue {
        switch term {
        case .bool(let flag): .bool(flag)
        case .integer(let number): .integer(number)
        case .number(let number): .number(number)
        case .text(let text): .text(text)
        default: throw Unsayable("only a text, a number or a truth value can be compared")
        }
    }
}
