import Testing

@testable import AirbyteManifests

@Suite struct EvaluatorTests {
    private let evaluator: Evaluator

    init() throws {
        let manifest = """
            spec:
              connection_specification:
                type: object
                required: [subdomain, credentials]
                properties:
                  subdomain: { type: string }
                  token: { type: string, airbyte_secret: true }
                  region: { type: string, default: eu }
                  limit: { type: integer, default: 50 }
                  since: { type: string }
                  credentials:
                    type: object
                    oneOf:
                      - { required: [kind, key], properties: { kind: { const: key }, key: { type: string, airbyte_secret: true } } }
                      - { required: [kind, user], properties: { kind: { const: user }, user: { type: string } } }
            """
        var reader = ManifestReader(file: "m.yaml")
        let root = try #require(try reader.read(Array(manifest.utf8)).mapping)
        let settings = try ConnectorSettings(Manifest(file: "m.yaml", root: root), given: ["subdomain": "acme"])
        evaluator = Evaluator(settings: settings, parameters: ["name": ManifestValue(.text("orders"), line: 1)])
    }

    @Test(
        arguments: zip(
            [
                "plain", "{{ config['region'] }}", "{{ config.region }}", "{{ config.get('region') }}", "{{ parameters.name }}",
                "{{ parameters['name'] ~ '_x' }}", "https://{{ config.subdomain }}.example.com/{{ parameters.name }}", "{{ config.since or 'x' }}",
                "{{ config.get('since', 'y') }}", "{{ 'a' if config.since else 'b' }}", "{{ 'a' if config.region == 'eu' else 'b' }}",
                "{{ 'a' if config.region in ['us'] else 'b' }}", "{{ config.credentials.kind }}", "{{ config['region'] | upper }}",
                "{{ ' a ' | trim }}", "{{ ['a', 'b'] | join(',') }}", "{{ ','.join(['a', 'b']) }}", "{{ 'a-b'.replace('-', '+') }}",
                "{{ format_datetime('2024-03-01T10:00:00Z', '%Y/%m/%d') }}", "{{- config.region -}}", "{{ 'it\\'s {{ x }}' }}",
            ],
            [
                "plain", "eu", "eu", "eu", "orders", "orders_x", "https://acme.example.com/orders", "x", "y", "b", "a", "b", "key", "EU", "a", "a,b",
                "a,b", "a+b", "2024/03/01", "eu", "it's {{ x }}",
            ]))
    func whatIsKnownIsWorkedOut(_ text: String, _ result: String) throws {
        #expect(try evaluator.term(of: text) == .text(result))
    }

    @Test func numbersAndTruthValuesStayWhatTheyAre() throws {
        #expect(try evaluator.term(of: "{{ config.limit }}") == .integer(50))
        #expect(try evaluator.term(of: "{{ config.limit + 1 }}") == .integer(51))
        #expect(try evaluator.term(of: "{{ '12' | int }}") == .integer(12))
        #expect(try evaluator.term(of: "{{ not config.since }}") == .bool(true))
        #expect(try evaluator.term(of: "{{ none }}") == Term.none)
        #expect(try evaluator.term(of: "{{ [1, 'a'] }}") == .list([.integer(1), .text("a")]))
    }

    @Test func aSecretIsNeverAText() throws {
        #expect(try evaluator.term(of: "{{ config.token }}") == .secret(["token"]))
        #expect(try evaluator.term(of: "Token {{ config['credentials']['key'] }}") == .pieces([.text("Token "), .secret(["credentials", "key"])]))
        #expect(throws: Unsayable.self) { try evaluator.term(of: "{{ config.token | upper }}") }
    }

    @Test func whatOnlyARunKnowsStaysAReference() throws {
        #expect(try evaluator.term(of: "{{ response.paging['next'] }}") == .reference(.init(.response, [.key("paging"), .key("next")])))
        #expect(
            try evaluator.term(of: "{{ response.get('a', {}).get('b', '') }}") == .reference(.init(.response, [.key("a"), .key("b")])))
        #expect(try evaluator.term(of: "{{ last_records[-1]['id'] }}") == .reference(.init(.lastRecord, [.key("id")])))
        #expect(try evaluator.term(of: "{{ stream_slice['start_time'] }}") == .reference(.init(.since)))
        #expect(try evaluator.term(of: "{{ stream_interval.end_time }}") == .reference(.init(.until)))
        #expect(try evaluator.term(of: "{{ stream_slice.repo }}") == .reference(.init(.partition, [.key("repo")])))
        #expect(try evaluator.term(of: "{{ stream_partition.parent_slice.org }}") == .reference(.init(.parentSlice, [.key("org")])))
        #expect(try evaluator.term(of: "{{ stream_interval.start_time or '1970' }}") == .reference(.init(.since)))
        #expect(try evaluator.term(of: "{{ response.next if response.next else '' }}") == .reference(.init(.response, [.key("next")])))
    }

    @Test func timesMoveWithTheRun() throws {
        #expect(try evaluator.term(of: "{{ now_utc() }}") == .moment(.init()))
        #expect(try evaluator.term(of: "{{ now_utc().strftime('%Y') }}") == .moment(.init(format: "%Y")))
        #expect(try evaluator.term(of: "{{ day_delta(-30, format='%Y-%m-%d') }}") == .moment(.init(offset: -30 * 86_400, format: "%Y-%m-%d")))
        #expect(try evaluator.term(of: "{{ format_datetime(now_utc() - duration('P1D'), '%s') }}") == .moment(.init(offset: -86_400, format: "%s")))
        var since = Term.Reference(.since)
        since.format = "%Y-%m"
        #expect(try evaluator.term(of: "{{ format_datetime(stream_interval.start_time, '%Y-%m') }}") == .reference(since))
    }

    @Test(arguments: [
        "{{ response.page + 1 }}", "{{ response.get('a', 'b') }}", "{{ record.x if record.y else record.z }}", "{% if x %}a{% endif %}",
        "{{ config.nothing }}", "{{ unknown }}", "{{ frobnicate(1) }}", "{{ 'a' | frobnicate }}", "{{ config.credentials }}", "{{ 1 +", "{{ 'a }}",
        "{{ response.next.split('=')[1] }}", "{{ a b }}", "{{ stream_state.x }}", "{{ duration('P1M') }}", "{{ x is y z }}", "{{ $x }}",
    ])
    func theRestIsRefused(_ text: String) {
        #expect(throws: Unsayable.self) { try evaluator.term(of: text) }
    }

    @Test func nestingIsBounded() {
        let text = "{{ " + String(repeating: "(", count: 5000) + "1" + String(repeating: ")", count: 5000) + " }}"
        #expect(throws: Unsayable.self) { try evaluator.term(of: text) }
    }

    @Test func onTheFirstPageThereIsNoToken() throws {
        var first = evaluator
        first.isFirstPage = true
        #expect(try first.term(of: "{{ 500 if not next_page_token }}") == .integer(500))
        #expect(throws: Unsayable.self) { try evaluator.term(of: "{{ 500 if not next_page_token }}") }
    }
}
