import JSONReader
import SyncConfiguration

/// How a record says that its object is gone.
struct DeletionSign: Sendable {
    /// The field of its plan that says it; nil: every record does.
    let field: Int?
    /// What is asked of it.
    let test: DeletionCondition.Test

    func isMet(by record: JSONRecord) -> Bool { field.map { test.isMet(by: record[$0]) } ?? true }
}

extension DeletionCondition.Test {
    /// Whether a value is what is asked for.
    func isMet(by cell: JSONCell) -> Bool {
        switch self {
        case .holds:
            if case .bool(false) = cell { return false }
            return !cell.isNil
        case .exists(let exists): return cell.isMissing != exists
        case .isAny(let values): return values.contains { cell.equals($0) }
        }
    }
}

extension JSONCell {
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
