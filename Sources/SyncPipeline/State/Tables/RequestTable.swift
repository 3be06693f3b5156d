import Foundation
import OpenCoreData

/// The pages that are known: their validators, and what each said about its listing. The rows they vouch for are kept apart.
struct RequestTable: StateTable {
    static let entity = "CisternRequest"
    static let view: String? = nil
    static let columns = RequestTable()

    let scope = Column.key("scope")
    let request = Column.key("request")
    let etag = Column<String?>("etag")
    let lastModified = Column<String?>("lastModified")
    /// What decided what the body became.
    let mapping = Column<String?>("mapping")
    /// The run that read the page.
    let run = Column<Int64>.count("run")

    // `PageFacts` of a page that is sound. One without a digest is read again, whatever it is answered with.
    let bodyHash = Column<BodyDigest?>("bodyHash")
    let recordCount = Column<Int>.count("recordCount")
    let nextLink = Column<String?>("nextLink")
    let refusedLink = Column<String?>("refusedLink")
    let cursor = Column<String?>("cursor")
    let isCursorNumber = Column.flag("isCursorNumber")
    let hasMore = Column<Bool?>("hasMore")
    let total = Column<Int?>("total")
    let totalPages = Column<Int?>("totalPages")
    let rejected = Column<Int>.count("rejected")
    let unidentified = Column<Int>.count("unidentified")
    /// How many records `filter` left out.
    let leftOut = Column<Int>.count("leftOut")
    /// How new the newest and the last of its records are.
    let newest = Column<String?>("newest")
    let last = Column<String?>("last")
    /// What the next run goes on from.
    let token = Column<String?>("token")
    /// How many records its manifest has; 0: there is none.
    let manifest = Column<Int>.count("manifest")

    static func row(of scope: ResourceScope, _ request: String, in worker: NSManagedObjectContext) throws -> StateRow<RequestTable> {
        try StateRow.find(key: "\(scope)", request, in: worker)
    }

    /// The row, for reading only; nil: there is none.
    static func existing(of scope: ResourceScope, _ request: String, in worker: NSManagedObjectContext) throws -> StateRow<RequestTable>? {
        try StateRow.existing(key: "\(scope)", request, in: worker)
    }
}

extension StateRow<RequestTable> {
    /// What the page said about its listing; nil: it must be read again.
    var facts: PageFacts? {
        get {
            guard let digest = self.bodyHash else { return nil }
            var facts = PageFacts(
                records: self.recordCount, digest: digest, nextLink: self.nextLink, refusedLink: self.refusedLink,
                cursor: self.cursor, hasMore: self.hasMore, total: self.total, totalPages: self.totalPages)
            facts.isCursorNumber = self.isCursorNumber
            facts.rejected = self.rejected
            facts.unidentified = self.unidentified
            facts.leftOut = self.leftOut
            facts.newest = self.newest
            facts.token = self.token
            facts.last = self.last
            return facts
        }
        set {
            self.bodyHash = newValue?.digest
            self.recordCount = newValue?.records ?? 0
            self.nextLink = newValue?.nextLink
            self.refusedLink = newValue?.refusedLink
            self.cursor = newValue?.cursor
            self.isCursorNumber = newValue?.isCursorNumber ?? false
            self.hasMore = newValue?.hasMore
            self.total = newValue?.total
            self.totalPages = newValue?.totalPages
            self.rejected = newValue?.rejected ?? 0
            self.unidentified = newValue?.unidentified ?? 0
            self.leftOut = newValue?.leftOut ?? 0
            self.newest = newValue?.newest
            self.last = newValue?.last
            self.token = newValue?.token
        }
    }

    /// What a poll asks with; nil where the page must be read again.
    var remembered: StoredRequest? {
        facts.map { facts in
            StoredRequest(
                validators: ConditionalGET(etag: self.etag, lastModified: self.lastModified, bodyDigest: facts.digest), facts: facts, run: self.run,
                manifest: self.manifest)
        }
    }
}

/// Sets of primary keys that outlive the process: what pages and listings vouch for. Each is in a row of its own, apart from the rows that every poll
/// reads and writes, so that those who need none pay nothing.
struct KeysTable: StateTable {
    static let entity = "CisternKeys"
    static let view: String? = nil
    static let columns = KeysTable()

    let scope = Column.key("scope")
    /// The page; empty: it is the resource's own; of what is gone the entity.
    let request = Column.key("request")
    let kind = Column<StoredKeys.Kind?>("kind", isKey: true, or: nil)
    /// The compact form.
    let keys = Column<Data?>("keys")
}

/// What the records of pages were when they were read last, in pieces: see `Manifest`.
struct ManifestTable: StateTable {
    static let entity = "CisternManifest"
    static let view: String? = nil
    static let columns = ManifestTable()

    let scope = Column.key("scope")
    let request = Column.key("request")
    let piece = Column<Int>.count("piece", isKey: true)
    /// The compact form.
    let records = Column<Data?>("records")
}

/// The records that were set aside.
struct QuarantineTable: StateTable {
    static let entity = "CisternQuarantine"
    static let view: String? = "cistern_quarantine"
    static let columns = QuarantineTable()

    /// Of the scope and the record: the same bad record, seen again, is counted, not stored twice.
    let digest = Column.key("digest")
    let source = Column<String>("source", or: "")
    let resource = Column<String>("resource", or: "")
    let partition = Column<String>("partition", or: "")
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
        self.partition = scope.partition ?? ""
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
            digest: self.digest,
            scope: ResourceScope(source: self.source, resource: self.resource, partition: self.partition.isEmpty ? nil : self.partition),
            run: Int(self.run), page: self.page,
            record: self.record, reason: self.reason,
            path: self.path, raw: self.raw, seenAt: self.seenAt ?? .distantPast, count: self.count)
    }
}
