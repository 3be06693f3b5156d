import JSONReader
import SyncConfiguration

/// Whether what is asked of a value holds.
extension ValueTest {
    /// - Parameter value: one of JSON; `null` counts as none.
    func holds(_ value: JSONValue) -> Bool {
        switch self {
        case .exists(let flag): value.isNil != flag
        case .equals(let other): other.equals(value)
        case .notEquals(let other): !other.equals(value)
        case .isAmong(let others): others.contains { $0.equals(value) }
        case .contains(let text): value.searched.contains(text)
        }
    }

    /// - Parameter values: those of all headers of a name; of several, one suffices.
    func holds(amongHeaders values: [String]) -> Bool {
        switch self {
        case .exists(let flag): values.isEmpty != flag
        case .equals(let other): values.contains(other.description)
        case .notEquals(let other): !values.contains(other.description)
        case .isAmong(let others): others.contains { values.contains($0.description) }
        case .contains(let text): values.contains { $0.contains(text) }
        }
    }
}

extension ConditionValue {
    fileprivate func equals(_ value: JSONValue) -> Bool {
        switch (self, value) {
        case (.text(let text), .string(let other)): text == other
        case (.boolean(let flag), .bool(let other)): flag == other
        case (.integer(let number), .int64(let other)): number == other
        case (.integer(let number), .double(let other)): Double(number) == other
        case (.number(let number), .int64(let other)): number == Double(other)
        case (.number(let number), .double(let other)): number == other
        case (.number(let number), .bigNumber(let digits)): Double(digits) == number
        case (.text, _), (.boolean, _), (.integer, _), (.number, _): false
        }
    }
}

extension JSONValue {
    /// What a text is looked for in.
    fileprivate var searched: String {
        switch self {
        case .string(let text), .raw(let text): text
        case .missing, .null, .bool, .int64, .double, .bigNumber: ""
        }
    }
}
