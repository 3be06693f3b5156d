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
        guard let use = try component.component("request_authentication", "SessionTokenRequestApiKeyAuthenticator") else {
            throw Unsayable("request_authentication is missing")
        }
        if use.type == "SessionTokenRequestBearerAuthenticator" { return table }
        guard use.type == "SessionTokenRequestApiKeyAuthenticator", let option = try use.component("inject_into", "RequestOption") else {
            throw Unsayable("request_authentication of this kind cannot be carried over")
        }
        expect(use, handled: ["inject_into", "api_token"])
        table["send_as"] = .table(try carrier(option, prefix: tokenPrefix(use)))
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
        case .json, .form, .path: throw Unsayable("a token in a body or an address cannot be said")
        }
        table["name"] = .text(place.parameter)
        return table
    }

    private func login(_ requester: Component) throws -> TOMLTable {
        expect(
            requester,
            handled: [
                "url_base", "url", "http_method", "request_parameters", "request_headers", "request_body_json", "request_body_data", "authenticator",
                "error_handler",
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
        for entry in try requester.value("request_headers")?.mapping?.entries ?? [] {
            let isUsual = ["content-type", "accept"].contains(entry.key.lowercased()) && entry.value.text?.contains("json") == true
            let isForm = entry.key.lowercased() == "content-type" && entry.value.text?.contains("x-www-form-urlencoded") == true
            guard isUsual || isForm else { throw Unsayable("the header \(entry.key) of a login cannot be said") }
        }
        for (key, name) in [("request_body_json", "json"), ("request_body_data", "form"), ("request_parameters", "params")] {
            guard let value = try requester.value(key), value.isTruthy else { continue }
            guard value.mapping != nil else { throw Unsayable("\(key) of a login is no mapping") }
            table[name] = try secretTree(context.manifest.plain(value), in: requester)
        }
        if let inner = try requester.component("authenticator", "Authenticator"), inner.type != "NoAuth" {
            guard inner.type == "BasicHttpAuthenticator", let user = try inner.value("username") else {
                throw Unsayable("a login that identifies itself by \(inner.type) cannot be said")
            }
            table["username"] = try textOrSecret(user, "username", in: inner)
            if let value = try inner.value("password"), value.isTruthy {
                table["password"] = try bareSecret(value, "password", in: inner)
            } else {
                table["password"] = .text("")
            }
        }
        return table
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
