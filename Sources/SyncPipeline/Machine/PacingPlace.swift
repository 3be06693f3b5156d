import SyncConfiguration

/// Whom a server means when it asks to be left alone: an origin, and the credential it knows us by. All resources of one place wait together.
struct PacingPlace: Sendable, Hashable {
    /// Nil for an address that cannot be asked: such a resource waits with those of the same text only.
    let origin: Origin?
    let address: String
    let authentication: AuthenticationConfiguration

    init(_ resource: ResourceConfiguration) {
        origin = (try? HTTPAddress(resource.url))?.origin
        address = origin == nil ? resource.url : ""
        authentication = resource.authentication
    }
}
