/// How requests identify themselves, as `securitySchemes` say it.
struct OpenAPISecurity {
    /// A secret that somebody has to provide.
    typealias Credential = OpenAPIConversion.Credential

    /// What comes of a list of requirements.
    struct Answer {
        var auth = TOMLTable()
        var credentials: [Credential] = []
        /// Why it is not all that is asked for; nil: it is.
        var reason: String?
    }

    let document: OpenAPIDocument
    let source: String

    private var schemes: ManifestMapping? {
        document.isSwagger ? document.root["securityDefinitions"]?.mapping : document.root["components"]?.mapping?["securitySchemes"]?.mapping
    }

    /// Of the requirements, one of which has to be met, the first that can be said.
    ///
    /// - Parameter requirements: of the operation or the document; nil: nothing is said of it.
    func answer(_ requirements: ManifestValue?) -> Answer {
        guard let requirements = requirements?.list, !requirements.isEmpty else { return Answer() }
        var reasons: [String] = []
        for requirement in requirements {
            let names = requirement.mapping?.entries ?? []
            // An empty one says that it goes without.
            if names.isEmpty, requirements.count == 1 { return Answer() }
            guard let first = names.first else { continue }
            guard names.count == 1 else {
                reasons.append("it wants \(names.map(\.key).joined(separator: " and ")) together")
                continue
            }
            do throws(Unsayable) {
                return try said(first.key, scopes: (first.value.list ?? []).compactMap(\.text))
            } catch {
                reasons.append("\(first.key): \(error.reason)")
            }
        }
        return Answer(reason: reasons.isEmpty ? nil : reasons.joined(separator: "; "))
    }

    private func said(_ name: String, scopes: [String]) throws(Unsayable) -> Answer {
        guard let value = schemes?[name], let scheme = try document.resolved(value).value.mapping else { throw Unsayable("it is not described") }
        var answer = Answer()
        func credential(_ words: String..., holds: String) -> TOMLValue {
            let credential = Names.credential(source, words)
            answer.credentials.append(Credential(name: credential, holds: holds))
            return .credential(credential)
        }
        let words = scheme["description"]?.text.map { ": \(ManifestValue.shortened($0, limit: 80))" } ?? ""
        switch (scheme["type"]?.text ?? "", scheme["scheme"]?.text?.lowercased() ?? "") {
        case ("http", "bearer"):
            answer.auth = TOMLTable([("kind", .text("bearer")), ("token", credential("token", holds: "the token that is sent after Bearer\(words)"))])
        case ("http", "basic"), ("basic", _):
            answer.auth = TOMLTable([
                ("kind", .text("basic")), ("username", credential("username", holds: "the user's name\(words)")),
                ("password", credential("password", holds: "the user's password")),
            ])
        case ("apiKey", _):
            guard let key = scheme["name"]?.text, let place = scheme["in"]?.text, ["header", "query", "cookie"].contains(place) else {
                throw Unsayable("where its key stands is not said")
            }
            answer.auth = TOMLTable([("kind", .text("api-key")), ("name", .text(key))])
            if place != "header" { answer.auth["in"] = .text(place) }
            answer.auth["value"] = credential("key", holds: "what is sent as \(key)\(words)")
        case ("oauth2", _): try addOAuth(scheme, scopes: scopes, to: &answer)
        case (let type, _): throw Unsayable("\(type.isEmpty ? "its type" : type) cannot be said")
        }
        return answer
    }

    private func addOAuth(_ scheme: ManifestMapping, scopes: [String], to answer: inout Answer) throws(Unsayable) {
        let flow =
            document.isSwagger
            ? (scheme["flow"]?.text == "application" ? scheme : nil) : scheme["flows"]?.mapping?["clientCredentials"]?.mapping
        guard let flow else {
            throw Unsayable("it takes a person who consents: with a refresh token write auth = { kind = \"oauth2\", grant = \"refresh-token\", … }")
        }
        guard let url = flow["tokenUrl"]?.text, url.hasPrefix("https://") else { throw Unsayable("its tokenUrl is no https address") }
        let client = Names.credential(source, ["client_id"]), secret = Names.credential(source, ["client_secret"])
        answer.credentials += [
            Credential(name: client, holds: "the client's name for \(ManifestValue.shortened(url))"),
            Credential(name: secret, holds: "its secret"),
        ]
        answer.auth = TOMLTable([
            ("kind", .text("oauth2")), ("grant", .text("client-credentials")), ("token_url", .text(url)), ("client_id", .credential(client)),
            ("client_secret", .credential(secret)),
        ])
        if !scopes.isEmpty { answer.auth["scopes"] = .texts(scopes) }
    }
}
