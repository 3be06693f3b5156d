import Foundation
import ManifestTestSupport
import TestTraits
import Testing

/// The service that manifests are tried on: it is no use unless it refuses what is wrong.
@Suite struct ManifestAPITests {
    /// The seventh of May 2026.
    private static let now = 1_778_112_000_000

    private static let manifest = """
        type: DeclarativeSource
        definitions:
          base:
            type: HttpRequester
            url_base: "http://127.0.0.1/v1/"
            authenticator: {type: BearerAuthenticator, api_token: "{{ config['api_key'] }}"}
        streams:
          - type: DeclarativeStream
            name: users
            primary_key: id
            retriever:
              type: SimpleRetriever
              requester: {$ref: "#/definitions/base", path: users, request_parameters: {expand: all}}
              record_selector:
                type: RecordSelector
                extractor: {type: DpathExtractor, field_path: [data]}
                record_filter: {type: RecordFilter, condition: "{{ record['status'] == 'active' }}"}
              paginator:
                type: DefaultPaginator
                page_token_option: {type: RequestOption, inject_into: request_parameter, field_name: page}
                page_size_option: {type: RequestOption, inject_into: request_parameter, field_name: limit}
                pagination_strategy: {type: PageIncrement, page_size: 3, start_from_page: 1}
            schema_loader:
              type: InlineSchemaLoader
              schema: {properties: {id: {type: integer}, status: {type: string, enum: [active, closed]}}}
          - type: DeclarativeStream
            name: notes
            primary_key: [id]
            retriever:
              type: SimpleRetriever
              requester: {$ref: "#/definitions/base", path: "users/{{ stream_partition.user }}/notes"}
              record_selector: {type: RecordSelector, extractor: {type: DpathExtractor, field_path: []}}
              partition_router:
                type: SubstreamPartitionRouter
                parent_stream_configs:
                  - type: ParentStreamConfig
                    parent_key: id
                    partition_field: user
                    stream: {type: DeclarativeStream, name: users}
            incremental_sync:
              type: DatetimeBasedCursor
              cursor_field: changed
              datetime_format: "%Y-%m-%dT%H:%M:%SZ"
              start_time_option: {type: RequestOption, inject_into: request_parameter, field_name: since}
              start_datetime: "2020-01-01T00:00:00Z"
        spec:
          connection_specification:
            properties: {api_key: {type: string, airbyte_secret: true}}
        """

    private static func ask(_ api: ManifestAPI, _ target: String, token: String = "SECRET-api_key") -> APIResponse {
        api.answer(APIRequest(method: "GET", target: target, headers: ["authorization": "Bearer \(token)"]))
    }

    @Test(.longComputation) func pagesLeadToAllThatThereIs() throws {
        let api = try ManifestAPI(yaml: Self.manifest, now: Self.now)
        #expect(api.foreignStreams == [:] && api.streamNames == ["users", "notes"])
        var records: [DataValue] = [], page = 1
        while true {
            let answer = Self.ask(api, "/v1/users?expand=all&limit=3&page=\(page)")
            let some = try #require(answer.body["data"]?.list)
            records += some
            page += 1
            if some.count < 3 { break }
        }
        // The service sends what the filter leaves out, too.
        let active = records.filter { $0["status"] == .text("active") }
        #expect(active.count < records.count && !active.isEmpty)
        #expect(active == api.truth.first { $0.name == "users" }?.records.map(\.raw))
        #expect(Set(records.map { $0["id"]?.shown ?? "" }).count == records.count)
        #expect(api.faults == [])
    }

    @Test(arguments: [
        ("/v1/users?expand=all&limit=3&page=1", "nobody", 401), ("/v1/users?expand=all&limit=4", "SECRET-api_key", 400),
        ("/v1/users?limit=3", "SECRET-api_key", 400), ("/v1/users?expand=all", "SECRET-api_key", 400),
        ("/v1/users?expand=all&limit=3&page=0", "SECRET-api_key", 400), ("/v1/users?expand=all&limit=3&since=2026-01-01", "SECRET-api_key", 400),
        ("/v1/user?expand=all&limit=3", "SECRET-api_key", 404), ("/v1/users/nobody/notes", "SECRET-api_key", 404),
    ])
    func whatTheManifestDoesNotSayIsRefused(target: String, token: String, status: Int) throws {
        let api = try ManifestAPI(yaml: Self.manifest, now: Self.now)
        #expect(Self.ask(api, target, token: token).status == status)
        #expect(api.faults.count == 1)
    }

    @Test(.longComputation) func whoAsksForWhatHasChangedGetsThatAlone() throws {
        let api = try ManifestAPI(yaml: Self.manifest, now: Self.now)
        let user = try #require(api.truth.first { $0.name == "users" }?.records.first?.final["id"]?.shown)
        let before = Self.ask(api, "/v1/users/\(user)/notes")
        #expect(before.status == 200 && (before.body.list ?? []).count > 3)
        let later = Self.ask(api, "/v1/users/\(user)/notes?since=2026-05-01T00:00:00Z")
        #expect(later.body.list == [])
        api.change(at: Self.now)
        let changed = Self.ask(api, "/v1/users/\(user)/notes?since=2026-05-01T00:00:00Z")
        // Two that were there, and two that are new.
        #expect(changed.body.list?.count == 4)
        #expect(changed.body.list?.allSatisfy { $0["changed"] == .text("2026-05-07T00:00:00Z") } == true)
        let after = Self.ask(api, "/v1/users/\(user)/notes")
        #expect((after.body.list ?? []).count == (before.body.list ?? []).count + 2)
        #expect(Self.ask(api, "/v1/users/\(user)/notes?since=yesterday").status == 400)
        #expect(api.faults.count == 1)
    }

    @Test func aTokenEndsOnceAndAnotherOneIsGivenOut() throws {
        let yaml = Self.manifest.replacingOccurrences(
            of: #"{type: BearerAuthenticator, api_token: "{{ config['api_key'] }}"}"#,
            with: #"{type: OAuthAuthenticator, token_refresh_endpoint: "http://127.0.0.1/token", client_id: me, "#
                + #"client_secret: "{{ config['api_key'] }}", grant_type: client_credentials}"#)
        let api = try ManifestAPI(yaml: yaml, now: Self.now)
        func token(_ secret: String) -> APIResponse {
            let form = "grant_type=client_credentials&client_id=me&client_secret=\(secret)"
            return api.answer(APIRequest(method: "POST", target: "/token", body: Array(form.utf8)))
        }
        #expect(token("guess").status == 401 && api.faults.count == 1)
        let first = try #require(token("SECRET-api_key").body["access_token"]?.text)
        var statuses: [Int] = []
        for _ in 0..<10 { statuses.append(Self.ask(api, "/v1/users?expand=all&limit=3", token: first).status) }
        #expect(statuses == [200, 200, 200, 200, 200, 200, 401, 401, 401, 401])
        let second = try #require(token("SECRET-api_key").body["access_token"]?.text)
        #expect(second != first)
        #expect((0..<10).allSatisfy { _ in Self.ask(api, "/v1/users?expand=all&limit=3", token: second).status == 200 })
        #expect(Self.ask(api, "/v1/users?expand=all&limit=3", token: first).status == 401)
        // That it has ended is nobody's fault.
        #expect(api.faults.count == 1)
    }

    @Test(.longComputation) func everyStreamOfTheMostFrequentTraitsIsUnderstood() throws {
        for (service, facts) in StreamFacts.grouped(try ManifestTraits.fixture()) {
            let writer = ManifestWriter(connector: service, streams: facts, base: "http://127.0.0.1:1", now: Self.now)
            let yaml = writer.yaml
            #expect(writer.yaml == yaml)
            let api = try ManifestAPI(yaml: yaml, now: Self.now)
            // What is code is for nobody to act out.
            let code = Set(facts.filter(\.isCode).map(\.stream))
            #expect(Set(api.foreignStreams.keys) == code, "\(service): \(api.foreignStreams)")
            #expect(Set(api.streamNames) == Set(facts.map(\.stream)).subtracting(code), "\(service)")
            let before = api.truth
            #expect(before.contains { $0.records.count > 3 }, "\(service)")
            api.change(at: Self.now)
            for (old, new) in zip(before, api.truth) {
                #expect(new.records.count >= old.records.count && new.changedCount > 0, "\(service) \(new.name)")
            }
        }
    }

    @Test(.longComputation) func aManifestIsReadAsItWasWritten() throws {
        let value = DataValue.having([
            ("plain", .text("word")), ("quoted", .text("{{ config['a'] }}: \"b\"\n#")), ("yes", .text("no")), ("number", .text("12")),
            ("list", .list([.int(1), .double(1.5), .null, .bool(true), .list([.list([.text("a b")]), .list([])])])),
            ("object", .having([("inner", .list([.having([("a", .int(1)), ("b", .having([("c", .text("d"))]))])]))])), ("empty", .object([])),
        ])
        #expect(try DataValue(yaml: value.yaml) == value)
        #expect(try DataValue(json: value.json.utf8) == value)
    }
}
