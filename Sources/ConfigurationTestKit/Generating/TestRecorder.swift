package import Foundation
import OpenCoreData
import Secrets
package import SyncConfiguration
package import SyncPipeline
import Synchronization

/// Makes a file of tests of what servers really answer.
///
/// It reads a resource through a pipeline with a store of its own, and then once more without network, with what stands for credentials in tests: the
/// requests of the file, and what is expected, are those of the second time.
package struct TestRecorder: Sendable {
    /// Why there is no file.
    package struct Refusal: Error, CustomStringConvertible {
        /// What is in the way, and what to do; a sentence without a full stop.
        package let description: String
    }

    private let configuration: CisternConfiguration
    private let folder: URL
    private let version: String

    /// - Parameter folder: where stores are made; none is left there.
    package init(_ configuration: CisternConfiguration, folder: URL, version: String) {
        self.configuration = configuration
        self.folder = folder
        self.version = version
    }

    /// The text of the file.
    ///
    /// - Parameters:
    ///   - pages: the most of a listing that are fetched.
    ///   - secrets: reads the real ones; none of them is in the text.
    ///   - transports: makes a pool whose transports are behind what it is given.
    /// - Throws: ``Refusal``, `SyncError`, and what the disk says.
    package func record(
        _ resource: ResourceConfiguration, pages: Int, secrets: SecretResolver, clock: any SyncClock = SystemClock(),
        transports: (SecretResolver, @escaping @Sendable (any HTTPTransport) -> any HTTPTransport) -> TransportPool
    ) async throws -> String {
        try check(resource)
        let revealed = RevealedSecrets(secrets), recording = Recording()
        let start = Date(timeIntervalSince1970: clock.wallTime.timeIntervalSince1970.rounded(.down))
        var test = ConfigurationTest(
            name: "\(resource.scope), as it was answered", place: "the recording", start: start, maxPages: pages,
            runs: [TestRun(place: "the recording", scopes: [resource.scope])])
        let runner = TestRunner(configuration, folder: folder, version: version)
        let pool = transports(revealed.resolver) { RecordingTransport($0, into: recording) }
        let report = try await runner.fetch(test, through: pool, secrets: revealed.resolver, clock: clock)
        guard !recording.responses.isEmpty else {
            throw Refusal(description: "nothing was answered: \(report?.error ?? "the resource was not read")")
        }
        test.runs[0].exchanges = try exchanges(recording.responses, redactor: Redactor(secrets: revealed.texts))
        return try await text(of: test, by: runner)
    }

    private func check(_ resource: ResourceConfiguration) throws {
        if resource.partitions != nil {
            throw Refusal(
                description: "\(resource.scope) is one list for each of many things (for_each), and all would be fetched; write its test by hand")
        }
        switch resource.authentication {
        case .oauth2, .session:
            throw Refusal(
                description: "\(resource.scope) fetches a token, and the answer is a secret, which belongs into no file; write its test by hand")
        case .jwt, .hmac:
            throw Refusal(
                description: "\(resource.scope) signs its requests with a key, for which nothing can stand in a test; write its test by hand")
        case .none, .bearer, .basic, .apiKey: break
        }
    }

    private func exchanges(_ responses: [Recording.Response], redactor: Redactor) throws -> [RecordedExchange] {
        try responses.map { response in
            guard let body = String(validating: response.body, as: UTF8.self) else {
                throw Refusal(description: "an answer is no UTF-8, and cannot stand in a file of tests")
            }
            let headers = response.headers.map { (name: $0.name, value: redactor.redact($0.value)) }
            return RecordedExchange(
                place: "the recording", request: nil,
                answer: .response(status: response.status, headers: headers, body: Array(redactor.redact(body).utf8)))
        }
    }

    /// Makes the run again, without network.
    private func text(of test: ConfigurationTest, by runner: TestRunner) async throws -> String {
        try await runner.with(test) { stage in
            let course = try await stage.perform(test.runs[0], isFirst: true)
            if let other = course.asked.first(where: { $0.exchange == nil }) {
                throw Refusal(description: "made again, the run asks for something else: \(other.request.line)")
            }
            guard course.asked.count == test.runs[0].exchanges.count else {
                throw Refusal(description: "made again, the run asks for less than the first time; it cannot be a test")
            }
            let model = stage.configuration.model
            let context = NSManagedObjectContext(.privateQueueConcurrencyType)
            context.parent = stage.document.managedObjectContext
            let rows = try await context.perform {
                let comparison = RowComparison(configuration: model, context: context)
                return try model.entities.map { entity in
                    TestFileText.Rows(
                        entity: entity.name, rows: try (comparison.rows(of: entity.name) ?? []).map { comparison.values($0, entity) })
                }
            }
            let text = TestFileText(test, course, rows: rows).text
            guard text.utf8.count < ConfigurationReader.maxFileSize.bytes else {
                throw Refusal(description: "the file would be larger than \(ConfigurationReader.maxFileSize); fetch fewer pages")
            }
            return text
        }
    }
}

/// Reads secrets, and knows afterwards what they were.
private final class RevealedSecrets: Sendable {
    private let secrets: SecretResolver
    private let known = Mutex<Set<String>>([])

    init(_ secrets: SecretResolver) {
        self.secrets = secrets
    }

    var texts: [String] { known.withLock { $0.sorted() } }

    var resolver: SecretResolver {
        SecretResolver { [self] reference, form in
            let secret = try await secrets.secret(reference, form: form)
            known.withLock { _ = $0.insert(secret.revealed()) }
            return secret
        }
    }
}
