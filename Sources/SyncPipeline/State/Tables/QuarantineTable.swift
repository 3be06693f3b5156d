import Foundation
import OpenCoreData

/// The records that were set aside.
struct QuarantineTable: StateTable {
    static let entity = "CisternQuarantine"
    static let view: String? = "cistern_quarantine"
    static let columns = QuarantineTable()

    /// Of the scope and the record: the same bad record, seen again, is counted and not multiplied.
    let digest = Column.key("digest")
    let source = Column<String>("source", or: "")
    let resource = Column<String>("resource", or: "")
    let run = Column<Int64>.count("run")
    let page = Column<Int>.count("page")
    let record = Column<Int>.count("record")
    let reason = Column<String>("reason", or: "")
    let path = Column<String>("path", or: "")
    let raw = Column<String>("raw", or: "")
    let seenAt = Column<Date?>("seenAt")
    let count = Column<Int>.count("count")

    static func row(_ digest: BodyDigest, in worker: NSManagedObjectContext) throws -> StateRow<QuarantineTable> {
        try StateRow.find(key: digest.description, in: worker)
    }
}

extension StateRow<QuarantineTable> {
    /// Sets the record aside once more.
    mutating func take(_ record: RejectedRecord, reason: String, of scope: ResourceScope, run: Int64, page: Int, now: Date) {
        self.source = scope.source
        self.resource = scope.resource
        self.run = run
        self.page = page
        self.record = record.record
        self.reason = reason
        self.path = record.path
        self.raw = record.raw
        self.seenAt = now
        self.count += 1
    }

    var entry: QuarantineEntry {
        QuarantineEntry(
            digest: self.digest, scope: ResourceScope(source: self.source, resource: self.resource), run: Int(self.run), page: self.page,
            record: self.record, reason: self.reason,
            path: self.path, raw: self.raw, seenAt: self.seenAt ?? .distantPast, count: self.count)
    }
}
