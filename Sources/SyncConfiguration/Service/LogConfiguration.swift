/// `[log]`: where messages go.
public struct LogConfiguration: Sendable, Hashable {
    public enum Target: String, Sendable, Hashable, CaseIterable {
        /// The journal when standard error is connected to it, standard error otherwise.
        case auto
        case journal
        case stderr
    }

    public enum Level: String, Sendable, Hashable, CaseIterable {
        case trace, debug, info, notice, warning, error, critical
    }

    /// The form of lines on standard error.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        case text
        case json
    }

    public var target = Target.auto
    public var level = Level.info
    public var format = Format.text

    /// The built-in values.
    public init() {}
}
