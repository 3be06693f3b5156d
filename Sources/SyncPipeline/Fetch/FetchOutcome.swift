public import Foundation

/// What became of a fetch. All of it was foreseen, so none of it is thrown.
public enum FetchOutcome: Sendable {
    /// The page, completely.
    case page(FetchedPage)
    /// Nothing new. Whether that may be believed is for the caller to say, who knows whether the rows are there.
    case notModified(UnmodifiedPage)
    /// The server wants to be left alone for longer than a run should wait.
    case parked(until: Date, FetchError)
    /// Nothing was asked: another fetch was told that the server wants to be left alone.
    case held(until: Date)
    /// Status 401: the credentials are not accepted.
    case authenticationRejected(FetchError)
    /// A rule forbids the request or its answer: an address, a redirect, a cap. Trying again would not help.
    case refused(FetchError)
    /// It did not work, as often as it was tried.
    case failed(FetchError)
    /// It was cancelled.
    case cancelled

    /// The error, where there is one.
    public var error: FetchError? {
        switch self {
        case .page, .notModified, .held, .cancelled: nil
        case .parked(_, let error), .authenticationRejected(let error), .refused(let error), .failed(let error): error
        }
    }

    /// Not to be asked again before then, if the server said so. Applies to everything of that origin and credential.
    public var notBefore: Date? {
        switch self {
        case .parked(let until, _), .held(let until): until
        default: error?.notBefore
        }
    }
}
