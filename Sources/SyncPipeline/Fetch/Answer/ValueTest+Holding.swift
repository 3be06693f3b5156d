import JSONReader
import SyncConfiguration

/// Whether what is asked of a value holds.
extension ValueTest {
    /// - Parameters:
    ///   - value: one of JSON; `null` counts as none.
    ///   - areTexts: it is one of those that are all texts, as the cells of a table: what a text says is compared with numbers and truth values.
    func holds(_ value: JSONValue, areTexts: Bool = false) -> Bool {
        switch self {
        case .exists(let flag): value.isNil != flag
        case .equals(let other): other.equals(value, areTexts)
        case .notEquals(let other): !other.equals(value, areTexts)
        case .isAmong(let others): others.contains { $0.equals(value, areTexts) }
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
    /// Whether a text says it, as attributes of this type read texts.
    private func isSaid(by text: String) -> Bool {
        switch self {
        case .text(let other): text.utf8.elementsEqual(other.utf8)
        case .boolean(let flag): text == "\(flag)"
        case .integer(let number): NumberText(text.utf8)?.int64 == number
        case .number(let number): NumberText(text.utf8).flatMap { Double($0.canonical) } == number
        }
    }

    fileprivate func equals(_ value: JSONValue, _ areTexts: Bool) -> Bool {
        switch (self, value) {
        case (_, .string(let other)) where areTexts: isSaid(by: other)
        case (.text(let text), .string(let other)): text.utf8.elementsEqual(other.utf8)
        case (.boolean(let flag), .bool(let other)): flag == other
        case (.integer(let number), .int64(let other)): number == other
        // Some services write whole numbers with a point.
        case (.integer(let number), .double(let other)): Int64(exactly: other) == number
        case (.number(let number), .int64(let other)): Int64(exactly: number) == other
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
