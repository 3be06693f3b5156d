import SyncConfiguration

/// The streams of a manifest, while they become resources.
final class ManifestConversion {
    let manifest: Manifest
    let settings: ConnectorSettings
    let source: String
    private let check: SelfCheck
    /// In the order in which they will be written.
    private(set) var drafts: [ResourceDraft] = []
    private(set) var findings: [AirbyteFinding] = []
    /// The credentials that are referred to, in the order in which they came up.
    private(set) var credentials: [AirbyteConversion.Credential] = []
    /// What slices of a resource are called, by the resource and the field: places of templates.
    private(set) var slices: [String: [String: String]] = [:]
    private var secrets: [[String]: String] = [:]
    /// The listed streams that are done, by their names; nil: it was left out.
    private var finished: [String: ResourceDraft?] = [:]
    private var unfinished: Set<String> = []
    private var listed: [(name: String, stream: Component)] = []
    private var names: (resources: Set<String>, entities: Set<String>) = ([], [])

    init(_ manifest: Manifest, settings: ConnectorSettings, source: String, check: SelfCheck) {
        self.manifest = manifest
        self.settings = settings
        self.source = source
        self.check = check
    }

    /// Converts all streams.
    func convert() throws {
        let whole = StreamFindings(stream: nil, line: 1)
        for key in ["dynamic_streams", "stream_groups"] {
            if let value = manifest.root[key], value.isTruthy {
                whole.refuse(key, value, line: manifest.root.line(of: key), "streams that are made from other things cannot be carried over")
            }
        }
        if let budget = manifest.root["api_budget"], budget.isTruthy {
            whole.remark(
                "api_budget", budget, line: manifest.root.line(of: "api_budget"),
                "requests are not counted unless rate.requests says how many there may be; what a server says with 429 is heeded")
        }
        for value in try manifest.root["streams"].map({ try manifest.resolved($0) })?.list ?? [] {
            _ = whole.refusing("streams", line: value.line) { try list(value, whole) }
        }
        for (name, stream) in listed where finished[name] == nil { _ = finish(name, stream) }
        findings += whole.all
    }

    /// Notes a stream, or those that are there on a condition.
    private func list(_ value: ManifestValue, _ whole: StreamFindings) throws {
        let stream = try Component(value, defaultType: "DeclarativeStream", of: manifest)
        switch stream.type {
        case "DeclarativeStream": try list(stream, whole)
        case "ConditionalStreams":
            let condition = try stream.value("condition")
            let evaluator = Evaluator(settings: settings, parameters: stream.parameters)
            guard let text = condition?.text, let expression = try Evaluator.expression(text), let holds = try evaluator.truth(of: expression) else {
                return whole.refuse("ConditionalStreams.condition", condition, line: stream.line, "whether it holds is not known before a run")
            }
            if holds { return try stream.components("streams", "DeclarativeStream").forEach { try list($0, whole) } }
            whole.remark("ConditionalStreams.condition", condition, line: stream.line, "it does not hold: its streams are not there")
        default:
            let name = try stream.value("name")?.text
            let reason = "streams of this kind cannot be carried over"
            findings.append(AirbyteFinding(isLeftOut: true, line: stream.line, stream: name, key: "type", says: stream.type, reason: reason))
        }
    }

    private func list(_ stream: Component, _ whole: StreamFindings) throws {
        guard stream.type == "DeclarativeStream" else {
            return whole.refuse("streams", nil, line: stream.line, "streams of the type \(stream.type) cannot be carried over")
        }
        let name = try self.name(of: stream)
        guard !listed.contains(where: { $0.name == name }) else {
            return whole.refuse("streams", nil, line: stream.line, "two are called \"\(name)\"")
        }
        listed.append((name, stream))
    }

    private func name(of stream: Component) throws -> String {
        guard let value = try stream.value("name"), let text = value.text, !text.isEmpty else {
            throw manifest.error(line: stream.line, "a stream has no name")
        }
        return try Evaluator(settings: settings, parameters: stream.parameters).term(of: text).constantText ?? text
    }

    // MARK: One stream

    /// Converts a listed stream, and adds it if it can be said.
    private func finish(_ name: String, _ stream: Component) -> ResourceDraft? {
        unfinished.insert(name)
        defer { unfinished.remove(name) }
        let draft = newDraft(name, stream)
        let converter = StreamConverter(stream, name: name, context: self, draft: draft)
        converter.convert()
        return conclude(draft, converter)
    }

    private func conclude(_ draft: ResourceDraft, _ converter: StreamConverter) -> ResourceDraft? {
        if !converter.findings.isRefused { check.check(draft, source: source, converter.findings) }
        findings += converter.findings.all
        let isSaid = !converter.findings.isRefused
        if !draft.isOnlyParent { finished.updateValue(isSaid ? draft : nil, forKey: draft.stream) }
        guard isSaid else { return nil }
        slices[draft.name] = converter.partition?.fields ?? [:]
        draft.remarks = converter.findings.all
        drafts.append(draft)
        return draft
    }

    private func newDraft(_ name: String, _ stream: Component) -> ResourceDraft {
        let resource = Names.free(Names.resource(name)) { !names.resources.contains($0) }
        let entity = Names.free(Names.entity(name)) { candidate in
            let upper = candidate.uppercased()
            // A table is called as its entity, with a Z before it.
            return !names.entities.contains(upper) && !names.entities.contains("Z\(upper)")
                && !(upper.hasPrefix("Z") && names.entities.contains(String(upper.dropFirst())))
        }
        names.resources.insert(resource)
        names.entities.insert(entity.uppercased())
        return ResourceDraft(stream: name, name: resource, entity: entity, line: stream.line)
    }

    private func release(_ draft: ResourceDraft) {
        names.resources.remove(draft.name)
        names.entities.remove(draft.entity.name.uppercased())
    }

    // MARK: Parents

    /// The resource that lists what another stream has parts for: that of a listed stream if it asks in the same way, else one that is added.
    ///
    /// - Parameter findings: of the other stream; what stands in the way is told there.
    func parent(_ stream: Component, _ findings: StreamFindings) -> ResourceDraft? {
        guard let name = findings.refusing("parent_stream_configs.stream", line: stream.line, { try self.name(of: stream) }) else { return nil }
        guard !unfinished.contains(name) else {
            findings.refuse("parent_stream_configs.stream", nil, line: stream.line, "\"\(name)\" would be a parent of its own")
            return nil
        }
        if finished[name] == nil, let own = listed.first(where: { $0.name == name }) { _ = finish(name, own.stream) }
        unfinished.insert(name)
        defer { unfinished.remove(name) }
        let draft = newDraft(name, stream)
        draft.isOnlyParent = true
        let converter = StreamConverter(stream, name: name, context: self, draft: draft)
        converter.convert()
        let known = drafts.first { $0.stream == name && $0.request == draft.request }
        if let known, !converter.findings.isRefused {
            release(draft)
            return known
        }
        let reasons = converter.findings
        if !reasons.isRefused { check.check(draft, source: source, reasons) }
        guard !reasons.isRefused else {
            let reason = reasons.all.first(where: \.isLeftOut)
            release(draft)
            findings.refuse(
                "parent_stream_configs.stream", nil, line: stream.line,
                "its parent \"\(name)\" cannot be said: line \(reason?.line ?? stream.line): \(reason?.key ?? ""): \(reason?.reason ?? "")")
            return nil
        }
        reasons.remark(
            "parent_stream_configs.stream", nil, line: stream.line,
            "it is read besides the streams of the manifest, since \"\(findings.stream ?? "")\" has parts for what it lists")
        return conclude(draft, converter)
    }

    // MARK: Credentials

    /// What the credential for a secret of the user's is called.
    func credential(_ path: [String]) -> String {
        if let known = secrets[path] { return known }
        let short = Names.credential(source, [path.last ?? "secret"]), long = Names.credential(source, path)
        let taken = Set(credentials.map(\.name))
        let name = taken.contains(short) ? Names.free(long) { !taken.contains($0) } : short
        secrets[path] = name
        let title = settings.title(path)
        credentials.append(.init(name: name, field: path.joined(separator: "."), holds: title.isEmpty ? path.joined(separator: " ") : title))
        return name
    }

    /// What the credential is called for something that the manifest writes out, and a configuration does not.
    ///
    /// - Parameter line: where it stands. The text itself is told nowhere: it may be a secret.
    func credential(holding text: String, _ key: String, line: Int) -> String {
        let path = ["=", key, text]
        if let known = secrets[path] { return known }
        let taken = Set(credentials.map(\.name))
        let name = Names.free(Names.credential(source, [key])) { !taken.contains($0) }
        secrets[path] = name
        credentials.append(.init(name: name, field: "", holds: "the text in line \(line) of the manifest"))
        return name
    }
}
