/// The answer to a verb that changes something: what was done, as a sentence.
public struct ControlResponse: Sendable, Hashable, Codable {
    /// `Configuration 3 is in force: 1 resource changed.`
    public var message: String
    /// The number of the configuration in force; it counts from 1 at each start.
    public var generation: Int?

    public init(message: String, generation: Int? = nil) {
        self.message = message
        self.generation = generation
    }
}
