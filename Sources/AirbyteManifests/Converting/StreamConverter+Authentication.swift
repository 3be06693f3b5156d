import JSONPaths

/// How requests identify themselves.
extension StreamConverter {
    func convertAuthentication(of requester: Component) throws {
        guard let component = try requester.component("authenticator", "Authenticator") else { return }
        guard let table = authentication(component) else { return }
        guard draft.auth.isEmpty || table.isEmpty else {
            return findings.refuse("authenticator", named(component), "a second secret with a text before it cannot be said")
        }
        if !table.isEmpty { draft.auth = table }
    }

    /// - Returns: the table `auth`, empty for none; nil where it was refused.
    private func authentication(_ component: Component) -> TOMLTable? {
        findings.refusing("authenticator", line: component.line) { () throws -> TOMLTable? in
            switch component.type {
            case "NoAuth": return TOMLTable()
            case "BearerAuthenticator": return try bearer(component)
            case "ApiKeyAuthenticator": return try apiKey(component)
            case "BasicHttpAuthenticator": return try basic(component)
            case "OAuthAuthenticator": return try oauth2(component)
            case "SessionTokenAuthenticator": return try session(component)
            case "JwtAuthenticator": return try jwt(component)
            case "SelectiveAuthenticator": return try selected(component)
            default:
                findings.refuse("authenticator", named(component), "authentication of this kind cannot be carried over")
                return nil
            }
        } ?? nil
    }

    // MARK: Secrets

    /// A secret, which may follow a text.
    func secret(_ value: ManifestValue?, _ key: String, in component: Component) throws -> (prefix: String, value: TOMLValue) {
        guard let value else { throw Unsayable("\(key) is missing") }
        switch try requestText(value, in: component, keepsSettingsSecret: true) {
        case .secret(let path, let prefix, let suffix):
            guard suffix.isEmpty else { throw Unsayable("\(key): a text after a secret cannot be said") }
            return (prefix, .credential(context.credential(path)))
        case .text(let text): return ("", .credential(context.credential(holding: text, key, line: value.line)))
        case .absent: throw Unsayable("\(key) has no value")
        }
    }

    /// A secret without a text before it.
    func bareSecret(_ value: ManifestValue?, _ key: String, in component: Component) throws -> TOMLValue {
        let secret = try secret(value, key, in: component)
        guard secret.prefix.isEmpty else { throw Unsayable("\(key): a text before a secret cannot be said there") }
        return secret.value
    }

    /// A text, or a secret.
    func textOrSecret(_ value: ManifestValue, _ key: String, in component: Component) throws -> TOMLValue {
        switch try requestText(value, in: component) {
        case .absent: return .text("")
        case .text(let text): return .text(text)
        case .secret: return try bareSecret(value, key, in: component)
        }
    }

    // MARK: Kinds

    private func bearer(_ component: Component) throws -> TOMLTable {
        expect(component, handled: ["api_token"])
        let token = try secret(component.value("api_token"), "api_token", in: component)
        // "Bearer " comes before whatever there is.
        if !token.prefix.isEmpty { return Self.apiKey("Authorization", prefix: "Bearer \(token.prefix)", token.value) }
        return TOMLTable([("kind", .text("bearer")), ("token", token.value)])
    }

    /// The secret of an `ApiKeyAuthenticator`, and where it goes.
    func key(_ component: Component) throws -> (place: RequestPlace, prefix: String, value: TOMLValue) {
        expect(component, handled: ["api_token", "header", "inject_into"])
        let token = try secret(component.value("api_token"), "api_token", in: component)
        guard let option = try component.component("inject_into", "RequestOption") else {
            guard let header = try component.value("header") else { throw Unsayable("inject_into is missing") }
            return (RequestPlace(kind: .header, names: [try constant(header, in: component)]), token.prefix, token.value)
        }
        let place = try requestPlace(option)
        guard token.prefix.isEmpty || place.kind == .header else { throw Unsayable("api_token: a text before a secret stands in a header only") }
        return (place, token.prefix, token.value)
    }

    private func apiKey(_ component: Component) throws -> TOMLTable {
        let key = try key(component)
        if key.place.kind == .header { return Self.apiKey(key.place.names[0], prefix: key.prefix, key.value) }
        var table = TOMLTable([("kind", .text("api-key"))])
        switch key.place.kind {
        case .query: table["in"] = .text("query")
        case .json, .form:
            table["in"] = .text("body")
            // It may be all that the body has.
            try needBody(key.place.kind)
        case .header, .path: throw Unsayable("a secret in an address would be seen everywhere, and cannot be said")
        }
        table["name"] = .text(key.place.parameter)
        table["value"] = key.value
        return table
    }

    private func basic(_ component: Component) throws -> TOMLTable {
        expect(component, handled: ["username", "password"])
        guard let user = try component.value("username") else { throw Unsayable("username is missing") }
        var table = TOMLTable([("kind", .text("basic"))])
        table["username"] = try textOrSecret(user, "username", in: component)
        table["password"] = try password(component)
        return table
    }

    func password(_ component: Component) throws -> TOMLValue {
        guard let value = try component.value("password"), try requestText(value, in: component, keepsSettingsSecret: true) != .absent else {
            return .text("")
        }
        return try bareSecret(value, "password", in: component)
    }

    private func oauth2(_ component: Component) throws -> TOMLTable {
        expect(
            component,
            handled: [
                "client_id_name", "client_id", "client_secret_name", "client_secret", "refresh_token_name", "refresh_token", "token_refresh_endpoint",
                "access_token_name", "access_token_value", "expires_in_name", "grant_type_name", "grant_type", "refresh_request_body",
                "refresh_request_headers", "scopes", "token_expiry_date", "token_expiry_date_format", "token_expiry_is_time_of_expiration",
                "refresh_token_updater", "profile_assertion", "use_profile_assertion",
            ])
        if try component.flag("use_profile_assertion") { throw Unsayable("a signed assertion in the request for a token cannot be carried over") }
        for key in ["client_id", "client_secret", "refresh_token", "grant_type"] {
            guard let value = try component.value("\(key)_name"), value.isTruthy, try constant(value, in: component) != key else { continue }
            throw Unsayable("\(key)_name: the field cannot be called otherwise than \(key)")
        }
        // Where a new one comes under another name, it would be lost, and the next run could not log in.
        if let updater = try component.value("refresh_token_updater")?.mapping, let value = updater["refresh_token_name"],
            let name = value.text, !name.isEmpty, name != "refresh_token"
        {
            throw Unsayable("refresh_token_name: an answer cannot call a new refresh token otherwise than refresh_token")
        }
        guard let endpoint = try component.value("token_refresh_endpoint") else {
            throw Unsayable("without token_refresh_endpoint no token can be fetched")
        }
        let grant = try component.value("grant_type").map { try constant($0, in: component) } ?? "refresh_token"
        var table = TOMLTable([("kind", .text("oauth2"))])
        table["grant"] = .text(grant.replacing("_", with: "-"))
        table["token_url"] = .text(try addressOfTokens(endpoint, in: component))
        if let value = try component.value("client_id"), value.isTruthy { table["client_id"] = try textOrSecret(value, "client_id", in: component) }
        if let value = try component.value("client_secret"), value.isTruthy {
            table["client_secret"] = try bareSecret(value, "client_secret", in: component)
        }
        table["client_auth"] = .text("body")
        if grant == "refresh_token" { table["refresh_token"] = try bareSecret(component.value("refresh_token"), "refresh_token", in: component) }
        try addHeaders(of: component, &table)
        if let scopes = try component.value("scopes"), scopes.isTruthy { table["scopes"] = .texts(try names(scopes, in: component)) }
        try addFields(of: component, grant, &table)
        for (key, name, usual) in [("access_token_name", "token_path", "access_token"), ("expires_in_name", "expires_path", "expires_in")] {
            guard let value = try component.value(key), value.isTruthy else { continue }
            let field = try constant(value, in: component)
            if field != usual { table[name] = .text(try Self.path([.key(field)]).description) }
        }
        if let format = try component.value("token_expiry_date_format"), format.isTruthy {
            findings.remark("authenticator.token_expiry_date_format", format, "where the end of a token is no number, it is used until it is refused")
            table["expires_path"] = nil
        }
        return table
    }

    private func addressOfTokens(_ value: ManifestValue, in component: Component) throws -> String {
        guard case .text(let text) = try requestText(value, in: component) else {
            throw Unsayable("the address for tokens has to be known before a run")
        }
        let address = Substring(text).trimmed
        return address.hasPrefix("fill-in-") && !address.contains("://") ? "https://\(address)" : address
    }

    /// Headers of the request for a token: basic authentication with id and secret, and what goes without saying.
    private func addHeaders(of component: Component, _ table: inout TOMLTable) throws {
        guard let headers = try component.value("refresh_request_headers"), headers.isTruthy else { return }
        for entry in headers.mapping?.entries ?? [] {
            let name = entry.key.lowercased(), text = entry.value.text ?? ""
            if name == "content-type", text.hasPrefix("application/x-www-form-urlencoded") { continue }
            if name == "accept", text.contains("json") || text == "*/*" { continue }
            let isEncoded = text.contains("b64encode") || text.contains("base64encode")
            let isBasic = isEncoded && text.lowercased().hasPrefix("basic") && text.contains("client_id") && text.contains("client_secret")
            guard name == "authorization", isBasic else {
                throw Unsayable("refresh_request_headers: \(entry.key) of the request for a token cannot be said")
            }
            table["client_auth"] = .text("basic")
        }
    }

    private func addFields(of component: Component, _ grant: String, _ table: inout TOMLTable) throws {
        guard let body = try component.value("refresh_request_body"), body.isTruthy else { return }
        var fields = TOMLTable()
        for entry in body.mapping?.entries ?? [] {
            let value = try context.manifest.resolved(entry.value)
            guard value.list == nil, value.mapping == nil else { throw Unsayable("refresh_request_body.\(entry.key) is no text") }
            let text = try textOrSecret(value, "refresh_request_body.\(entry.key)", in: component)
            switch entry.key {
            case "grant_type":
                guard text == .text(grant) else {
                    throw Unsayable("refresh_request_body: another grant_type than \(grant) cannot be said there")
                }
            case "client_id", "client_secret", "refresh_token": continue
            case "scope": table["scopes"] = .texts((value.text ?? "").split(separator: " ").map(String.init))
            case "audience": table["audience"] = text
            case "username" where grant == "password": table["username"] = text
            case "password" where grant == "password": table["password"] = try bareSecret(value, "password", in: component)
            default: fields[entry.key] = text
            }
        }
        if !fields.isEmpty { table["fields"] = .table(fields) }
    }

    // MARK: Ways to choose from

    private func selected(_ component: Component) throws -> TOMLTable? {
        expect(component, handled: ["authenticators", "authenticator_selection_path"])
        guard let ways = try component.value("authenticators")?.mapping, !ways.entries.isEmpty else {
            throw Unsayable("there is none to choose from")
        }
        let path = try component.value("authenticator_selection_path").map { try names($0, in: component) } ?? []
        var wanted: String?
        if case .value(let term) = context.settings.answer(path) { wanted = term.constantText }
        let isChosen = context.settings.isSet(path)
        // The one that the user wants, or the first that can be said.
        let order = ways.entries.filter { $0.key == wanted } + (isChosen ? [] : ways.entries.filter { $0.key != wanted })
        for entry in order {
            let body = draft.body
            let trial = StreamConverter(stream, name: findings.stream ?? "", context: context, draft: draft)
            guard let table = try trial.authentication(component.inner(entry.value, "authenticators", "Authenticator")) else {
                if isChosen { for finding in trial.findings.all { findings.refuse(finding.key, nil, line: finding.line, finding.reason) } }
                draft.body = body
                continue
            }
            guard !trial.findings.isRefused else {
                draft.body = body
                continue
            }
            let others = ways.entries.map(\.key).filter { $0 != entry.key }.joined(separator: ", ")
            if !isChosen, !others.isEmpty {
                let field = path.joined(separator: ".")
                findings.remark(
                    "authenticator", named(component), "of the ways to authenticate \"\(entry.key)\" was taken; for \(others) use --set \(field)=…")
            }
            return table
        }
        findings.refuse("authenticator", named(component), "none of the ways to authenticate can be said")
        return nil
    }
}
