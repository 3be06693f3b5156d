/// Address, parameters, headers and body.
extension StreamConverter {
    func convertRequester(_ requester: Component) throws {
        expect(
            requester,
            handled: [
                "url_base", "url", "http_method", "request_parameters", "request_headers", "request_body_json", "request_body_data", "request_body",
                "authenticator", "error_handler", "use_cache", "fetch_properties_from_endpoint", "query_properties",
            ])
        for key in ["fetch_properties_from_endpoint", "query_properties"] {
            guard let value = try requester.value(key), value.isTruthy else { continue }
            findings.refuse("requester.\(key)", value, "lists of properties cannot be asked for first")
        }
        _ = findings.refusing("requester.url", line: requester.line) { try convertAddress(requester) }
        if let method = try requester.value("http_method"), method.isTruthy {
            let name = try constant(method, in: requester).uppercased()
            guard ["GET", "POST"].contains(name) else {
                return findings.refuse("requester.http_method", method, "only GET and POST can be said")
            }
            draft.method = name
        }
        try convertParameters(requester)
        try convertHeaders(requester)
        _ = findings.refusing("requester.request_body", line: requester.line) { try convertBody(requester) }
        for option in pendingOptions {
            guard let inner = try option.component.component(option.key, "RequestOption") else { continue }
            _ = findings.refusing("partition_router.request_option", line: inner.line) {
                try insert(.text("{\(option.place)}"), at: requestPlace(inner))
            }
        }
    }

    // MARK: Address

    private func convertAddress(_ requester: Component) throws {
        guard let value = try [requester.value("url"), requester.value("url_base")].compactMap({ $0 }).first(where: \.isTruthy) else {
            throw Unsayable("there is neither url nor url_base")
        }
        var base = try addressText(value, in: requester)
        // What the user has to fill in may be the whole of it.
        if base.hasPrefix("fill-in-"), !base.contains("://") { base = "https://\(base)" }
        var path = try requester.value("path").map { try addressText($0, in: requester) } ?? ""
        if path.hasPrefix("https://") || path.hasPrefix("http://") {
            base = path
            path = ""
        }
        guard let scheme = base.firstRange(of: "://") else { throw Unsayable("\"\(base)\" is no address") }
        let start = base[scheme.upperBound...].firstIndex { $0 == "/" || $0 == "?" } ?? base.endIndex
        let origin = String(base[..<start]), rest = base[start...]
        guard !rest.contains("?") || path.isEmpty else { throw Unsayable("a path cannot follow the parameters of an address") }
        if rest.contains("?") || rest.contains("{") {
            draft.base = origin
            draft.path = String(rest)
        } else if base.hasSuffix("/") {
            draft.base = String(base.dropLast())
            draft.path = path.isEmpty ? "/" : ""
        } else {
            draft.base = base
        }
        if !path.isEmpty {
            let tail = path.hasPrefix("/") || path.hasPrefix("?") ? path : "/\(path)"
            let head = draft.path.hasSuffix("/") ? String(draft.path.dropLast()) : draft.path
            draft.path = head + tail
        }
    }

    private func addressText(_ value: ManifestValue, in component: Component) throws -> String {
        switch try requestText(value, in: component) {
        case .absent: ""
        case .text(let text): Substring(text).trimmed
        case .secret: throw Unsayable("a secret in an address would be seen everywhere, and cannot be said")
        }
    }

    // MARK: Parameters and headers

    private func convertParameters(_ requester: Component) throws {
        guard let value = try requester.value("request_parameters"), value.isTruthy else { return }
        guard let mapping = value.mapping else {
            _ = findings.refusing("requester.request_parameters", value) {
                guard try requestText(value, in: requester) == .absent else { throw Unsayable("parameters in one text cannot be taken apart") }
            }
            return
        }
        for entry in mapping.entries {
            _ = findings.refusing("requester.request_parameters.\(entry.key)", entry.value, line: entry.line) {
                let name = try constant(ManifestValue(.text(entry.key), line: entry.line), in: requester)
                let value = try context.manifest.resolved(entry.value)
                if let elements = value.list {
                    var texts: [TOMLValue] = []
                    for element in elements {
                        guard case .text(let text) = try requestText(context.manifest.resolved(element), in: requester) else { continue }
                        texts.append(.text(text))
                    }
                    return try insert(.array(texts), at: RequestPlace(kind: .query, names: [name]))
                }
                guard value.mapping == nil else { throw Unsayable("lists of properties that an endpoint tells cannot be carried over") }
                switch try requestText(value, in: requester, keepsSettingsSecret: Self.soundsSecret(name)) {
                case .absent: return
                case .text(let text): try insert(.text(text), at: RequestPlace(kind: .query, names: [name]))
                case .secret(let path, let prefix, let suffix):
                    guard prefix.isEmpty, suffix.isEmpty else { throw Unsayable("a secret with a text around it cannot be a parameter") }
                    draft.secretParameters[name] = .credential(context.credential(path))
                }
            }
        }
    }

    /// Headers that the program sets itself.
    static let ownHeaders: Set<String> = ["accept-encoding", "connection", "host", "content-length", "transfer-encoding", "keep-alive"]

    private func convertHeaders(_ requester: Component) throws {
        guard let value = try requester.value("request_headers"), value.isTruthy else { return }
        guard let mapping = value.mapping else {
            return findings.refuse("requester.request_headers", value, "headers in one text cannot be taken apart")
        }
        for entry in mapping.entries {
            _ = findings.refusing("requester.request_headers.\(entry.key)", entry.value, line: entry.line) {
                let name = try constant(ManifestValue(.text(entry.key), line: entry.line), in: requester)
                if Self.ownHeaders.contains(name.lowercased()) {
                    return findings.remark("requester.request_headers.\(name)", entry.value, "the program sets this header itself")
                }
                let value = try context.manifest.resolved(entry.value)
                switch try requestText(value, in: requester, keepsSettingsSecret: Self.soundsSecret(name)) {
                case .absent: return
                case .text(let text) where name.lowercased() == "user-agent":
                    draft.extras["http"] = .table(TOMLTable([("user_agent", .text(text))]))
                case .text(let text): try insert(.text(text), at: RequestPlace(kind: .header, names: [name]))
                case .secret(let path, let prefix, let suffix):
                    guard suffix.isEmpty else { throw Unsayable("a text after a secret cannot be said") }
                    if prefix.isEmpty {
                        draft.secretHeaders[name] = .credential(context.credential(path))
                    } else if draft.auth.isEmpty {
                        draft.auth = Self.apiKey(name, prefix: prefix, .credential(context.credential(path)))
                    } else {
                        throw Unsayable("a second secret with a text before it cannot be said")
                    }
                }
            }
        }
    }

    /// Whether what has this name is most likely a secret: a configuration refuses to have one written out.
    static func soundsSecret(_ name: String) -> Bool {
        [
            "authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "apikey", "x-auth-token", "x-access-token", "private-token",
            "access_token", "api_key", "auth_token", "client_secret", "password", "secret", "token",
        ].contains(name.lowercased())
    }

    static func apiKey(_ header: String, prefix: String, _ value: TOMLValue) -> TOMLTable {
        var table = TOMLTable([("kind", .text("api-key")), ("name", .text(header))])
        if !prefix.isEmpty { table["prefix"] = .text(prefix) }
        table["value"] = value
        return table
    }

    // MARK: Body

    private func convertBody(_ requester: Component) throws {
        if let value = try requester.value("request_body_json"), value.isTruthy { try convertJSON(value, in: requester) }
        if let value = try requester.value("request_body_data"), value.isTruthy { try convertForm(value, in: requester) }
        if let body = try requester.component("request_body", "RequestBody") {
            guard let value = try body.value("value"), value.isTruthy else { throw Unsayable("the body has no value") }
            switch body.type {
            case "RequestBodyJsonObject": try convertJSON(value, in: body)
            case "RequestBodyUrlEncodedForm": try convertForm(value, in: body)
            case "RequestBodyGraphQL": try convertQuery(value, in: body)
            default: throw Unsayable("a body that is a plain text cannot be said")
            }
        }
    }

    private func convertJSON(_ value: ManifestValue, in component: Component) throws {
        let value = try context.manifest.plain(value)
        var body: TOMLValue?
        if let text = value.text {
            // A text that is JSON, with expressions inside of its texts, or one that an expression makes of it.
            if let literal = PythonLiteral.value(text, isJSON: true) {
                body = try filledJSON(literal, evaluator(for: component))
            } else if let whole = try evaluator(for: component).term(value).constantText {
                if whole.isEmpty { return }
                body = try PythonLiteral.value(whole, isJSON: true).flatMap { try plainJSON($0) }
            }
        } else {
            body = try json(value, in: component)
        }
        guard case .table(let members)? = body else { throw Unsayable("the body is no mapping that is known before a run") }
        draft.body = .json(members)
    }

    /// The value of a text that was JSON, its own texts worked out.
    private func filledJSON(_ literal: Term, _ evaluator: Evaluator) throws -> TOMLValue? {
        switch literal {
        case .text(let text):
            let term = try evaluator.term(of: text)
            if case .text(let plain) = term { return .text(try Self.escaped(plain)) }
            return .text(try template(term))
        case .list(let elements): return .array(try elements.compactMap { try filledJSON($0, evaluator) })
        case .mapping(let members):
            var table = TOMLTable()
            for (name, value) in members.sorted(by: { $0.key < $1.key }) { table[name] = try filledJSON(value, evaluator) }
            return .table(table)
        default: return try plainJSON(literal)
        }
    }

    private func convertForm(_ value: ManifestValue, in component: Component) throws {
        guard let mapping = value.mapping else {
            guard try requestText(value, in: component) == .absent else { throw Unsayable("a body that is a plain text cannot be said") }
            return
        }
        var fields = TOMLTable()
        for entry in mapping.entries {
            switch try requestText(context.manifest.resolved(entry.value), in: component) {
            case .absent: continue
            case .text(let text): fields[entry.key] = .text(text)
            case .secret: throw Unsayable("\(entry.key): a secret in a form cannot be said there")
            }
        }
        draft.body = .form(fields)
    }

    private func convertQuery(_ value: ManifestValue, in component: Component) throws {
        guard let mapping = value.mapping, let query = try mapping["query"].map({ try context.manifest.resolved($0) }) else {
            throw Unsayable("a query is missing")
        }
        guard query.mapping == nil else { throw Unsayable("lists of properties that an endpoint tells cannot be carried over") }
        let text = try constant(query, in: component)
        var variables = TOMLTable()
        if let given = try mapping["variables"].map({ try context.manifest.plain($0) }), given.isTruthy {
            guard case .table(let members)? = try json(given, in: component) else { throw Unsayable("the variables are no mapping") }
            variables = members
        }
        draft.method = "POST"
        draft.body = .graphQL(query: Substring(text).trimmed, variables: variables)
    }
}
