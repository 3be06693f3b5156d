import Foundation
import Synchronization

/// What a service has refused: the same request is not made again for a minute, for two when it is refused once more, and so on up to six hours,
/// whoever wants to make it. So no account is locked by resources that are polled together, nor by those that are polled for days.
///
/// A request that is signed locks no account, and may be refused for nothing but its times, or because the key is registered a little later: it is
/// made again after ten minutes at the latest, and at once when the wall clock was set.
final class TokenRefusals: Sendable {
    /// What is known of a request.
    struct Question: Sendable {
        /// The same for requests that are answered in the same way.
        let digest: String
        /// Of a signed one: what the wall clock by which it was signed showed when instants began.
        let clock: Date?
    }

    private struct Refusal {
        let error: FetchError
        let until: SyncInstant
        let count: Int
        let clock: Date?
    }

    private static let shortest = Duration.seconds(60)
    private static let longest = Duration.seconds(6 * 3600)
    private static let longestSigned = Duration.seconds(600)
    /// Seconds: clocks that are kept right all the time drift from each other by less.
    private static let drift = 10.0
    /// A secret that is corrected makes another request; nobody corrects more often than this.
    private static let most = 32
    private let all = Mutex<[String: Refusal]>([:])

    func note(_ error: FetchError, of question: Question, at instant: SyncInstant) {
        all.withLock { all in
            let count = (all[question.digest]?.count ?? 0) + 1
            let factor: Int = 1 << min(count - 1, 16), longest = question.clock == nil ? Self.longest : Self.longestSigned
            let until = instant.advanced(by: min(Self.shortest * factor, longest))
            all[question.digest] = Refusal(error: error, until: until, count: count, clock: question.clock)
            if all.count > Self.most, let oldest = all.min(by: { $0.value.until < $1.value.until }) { all[oldest.key] = nil }
        }
    }

    /// It was answered as it should be.
    func forget(_ question: Question) { all.withLock { $0[question.digest] = nil } }

    /// The error that the request was answered with; nil: it may be made.
    func error(of question: Question, at instant: SyncInstant) -> FetchError? {
        all.withLock { all in
            guard let known = all[question.digest], instant < known.until else { return nil }
            if let then = known.clock, let now = question.clock, abs(now.timeIntervalSince(then)) > Self.drift {
                all[question.digest] = nil
                return nil
            }
            return known.error
        }
    }
}
