import Synchronization

/// A service that behaves as a declarative manifest says, with made-up records.
///
/// It reads the manifest by itself, and shares nothing with what turns manifests into configurations. What is not in the manifest's words is refused,
/// and remembered as a fault of the client.
public final class ManifestAPI: Sendable {
    /// What users of the manifest fill in.
    public let configuration: ManifestConfiguration
    /// Streams of which nothing is known here, and why: what they are made of is code, or is not understood.
    public let foreignStreams: [String: String]
    /// The names of the others.
    public let streamNames: [String]

    private struct State: Sendable {
        var streams: [StreamRecords]
        /// By path; streams may say other things of one of them.
        var services: [String: TokenService]
        /// By method and path, for those without marks; and those with marks.
        var endpoints: [String: [Endpoint]] = [:]
        var patterns: [(method: String, path: TextPattern, endpoint: Endpoint)] = []
        var faults: [String] = []
        var requests = 0
    }

    /// Whose request it may be.
    private struct Endpoint {
        let stream: Int
        let part: Int
    }

    private let state: Mutex<State>
    private let scope: TemplateScope
    private let span: Range<Int>

    /// - Parameters:
    ///   - yaml: the manifest.
    ///   - now: milliseconds since 1970; the records were changed in the sixty days before the tenth before it.
    public init(yaml: String, now: Int) throws {
        let document = try ManifestDocument(yaml: yaml)
        let configuration = ManifestConfiguration(document.source)
        let scope = TemplateScope(["config": configuration.value])
        let day = 86_400_000
        let span = (now / day - 60) * day..<(now / day - 10) * day
        var declared: [DeclaredStream] = [], foreign: [String: String] = [:]
        for stream in document.streams {
            do {
                declared.append(try DeclaredStream(stream, scope))
            } catch {
                foreign[stream["name"]?.text ?? ""] = "\(error)"
            }
        }
        let ordered = Self.ordered(declared, &foreign)
        let referenced = Self.referencedFields(ordered)
        var services: [String: TokenService] = [:]
        for stream in ordered {
            for case .token(let authenticator, _, _) in AuthenticationWay.all(stream.authenticator, scope) {
                guard let service = try TokenService(authenticator, scope), services[service.path] == nil else { continue }
                services[service.path] = service
            }
        }
        var records: [StreamRecords] = []
        for stream in ordered {
            records.append(StreamRecords(stream, referenced: referenced[stream.name] ?? [], configuration: configuration.value))
        }
        var made = State(streams: records, services: services)
        Self.divide(&made, at: nil, span)
        for records in made.streams {
            let stream = records.stream
            if Self.parents(of: stream).contains(where: { foreign[$0.stream] != nil }) {
                foreign[stream.name] = "nothing is known of a parent"
            } else if AuthenticationWay.all(stream.authenticator, scope).isEmpty {
                foreign[stream.name] = "nobody knows how it authenticates"
            } else if !Self.canBeServed(records) {
                // A paginator of which no answer makes sense is not understood.
                foreign[stream.name] = "no answer leads its paginator on"
            }
        }
        Self.index(&made)
        self.configuration = configuration
        self.scope = scope
        self.span = span
        foreignStreams = foreign
        streamNames = ordered.map(\.name).filter { foreign[$0] == nil }
        state = Mutex(made)
    }

    // MARK: From outside

    /// What was wrong with requests so far.
    public var faults: [String] { state.withLock { $0.faults } }
    public var requestCount: Int { state.withLock { $0.requests } }

    /// What there is now, without the streams of which nothing is known.
    public var truth: [StreamTruth] {
        let streams = state.withLock { $0.streams }
        return streams.filter { foreignStreams[$0.stream.name] == nil }.map { records in
            var all: [StreamTruth.Record] = []
            for part in records.parts {
                for item in part.items {
                    guard let final = records.final(item, in: part) else { continue }
                    all.append(StreamTruth.Record(raw: records.raw(item, in: part), final: final))
                }
            }
            let changed = records.parts.flatMap(\.items).filter { $0.revision > 0 }.count
            return StreamTruth(name: records.stream.name, records: all, unknownFields: records.unknownFields, changedCount: changed)
        }
    }

    /// In every stream some records are changed, some come to it, and most stay as they are.
    /// - Parameter now: milliseconds since 1970.
    public func change(at now: Int) {
        state.withLock { state in
            for index in state.streams.indices { state.streams[index].change(at: now) }
            Self.divide(&state, at: now, span)
            Self.index(&state)
        }
    }

    public func answer(_ request: APIRequest) -> APIResponse {
        state.withLock { state in
            state.requests += 1
            do throws(RequestFault) {
                return try answer(request, &state)
            } catch {
                if !error.isExpected { state.faults.append("\(request.method) \(request.target): \(error.text)") }
                return APIResponse(error.status, .having([("error", .text(error.text))]))
            }
        }
    }

    // MARK: Streams and parts

    /// Parents first. A stream whose parent is not there, or nothing is known of, is foreign itself.
    private static func ordered(_ streams: [DeclaredStream], _ foreign: inout [String: String]) -> [DeclaredStream] {
        var result: [DeclaredStream] = [], rest = streams
        while !rest.isEmpty {
            let known = Set(result.map(\.name))
            let ready = rest.filter { parents(of: $0).allSatisfy { known.contains($0.stream) } }
            guard !ready.isEmpty else {
                for stream in rest { foreign[stream.name] = "nothing is known of a parent" }
                return result
            }
            result += ready
            let names = Set(ready.map(\.name))
            rest.removeAll { names.contains($0.name) }
        }
        return result
    }

    private static func parents(of stream: DeclaredStream) -> [DeclaredRouter.Parent] {
        stream.routers.flatMap { router -> [DeclaredRouter.Parent] in
            if case .parents(let parents) = router { parents } else { [] }
        }
    }

    private static func referencedFields(_ streams: [DeclaredStream]) -> [String: Set<String>] {
        var fields: [String: Set<String>] = [:]
        for parent in streams.flatMap({ parents(of: $0) }) {
            fields[parent.stream, default: []].insert(parent.key)
            for path in parent.extra { if let first = path.first { fields[parent.stream, default: []].insert(first) } }
        }
        return fields
    }

    private static func divide(_ state: inout State, at time: Int?, _ span: Range<Int>) {
        for index in state.streams.indices {
            var wanted = [StreamPart()]
            for router in state.streams[index].stream.routers {
                let parts = Self.parts(router, state.streams)
                wanted = wanted.flatMap { one in parts.map { one.product($0) } }
            }
            state.streams[index].divide(into: wanted, at: time, within: span)
        }
    }

    private static func parts(_ router: DeclaredRouter, _ streams: [StreamRecords]) -> [StreamPart] {
        switch router {
        case .values(let values, let field, let place):
            return values.map { value in
                var part = StreamPart()
                part.value.set(.text(value), at: [field])
                part.subjects = ["=\(value)"]
                if let place { part.options = [StreamPart.Option(place: place, text: value)] }
                return part
            }
        case .parents(let parents):
            return parents.flatMap { parent -> [StreamPart] in
                guard let records = streams.first(where: { $0.stream.name == parent.stream }) else { return [] }
                return records.parts.flatMap { above in above.items.compactMap { Self.part(of: parent, records, $0, above) } }
            }
        }
    }

    private static func part(of parent: DeclaredRouter.Parent, _ records: StreamRecords, _ item: StreamItem, _ above: StreamPart) -> StreamPart? {
        guard let record = records.final(item, in: above), let key = record.at(parent.key.split(separator: ".").map(String.init)), !key.isNull
        else { return nil }
        var part = StreamPart()
        part.value.set(key, at: [parent.field])
        part.value.set(above.value, at: ["parent_slice"])
        for path in parent.extra { part.extra.set(record.at(path) ?? .null, at: path) }
        if let place = parent.place { part.options = [StreamPart.Option(place: place, text: key.shown)] }
        part.subjects = above.subjects + ["\(parent.stream)#\(item.serial)"]
        part.origins = above.origins
        part.origins?[parent.stream] = item.serial
        return part
    }

    private static func index(_ state: inout State) {
        state.endpoints = [:]
        state.patterns = []
        for (number, records) in state.streams.enumerated() {
            for (place, part) in records.parts.enumerated() {
                let address = records.stream.address.text(in: records.scope(of: part))
                let path = TokenService.path(of: address), endpoint = Endpoint(stream: number, part: place)
                if TemplateScope.hasMark(path) {
                    state.patterns.append((method: records.stream.method, path: TextPattern(path), endpoint: endpoint))
                } else {
                    state.endpoints["\(records.stream.method) \(path)", default: []].append(endpoint)
                }
            }
        }
    }

    private static func canBeServed(_ records: StreamRecords) -> Bool {
        guard let part = records.parts.first else { return true }
        let listing = Listing(records: records, part: part, base: "http://127.0.0.1")
        return listing.canGoOn
    }

    // MARK: Answering

    private func answer(_ request: APIRequest, _ state: inout State) throws(RequestFault) -> APIResponse {
        let reading = RequestReading(request)
        if var service = state.services[reading.path] {
            let answer = try service.issue(reading, scope)
            state.services[reading.path] = service
            return APIResponse(200, answer)
        }
        var candidates = state.endpoints["\(reading.method) \(reading.path)"] ?? []
        if candidates.isEmpty {
            candidates = state.patterns.filter { $0.method == reading.method && $0.path.captures(in: reading.path) != nil }.map(\.endpoint)
        }
        guard !candidates.isEmpty else { throw RequestFault("nothing is at \(reading.method) \(reading.path)", status: 404) }
        // Several streams may have one address, and differ in parameters or body.
        var fault: RequestFault?
        for endpoint in candidates {
            do throws(RequestFault) {
                return try answer(reading, endpoint, host: request.headers["host"] ?? "127.0.0.1", &state)
            } catch {
                if fault == nil || error.isExpected { fault = error }
            }
        }
        throw fault ?? RequestFault("nothing is there", status: 404)
    }

    private func answer(
        _ given: RequestReading, _ endpoint: Endpoint, host: String, _ state: inout State
    ) throws(RequestFault) -> APIResponse {
        var reading = given
        let records = state.streams[endpoint.stream], part = records.parts[endpoint.part]
        let listing = Listing(records: records, part: part, base: "http://\(host)")
        try listing.prepare(&reading)
        try authenticate(records.stream, &reading, &state)
        return try listing.answer(&reading)
    }

    private func authenticate(_ stream: DeclaredStream, _ reading: inout RequestReading, _ state: inout State) throws(RequestFault) {
        var fault: RequestFault?, isGood = false
        for way in AuthenticationWay.all(stream.authenticator, scope) {
            switch way {
            case .nothing: isGood = true
            case .fixed(let place, let text):
                if let found = try reading.take(place), found == text { isGood = true }
            case .token(let declared, let place, let prefix):
                guard let found = try reading.take(place), found.hasPrefix(prefix), let service = try? TokenService(declared, scope) else { continue }
                switch state.services[service.path]?.check(String(found.dropFirst(prefix.count)), at: reading.path) {
                case .good?: isGood = true
                case .ended?: fault = RequestFault("the token has ended", status: 401, isExpected: true)
                case .unknown?, nil: break
                }
            }
            if isGood { return }
        }
        throw fault ?? RequestFault("nobody knows whose request this is", status: 401)
    }
}
