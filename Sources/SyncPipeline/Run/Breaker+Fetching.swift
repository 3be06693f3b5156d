import SyncConfiguration

extension Breaker.Evidence {
    /// What the outcome of a fetch says of the server that was asked.
    init(_ outcome: FetchOutcome, _ rules: BreakerConfiguration) {
        switch outcome {
        case .page, .notModified: self = .works
        case .leftAlone, .cancelled, .refused: self = .none
        case .parked(_, let error), .authenticationRejected(let error), .failed(let error): self.init(error, rules)
        }
    }

    private init(_ error: FetchError, _ rules: BreakerConfiguration) {
        switch error.kind {
        case .connect, .timeout(.connect), .dnsTemporary, .dnsNotFound, .tls: self = .unreachable
        case .timeout, .reset, .shortBody: self = .fails
        // It says itself when it wants to be asked.
        case .status where error.notBefore != nil: self = .none
        case .status(let status):
            self = if status >= 500 { .fails } else if rules.permanentStatuses.contains(status) { .permanent(status) } else { .works }
        case .malformed, .corruptBody, .answer, .answerErrors, .contentType, .tooLarge: self = .works
        // Nobody has asked it.
        case .budget: self = .waited
        case .spool, .refused, .credential, .cancelled: self = .none
        }
    }
}
