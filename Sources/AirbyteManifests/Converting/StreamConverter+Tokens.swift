import JSONPaths

/// Tokens that are fetched by logging in, or made and signed.
extension StreamConverter {
    func session(_ component: Component) throws -> TOMLTable {
        expect(component, handled: ["login_requester", "session_token_path", "expiration_duration", "request_authentication", "decoder"])
        if let decoder = try component.component("decoder", "JsonDecoder"), decoder.type != "JsonDecoder" {
            throw Unsayable("an answer to a login that is no JSON cannot be read")
        }
        guard let requester = try component.component("login_requester", "HttpRequester"), let path = try component.value("session_token_path") else {
            throw Unsayable("login_requester and session_token_path are needed")
        }
        var table = TOMLTable([("kind", .text("session")), ("login", .table(try login(requester)))])
        table["token_path"] = .text(try Self.path(names(path, in: component).map { .key($0) }).description)
        if let value = try component.value("expiration_duration"), value.isTruthy {
            guard let duration = ISODuration(try constant(value, in: component)), duration.seconds > 0 else {
                throw Unsayable("expiration_duration: \(value.brief) is no duration")
            }
            table["lifetime"] = .text(Self.span(duration.seconds))
        }
        guard let use = try component.component("request_authentication", "ApiKey") else { throw Unsayable("request_authentication is missing") }
        // Manifests have the short names; the long ones are what they stand for.
        switch use.type {
        case "Bearer", "SessionTokenRequestBearerAuthenticator": expect(use, handled: [])
        case "ApiKey", "SessionTokenRequestApiKeyAuthenticator":
            expect(use, handled: ["inject_into", "api_token"])
            guard let option = try use.component("inject_into", "RequestOption") else { throw Unsayable("inject_into is missing") }
            table["send_as"] = .table(try carrier(option, prefix: tokenPrefix(use)))
        default: throw Unsayable("request_authentication of the kind \(use.type) cannot be carried over")
        }
        return table
    }

    /// The text before the token, as in `Token {{ session_token }}`.
    private func tokenPrefix(_ component: Component) throws -> String {
        guard let text = try component.value("api_token")?.text else { return "" }
        let parts = try Interpolation(text).parts
        guard parts.last == .expression(.name("session_token")) else {
            throw Unsayable("api_token: only a text before {{ session_token }} can be said")
        }
        switch parts.dropLast().first {
        case nil: return ""
        case .text(let prefix)? where parts.count == 2: return prefix
        default: throw Unsayable("api_token: only a text before {{ session_token }} can be said")
        }
    }

    private func carrier(_ option: Component, prefix: String) throws -> TOMLTable {
        let place = try requestPlace(option)
        var table = TOMLTable()
        switch place.kind {
        case .header: table["prefix"] = .text(prefix)
        case .query:
            guard prefix.isEmpty else { throw Unsayable("a text before a token stands in a header only") }
            table["in"] = .text("query")
        case .json, .form:
            guard prefix.isEmpty else { throw Unsayable("a text before a token stands in a header only") }
            table["in"] = .text("body")
            try needBody(place.kind)
        case .path: throw Unsayable("a token in an address would be seen everywhere, and cannot be said")
        }
        table["name"] = .text(place.parameter)
        return table
    }

    private func login(_ requester: Component) throws -> TOMLTable {
        expect(
            requester,
            handled: [
                "url_base", "url", "http_method", "request_parameters", "request_headers", "request_body_json", "request_body_data", "request_body",
                "authenticator", "error_handler", "use_cache",
            ])
        var table = TOMLTable()
        guard let base = try [requester.value("url"), requester.value("url_base")].compactMap({ $0 }).first(where: \.isTruthy),
            case .text(var address) = try requestText(base, in: requester)
        else { throw Unsayable("the address of the login has to be known before a run") }
        address = Substring(address).trimmed
        if let path = try requester.value("path"), case .text(let text) = try requestText(path, in: requester) {
            let tail = Substring(text).trimmed
            address = (address.hasSuffix("/") ? String(address.dropLast()) : address) + (tail.hasPrefix("/") ? tail : "/\(tail)")
        }
        if address.hasPrefix("fill-in-"), !address.contains("://") { address = "https://\(address)" }
        table["url"] = .text(address)
        if let method = try requester.value("http_method"), method.isTruthy, try constant(method, in: requester) != "POST" {
            table["method"] = .text(try constant(method, in: requester))
        } else if try requester.value("http_method")?.isTruthy != true {
            table["method"] = .text("GET")
        }
        try addLoginHeaders(of: requester, &table)
        var parts = try [("request_body_json", "json"), ("request_body_data", "form"), ("request_parameters", "params")].map { key, name in
            (key, name, try requester.value(key), requester)
        }
        if let body = try requester.component("request_body", "RequestBody") {
            let names = ["RequestBodyJsonObject": "json", "RequestBodyUrlEncodedForm": "form"]
            guard let name = names[body.type] else { throw Unsayable("request_body: a login with a body of this kind cannot be said") }
            parts.append(("request_body", name, try body.value("value"), body))
        }
        for (key, name, value, component) in parts {
            guard let value, value.isTruthy else { continue }
            guard value.mapping != nil else { throw Unsayable("\(key) of a login is no mapping") }
            table[name] = try secretTree(context.manifest.plain(value), in: component)
        }
        if let inner = try requester.component("authenticator", "Authenticator") { try addLoginSecret(inner, &table) }
        return table
    }

    private func addLoginHeaders(of requester: Component, _ table: inout TOMLTable) throws {
        guard let value = try requester.value("request_headers"), value.isTruthy else { return }
        guard let mapping = value.mapping else { throw Unsayable("request_headers of a login are no mapping") }
        var headers = TOMLTable()
        for entry in mapping.entries {
            let name = entry.key.lowercased(), value = try context.manifest.resolved(entry.value)
            // They go without saying.
            if ["content-type", "accept"].contains(name), value.text?.contains("json") == true { continue }
            if name == "content-type", value.text?.contains("x-www-form-urlencoded") == true { continue }
            if name == "user-agent" || Self.ownHeaders.contains(name) {
                findings.remark("login_requester.request_headers.\(entry.key)", value, line: entry.line, "the program sets this header itself")
            } else if Self.soundsSecret(name) {
                headers[entry.key] = try bareSecret(value, entry.key, in: requester)
            } else {
                headers[entry.key] = try textOrSecret(value, entry.key, in: requester)
            }
        }
        if !headers.isEmpty { table["headers"] = .table(headers) }
    }

    /// How the login itself says who asks.
    private func addLoginSecret(_ authenticator: Component, _ table: inout TOMLTable) throws {
        switch authenticator.type {
        case "NoAuth": return
        case "BasicHttpAuthenticator":
            expect(authenticator, handled: ["username", "password"])
            guard let user = try authenticator.value("username") else { throw Unsayable("username is missing") }
            table["username"] = try textOrSecret(user, "username", in: authenticator)
            table["password"] = try password(authenticator)
        case "ApiKeyAuthenticator":
            let key = try key(authenticator)
            guard key.prefix.isEmpty else { throw Unsayable("api_token: a text before a secret cannot be said in a login") }
            let group: String
            switch key.place.kind {
            case .header: group = "headers"
            case .query: group = "params"
            case .json: group = "json"
            case .form: group = "form"
            case .path: throw Unsayable("a secret in an address would be seen everywhere, and cannot be said")
            }
            guard table.insert(key.value, at: [group] + key.place.names) else {
                throw Unsayable("\(key.place.names.joined(separator: ".")) of a login is said twice")
            }
        default: throw Unsayable("a login that identifies itself by \(authenticator.type) cannot be said")
        }
    }

    /// A value whose texts may be secrets.
    private func secretTree(_ value: ManifestValue, in component: Component) throws -> TOMLValue {
        switch value.content {
        case .null: return .text("")
        case .bool(let flag): return .bool(flag)
        case .integer(let number): return .integer(number)
        case .number(let number): return .number(number)
        case .text: return try textOrSecret(value, "login", in: component)
        case .list(let elements): return .array(try elements.map { try secretTree($0, in: component) })
        case .mapping(let mapping):
            var table = TOMLTable()
            for entry in mapping.entries { table[entry.key] = try secretTree(entry.value, in: component) }
            return .table(table)
        }
    }

    /// A token that is made here.
    func jwt(_ component: Component) throws -> TOMLTable {
        expect(
            component,
            handled: [
                "secret_key", "base64_encode_secret_key", "algorithm", "token_duration", "header_prefix", "jwt_headers", "additional_jwt_headers",
                "jwt_payload", "additional_jwt_payload", "passphrase", "request_option",
            ])
        for key in ["base64_encode_secret_key", "passphrase"] {
            if try component.flag(key) { throw Unsayable("\(key) cannot be said") }
        }
        var table = TOMLTable([("kind", .text("jwt"))])
        table["key"] = try bareSecret(component.value("secret_key"), "secret_key", in: component)
        if let value = try component.value("algorithm") { table["algorithm"] = .text(try constant(value, in: component)) }
        table["lifetime"] = .text(Self.span(try integer("token_duration", in: component) ?? 1200))
        for (name, keys) in [("claims", ["jwt_payload", "additional_jwt_payload"]), ("headers", ["jwt_headers", "additional_jwt_headers"])] {
            var members = TOMLTable()
            for key in keys {
                guard let value = try component.value(key), value.isTruthy else { continue }
                for entry in try context.manifest.plain(value).mapping?.entries ?? [] {
                    // The program says it anyway.
                    if name == "headers", entry.key == "typ", entry.value.text == "JWT" { continue }
                    members[entry.key] = try secretTree(entry.value, in: component)
                }
            }
            if !members.isEmpty { table[name] = .table(members) }
        }
        let prefix = try component.value("header_prefix").map { try constant($0, in: component) } ?? ""
        if let option = try component.component("request_option", "RequestOption") {
            table["send_as"] = .table(try carrier(option, prefix: prefix.isEmpty ? "" : "\(prefix) "))
        } else if prefix != "Bearer" {
            table["send_as"] = .table(TOMLTable([("prefix", .text(prefix.isEmpty ? "" : "\(prefix) "))]))
        }
        return table
    }
}
