import JSONReader
import SyncConfiguration

/// How a record says that its object is gone, or that a list of it is only a part.
struct DeletionSign: Sendable {
    /// The field of its plan that says it; nil: every record does.
    let field: Int?
    /// What is asked of it; nil: that it is there, and neither null nor false.
    let test: ValueTest?
    /// Whether all values are texts.
    let areTexts: Bool

    init(field: Int?, test: ValueTest? = nil, areTexts: Bool = false) {
        self.field = field
        self.test = test
        self.areTexts = areTexts
    }

    func isMet(by record: JSONRecord) -> Bool { field.map { isMet(by: record[$0]) } ?? true }

    /// Whether an object that a record holds says it itself. Where every record says it, that is no word about what records hold.
    func isMet(byHeld object: JSONRecord) -> Bool { field.map { isMet(by: object[$0]) } ?? false }

    private func isMet(by cell: JSONCell) -> Bool {
        switch test {
        // The cells of a table are texts: what one says counts, and one that is empty is not there.
        case nil:
            if case .bool(false) = cell { return false }
            if areTexts, case .string(let text) = cell, String(text).isNo { return false }
            return !cell.isNil
        case .exists(let exists)? where !areTexts: return cell.isMissing != exists
        case let test?: return test.holds(JSONValue(cell), areTexts: areTexts)
        }
    }
}

extension EntityMapping {
    /// Whether it is in texts that the records of a resource say that a list is only a part.
    func saysParts(inTextsOf resource: ResourceConfiguration) -> Bool {
        resource.format.holdsTexts && configuration.relationships.contains { $0.partialPath != nil }
    }
}

extension String {
    /// Whether it is how people write that something is not so. A row that is taken for one that is gone by mistake costs more than one that is not.
    fileprivate var isNo: Bool {
        ["", "0", "false", "f", "no", "n", "off"].contains(lowercased().filter { !$0.isWhitespace })
    }
}
