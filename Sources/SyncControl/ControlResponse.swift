import Foundation

/// The answer to a verb that changes something: what was done, as a sentence.
public struct ControlResponse: Sendable, Hashable, Codable {
    /// `Configuration 3 is in force: 1 resource changed.`
    public var message: String
    /// The number of the configuration in force; it counts from 1 at each start.
    public var generation: Int?

    /// `generation` is nil for an answer that has nothing to do with the configuration.
    public init(message: String, generation: Int? = nil) {
        self.message = message
        self.generation = generation
    }
}

/// A backup: the answer to `POST /v1/backup` when it is complete and on the disk, and a line of `cisternctl backup list --json`.
public struct BackupReport: Sendable, Hashable, Codable {
    /// `cistern-20270115T080000Z`, by when it was begun.
    public var name: String
    /// Its folder.
    public var path: String
    /// Of its store.
    public var bytes: Int64
    /// Wall time when it was begun.
    public var madeAt: Date
    /// The package that it is a backup of; nil: it does not say.
    public var document: String?
    /// Older ones that were removed for it.
    public var removed: [String]

    /// A backup as it is; `removed` is empty unless it was made just now.
    public init(name: String, path: String, bytes: Int64, madeAt: Date, document: String?, removed: [String] = []) {
        self.name = name
        self.path = path
        self.bytes = bytes
        self.madeAt = madeAt
        self.document = document
        self.removed = removed
    }

    enum CodingKeys: String, CodingKey {
        case name, path, bytes, document, removed
        case madeAt = "made_at"
    }
}

/// The answer to `GET /v1/version`.
public struct ControlVersion: Sendable, Hashable, Codable {
    /// The daemon's name in its configuration.
    public var name: String
    /// The daemon's build: ``CisternVersion/current`` there.
    public var version: String
    /// Its process ID.
    public var pid: Int32

    /// An answer as it is given.
    public init(name: String, version: String, pid: Int32) {
        self.name = name
        self.version = version
        self.pid = pid
    }
}

/// How values become JSON on the control socket: keys in snake_case and sorted, times as ISO 8601 in UTC, one line.
public enum ControlCoding {
    /// One line without a line break at its end; with `pretty`, indented lines. Throws `EncodingError`.
    public static func encode(_ value: some Encodable, pretty: Bool = false) throws -> Data {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = pretty ? [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes] : [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }

    /// Reads a value, passing over keys it does not know. Throws `DecodingError`.
    public static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(type, from: data)
    }
}
