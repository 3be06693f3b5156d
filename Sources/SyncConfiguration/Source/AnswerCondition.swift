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

/// What may be asked of a value: of an answer, or of a record. `null` counts as no value.
public enum ValueTest: Sendable, Hashable {
    /// `exists`: whether there is a value.
    case exists(Bool)
    /// `equals`: it is this one.
    case equals(ConditionValue)
    /// `not_equals`: it is another one, or there is none.
    case notEquals(ConditionValue)
    /// `in`: it is one of these.
    case isAmong([ConditionValue])
    /// `contains`: its text, or the JSON text of an object or a list, has this in it, letter by letter.
    case contains(String)
}

/// A value that others are compared with: a text only with texts, a number with numbers, a truth value with truth values. In a header all are texts.
public enum ConditionValue: Sendable, Hashable, CustomStringConvertible {
    /// Compared letter by letter.
    case text(String)
    /// A whole number.
    case integer(Int64)
    /// Any other number; `1.0` is 1.
    case number(Double)
    /// True or false.
    case boolean(Bool)

    /// As a header would say it.
    public var description: String {
        switch self {
        case .text(let text): text
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .boolean(let flag): "\(flag)"
        }
    }
}
