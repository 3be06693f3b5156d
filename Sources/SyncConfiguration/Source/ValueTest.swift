/// What may be asked of a value of JSON: of an answer (``AnswerCondition``), or of a record (``RecordCondition``). `null` counts as no value, but in
/// `deletion`, where some records say with it that their object is gone.
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
    /// Compared byte by byte.
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
