/// Why no draft can be made of a sample.
public struct SourceDraftError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is in the way, without a full stop. May hold text of the sample.
    public let message: String
    /// What to do about it.
    public let advice: String

    init(_ message: String, advice: String) {
        self.message = message
        self.advice = advice
    }

    /// The message and the advice.
    public var description: String { "\(message); \(advice)" }
}
