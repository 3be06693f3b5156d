import Foundation

/// One line of the answer to `POST /v1/sync?wait=true`: newline-delimited JSON, each line with an `event`.
///
/// The first line is `accepted`, the last one `finished` or `failed`.
public enum SyncProgress: Sendable, Hashable {
    /// These resources are to be polled.
    case accepted(resources: [String])
    /// A run begins; no request was made yet.
    case runStarted(scope: String)
    /// A page is in the database's memory, or was not modified. `records` counts all records of the run so far.
    case page(scope: String, page: Int, records: Int, notModified: Bool)
    /// Attempt number `attempt` for a page failed, for `reason`; the next one comes after the delay.
    case retrying(scope: String, page: Int, attempt: Int, delaySeconds: Double, reason: String)
    /// The server asked for a longer wait than a run may take: no poll before `until`.
    case parked(scope: String, until: Date)
    /// A run ended, whatever way: see its outcome.
    case runFinished(RunReport)
    /// Everything is done and saved.
    case finished(runs: [RunReport])
    /// The last line if the request could not be carried out; a failed run alone is no reason.
    case failed(ControlError)
}

extension SyncProgress: Codable {
    private enum Event: String, Codable {
        case accepted, page, retrying, parked, finished, failed
        case runStarted = "run_started"
        case runFinished = "run_finished"
    }

    private enum CodingKeys: String, CodingKey {
        case event, resources, scope, page, records, attempt, reason, until, runs
        case notModified = "not_modified"
        case delaySeconds = "delay_s"
    }

    /// Reads one line by its `event`. Throws `DecodingError` for an event it does not know.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func scope() throws -> String { try values.decode(String.self, forKey: .scope) }
        switch try values.decode(Event.self, forKey: .event) {
        case .accepted: self = .accepted(resources: try values.decode([String].self, forKey: .resources))
        case .runStarted: self = .runStarted(scope: try scope())
        case .page:
            self = .page(
                scope: try scope(), page: try values.decode(Int.self, forKey: .page), records: try values.decode(Int.self, forKey: .records),
                notModified: try values.decode(Bool.self, forKey: .notModified))
        case .retrying:
            self = .retrying(
                scope: try scope(), page: try values.decode(Int.self, forKey: .page), attempt: try values.decode(Int.self, forKey: .attempt),
                delaySeconds: try values.decode(Double.self, forKey: .delaySeconds), reason: try values.decode(String.self, forKey: .reason))
        case .parked: self = .parked(scope: try scope(), until: try values.decode(Date.self, forKey: .until))
        case .runFinished: self = .runFinished(try RunReport(from: decoder))
        case .finished: self = .finished(runs: try values.decode([RunReport].self, forKey: .runs))
        case .failed: self = .failed(try ControlError(from: decoder))
        }
    }

    /// Writes `event` and, beside it in the same object, the fields of the run or the error.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .accepted(let resources):
            try values.encode(Event.accepted, forKey: .event)
            try values.encode(resources, forKey: .resources)
        case .runStarted(let scope):
            try values.encode(Event.runStarted, forKey: .event)
            try values.encode(scope, forKey: .scope)
        case .page(let scope, let page, let records, let notModified):
            try values.encode(Event.page, forKey: .event)
            try values.encode(scope, forKey: .scope)
            try values.encode(page, forKey: .page)
            try values.encode(records, forKey: .records)
            try values.encode(notModified, forKey: .notModified)
        case .retrying(let scope, let page, let attempt, let delaySeconds, let reason):
            try values.encode(Event.retrying, forKey: .event)
            try values.encode(scope, forKey: .scope)
            try values.encode(page, forKey: .page)
            try values.encode(attempt, forKey: .attempt)
            try values.encode(delaySeconds, forKey: .delaySeconds)
            try values.encode(reason, forKey: .reason)
        case .parked(let scope, let until):
            try values.encode(Event.parked, forKey: .event)
            try values.encode(scope, forKey: .scope)
            try values.encode(until, forKey: .until)
        case .runFinished(let run):
            try values.encode(Event.runFinished, forKey: .event)
            try run.encode(to: encoder)
        case .finished(let runs):
            try values.encode(Event.finished, forKey: .event)
            try values.encode(runs, forKey: .runs)
        case .failed(let error):
            try values.encode(Event.failed, forKey: .event)
            try error.encode(to: encoder)
        }
    }
}
