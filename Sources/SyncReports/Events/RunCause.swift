/// Why a run was started.
public enum RunCause: String, Sendable, Codable {
    case schedule, signal, control, start
}
