import Secrets
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// Runs that ask for what has changed in what they send.
@Suite struct TimedBodyTests {
    /// Where a resource says from where on, and what is sent then.
    enum Body: CaseIterable {
        case json, form, variables

        private static let query = "query($since: String) { people(since: $since) { nodes { id at } } }"

        var lines: String {
            switch self {
            case .json: "method = \"POST\"\njson = { filter = { since = \"{since}\", kind = \"all\" } }"
            case .form: "method = \"POST\"\nform = { since = \"{since}\" }"
            case .variables: "query = \"\(Self.query)\"\nvariables = { since = \"{since}\", n = 1 }"
            }
        }

        func sent(_ since: String) -> String {
            switch self {
            case .json: #"{"filter":{"since":"\#(since)","kind":"all"}}"#
            case .form: "since=\(since.replacing(":", with: "%3A"))"
            case .variables: #"{"query":"\#(Self.query)","variables":{"since":"\#(since)","n":1}}"#
            }
        }
    }

    @Test(arguments: Body.allCases) func aBodySaysFromWhereOnChangesAreAskedFor(body: Body) async throws {
        let api = BodyPageTests.BodyAPI(), times = ["2020-01-01T00:00:00Z", "2024-12-30T10:00:00Z", "2024-12-31T11:30:00Z"]
        api.set(
            body.sent(times[0]),
            #"{"data": {"people": {"nodes": [{"id": 1, "at": "2024-12-30T09:00:00Z"}, {"id": 2, "at": "\#(times[1])"}]}}}"#)
        api.set(body.sent(times[1]), #"{"data": {"people": {"nodes": [{"id": 3, "at": "\#(times[2])"}]}}}"#)
        api.set(body.sent(times[2]), #"{"data": {"people": {"nodes": [{"id": 3, "at": "\#(times[2])"}]}}}"#)
        let fixture = try await api.fixture(
            ScriptedAPI.configuration(
                ScriptedAPI.resource(
                    "people", of: "Person",
                    """
                    \(body.lines)
                    records = "$.data.people.nodes"
                    incremental = { field = "$.at", start = "\(times[0])" }
                    """)))
        for _ in times {
            let report = try await fixture.sync("api/people")
            #expect(report.outcome == .succeeded, "\(report)")
        }
        #expect(fixture.transport.requests.map { $0.body?.revealed() ?? "" } == times.map { body.sent($0) })
        #expect(try await fixture.live() == ["1", "2", "3"])
        try await fixture.end()
    }

    // What is all of a value is what fills it.
    @Test(arguments: [
        ("unix", "{since}", "1577836800"), ("unix-ms", "{since}", "1577836800000"), ("unix", "{since:text}", "\"1577836800\""),
        ("unix", "{since:unix-ms}", "1577836800000"), ("unix", "{since:unix-ms:text}", "\"1577836800000\""),
        ("unix", "{since:rfc3339}", "\"2020-01-01T00:00:00Z\""), ("unix", "from {since}", "\"from 1577836800\""),
        ("rfc3339", "{since}", "\"2020-01-01T00:00:00Z\""), ("rfc3339", "{since:unix}", "1577836800"), ("%s", "{since}", "\"1577836800\""),
    ])
    func aTimeThatIsANumberIsOneInJSON(format: String, template: String, sent: String) async throws {
        let api = BodyPageTests.BodyAPI()
        api.set("{\"from\":\(sent)}", "[{\"id\": 1}]")
        let fixture = try await api.fixture(
            ScriptedAPI.configuration(
                ScriptedAPI.resource(
                    "people", of: "Person",
                    """
                    method = "POST"
                    json = { from = "\(template)" }
                    incremental = { field = "$.at", start = "2020-01-01T00:00:00Z", request_format = "\(format)" }
                    """)))
        let report = try await fixture.sync("api/people")
        #expect(report.outcome == .succeeded, "\(report)")
        try await fixture.end()
    }

    @Test func whatAParentHasIsInJSONWhatItIs() async throws {
        let api = BodyPageTests.BodyAPI()
        api.set("{\"all\":true}", #"[{"id": 7, "name": "5", "age": 40}]"#)
        let sent = #"{"id":7,"name":"5","age":40,"text":"7","two":"7-40","in":[7]}"#
        api.set(sent, #"[{"id": 1}]"#)
        let fixture = try await api.fixture(
            ScriptedAPI.configuration(
                ScriptedAPI.resource("people", of: "Person", "method = \"POST\"\njson = { all = true }"),
                ScriptedAPI.resource(
                    "tasks", of: "Task",
                    """
                    method = "POST"
                    for_each = { resource = "people", as = "p" }
                    json = { id = "{p.id}", name = "{p.name}", age = "{p.age}", text = "{p.id:text}", two = "{p.id}-{p.age}", in = ["{p.id}"] }
                    """),
                entities: ScriptedAPI.entities() + """

                    [entity.Task]
                    key = ["id"]
                    [entity.Task.attributes]
                    id = { type = "int64", optional = false }
                    """))
        try await fixture.sync()
        #expect(fixture.transport.requests.map { $0.body?.revealed() ?? "" } == ["{\"all\":true}", sent])
        try await fixture.end()
    }
}
