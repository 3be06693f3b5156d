import SyncConfiguration
import Testing

@testable import AirbyteManifests

@Suite struct AuthenticationTests {
    private func manifest(_ authenticator: String) -> ManifestText {
        var manifest = ManifestText()
        manifest.requester = "authenticator: \(authenticator)"
        manifest.spec += ", user: { type: string, default: me }, secret: { type: string, airbyte_secret: true }"
        return manifest
    }

    @Test(
        arguments: zip(
            [
                "{ type: BearerAuthenticator, api_token: \"{{ config['api_key'] }}\" }",
                "{ type: ApiKeyAuthenticator, header: X-Key, api_token: \"{{ config['api_key'] }}\" }",
                "{ type: ApiKeyAuthenticator, api_token: \"Key {{ config['api_key'] }}\", "
                    + "inject_into: { inject_into: header, field_name: Authorization } }",
                "{ type: ApiKeyAuthenticator, api_token: \"{{ config['api_key'] }}\", "
                    + "inject_into: { inject_into: request_parameter, field_name: key } }",
                "{ type: BasicHttpAuthenticator, username: \"{{ config['user'] }}\", password: \"{{ config['secret'] }}\" }",
                "{ type: BasicHttpAuthenticator, username: \"{{ config['api_key'] }}\" }",
                "{ type: BasicHttpAuthenticator, username: \"{{ config['api_key'] }}\", password: X }",
            ],
            [
                "{ kind = \"bearer\", token = { credential = \"example_api_key\" } }",
                "{ kind = \"api-key\", name = \"X-Key\", value = { credential = \"example_api_key\" } }",
                "{ kind = \"api-key\", name = \"Authorization\", prefix = \"Key \", value = { credential = \"example_api_key\" } }",
                "{ kind = \"api-key\", in = \"query\", name = \"key\", value = { credential = \"example_api_key\" } }",
                "{ kind = \"basic\", username = \"me\", password = { credential = \"example_secret\" } }",
                "{ kind = \"basic\", username = { credential = \"example_api_key\" }, password = \"\" }",
                "{ kind = \"basic\", username = { credential = \"example_api_key\" }, password = { credential = \"example_password\" } }",
            ]))
    func waysToIdentifyAreKept(_ authenticator: String, _ auth: String) throws {
        #expect(try manifest(authenticator).lines().contains("auth = \(auth)"))
    }

    @Test func aPasswordThatTheManifestWritesOutIsToBeProvided() throws {
        let manifest = manifest("{ type: BasicHttpAuthenticator, username: \"{{ config['api_key'] }}\", password: SEKRIT }")
        let conversion = try manifest.converted()
        let line = try manifest.line(of: "SEKRIT")
        #expect(conversion.credentials.last?.holds == "the text in line \(line) of the manifest")
        let told = conversion.findings.map(\.description) + conversion.credentials.map { "\($0)" } + conversion.values.map { "\($0)" }
        let toml = try #require(conversion.toml)
        #expect(!(told + [toml]).contains { $0.contains("SEKRIT") })
    }

    @Test func tokensAreFetchedAsTheManifestSays() throws {
        let manifest = manifest(
            """
            { type: OAuthAuthenticator, token_refresh_endpoint: "https://login.example.com/token", client_id: "{{ config['user'] }}",
              client_secret: "{{ config['secret'] }}", refresh_token: "{{ config['api_key'] }}", scopes: [a, b], access_token_name: token,
              refresh_request_body: { resource: r }, refresh_request_headers: { Content-Type: application/x-www-form-urlencoded } }
            """.split(separator: "\n").joined(separator: " "))
        let auth =
            "auth = { kind = \"oauth2\", grant = \"refresh-token\", token_url = \"https://login.example.com/token\", client_id = \"me\", "
            + "client_secret = { credential = \"example_secret\" }, client_auth = \"body\", refresh_token = { credential = \"example_api_key\" }, "
            + "scopes = [\"a\", \"b\"], fields = { resource = \"r\" }, token_path = \"$.token\" }"
        #expect(try manifest.lines().contains(auth))
    }

    @Test func aNewRefreshTokenUnderAnotherNameLeavesTheStreamOut() throws {
        func oauth(_ updater: String) -> ManifestText {
            manifest(
                "{ type: OAuthAuthenticator, token_refresh_endpoint: \"https://login.example.com/token\", client_id: a, "
                    + "client_secret: \"{{ config['secret'] }}\", refresh_token: \"{{ config['api_key'] }}\", refresh_token_updater: \(updater) }")
        }
        #expect(try oauth("{ refresh_token_name: new_rt }").refusals().contains { $0.reason.hasPrefix("refresh_token_name") })
        for updater in ["{ refresh_token_name: refresh_token }", "{ access_token_config_path: [a] }"] {
            #expect(try oauth(updater).converted().streams == ["items"])
        }
    }

    @Test func aSessionBeginsWithALogin() throws {
        let manifest = manifest(
            """
            { type: SessionTokenAuthenticator, session_token_path: [data, token], expiration_duration: PT1H,
              login_requester: { url_base: "https://api.example.com", path: /login, http_method: POST,
                request_body_json: { user: "{{ config['user'] }}", password: "{{ config['secret'] }}" } },
              request_authentication: { type: ApiKey, inject_into: { inject_into: header, field_name: X-Session } } }
            """.split(separator: "\n").joined(separator: " "))
        let auth =
            "auth = { kind = \"session\", login = { url = \"https://api.example.com/login\", json = { user = \"me\", "
            + "password = { credential = \"example_secret\" } } }, token_path = \"$.data.token\", lifetime = \"1h\", "
            + "send_as = { prefix = \"\", name = \"X-Session\" } }"
        #expect(try manifest.lines().contains(auth))
    }

    private func session(_ login: String, _ use: String = "{ type: Bearer }") -> ManifestText {
        manifest(
            "{ type: SessionTokenAuthenticator, session_token_path: [token], request_authentication: \(use), "
                + "login_requester: { url_base: \"https://api.example.com\", path: /login, \(login) } }")
    }

    @Test(
        arguments: zip(
            [
                "authenticator: { type: NoAuth }",
                "authenticator: { type: ApiKeyAuthenticator, api_token: \"{{ config.api_key }}\", header: X-Key }",
                "authenticator: { type: ApiKeyAuthenticator, api_token: \"{{ config.api_key }}\", "
                    + "inject_into: { inject_into: request_parameter, field_name: key } }, request_parameters: { v: \"2\" }",
                "http_method: POST, authenticator: { type: ApiKeyAuthenticator, api_token: \"{{ config.api_key }}\", "
                    + "inject_into: { inject_into: body_json, field_path: [auth, key] } }",
                "authenticator: { type: BasicHttpAuthenticator, username: \"{{ config.user }}\" }",
                "request_headers: { X-App: app, X-Key: \"{{ config.api_key }}\", X-Auth-Token: plain, Content-Type: application/json }",
                "http_method: POST, request_body: { type: RequestBodyUrlEncodedForm, value: { pw: \"{{ config.secret }}\" } }",
            ],
            [
                "method = \"GET\"", "method = \"GET\", headers = { X-Key = { credential = \"example_api_key\" } }",
                "method = \"GET\", params = { v = \"2\", key = { credential = \"example_api_key\" } }",
                "json = { auth = { key = { credential = \"example_api_key\" } } }", "method = \"GET\", username = \"me\", password = \"\"",
                "method = \"GET\", headers = { X-App = \"app\", X-Key = { credential = \"example_api_key\" }, "
                    + "X-Auth-Token = { credential = \"example_X-Auth-Token\" } }",
                "form = { pw = { credential = \"example_secret\" } }",
            ]))
    func aLoginSaysWhoAsks(_ login: String, _ result: String) throws {
        let auth =
            "auth = { kind = \"session\", login = { url = \"https://api.example.com/login\", \(result) }, token_path = \"$.token\" }"
        #expect(try session(login).lines().contains(auth))
    }

    @Test(arguments: [
        "authenticator: { type: BearerAuthenticator, api_token: \"{{ config.api_key }}\" }",
        "authenticator: { type: ApiKeyAuthenticator, api_token: \"Key {{ config.api_key }}\", header: X-Key }",
        "authenticator: { type: ApiKeyAuthenticator, api_token: \"{{ config.api_key }}\", header: X-Key }, request_headers: { X-Key: a }",
        "request_body: { type: RequestBodyPlainText, value: a }",
    ])
    func aLoginThatCannotBeSaidLeavesTheStreamOut(_ login: String) throws {
        #expect(try session(login).refusals().map(\.key) == ["authenticator"])
    }

    @Test(
        arguments: zip(
            [
                "{ type: ApiKey, inject_into: { inject_into: request_parameter, field_name: sid } }",
                "{ type: ApiKey, api_token: \"Token {{ session_token }}\", inject_into: { inject_into: header, field_name: Authorization } }",
                "{ type: SessionTokenRequestBearerAuthenticator }",
            ],
            [", send_as = { in = \"query\", name = \"sid\" }", ", send_as = { prefix = \"Token \", name = \"Authorization\" }", ""]))
    func aTokenGoesWhereTheManifestPutsIt(_ use: String, _ result: String) throws {
        let auth =
            "auth = { kind = \"session\", login = { url = \"https://api.example.com/login\", method = \"GET\" }, token_path = \"$.token\"\(result) }"
        #expect(try session("use_cache: true", use).lines().contains(auth))
    }

    @Test func aTokenThatGoesAnotherWayLeavesTheStreamOut() throws {
        for use in ["{ type: Custom }", "{ type: ApiKey }", "{ type: ApiKey, inject_into: { type: RequestPath } }"] {
            #expect(try session("use_cache: true", use).refusals().map(\.key) == ["authenticator"], "\(use)")
        }
    }

    // A key may be all that a request sends.
    @Test func aKeyInABodyMakesOne() throws {
        func manifest(_ place: String, _ method: String = "POST") -> ManifestText {
            self.manifest(
                "{ type: ApiKeyAuthenticator, api_token: \"{{ config.api_key }}\", inject_into: { inject_into: \(place), field_name: apiKey } }"
                    + "\nhttp_method: \(method)")
        }
        for (place, body) in [("body_json", "json = {}"), ("body_data", "form = {}")] {
            let lines = try manifest(place).lines()
            #expect(lines.contains("auth = { kind = \"api-key\", in = \"body\", name = \"apiKey\", value = { credential = \"example_api_key\" } }"))
            #expect(lines.contains(body) && lines.contains("method = \"POST\""))
        }
        #expect(try manifest("body_json", "GET").refusals().map(\.reason) == ["a GET that sends a body cannot be said"])
    }

    @Test func ofSeveralWaysTheFirstThatCanBeSaidIsTakenOrTheOneThatIsWanted() throws {
        var manifest = manifest(
            "{ type: SelectiveAuthenticator, authenticator_selection_path: [way], "
                + "authenticators: { code: { type: CustomAuthenticator, class_name: a.B }, "
                + "token: { type: BearerAuthenticator, api_token: \"{{ config['api_key'] }}\" }, "
                + "user: { type: BasicHttpAuthenticator, username: \"{{ config['user'] }}\" } } }")
        manifest.spec += ", way: { type: string }"
        #expect(try manifest.lines().contains("auth = { kind = \"bearer\", token = { credential = \"example_api_key\" } }"))
        let remark = try #require(try manifest.converted().findings.first)
        #expect(!remark.isLeftOut)
        #expect(remark.reason.contains("--set way="))
        #expect(try manifest.lines(["way": "user"]).contains("auth = { kind = \"basic\", username = \"me\", password = \"\" }"))
        #expect(try manifest.converted(["way": "code"]).toml == nil)
    }

    @Test(arguments: [
        "{ type: CustomAuthenticator, class_name: a.B }", "{ class_name: a.B }",
        "{ type: BearerAuthenticator, api_token: \"{{ config['api_key'] }}x\" }",
        "{ type: BearerAuthenticator, api_token: \"{{ config['api_key'] }}{{ config['secret'] }}\" }", "{ type: BearerAuthenticator }",
        "{ type: OAuthAuthenticator, client_id: a, client_secret: b, refresh_token: c }",
        "{ type: OAuthAuthenticator, token_refresh_endpoint: \"https://a.example/\", client_id: a, client_id_name: app, refresh_token: b }",
        "{ type: ApiKeyAuthenticator, api_token: \"{{ config.secret }}\", inject_into: { inject_into: path, field_name: a } }",
    ])
    func whatCannotBeSaidLeavesTheStreamOut(_ authenticator: String) throws {
        let refusals = try manifest(authenticator).refusals()
        #expect(refusals.contains { $0.key.hasPrefix("authenticator") || $0.key.contains("Authenticator") })
    }

    @Test func whatThisVersionCannotSayIsLeftOutWhole() throws {
        let supported = Capability.supported
        let jwt = manifest(
            "{ type: JwtAuthenticator, secret_key: \"{{ config['secret'] }}\", algorithm: HS256, jwt_payload: { iss: me }, header_prefix: Bearer }")
        #expect(try jwt.converted().streams == (supported.contains("auth.jwt") ? ["items"] : []))
        let body = manifest(
            "{ type: ApiKeyAuthenticator, api_token: \"{{ config.secret }}\", inject_into: { inject_into: body_json, field_name: key } }"
                + "\nhttp_method: POST")
        let conversion = try body.converted()
        if !supported.contains("auth.api-key.body") {
            #expect(conversion.toml == nil)
            #expect(conversion.findings.contains { $0.reason.hasPrefix("this version cannot say it") })
        }
    }

    @Test func whatMostStreamsUseStandsAtTheSource() throws {
        var manifest = manifest("{ type: BearerAuthenticator, api_token: \"{{ config['api_key'] }}\" }")
        manifest.streams = """
            - name: open
              retriever:
                requester: { url_base: "https://api.example.com/v1", path: /open, authenticator: { type: NoAuth } }
                record_selector: { extractor: { field_path: [] } }
            """
        let lines = try manifest.lines()
        let bearer = "auth = { kind = \"bearer\", token = { credential = \"example_api_key\" } }"
        #expect(lines.filter { $0.hasPrefix("auth = ") } == [bearer, "auth = { kind = \"none\" }"])
    }
}
