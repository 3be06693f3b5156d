import JSONReader
public import SyncConfiguration

/// The first page of a resource as it came, fetched as for a run; nothing of it is mapped or kept: what `cisternctl infer` looks at.
public struct PageSample: Sendable {
    /// The address that answered, after redirects, with secrets masked.
    public let url: String
    /// All headers of the response, in its order, with secrets in the values masked.
    public let headers: [(name: String, value: String)]
    /// Its JSON. Of a list the elements, with commas between them: what stood around them is gone.
    public let body: [UInt8]

    /// Fetches the page.
    ///
    /// - Parameter resource: takes any JSON: its records are at `$`, and it is asked for with GET.
    /// - Throws: `FetchError`, `SyncError`, and `JSONReaderError` for what is neither a list nor an object.
    public static func fetch(
        _ resource: ResourceConfiguration, daemon: DaemonConfiguration, transports: TransportPool, clock: any SyncClock, secrets: SecretResolver,
        version: String
    ) async throws -> PageSample {
        let settings = try FetchSettings(resource: resource, daemon: daemon, version: version, secrets: secrets)
        let transport = try await transports.transport(for: TransportOptions(resource: resource, settings: settings, daemon: daemon))
        let request = Pagination(resource, first: settings.first).request
        let outcome = await PageFetch(request, environment: FetchEnvironment(settings: settings, transport: transport, clock: clock)).run()
        guard case .page(let page) = outcome else {
            if let error = outcome.error { throw error }
            throw SyncError.cancelled
        }
        return PageSample(
            url: settings.redactor.redact(page.address), headers: page.headers.map { ($0.name, settings.redactor.redact($0.value)) },
            body: try body(of: page.content))
    }

    /// The document, put together again of what the sieve has left of it.
    private static func body(of content: PageContent) throws -> [UInt8] {
        var policies = JSONReaderPolicies()
        policies.duplicateKeys = .first
        var records: [UInt8] = []
        let summary = try content.read(plan: JSONFieldPlan([]), policies: policies) { record, _ in
            if !records.isEmpty { records.append(UInt8(ascii: ",")) }
            record.raw.withBytes { records.append(contentsOf: $0) }
        }
        switch summary.recordList {
        case .array: return [UInt8(ascii: "[")] + records + [UInt8(ascii: "]")]
        case .singleObject: return records
        case .null, .emptyBody, .absent: return Array("null".utf8)
        }
    }
}
