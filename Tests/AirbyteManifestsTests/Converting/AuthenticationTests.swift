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
            """.split(separator: "\n").joined(separator: " ").replacing("type: ApiKey,", with: "type: SessionTokenRequestApiKeyAuthenticator,"))
        let auth =
            "auth = { kind = \"session\", login = { url = \"https://api.example.com/login\", json = { user = \"me\", "
            + "password = { credential = \"example_secret\" } } }, token_path = \"$.data.token\", lifetime = \"1h\", "
            + "send_as = { prefix = \"\", name = \"X-Session\" } }"
        #expect(try manifest.lines().contains(auth))
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
