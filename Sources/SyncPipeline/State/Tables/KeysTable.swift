import Foundation
import OpenCoreData

/// Sets of primary keys that outlive the process: what pages and listings vouch for. Each lies in a row of its own, apart from the rows that every
/// poll reads and writes, so that who asks for none pays for none.
struct KeysTable: StateTable {
    static let entity = "CisternKeys"
    static let view: String? = nil
    static let columns = KeysTable()

    let scope = Column.key("scope")
    /// The page; empty: it is the resource's own.
    let request = Column.key("request")
    let kind = Column<StoredKeys.Kind?>("kind", isKey: true, or: nil)
    /// The compact form.
    let keys = Column<Data?>("keys")

    static func row(
        _ kind: StoredKeys.Kind, of scope: ResourceScope, _ request: String, in worker: NSManagedObjectContext
    ) throws -> StateRow<KeysTable> {
        try StateRow.find(key: "\(scope)", request, kind, in: worker)
    }
}
