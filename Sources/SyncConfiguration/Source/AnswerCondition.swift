import JSONPaths

/// A table of `rate_limited_if`, `retry_if`, `ignore_if` or `fail_if`: what an answer is taken for if everything that the table says holds.
public struct AnswerCondition: Sendable, Hashable {
    /// What an answer is taken for, whatever its status says. Of several that hold the first of these counts: what says more of an answer comes
    /// before what says less.
    public enum Meaning: String, Sendable, Hashable, CaseIterable {
        /// The server wants to be left alone, as with status 429.
        case rateLimited = "rate_limited_if"
        /// It failed and may be asked again, as with a status of `retry.statuses`.
        case retry = "retry_if"
        /// There are no records, as with a status of `empty_statuses`.
        case ignore = "ignore_if"
        /// It is an error that asking again does not mend: the run fails.
        case fail = "fail_if"
    }

    /// What is looked at.
    public enum Subject: Sendable, Hashable {
        /// Nothing but the status.
        case status
        /// The values of a header.
        case header(String)
        /// A value of a body that is JSON. Where the body is none, nothing holds.
        case path(JSONPath)
        /// The beginning of the body as text.
        case text
    }

    /// The key that it stands under.
    public var meaning: Meaning
    /// `status`: the statuses that it is about; in `ignore_if` not those that say more. Empty: all, but in `ignore_if` and `fail_if` those of a
    /// success, since any other is a failure by itself.
    public var statuses: [ClosedRange<Int>] = []
    /// `header`, `path`, or neither.
    public var subject = Subject.status
    /// What has to hold of the subject, all of it; empty only where that is the status.
    public var tests: [ValueTest] = []
    /// `message`: where the body says what is the matter, for people; nil: nowhere.
    public var message: JSONPath?

    /// A condition that every answer fulfils, until it says more.
    public init(_ meaning: Meaning) {
        self.meaning = meaning
    }

    /// Whether a status says that something was not given, and nothing of whether it is there: who takes that for a page without records ends a
    /// listing in its middle, and is never told that a token has ended.
    package static func saysMore(_ status: Int) -> Bool { status >= 500 || [401, 407, 408, 429].contains(status) }
}
