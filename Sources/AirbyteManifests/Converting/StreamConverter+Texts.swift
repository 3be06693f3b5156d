import SyncConfiguration

/// What stands in requests.
extension StreamConverter {
    /// What a text of a request comes to.
    enum RequestText: Hashable {
        /// It is left out.
        case absent
        /// A template of the configuration.
        case text(String)
        /// A secret with what stands before and after it.
        case secret([String], prefix: String, suffix: String)
    }

    func requestText(_ value: ManifestValue, in component: Component, keepsSettingsSecret: Bool = false) throws -> RequestText {
        var evaluator = evaluator(for: component)
        evaluator.isFirstPage = followsLinks
        evaluator.keepsSettingsSecret = keepsSettingsSecret
        return try requestText(evaluator.term(value))
    }

    func requestText(_ term: Term) throws -> RequestText {
        switch term {
        case .none, .text(""): return .absent
        case .secret(let path): return .secret(path, prefix: "", suffix: "")
        case .pieces(let pieces):
            let secrets = pieces.filter { if case .secret = $0 { true } else { false } }
            guard !secrets.isEmpty else { return .text(try template(term)) }
            guard secrets.count == 1, case .secret(let path) = secrets[0], let place = pieces.firstIndex(of: secrets[0]) else {
                throw Unsayable("two secrets in one text cannot be said")
            }
            let before = Term.joined(Array(pieces[..<place])), after = Term.joined(Array(pieces[(place + 1)...]))
            guard let prefix = before.constantText, let suffix = after.constantText else {
                throw Unsayable("a secret beside what only a run knows cannot be said")
            }
            return .secret(path, prefix: prefix, suffix: suffix)
        default: return .text(try template(term))
        }
    }

    /// A term as a template of the configuration.
    func template(_ term: Term) throws -> String {
        switch term {
        case .none: return ""
        case .bool, .integer, .number: return term.constantText ?? ""
        case .text(let text): return try Self.escaped(text)
        case .reference(let reference):
            let name = try place(reference)
            return "{\(name)}"
        case .moment(let moment): return try place(moment)
        case .pieces(let pieces): return try pieces.map { try template($0) }.joined()
        case .secret: throw Unsayable("a secret cannot stand there")
        case .list, .mapping: throw Unsayable("a list or a mapping cannot be part of a text")
        case .span: throw Unsayable("a length of time cannot be part of a text")
        }
    }

    /// What a place of a template is called, without braces.
    private func place(_ reference: Term.Reference) throws -> String {
        switch reference.root {
        case .since, .until:
            guard increment != nil, reference.steps.isEmpty else { throw Unsayable("there is no interval, since the stream asks for everything") }
            let isSince = reference.root == .since
            if isSince { increment?.saysSince = true } else { increment?.saysUntil = true }
            let name = isSince ? "since" : "until"
            guard let format = reference.format else { return name }
            let written = try DateFormats.forRequests(format)
            return "\(name):\(written)"
        case .parentSlice: return try grandparentPlace(reference.keys ?? [])
        case .partition, .extraField:
            guard let keys = reference.keys, let place = try partition?.place(reference.root, keys) ?? innerPlace(reference.root, keys) else {
                throw unknownSlice
            }
            return place
        case .record, .lastRecord, .lastRecords, .response, .headers: throw Unsayable("what answers say is not known when the first request is made")
        case .nextPageToken, .lastPageSize, .lastPageToken: throw Unsayable("a request that differs from page to page cannot be said")
        case .interval, .slice, .configuration: throw Unsayable("a mapping cannot be part of a text")
        }
    }

    private func place(_ moment: Term.Moment) throws -> String {
        guard moment.offset == 0 else { throw Unsayable("a time before or after the run's begin can stand in \"incremental\" only") }
        guard let format = moment.format else { throw Unsayable("it is not said how the time is written") }
        let written = try DateFormats.forRequests(format)
        return "{now:\(written)}"
    }

    /// A text whose braces stay what they are.
    static func escaped(_ text: String) throws -> String {
        guard text.contains("{") else { return text }
        var result = text
        for reference in Set(Template(text).references.map(\.description)) { result = result.replacing("{\(reference)}", with: "{{\(reference)}}") }
        let template = Template(result)
        guard template.references.isEmpty, template.filled({ _ in "" }) == text else { throw Unsayable("its braces would be taken for a template") }
        return result
    }

    // MARK: Values of JSON

    /// A value of a JSON body. What is a text in the manifest becomes what it looks like, as the connector would have it.
    func json(_ value: ManifestValue, in component: Component, depth: Int = 0) throws -> TOMLValue? {
        guard depth < 20 else { throw Unsayable("the body is nested too deeply") }
        switch value.content {
        case .null: return nil
        case .bool(let flag): return .bool(flag)
        case .integer(let number): return .integer(number)
        case .number(let number): return .number(number)
        case .list(let elements): return .array(try elements.compactMap { try json($0, in: component, depth: depth + 1) })
        case .mapping(let mapping):
            if let type = mapping["type"]?.text, ["QueryProperties", "PropertiesFromEndpoint"].contains(type) {
                throw Unsayable("lists of properties that an endpoint tells cannot be carried over")
            }
            var table = TOMLTable()
            for entry in mapping.entries { table[entry.key] = try json(entry.value, in: component, depth: depth + 1) }
            return .table(table)
        case .text:
            var evaluator = evaluator(for: component)
            evaluator.isFirstPage = followsLinks
            return try json(evaluator.term(value))
        }
    }

    /// - Returns: nil for what is left out.
    func json(_ term: Term) throws -> TOMLValue? {
        switch term {
        case .none, .text(""): return nil
        case .bool(let flag): return .bool(flag)
        case .integer(let number): return .integer(number)
        case .number(let number): return .number(number)
        case .text(let text):
            if let literal = PythonLiteral.value(text) {
                guard literal != Term.none else { return nil }
                return try plainJSON(literal)
            }
            return .text(try Self.escaped(text))
        case .list, .mapping: return try plainJSON(term)
        case .reference(let reference):
            let text = try template(term)
            if isNumber(reference), !becomesNumber(text) { throw Unsayable("it would be sent as a number, and what stands for it is a text") }
            return .text(text)
        case .pieces(let pieces):
            if case .text(let start)? = pieces.first, let first = start.first(where: { !$0.isWhitespace }), "[{('\"".contains(first) {
                throw Unsayable("a text that becomes a list or a mapping cannot have templates in it")
            }
            return .text(try template(term))
        case .moment(let moment):
            if moment.format == "%s_as_float" { throw Unsayable("it would be sent as a number, and what stands for it is a text") }
            return .text(try template(term))
        case .secret: throw Unsayable("a secret in a body cannot be said there")
        case .span: throw Unsayable("a length of time cannot be part of a body")
        }
    }

    /// What is written out already: texts in it stay texts.
    func plainJSON(_ term: Term) throws -> TOMLValue? {
        switch term {
        case .none: return nil
        case .text(let text): return .text(try Self.escaped(text))
        case .list(let elements): return .array(try elements.compactMap { try plainJSON($0) })
        case .mapping(let members):
            var table = TOMLTable()
            for (name, value) in members.sorted(by: { $0.key < $1.key }) { table[name] = try plainJSON(value) }
            return .table(table)
        default: return try json(term)
        }
    }

    /// Whether a template that is all of a value in JSON is sent as a number.
    private func becomesNumber(_ text: String) -> Bool {
        guard let only = Template(text).only, ["since", "until"].contains(only.alias) else { return false }
        return switch only.form {
        case nil: DateFormat(increment?.requestFormat ?? "")?.isNumber == true
        case .date(let format)?: format.isNumber
        case .segment?, .piece?, .text?: false
        }
    }

    /// Whether what stands for a place looks like a number, which is what the connector would send.
    private func isNumber(_ reference: Term.Reference) -> Bool {
        switch reference.root {
        case .since, .until:
            let format = reference.format ?? increment?.requestFormat ?? ""
            return ["%s", "%ms", "unix", "unix-ms", "unix-us", "%epoch_microseconds", "%s_as_float"].contains(format)
        case .partition, .extraField, .parentSlice: return partition?.isNumber(reference.root, reference.keys ?? []) ?? false
        default: return false
        }
    }
}
