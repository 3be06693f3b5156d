/// What a page was, once it has been walked to its end.
public struct JSONPageSummary: Sendable, Hashable {
    /// What stood at the path of the record list.
    public enum RecordList: Sendable, Hashable {
        case array
        /// One object: it was the only record.
        case singleObject
        /// `null`: taken as a list without records. Whoever deletes by absence may want to know.
        case null
        /// The body was empty, and the policy allows that.
        case emptyBody
    }

    /// Records handed out, bad ones included.
    public var recordCount: Int
    /// Records with a ``JSONRecord/problem``.
    public var badRecordCount: Int
    public var recordList: RecordList
    /// The values of the envelope plan's fields, in their order.
    public var envelope: [JSONValue]
    /// Malformed UTF-8 was replaced (policy `invalid_utf8 = "replace"`); offsets and hashes are of the repaired text.
    public var wasRepaired: Bool
}
