/// `schema`: what is kept of what a server sends besides what records become.
public struct SchemaConfiguration: Sendable, Hashable {
    /// Which bodies of pages are kept, so that they can be mapped again without asking the server.
    public enum KeptBodies: String, Sendable, Hashable, CaseIterable {
        /// None; the default.
        case none
        /// Of each page of the listing the newest.
        case last
        /// Of each page also those before, until there is no room.
        case all
    }

    /// `schema.raw`, default `none`.
    public var raw = KeptBodies.none
    /// `schema.raw_max`: how many bytes of the disk the bodies of the resource may take, compressed. Beyond it the oldest go. Default 256 MiB.
    public var rawMax = ByteCount.mebibytes(256)

    /// The built-in values.
    public init() {}
}
