import OpenCoreData
import SyncConfiguration

/// What follows from the configuration of a resource: worked out once and the same for all its runs.
struct PreparedResource: Sendable {
    let resource: ResourceConfiguration
    /// How its records become objects.
    let mapping: ModelMapping
    /// What its objects have beside what records say; a failure if that is no value of theirs.
    let constants: Result<RecordConstants, SyncError>
    /// What decides what a body becomes.
    let fingerprint: String
    /// What its requests have in common, but for what a run learns; a failure if its first address cannot be requested.
    let settings: Result<FetchSettings, FetchError>
    /// Before the first page; nil where there is none.
    let pagination: Pagination?
    /// How its records may be compared.
    let comparison: RecordComparison
    /// What each run fills once more, since its requests say times; nil: they do not.
    private let timed: Timed?

    private struct Timed {
        let resource: ResourceConfiguration
        let partition: Partition
    }

    init(_ resource: ResourceConfiguration, comparison: RecordComparison, _ environment: SyncRun.Environment) {
        let mapping = environment.mapping.reading(resource)
        var constants: Result<RecordConstants, SyncError> = .success(RecordConstants())
        if resource.partitions == nil, let entity = mapping.entities[resource.entity] {
            constants = Result { () throws(SyncError) in
                try Partition.none.constants(of: entity, among: mapping, for: resource, at: .any)
            }
        }
        // There are no places but for times, but there may be braces.
        let filled = resource.partitions == nil && !resource.isTimed ? (try? resource.filled(for: .none)) ?? resource : resource
        let timed = resource.partitions == nil && resource.isTimed ? Timed(resource: resource, partition: .none) : nil
        let asked = timed == nil ? filled : (try? resource.filled(for: .none, at: .any)) ?? resource
        self.init(filled, timed, mapping, constants, comparison: comparison, environment, asked: asked)
    }

    /// One part of a resource.
    /// - Throws: `SyncError` where it cannot be asked for.
    init(_ whole: PreparedResource, for partition: Partition, _ environment: SyncRun.Environment) throws {
        guard let entity = whole.mapping.entities[whole.resource.entity] else { throw SyncError.unknownEntity(whole.resource.entity) }
        let constants = try partition.constants(of: entity, among: whole.mapping, for: whole.resource, at: .any)
        // What is wrong with the part itself is said at once, whatever the time is.
        let filled = try whole.resource.filled(for: partition, at: whole.resource.isTimed ? .any : nil)
        if whole.resource.isTimed {
            var resource = whole.resource
            resource.partitions = nil
            let timed = Timed(resource: resource, partition: partition)
            self.init(resource, timed, whole.mapping, .success(constants), comparison: whole.comparison, environment, asked: filled)
        } else {
            self.init(filled, nil, whole.mapping, .success(constants), comparison: whole.comparison, environment)
        }
    }

    /// - Parameter asked: what its requests are but for the times; nil: the resource says it.
    private init(
        _ resource: ResourceConfiguration, _ timed: Timed?, _ mapping: ModelMapping, _ constants: Result<RecordConstants, SyncError>,
        comparison: RecordComparison, _ environment: SyncRun.Environment, asked: ResourceConfiguration? = nil
    ) {
        self.resource = resource
        self.timed = timed
        self.mapping = mapping
        self.constants = constants
        fingerprint = environment.mapping.fingerprint(of: asked ?? resource, constants: (try? constants.get()) ?? RecordConstants())
        settings = FetchSettings.result(resource, environment)
        var comparison = comparison
        // A run that asks for what has changed gets records that other pages have, too, and each page once.
        if resource.incremental != nil { comparison.isComparable = false }
        self.comparison = comparison
        pagination = timed != nil ? nil : (try? settings.get()).map { Pagination(resource, first: $0.first) }
    }

    /// As it is for one step of a run: with the times that its requests say.
    /// - Throws: `SyncError` where a time cannot be written.
    func at(_ times: RunTimes, _ environment: SyncRun.Environment) throws -> PreparedResource {
        guard let timed else { return self }
        var constants = constants
        if timed.resource.assigned.contains(where: \.template.isTimed), let entity = mapping.entities[resource.entity] {
            constants = .success(try timed.partition.constants(of: entity, among: mapping, for: timed.resource, at: times))
        }
        return try PreparedResource(
            self, filled: timed.resource.filled(for: timed.partition, at: times), constants, since: times.since, environment)
    }

    /// Whether a run can go on from what a service gave.
    func begins(with token: String) -> Bool {
        guard let settings = try? settings.get() else { return false }
        return Self.start(of: resource, settings, since: .token(token)) != nil
    }

    /// Where a listing begins; nil: there is no place for the token, or it must not be followed.
    private static func start(of resource: ResourceConfiguration, _ settings: FetchSettings, since: SyncCursor?) -> ListingStart? {
        let start = ListingStart(address: settings.first, method: resource.method, body: resource.body)
        guard case .token(let text)? = since, let token = resource.incremental?.token else { return start }
        return start.since(text, token, settings)
    }

    private init(
        _ other: PreparedResource, filled resource: ResourceConfiguration, _ constants: Result<RecordConstants, SyncError>, since: SyncCursor?,
        _ environment: SyncRun.Environment
    ) throws(SyncError) {
        self.resource = resource
        mapping = other.mapping
        self.constants = constants
        fingerprint = other.fingerprint
        comparison = other.comparison
        timed = nil
        let result = FetchSettings.result(resource, environment)
        settings = result
        guard let found = try? result.get() else {
            pagination = nil
            return
        }
        guard let start = Self.start(of: resource, found, since: since) else {
            throw SyncError.page("\(resource.scope): there is no place for the token of the last run")
        }
        pagination = Pagination(resource, start: start)
    }
}

extension FetchSettings {
    fileprivate static func result(_ resource: ResourceConfiguration, _ environment: SyncRun.Environment) -> Result<FetchSettings, FetchError> {
        Result { () throws(FetchError) in
            try FetchSettings(
                resource: resource, daemon: environment.daemon, version: environment.version, secrets: environment.secrets,
                tokens: environment.tokens)
        }
    }
}
