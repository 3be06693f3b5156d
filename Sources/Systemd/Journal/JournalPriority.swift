import Logging

/// Syslog's levels as the journal stores them; a smaller number is more urgent.
public enum JournalPriority: Int, Sendable, CaseIterable, Comparable {
    case emergency = 0, alert, critical, error, warning, notice, info, debug

    public static func < (one: JournalPriority, other: JournalPriority) -> Bool { one.rawValue < other.rawValue }

    public init(_ level: Logger.Level) {
        switch level {
        case .critical: self = .critical
        case .error: self = .error
        case .warning: self = .warning
        case .notice: self = .notice
        case .info: self = .info
        case .debug, .trace: self = .debug
        }
    }

    /// The level of swift-log that arrives in the journal with this priority.
    public var level: Logger.Level {
        switch self {
        case .emergency, .alert, .critical: .critical
        case .error: .error
        case .warning: .warning
        case .notice: .notice
        case .info: .info
        case .debug: .debug
        }
    }
}
