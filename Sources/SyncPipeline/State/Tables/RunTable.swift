import Foundation
import OpenCoreData

/// The last runs of each resource. People read it; the pipeline only writes it.
struct RunTable: StateTable {
    static let entity = "CisternRun"
    static let view: String? = "cistern_run"
    static let columns = RunTable()

    let source = Column.key("source")
    let resource = Column.key("resource")
    let number = Column<Int64>.count("number", sql: "run", isKey: true)
    let uuid = Column<UUID?>("uuid")
    let cause = Column<RunCause?>("cause")
    let startedAt = Column<Date?>("startedAt")
    let endedAt = Column<Date?>("endedAt")
    let outcome = Column<RunOutcome?>("outcome")
    let isComplete = Column.flag("isComplete", sql: "complete")
    let pages = Column<Int>.count("pages")
    let bytes = Column<Int>.count("bytes")
    let inserted = Column<Int>.count("inserted")
    let updated = Column<Int>.count("updated")
    let unchanged = Column<Int>.count("unchanged")
    let deleted = Column<Int>.count("deleted")
    let quarantined = Column<Int>.count("quarantined")
    let httpStatus = Column<Int?>("httpStatus")
    let error = Column<String?>("error")

    static func row(of scope: ResourceScope, _ number: Int64, in worker: NSManagedObjectContext) throws -> StateRow<RunTable> {
        try StateRow.find(key: scope.source, scope.resource, number, in: worker)
    }
}

extension StateRow<RunTable> {
    /// How the records fared.
    mutating func take(_ counts: RecordCounts) {
        for column in RunTable.allColumns {
            guard let kind = RecordCounts.kinds.first(where: { $0.name == column.name }) else { continue }
            set(column, to: counts[keyPath: kind.path].stored)
        }
    }
}
