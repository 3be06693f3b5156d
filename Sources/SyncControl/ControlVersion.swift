/// The answer to `GET /v1/version`.
public struct ControlVersion: Sendable, Hashable, Codable {
    /// The daemon's name in its configuration.
    public var name: String
    public var version: String
    public var pid: Int32

    public init(name: String, version: String, pid: Int32) {
        self.name = name
        self.version = version
        self.pid = pid
    }
}
