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
