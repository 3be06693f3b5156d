import SyncConfiguration
import Testing

@testable import AirbyteManifests

@Suite struct RequesterTests {
    @Test func aStreamIsAResourceWithAnEntity() throws {
        let lines = try ManifestText().lines()
        let expected = [
            "[[source]]", "name = \"example\"", "base_url = \"https://api.example.com/v1\"", "parse = { records_absent = \"no-records\" }",
            "[[source.resource]]", "name = \"items\"", "entity = \"Item\"", "path = \"/items\"", "records = \"$.data\"", "[entity.Item]",
            "key = [\"id\"]", "[entity.Item.attributes]", "id = { type = \"string\" }", "name = { type = \"string\" }",
        ]
        #expect(lines.filter { expected.contains($0) } == expected)
        #expect(try ManifestText().converted().findings == [])
    }

    @Test(
        arguments: zip(
            [
                ["https://api.example.com/v1/", "items"], ["https://api.example.com", "/items/"], ["https://api.example.com/v1/", "\"\""],
                ["\"https://{{ config['host'] }}/v1\"", "/items"], ["https://api.example.com/", "https://other.example.com/items?x=1"],
                ["https://api.example.com/v1", "\"{{ parameters.x or 'items' }}\""],
            ],
            [
                ["https://api.example.com/v1", "/items"], ["https://api.example.com", "/items/"], ["https://api.example.com/v1", "/"],
                ["https://fill-in-host/v1", "/items"], ["https://other.example.com", "/items?x=1"], ["https://api.example.com/v1", "/items"],
            ]))
    func theAddressIsPutTogetherAsConnectorsDo(_ address: [String], _ result: [String]) throws {
        var manifest = ManifestText()
        (manifest.base, manifest.path) = (address[0], address[1])
        manifest.spec += ", host: { type: string }"
        manifest.required = "[host]"
        let lines = try manifest.lines()
        #expect(lines.contains("base_url = \"\(result[0])\""))
        #expect(lines.contains("path = \"\(result[1])\""))
    }

    @Test func whatTheUserSaysStandsInTheConfigurationAndElseAPlaceholder() throws {
        var manifest = ManifestText()
        manifest.base = "\"https://{{ config['subdomain'] }}.example.com\""
        manifest.spec += ", subdomain: { type: string, title: Your subdomain }, region: { type: string, default: eu }, unused: { type: string }"
        manifest.required = "[subdomain]"
        manifest.requester = "request_parameters: { region: \"{{ config.region }}\" }"
        let without = try manifest.converted()
        #expect(without.values.map(\.source) == [.placeholder, .manifest])
        #expect(without.toml?.contains("#   fill-in-subdomain: subdomain, Your subdomain") == true)
        #expect(try manifest.lines().contains("params = { region = \"eu\" }"))
        let lines = try manifest.lines(["subdomain": "acme", "region": "us"])
        #expect(lines.contains("base_url = \"https://acme.example.com\""))
        #expect(lines.contains("params = { region = \"us\" }"))
        #expect(throws: ManifestError.self) { try manifest.converted(["subdomian": "acme"]) }
        #expect(throws: ManifestError.self) { try manifest.converted(["api_key": "hunter2"]) }
    }

    @Test func parametersAndHeadersKeepTheirWords() throws {
        var manifest = ManifestText()
        manifest.requester = """
            request_parameters: { a: "1", b: "{{ config.none or '' }}", c: "x{y}", fields: [p, q], flag: true }
            request_headers: { X-Version: "2", Accept-Encoding: gzip, User-Agent: me }
            """
        manifest.spec += ", none: { type: string }"
        let lines = try manifest.lines()
        #expect(lines.contains("params = { a = \"1\", c = \"x{{y}}\", fields = [\"p\", \"q\"], flag = \"True\" }"))
        #expect(lines.contains("headers = { X-Version = \"2\" }"))
        #expect(lines.contains("http = { user_agent = \"me\" }"))
        #expect(try manifest.converted().findings.map(\.key) == ["requester.request_headers.Accept-Encoding"])
    }

    @Test func secretsInRequestsAreCredentials() throws {
        var manifest = ManifestText()
        manifest.requester = """
            request_parameters: { key: "{{ config['api_key'] }}" }
            request_headers: { X-App: "{{ config['api_key'] }}", X-Signed: "Token {{ config['api_key'] }}", X-Api-Key: "{{ config['plain'] }}" }
            """
        manifest.spec += ", plain: { type: string, default: abc }"
        let lines = try manifest.lines()
        #expect(lines.contains("secret_params = { key = { credential = \"example_api_key\" } }"))
        #expect(
            lines.contains("secret_headers = { X-App = { credential = \"example_api_key\" }, X-Api-Key = { credential = \"example_plain\" } }"))
        #expect(
            lines.contains(
                "auth = { kind = \"api-key\", name = \"X-Signed\", prefix = \"Token \", value = { credential = \"example_api_key\" } }"))
        let conversion = try manifest.converted()
        #expect(conversion.credentials.map(\.name) == ["example_api_key", "example_plain"])
        #expect(conversion.credentials.first?.holds == "API key")
        #expect(conversion.toml?.contains("hunter2") == false)
    }

    @Test(arguments: [
        "/items/{{ config['api_key'] }}", "/items/{{ response.x }}", "/items/{{ stream_interval.start_time }}", "/items/{{ stream_partition.x }}",
        "/items/{{ now_utc() }}", "/items/{{ day_delta(-1) }}",
    ])
    func whatAnAddressCannotSayLeavesTheStreamOut(_ path: String) throws {
        var manifest = ManifestText()
        manifest.path = "\"\(path)\""
        let refusals = try manifest.refusals()
        #expect(refusals.map(\.key) == ["requester.url"])
        #expect(refusals.allSatisfy { $0.line == (try? manifest.line(of: "type: HttpRequester")) })
    }

    @Test func timesOfTheRunAreTemplates() throws {
        var manifest = ManifestText()
        manifest.path = "\"/items/{{ now_utc().strftime('%Y-%m') }}\""
        manifest.requester = "request_parameters: { day: \"{{ today_utc() }}\" }"
        let lines = try manifest.lines()
        #expect(lines.contains("path = \"/items/{now:%Y-%m}\""))
        #expect(lines.contains("params = { day = \"{now:%Y-%m-%d}\" }"))
    }

    @Test func aBodyIsWhatConnectorsWouldSend() throws {
        var manifest = ManifestText()
        manifest.requester = """
            http_method: POST
            request_body_json: { types: "[ \\"A\\" ]", deep: { n: "5", flag: "{{ False }}" }, text: "x {y}", nothing: "{{ config.none }}" }
            """
        manifest.spec += ", none: { type: string }"
        let lines = try manifest.lines()
        #expect(lines.contains("method = \"POST\""))
        #expect(lines.contains("json = { types = [\"A\"], deep = { n = 5, flag = false }, text = \"x {{y}}\" }"))
        #expect(lines.contains("idempotent = true"))
    }

    @Test func aBodyMayBeAFormAQueryOrATextOfJSON() throws {
        var form = ManifestText()
        form.requester = "http_method: POST\nrequest_body_data: { a: b, c: \"{{ config.none }}\" }"
        form.spec += ", none: { type: string }"
        #expect(try form.lines().contains("form = { a = \"b\" }"))
        var query = ManifestText()
        query.fieldPath = "[data, items]"
        query.requester = """
            request_body: { type: RequestBodyGraphQL, value: { query: "query($n: Int) { items(n: $n) { id } }", variables: { n: 5 } } }
            """
        let lines = try query.lines()
        #expect(lines.contains("query = \"query($n: Int) { items(n: $n) { id } }\""))
        #expect(lines.contains("variables = { n = 5 }"))
        #expect(!lines.contains("method = \"POST\""))
        var text = ManifestText()
        text.requester = "http_method: POST\nrequest_body_json: '{\"a\": \"{{ config.word }}\", \"b\": true}'"
        text.spec += ", word: { type: string, default: w }"
        #expect(try text.lines().contains("json = { a = \"w\", b = true }"))
    }

    @Test(arguments: [
        "request_body_json: { a: 1 }", "http_method: PUT", "http_method: POST\nrequest_body_data: plain",
        "http_method: POST\nrequest_body_json: { a: \"{{ config['api_key'] }}\" }", "unheard_of: 1", "request_parameters: a=b",
        "query_properties: { type: QueryProperties }",
    ])
    func whatARequestCannotSayLeavesTheStreamOut(_ requester: String) throws {
        var manifest = ManifestText()
        manifest.requester = requester
        #expect(try !manifest.refusals().isEmpty)
    }

    @Test func otherServersAreSourcesOfTheirOwn() throws {
        var manifest = ManifestText()
        manifest.streams = """
            - type: DeclarativeStream
              name: people
              retriever:
                requester: { url: "https://people.example.org/all" }
                record_selector: { extractor: { field_path: [] } }
            """
        let conversion = try manifest.converted()
        #expect(conversion.sources == ["example", "example-2"])
        let lines = try manifest.lines()
        #expect(lines.contains("name = \"example-2\""))
        #expect(lines.contains("base_url = \"https://people.example.org/all\""))
        #expect(lines.contains("document = { path = \"$\", type = \"json\" }"))
        #expect(lines.contains("key = \"content\""))
        #expect(lines.contains("records = \"$\""))
    }
}
