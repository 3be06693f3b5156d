import SyncConfiguration

/// What follows from the configuration of a resource: the same for all its runs, and worked out once.
struct PreparedResource: Sendable {
    let resource: ResourceConfiguration
    /// What decides what a body becomes.
    let fingerprint: String
    /// The first address, parameters included; a failure where it cannot be asked.
    let first: Result<HTTPAddress, FetchError>
    /// Before the first page; nil where there is none.
    let pagination: Pagination?

    init(_ resource: ResourceConfiguration, _ mapping: ModelMapping) {
        self.resource = resource
        fingerprint = mapping.fingerprint(of: resource)
        first = Result { () throws(FetchError) in try FetchSettings.firstAddress(of: resource) }
        pagination = (try? first.get()).map { Pagination(resource.pagination, limits: resource.limits, first: $0) }
    }
}
