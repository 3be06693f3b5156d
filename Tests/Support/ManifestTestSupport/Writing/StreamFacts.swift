/// What is known of a stream of somebody's manifest: its traits, in words, and nothing of its text.
public struct StreamFacts: Sendable {
    /// Whose stream it is.
    public let connector: String
    public let stream: String
    private let traits: DataValue

    public init(connector: String, stream: String, traits: DataValue) {
        self.connector = connector
        self.stream = stream
        self.traits = traits
    }

    /// A list of objects with `connector`, `stream` and `facts`. The first of several with one name counts.
    public static func list(json: some Sequence<UInt8>) throws -> [StreamFacts] {
        var known: Set<String> = [], result: [StreamFacts] = []
        for entry in try DataValue(json: json).list ?? [] {
            let connector = entry["connector"]?.text ?? "", stream = entry["stream"]?.text ?? ""
            guard known.insert("\(connector)\n\(stream)").inserted else { continue }
            result.append(StreamFacts(connector: connector, stream: stream, traits: entry["facts"] ?? .null))
        }
        return result
    }

    /// By connector, in the order in which they come up.
    public static func grouped(_ facts: [StreamFacts]) -> [(connector: String, streams: [StreamFacts])] {
        var groups: [(connector: String, streams: [StreamFacts])] = []
        for one in facts {
            if let index = groups.firstIndex(where: { $0.connector == one.connector }) {
                groups[index].streams.append(one)
            } else {
                groups.append((connector: one.connector, streams: [one]))
            }
        }
        return groups
    }

    /// Whether a part of it is code, which nobody can act out.
    public var isCode: Bool { word("records") == "custom" }

    /// A trait that is one word; empty where it is not said.
    func word(_ name: String) -> String { traits[name]?.text ?? "" }

    /// A trait that holds or does not.
    func holds(_ name: String) -> Bool { traits[name]?.bool ?? false }

    /// A trait that is several words.
    func words(_ name: String) -> [String] { (traits[name]?.list ?? []).map(\.shown) }

    func has(_ name: String, _ word: String) -> Bool { words(name).contains(word) }

    var depth: Int { traits["depth"]?.int ?? 0 }
}
