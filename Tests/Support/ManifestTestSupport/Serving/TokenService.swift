/// A service that gives out tokens, and knows which of them is good.
///
/// The first token ends once in the middle: at a request for what it was good for before. Until another one is given out, it stays good for what it
/// was not used for yet, since a token that is refused there at its first use says nothing of the token.
struct TokenService: Sendable {
    /// The authenticator, as it is declared.
    let declared: DataValue
    /// Decoded; the requests for tokens go there.
    let path: String

    private let name: String
    private var issued = 0
    private var refreshed = 0
    private var uses = 0
    private var isOver = false
    private var hasEnded = false
    private var accepted: Set<String> = []

    enum Verdict: Sendable {
        case good, ended, unknown
    }

    /// - Throws: `TemplateParser.Failure`.
    init?(_ declared: DataValue, _ scope: TemplateScope) throws {
        self.declared = declared
        let address: String
        switch declared["type"]?.text {
        case "OAuthAuthenticator": address = declared["token_refresh_endpoint"]?.text ?? ""
        case "SessionTokenAuthenticator": address = DeclaredStream.address(declared["login_requester"] ?? .null)
        default: return nil
        }
        path = RequestReading.decoded(Self.path(of: try TemplateText(address).text(in: scope))[...], isForm: false)
        name = String(StableHash.of(declared.json) % 100_000)
    }

    /// What follows the host, without the query.
    static func path(of address: String) -> String {
        let rest = address.firstRange(of: "://").map { address[$0.upperBound...] } ?? address[...]
        let path = rest.firstIndex(of: "/").map { rest[$0...] } ?? "/"
        return String(path.prefix { $0 != "?" })
    }

    private func token(_ number: Int) -> String { "TOKEN-\(name)-\(number)" }

    mutating func check(_ token: String, at path: String) -> Verdict {
        guard token == self.token(issued) else { return (0..<issued).contains { self.token($0) == token } ? .ended : .unknown }
        if isOver {
            if accepted.contains(path) { return .ended }
        } else if !hasEnded, uses >= 6, accepted.contains(path) {
            isOver = true
            hasEnded = true
            return .ended
        }
        uses += 1
        accepted.insert(path)
        return .good
    }

    // MARK: Giving out

    /// Answers a request for a token.
    mutating func issue(_ reading: RequestReading, _ scope: TemplateScope) throws(RequestFault) -> DataValue {
        if declared["type"]?.text == "OAuthAuthenticator" { return try issueByOAuth(reading, scope) }
        var reading = reading
        let login = declared["login_requester"] ?? .null
        let method = login["http_method"]?.text ?? "GET"
        guard reading.method == method else { throw RequestFault("a login by \(reading.method), not \(method)") }
        let (json, form) = DeclaredStream.body(login)
        if json != nil { try reading.readJSON() } else if !form.isEmpty { reading.readForm() }
        try reading.expect(login["request_parameters"]?.members ?? [], in: scope) { .query($0) }
        try reading.expect(login["request_headers"]?.members ?? [], in: scope) { .header($0.lowercased()) }
        if let json { try reading.expectJSON(json, in: scope) }
        try reading.expect(form, in: scope) { .form($0) }
        if let authenticator = login["authenticator"], let way = AuthenticationWay(authenticator, scope), case .fixed(let place, let text) = way {
            guard try reading.take(place) == text else { throw RequestFault("a login without its own authentication", status: 401) }
        }
        try reading.finish()
        start()
        var answer = DataValue.having([("user", .text("somebody"))])
        answer.set(.text(token(issued)), at: (declared["session_token_path"]?.list ?? []).map(\.shown))
        return answer
    }

    private mutating func issueByOAuth(_ given: RequestReading, _ scope: TemplateScope) throws(RequestFault) -> DataValue {
        var reading = given
        guard reading.method == "POST" else { throw RequestFault("a token is asked for by \(reading.method)") }
        reading.readForm()
        let grant = text("grant_type", scope) ?? "refresh_token"
        try expect(grant, named("grant_type_name", "grant_type"), &reading)
        let id = text("client_id", scope) ?? "", secret = text("client_secret", scope) ?? ""
        let basic = try reading.take(.header("authorization"))
        if basic != AuthenticationWay.basic(id, secret) {
            try expect(id, named("client_id_name", "client_id"), &reading)
            try expect(secret, named("client_secret_name", "client_secret"), &reading)
        } else {
            // Saying it twice does no harm.
            _ = try reading.take(.form(named("client_id_name", "client_id")))
            _ = try reading.take(.form(named("client_secret_name", "client_secret")))
        }
        let rotates = declared["refresh_token_updater"]?.members != nil
        if grant == "refresh_token" {
            let first = text("refresh_token", scope) ?? ""
            try expect(refreshed == 0 ? first : "REFRESH-\(name)-\(refreshed)", named("refresh_token_name", "refresh_token"), &reading)
        }
        if let scopes = declared["scopes"]?.list, !scopes.isEmpty { try expect(scopes.map(\.shown).joined(separator: " "), "scope", &reading) }
        try reading.expect(declared["refresh_request_body"]?.members ?? [], in: scope) { .form($0) }
        try reading.expect(declared["refresh_request_headers"]?.members ?? [], in: scope) { .header($0.lowercased()) }
        try reading.finish()
        start()
        var answer = DataValue.having([("token_type", .text("Bearer"))])
        answer.set(.text(token(issued)), at: [declared["access_token_name"]?.text ?? "access_token"])
        answer.set(.int(3600), at: [declared["expires_in_name"]?.text ?? "expires_in"])
        if rotates, grant == "refresh_token" {
            refreshed += 1
            answer.set(.text("REFRESH-\(name)-\(refreshed)"), at: ["refresh_token"])
        }
        return answer
    }

    private mutating func start() {
        issued += 1
        isOver = false
        accepted = []
    }

    private func expect(_ text: String, _ field: String, _ reading: inout RequestReading) throws(RequestFault) {
        let found = try reading.take(.form(field))
        guard found == text else { throw RequestFault("\(field) of a request for a token is \(found ?? "missing"), not \(text)", status: 401) }
    }

    private func named(_ member: String, _ usual: String) -> String { declared[member]?.text ?? usual }

    private func text(_ member: String, _ scope: TemplateScope) -> String? {
        guard let source = declared[member]?.text else { return nil }
        return (try? TemplateText(source))?.text(in: scope)
    }
}
