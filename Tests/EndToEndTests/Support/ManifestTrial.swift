import Foundation
import Glibc
import ManifestTestSupport
import SyncConfiguration
import SyncControl
import SyncReports
import SyncTestSupport
import Synchronization

/// A manifest through the programs: imported, checked, and mirrored twice from a service that behaves as it says, with changes in between.
struct ManifestTrial {
    let connector: String
    let facts: [StreamFacts]

    /// What became of a stream.
    enum Outcome: Sendable {
        /// Every row is what the service has, both times.
        case mirrored
        /// It was not converted, and that was said, with this reason.
        case leftOut(String)
        case failed(String)
    }

    struct Result: Sendable {
        let stream: String
        let outcome: Outcome
    }

    /// The result of each stream; what is wrong beside that is a result without a name.
    func run() async throws -> [Result] {
        let shop = try Workshop(), holder = Holder()
        defer { shop.close() }
        let server = try await RawHTTPServer { request, _ in [.send(holder.answer(request)), .keepAlive] }
        do {
            let results = try await run(shop, server.url(""), holder)
            await server.shutdown()
            return results
        } catch {
            await server.shutdown()
            throw error
        }
    }

    private func run(_ shop: Workshop, _ base: String, _ holder: Holder) async throws -> [Result] {
        let yaml = ManifestWriter(connector: connector, streams: facts, base: base, now: Self.now).yaml
        try yaml.write(toFile: "\(shop.folder)/\(plainName).yaml", atomically: true, encoding: .utf8)
        let api = try ManifestAPI(yaml: yaml, now: Self.now)
        holder.hold(api)
        let imported = try await importManifest(shop)
        var outcomes: [String: Outcome] = [:]
        for one in facts { outcomes[one.stream] = imported.outcome(of: one.stream) }
        guard imported.failure == nil, !imported.toml.isEmpty else { return results(outcomes, "neither converted nor said to be left out") }

        try configure(shop, imported.toml)
        let environment = ["STATE_DIRECTORY": "\(shop.folder)/state", "RUNTIME_DIRECTORY": "\(shop.folder)/run"]
        let reading = ConfigurationReader(path: "\(shop.folder)/cisternd.toml", environment: environment).read()
        let check = try await shop.check()
        guard let configuration = reading.configuration, check.status == 0 else {
            return results(outcomes, "check: " + (check.output + check.errors).prefix(3).joined(separator: "; "))
        }
        let claims = claimed(configuration, api, &outcomes)
        guard !claims.isEmpty else { return results(outcomes, "") }
        if let missing = try putCredentials(shop, configuration, imported.fields, api.configuration) { return results(outcomes, missing) }
        let daemon = try await startDaemon(shop)
        let first = try await mirror(shop, configuration, claims, api)
        api.change(at: Self.now)
        let second = try await mirror(shop, configuration, claims, api)
        daemon.signal(SIGTERM)
        let status = await daemon.end()
        for stream in claims.keys {
            if let wrong = first[stream] {
                outcomes[stream] = .failed("first: \(wrong)")
            } else if let wrong = second[stream] {
                outcomes[stream] = .failed("after changes: \(wrong)")
            } else {
                outcomes[stream] = .mirrored
            }
        }
        var all = results(outcomes, "")
        if status != 0 { all.append(Result(stream: "", outcome: .failed("the daemon ended with \(status): \(daemon.errors.suffix(3))"))) }
        let faults = api.faults
        if let fault = faults.first { all.append(Result(stream: "", outcome: .failed("\(faults.count) requests were wrong; \(fault)"))) }
        return all
    }

    /// What became of each stream; of those of which nothing else is known, that they failed.
    private func results(_ outcomes: [String: Outcome], _ otherwise: String) -> [Result] {
        facts.map { Result(stream: $0.stream, outcome: outcomes[$0.stream] ?? .failed(otherwise)) }
    }

    /// The resources of streams that the configuration says to mirror. Of all others it is noted what is wrong.
    private func claimed(
        _ configuration: CisternConfiguration, _ api: ManifestAPI, _ outcomes: inout [String: Outcome]
    ) -> [String: ResourceConfiguration] {
        let resources = configuration.sources.flatMap(\.resources)
        var claims: [String: ResourceConfiguration] = [:]
        for one in facts where outcomes[one.stream] == nil {
            let plain = ManifestComparison.plain(one.stream)
            guard let resource = resources.first(where: { ManifestComparison.plain($0.name) == plain }) else {
                outcomes[one.stream] = .failed("neither converted nor said to be left out")
                continue
            }
            if let foreign = api.foreignStreams[one.stream] {
                outcomes[one.stream] = .failed("converted, although \(foreign)")
            } else {
                claims[one.stream] = resource
            }
        }
        return claims
    }

    /// Milliseconds since 1970.
    private static var now: Int { Int(Date().timeIntervalSince1970 * 1000) }

    /// May stand in the name of a file.
    private var plainName: String { connector.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") } }

    // MARK: Importing

    private struct Imported {
        var toml = ""
        /// Why nothing came of it.
        var failure: String?
        /// The streams that it says are in the configuration.
        var streams: Set<String> = []
        /// What was left out, by the stream that it is about, and why.
        var leftOut: [String: String] = [:]
        /// The settings that credentials stand for, by the credentials' names.
        var fields: [String: String] = [:]

        /// Nil for a stream that should be in the configuration.
        func outcome(of stream: String) -> Outcome? {
            if streams.contains(stream) { return nil }
            if let reason = leftOut[stream] { return .leftOut(reason) }
            return failure.map { .failed("import: \($0)") }
        }
    }

    private func importManifest(_ shop: Workshop) async throws -> Imported {
        let file = "\(shop.folder)/imported.toml"
        let words = ["import", "airbyte", "\(shop.folder)/\(plainName).yaml", "-o", file, "--json"]
        let result = try await shop.run(Workshop.binary("cisternctl"), words)
        var imported = Imported()
        imported.toml = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
        for lines in [result.output, result.errors] {
            // One document, or one a line.
            for text in [lines.joined(separator: "\n")] + lines {
                guard let start = text.firstIndex(where: { $0 == "[" || $0 == "{" }) else { continue }
                if let value = try? DataValue(json: text[start...].utf8) { Self.collect(value, &imported) }
            }
        }
        // Nothing of a manifest may be convertible; then every stream is told of.
        if imported.toml.isEmpty, imported.leftOut.isEmpty {
            imported.failure = "ended with \(result.status): \((result.errors + result.output).prefix(3).joined(separator: "; "))"
        }
        return imported
    }

    /// Finds what is told, wherever it stands.
    private static func collect(_ value: DataValue, _ imported: inout Imported) {
        for element in value.list ?? [] { collect(element, &imported) }
        guard let members = value.members else { return }
        if let stream = value["stream"]?.text, let reason = value["reason"]?.text {
            // A remark is about something of a stream that is converted all the same.
            let isLeftOut = value["isLeftOut"]?.bool ?? true
            if isLeftOut, imported.leftOut[stream] == nil { imported.leftOut[stream] = reason }
        }
        if let name = value["name"]?.text, let field = value["field"]?.text { imported.fields[name] = field }
        imported.streams.formUnion((value["streams"]?.list ?? []).compactMap(\.text))
        for member in members { collect(member.value, &imported) }
    }

    // MARK: Running

    /// The configuration is what was imported; only what would take a test too long is said besides.
    private func configure(_ shop: Workshop, _ toml: String) throws {
        try shop.configure(text: toml)
        try FileManager.default.createDirectory(atPath: "\(shop.folder)/conf.d", withIntermediateDirectories: true)
        let settings = """
            [daemon]
            start = "wait"
            [log]
            format = "json"
            [document]
            autosave_interval = "1s"
            [store]
            min_free_disk = "1MiB"
            [defaults.schedule]
            every = "1h"
            min_interval = "1s"
            jitter = "0%"
            [defaults.retry]
            base = "1ms"

            """
        try settings.write(toFile: "\(shop.folder)/conf.d/test.toml", atomically: true, encoding: .utf8)
    }

    /// Each secret that the configuration refers to gets the value of its setting: of the one that the import names, or else whose name its own ends with.
    /// - Returns: what is wrong; nil: nothing.
    private func putCredentials(
        _ shop: Workshop, _ configuration: CisternConfiguration, _ fields: [String: String], _ settings: ManifestConfiguration
    ) throws -> String? {
        let folder = "\(shop.folder)/credentials"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for reference in Set(configuration.sources.flatMap(\.resources).flatMap(\.secrets)) {
            guard case .credential(let name) = reference else { return "\(reference) is no credential" }
            let plain = ManifestComparison.plain(name), field = fields[name] ?? ""
            let named = settings.leaves.first { $0.path.joined(separator: ".") == field }
            let similar = settings.leaves.filter { leaf in leaf.path.last.map { plain.hasSuffix(ManifestComparison.plain($0)) } ?? false }
            guard let leaf = named ?? similar.max(by: { $0.path.joined().count < $1.path.joined().count }) else {
                return "no setting belongs to the credential \(name)"
            }
            try leaf.text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
        }
        return nil
    }

    private func startDaemon(_ shop: Workshop) async throws -> Child {
        let words = ["CREDENTIALS_DIRECTORY=\(shop.folder)/credentials", try Workshop.binary("cisternd"), "--config", "\(shop.folder)/cisternd.toml"]
        let daemon = try shop.start("env", words)
        try await daemon.line { $0.contains(MessageMark.ready) }
        return daemon
    }

    /// Has everything polled, and compares.
    /// - Returns: what is wrong, by the names of streams.
    private func mirror(
        _ shop: Workshop, _ configuration: CisternConfiguration, _ claims: [String: ResourceConfiguration], _ api: ManifestAPI
    ) async throws -> [String: String] {
        let runs = try await sync(shop), truths = api.truth
        var wrong: [String: String] = [:]
        for (stream, resource) in claims {
            guard let run = runs[resource.scope] else {
                wrong[stream] = "it was not polled"
                continue
            }
            guard run.outcome == .succeeded else {
                wrong[stream] = "the run \(run.outcome): \(run.error ?? "")"
                continue
            }
            guard let entity = configuration.model.entity(named: resource.entity) else { continue }
            // Several streams may be of one kind.
            let sharing = claims.filter { $0.value.entity == resource.entity }.keys
            let assigned = configuration.sources.flatMap(\.resources).filter { $0.entity == resource.entity }.flatMap(\.assigned)
            let comparison = ManifestComparison(
                entity: entity, truths: truths.filter { sharing.contains($0.name) }, assigned: Set(assigned.map(\.name)))
            let rows = try await shop.sql(comparison.query)
            if let complaint = try comparison.complaint(rows) { wrong[stream] = complaint }
        }
        return wrong
    }

    /// As `Workshop.sync`, but a run that does not end fails.
    private func sync(_ shop: Workshop) async throws -> [String: RunReport] {
        let words = [try Workshop.binary("cisternctl"), "sync", "--wait", "--json", "--socket", "\(shop.folder)/run/control.sock"]
        let result = try await shop.run("timeout", ["300"] + words)
        for line in result.output {
            guard let event = try? ControlCoding.decode(SyncProgress.self, from: Data(line.utf8)) else { continue }
            if case .finished(let runs) = event { return Dictionary(runs.map { ("\($0.scope)", $0) }) { _, last in last } }
        }
        throw Child.Failure(
            description: "sync --wait ended with \(result.status): \((result.output + result.errors).suffix(5).joined(separator: "\n"))")
    }

    /// The service, from when its address is known, which is in the manifest.
    private final class Holder: Sendable {
        private let api = Mutex<ManifestAPI?>(nil)

        func hold(_ api: ManifestAPI) { self.api.withLock { $0 = api } }

        func answer(_ request: RawHTTPServer.Request) -> [UInt8] {
            guard let api = api.withLock({ $0 }) else { return Self.bytes(503, [], "{}") }
            let asked = APIRequest(method: request.method, target: request.target, headers: request.headers, body: request.body)
            let answer = api.answer(asked)
            return Self.bytes(answer.status, answer.headers, answer.body.json)
        }

        private static func bytes(_ status: Int, _ headers: [(name: String, value: String)], _ body: String) -> [UInt8] {
            var lines = ["HTTP/1.1 \(status) Said", "Content-Type: application/json", "Content-Length: \(body.utf8.count)"]
            for header in headers { lines.append("\(header.name): \(header.value)") }
            return Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
        }
    }
}
