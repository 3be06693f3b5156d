import Foundation
import JSONReader
import OpenCoreData

/// Objects that a page mentions beside its records.
extension RecordMapper {
    /// Takes one of them, as if a record held it: its row becomes what is said of it, whoever else says something of it, and the page does not vouch for
    /// it. A bad one is set aside by itself.
    ///
    /// - Parameter doubt: why it cannot be told whether it is meant; nil: it is.
    func mention(_ record: JSONRecord, in list: MentionedList, _ doubt: ConversionProblem? = nil) throws {
        (place, self.list) = (record.index, list.path)
        defer { self.list = nil }
        if let doubt { return try report(inside: record, doubt) }
        if let problem = record.problem {
            try report(inside: record, ConversionProblem(path: "$", message: "\(problem)"))
            return
        }
        // Not the page is asked what goes, and what says that it is gone need not be made.
        if list.entity.deletionSign?.isMet(by: record) == true { return }
        do {
            // Of one of the page's own records the record says what it is, wherever both stand.
            let key = try list.entity.key(of: record, constants: list.constants)
            if list.entity.name == entity.name, recordKeys?.contains(key) == true { return }
            try take(try draft(of: record, list.entity, knowledge: .embedded, constants: list.constants), at: nil)
        } catch let problem as ConversionProblem {
            try report(inside: record, problem)
        }
        if isBatchFull { try flush() }
    }
    /// A mention shows that an object was there when it was mentioned. What said since that the object is gone, be it a record or a status, is not said
    /// again: a tombstone that was made for it stays one, and comes back with a record of its own. What was only missing from a list may be there.
    func leaveBuried(_ draft: Draft) throws {
        guard draft.knowledge == .embedded, let id = draft.id, let row = draft.stored else { return }
        guard let time = Date(row[draft.mapping.bookkeeping.deletedAt]) else { return }
        let name = draft.mapping.name, said = try tombstones?.said(of: name, in: context) ?? RunState.saidGone(of: name, in: context)
        if said[MissingKeys.second(time)]?.contains(id.key) == true { draft.becomeName() }
    }
}
