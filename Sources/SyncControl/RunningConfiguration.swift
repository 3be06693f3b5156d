import Foundation

/// The answer to `GET /v1/config`: the configuration the daemon runs with.
public struct RunningConfiguration: Sendable, Hashable, Codable {
    /// Counts from 1 at each start.
    public var generation: Int
    public var loadedAt: Date
    /// The files it was read from, in the order they were merged.
    public var files: [String]
    /// Every setting with its origin. Secrets are references and stay references.
    public var toml: String

    public init(generation: Int, loadedAt: Date, files: [String], toml: String) {
        self.generation = generation
        self.loadedAt = loadedAt
        self.files = files
        self.toml = toml
    }

    enum CodingKeys: String, CodingKey {
        case generation, files, toml
        case loadedAt = "loaded_at"
    }
}
