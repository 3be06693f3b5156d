/// A request was refused, or no answer came: what, and what to do about it.
///
/// On the wire: `{"error": "…", "advice": "…", "code": 69}`.
public struct ControlError: Error, Sendable, Hashable, Codable, CustomStringConvertible {
    /// What happened, as a sentence without a full stop.
    public var error: String
    /// What to do about it.
    public var advice: String?
    /// The exit status for a command that ends because of it.
    public var code: ControlExitCode
    /// One line for each problem of a refused configuration.
    public var problems: [String]?

    public init(_ error: String, advice: String? = nil, code: ControlExitCode, problems: [String]? = nil) {
        self.error = error
        self.advice = advice
        self.code = code
        self.problems = problems
    }

    /// The sentence, the advice, and the problems, each on a line of its own.
    public var description: String {
        ([error + (advice.map { "; " + $0 } ?? "")] + (problems ?? [])).joined(separator: "\n")
    }

    /// The status of the HTTP response that carries it.
    public var httpStatus: Int {
        switch code {
        case .usage: 400
        case .dataError, .configuration: 422
        case .noPermission: 403
        case .unavailable, .temporaryFailure: 503
        default: 500
        }
    }
}
