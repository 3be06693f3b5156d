import JSONReader
import SyncConfiguration

/// How a record says that its object is gone.
struct DeletionSign: Sendable {
    /// The field of its plan that says it; nil: every record does.
    let field: Int?
    /// What is asked of it.
    let test: DeletionCondition.Test
    /// Whether all values are texts.
    var areTexts = false

    func isMet(by record: JSONRecord) -> Bool { field.map { test.isMet(by: record[$0], areTexts: areTexts) } ?? true }
}

extension DeletionCondition.Test {
    /// Whether a value is what is asked for.
    ///
    /// - Parameter areTexts: it is one of those that are all texts, as the cells of a table: what it says counts. One that is empty is not there.
    func isMet(by cell: JSONCell, areTexts: Bool) -> Bool {
        switch self {
        case .holds:
            if case .bool(false) = cell { return false }
            if areTexts, case .string(let text) = cell, String(text).isNo { return false }
            return !cell.isNil
        case .exists(let exists): return (areTexts ? cell.isNil : cell.isMissing) != exists
        case .isAny(let values): return values.contains { cell.equals($0) || areTexts && cell.says($0) }
        }
    }
}

extension String {
    /// Whether it is how people write that something is not so. A row that is taken for one that is gone by mistake costs more than one that is not.
    fileprivate var isNo: Bool {
        ["", "0", "false", "f", "no", "n", "off"].contains(lowercased().filter { !$0.isWhitespace })
    }
}

extension JSONCell {
    /// Whether it is a text that says it.
    fileprivate func says(_ scalar: DeletionCondition.Scalar) -> Bool {
        guard case .string(let text) = self else { return false }
        return switch scalar {
        case .bool(let wanted): ConditionValue.boolean(wanted).isSaid(by: String(text))
        case .integer(let wanted): ConditionValue.integer(wanted).isSaid(by: String(text))
        case .text: false
        }
    }

    fileprivate func equals(_ scalar: DeletionCondition.Scalar) -> Bool {
        switch (self, scalar) {
        case (.bool(let flag), .bool(let wanted)): flag == wanted
        case (.int64(let value), .integer(let wanted)): value == wanted
        // Some services write whole numbers with a point.
        case (.double(let value), .integer(let wanted)): Int64(exactly: value) == wanted
        case (.string(let text), .text(let wanted)): String(text) == wanted
        default: false
        }
    }
}
