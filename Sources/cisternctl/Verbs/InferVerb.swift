import AirbyteManifests
import ArgumentParser
import Foundation
import Secrets
import SourceDrafts
import SyncConfiguration
import SyncControl
import SyncPipeline

/// `infer`: a source as one answer suggests it.
struct InferVerb: Verb {
    static let configuration = CommandConfiguration(
        commandName: "infer", abstract: "Draft a source from one answer of a service, or from its OpenAPI document, and say why it is as it is.",
        discussion: """
            An address is fetched once, as the daemon would; a file is an answer that was saved. Where it is the description of a service (OpenAPI 3 \
            or Swagger 2, a file also in YAML), each list that it describes becomes a resource. The draft is a configuration that can be checked \
            and tried at once; comments in it give the reasons. Secrets are not written: the draft names credentials for them. Ends with 65 if the \
            answer is no JSON or has no records, 69 if the server cannot be reached, 76 for a bad answer, 77 if it wants credentials.
            """)

    @OptionGroup var options: CommonOptions

    @Argument(help: ArgumentHelp("An address, or a file with an answer or a description of the service.", valueName: "url-or-file"))
    var source: String

    @Option(help: "The address that a file comes from; needed with an answer.")
    var url: String?

    @Option(name: .customLong("header"), help: ArgumentHelp("Send this header; may be given several times.", valueName: "name=value"))
    var headers: [String] = []

    @Option(help: ArgumentHelp("Send the token in this file, after the word Bearer, as Authorization.", valueName: "file"))
    var bearerFile: String?

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("Write the draft to this file, which must not be there.", valueName: "file"))
    var output: String?

    @Flag(help: "Overwrite the file.")
    var force = false

    private var isAddress: Bool { source.contains("://") }

    func run(in surroundings: Surroundings) async throws -> ControlExitCode {
        if let output, !force, surroundings.exists(output) {
            throw ControlError("\(output) is there already", advice: "name another file, or write --force", code: .usage)
        }
        if !isAddress, let bytes = try? surroundings.content(source, OpenAPIDraft.mostBytes + 1), OpenAPIConversion.recognises(bytes) {
            return try OpenAPIDraft(bytes, file: source, address: url).write(self, surroundings)
        }
        let (origin, secrets) = try self.origin()
        let resource = try Self.probe(origin)
        let sample = isAddress ? try await fetch(resource, origin, secrets, surroundings) : try read(origin, surroundings)
        if isAddress, OpenAPIConversion.recognises(sample.body) {
            return try OpenAPIDraft(sample.body, file: origin.url, address: origin.url).write(self, surroundings)
        }
        let draft: SourceDraft
        do throws(SourceDraftError) {
            draft = try SourceDraft(sample)
        } catch {
            throw ControlError(error.message, advice: error.advice, code: .dataError)
        }
        try Self.check(draft)
        if let output { try write(draft.toml, to: output) }
        if options.json {
            try surroundings.console.json(Answer(draft), pretty: true)
        } else if output == nil {
            surroundings.console.block(draft.toml)
        }
        return .success
    }

    private struct Answer: Encodable {
        struct Decision: Encodable {
            var subject: String
            var choice: String
            var reason: String
        }
        var scope: String
        var records: Int
        var entities: [String]
        var decisions: [Decision]
        var toml: String

        init(_ draft: SourceDraft) {
            scope = draft.scope
            records = draft.recordCount
            entities = draft.entities
            decisions = draft.decisions.map { Decision(subject: $0.subject, choice: $0.choice, reason: $0.reason) }
            toml = draft.toml
        }
    }

    // MARK: Where it comes from

    /// Where the sample comes from, and the secrets that were given for it, by the names of their credentials.
    private func origin() throws -> (SampleOrigin, [String: String]) {
        guard let address = isAddress ? source : url else {
            throw ControlError("where \(source) comes from is not known", advice: "write --url ADDRESS", code: .usage)
        }
        if isAddress, url != nil { throw ControlError("an address has no other address", advice: "leave out --url", code: .usage) }
        var secrets: [String: String] = [:]
        var origin: SampleOrigin
        do throws(SourceDraftError) {
            origin = try SampleOrigin(address) { secrets[$1] = $0 }
        } catch {
            throw ControlError(error.message, advice: error.advice, code: .usage)
        }
        var hasBearer = bearerFile != nil
        if hasBearer { _ = origin.addBearer() }
        for header in headers {
            let name = String(header.prefix { $0 != "=" }), value = String(header.dropFirst(name.count + 1))
            guard !name.isEmpty, !value.isEmpty, value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw ControlError("--header takes NAME=VALUE, of printable ASCII characters", code: .usage)
            }
            let scheme = "bearer "
            if name.lowercased() == "authorization", value.lowercased().hasPrefix(scheme) {
                guard !hasBearer else { throw ControlError("there are two tokens for Authorization", advice: "leave out one of them", code: .usage) }
                hasBearer = true
                secrets[origin.addBearer()] = String(value.dropFirst(scheme.count))
            } else if let credential = origin.addHeader(name, value) {
                secrets[credential] = value
            }
        }
        return (origin, secrets)
    }

    /// A resource that takes any JSON from there.
    private static func probe(_ origin: SampleOrigin) throws -> (resource: ResourceConfiguration, daemon: DaemonConfiguration) {
        let path = "/sample.toml"
        let reading = ConfigurationReader(path: path, files: ConfigurationTexts([path: origin.probe])).read()
        guard let configuration = reading.configuration, let resource = configuration.sources.first?.resources.first else {
            throw ControlError(
                "a source cannot ask for this address, or not with these headers", code: .usage,
                problems: reading.errors.map { problem in problem.message + (problem.suggestion.map { "; \($0)" } ?? "") })
        }
        return (resource, configuration.daemon)
    }

    // MARK: The sample

    private func fetch(
        _ probe: (resource: ResourceConfiguration, daemon: DaemonConfiguration), _ origin: SampleOrigin, _ given: [String: String],
        _ surroundings: Surroundings
    ) async throws -> Sample {
        let reader = SecretReader(environment: surroundings.environment), bearerFile = bearerFile
        let secrets = SecretResolver { reference, form in
            if case .credential(let name) = reference, let value = given[name] { return Secret(Array(value.utf8)) }
            guard let bearerFile else { throw FetchError(.credential, detail: "\(reference) cannot be read here") }
            return try reader.secret(.file(bearerFile), form: form)
        }
        let transports = TransportPool(secrets: secrets)
        do {
            let page = try await PageSample.fetch(
                probe.resource, daemon: probe.daemon, transports: transports, clock: SystemClock(), secrets: secrets,
                version: CisternVersion.current)
            await transports.shutdown()
            return Sample(body: page.body, headers: page.headers, origin: origin)
        } catch {
            await transports.shutdown()
            var explained = TryVerb.explain(error)
            if explained.code == .noPermission { explained.advice = "give --bearer-file or --header" }
            throw explained
        }
    }

    private func read(_ origin: SampleOrigin, _ surroundings: Surroundings) throws -> Sample {
        let largest = HTTPConfiguration().maxBody.bytes
        let body: [UInt8]
        do {
            body = try surroundings.content(source, largest + 1)
        } catch {
            throw ControlError("\(source) cannot be read: \((error as NSError).localizedDescription)", code: .dataError)
        }
        guard body.count <= largest else {
            throw ControlError(
                "\(source) is larger than a page may be by default (\(HTTPConfiguration().maxBody))", advice: "give a part of it", code: .dataError)
        }
        return Sample(body: body, origin: origin)
    }

    // MARK: The draft

    /// A draft that is refused is a mistake of this program's, and nobody else's.
    private static func check(_ draft: SourceDraft) throws {
        let path = "/draft.toml", advice = "please report it, with the answer that it was made of"
        let reading = ConfigurationReader(path: path, files: ConfigurationTexts([path: draft.toml])).read()
        guard let configuration = reading.configuration else {
            throw ControlError(
                "the draft would be refused", advice: advice, code: .software, problems: reading.errors.map(\.description))
        }
        do {
            _ = try SyncPipeline.model(for: configuration)
        } catch {
            throw ControlError("the draft makes no model: \(error)", advice: advice, code: .software)
        }
    }

    func write(_ toml: String, to file: String) throws {
        do {
            // Without --force the file system is what refuses: somebody may have made the file meanwhile.
            try Data(toml.utf8).write(to: URL(fileURLWithPath: file), options: force ? .atomic : .withoutOverwriting)
        } catch {
            throw ControlError("\(file) cannot be written: \((error as NSError).localizedDescription)", code: .ioError)
        }
    }
}
