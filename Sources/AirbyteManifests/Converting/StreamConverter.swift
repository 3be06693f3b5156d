import JSONPaths
import SyncConfiguration

/// Turns one stream into the draft of a resource. What it cannot say it refuses by name, and goes on, so that all reasons are told at once.
final class StreamConverter {
    let context: ManifestConversion
    let stream: Component
    let findings: StreamFindings
    let draft: ResourceDraft
    var evaluator: Evaluator
    /// How increments are asked for; nil: everything is asked for each time.
    var increment: IncrementPlan?
    /// What the parts of the resource are called in expressions; nil: it is one list, or its parts cannot be said.
    var partition: PartitionPlan?
    /// Whether the manifest divides it into parts.
    var hasParts = false
    /// Fields that every record gets, whatever it says: names and templates.
    var constants: [(name: String, text: String)] = []
    /// Fields that get the time of the run.
    var clocked: Set<String> = []
    /// Fields that are taken away.
    var removed: Set<String> = []
    /// What options of parts put into requests, once these are known.
    var pendingOptions: [(component: Component, key: String, place: String)] = []
    /// Whether an answer leads to the next page by an address.
    var followsLinks = false
    /// What takes a token out of an address that is followed instead, and the parameter that it goes to; nil: nothing does.
    var followed: (value: ManifestValue, parameter: String)?

    init(_ stream: Component, name: String, context: ManifestConversion, draft: ResourceDraft) {
        self.context = context
        self.stream = stream
        self.draft = draft
        findings = StreamFindings(stream: name, line: stream.line)
        evaluator = Evaluator(settings: context.settings, parameters: stream.parameters)
    }

    /// Fills the draft.
    func convert() {
        _ = findings.refusing("stream") { try convertAll() }
    }

    private func convertAll() throws {
        guard let retriever = try stream.component("retriever", "SimpleRetriever") else { return findings.refuse("retriever", nil, "it has none") }
        let known = ["retriever", "incremental_sync", "schema_loader", "transformations", "state_migrations", "file_uploader"]
        for entry in stream.fields(besides: known) {
            findings.remark("stream.\(entry.key)", entry.value, line: entry.line, "a stream has no such field, and it means nothing")
        }
        if let upload = try stream.value("file_uploader") { findings.refuse("file_uploader", upload, "files are not fetched") }
        guard retriever.type == "SimpleRetriever" else {
            return findings.refuse("retriever", named(retriever), "only a SimpleRetriever can be carried over")
        }
        expect(
            retriever,
            handled: [
                "requester", "record_selector", "paginator", "partition_router", "decoder", "ignore_stream_slicer_parameters_on_paginated_requests",
            ])
        guard let requester = try retriever.component("requester", "HttpRequester") else { return findings.refuse("requester", nil, "it has none") }
        guard requester.type == "HttpRequester" else {
            return findings.refuse("requester", named(requester), "requests that a program makes cannot be carried over")
        }
        try planIncrement()
        try planPages(of: retriever)
        // Each part is tried, whatever became of the others: all reasons are wanted.
        let parts: [(String, () throws -> Void)] = [
            ("partition_router", { try self.convertPartitions(of: retriever) }), ("transformations", { try self.convertTransformations() }),
            ("requester", { try self.convertRequester(requester) }), ("authenticator", { try self.convertAuthentication(of: requester) }),
            ("paginator", { try self.convertPages(of: retriever) }), ("record_selector", { try self.convertRecords(of: retriever) }),
            ("error_handler", { try self.convertErrors(of: requester) }), ("incremental_sync", { try self.convertIncrement() }),
            ("schema_loader", { try self.convertSchema() }), ("primary_key", { try self.convertKey() }),
        ]
        for (key, convert) in parts { _ = findings.refusing(key) { try convert() } }
        tellFollowed()
        // What pages, times and secrets put into it makes a body as well.
        if draft.method == "GET", draft.sendsBody {
            findings.refuse("requester.request_body", nil, line: requester.line, "a GET that sends a body cannot be said")
        }
    }

    // MARK: What all parts use

    /// The type of a component, as what the manifest says there.
    func named(_ component: Component) -> ManifestValue { ManifestValue(.text(component.type), line: component.line) }

    /// Refuses fields that nobody handles: they might change what is asked for.
    func expect(_ component: Component, handled: [String]) {
        for entry in component.fields(besides: handled) {
            findings.refuse("\(component.type).\(entry.key)", entry.value, line: entry.line, "this field is not known here")
        }
    }

    /// An evaluator for the texts of a component.
    func evaluator(for component: Component) -> Evaluator {
        var result = self.evaluator
        result.parameters = component.parameters
        return result
    }

    /// A text that is known before a run.
    /// - Throws: `Unsayable` if it is not.
    func constant(_ value: ManifestValue, in component: Component) throws -> String {
        let term = try evaluator(for: component).term(value)
        if case .secret = term { throw Unsayable("a secret cannot stand there") }
        guard let text = term.constantText else { throw Unsayable("it has to be known before a run") }
        return text
    }

    /// A whole number that is known before a run; nil: there is none.
    func integer(_ key: String, in component: Component) throws -> Int? {
        guard let value = try component.value(key), !value.isNull else { return nil }
        let text = try constant(value, in: component)
        if text.isEmpty { return nil }
        guard let number = Int(text) ?? Double(text).flatMap({ $0 == $0.rounded() && abs($0) < 1e15 ? Int($0) : nil }) else {
            throw Unsayable("\(key): a whole number was expected, found \(value.brief)")
        }
        return number
    }

    /// The names of a field that may be nested: `["a", "b"]` for `a.b`.
    func names(_ value: ManifestValue, in component: Component) throws -> [String] {
        try (value.list ?? [value]).map { try constant(context.manifest.resolved($0), in: component) }
    }

    /// A path from what an expression refers to.
    /// - Throws: `Unsayable` where it counts from the end.
    static func path(_ steps: [Term.Reference.Step]) throws -> JSONPath {
        JSONPath(
            segments: try steps.map { step -> JSONPath.Segment in
                switch step {
                case .key(let key): return .key(key)
                case .index(let index):
                    guard (0...1_000_000).contains(index) else { throw Unsayable("counting from the end is not known here") }
                    return .index(index)
                }
            })
    }
}
