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
    let hasMore = Column<Bool?>("hasMore")
    let total = Column<Int?>("total")
    let totalPages = Column<Int?>("totalPages")
    let rejected = Column<Int>.count("rejected")
    let unidentified = Column<Int>.count("unidentified")

    static func row(of scope: ResourceScope, _ request: String, in worker: NSManagedObjectContext) throws -> StateRow<RequestTable> {
        try StateRow.find(key: "\(scope)", request, in: worker)
    }

    /// The row for somebody who only reads it; nil: there is none.
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
            facts.rejected = self.rejected
            facts.unidentified = self.unidentified
            return facts
        }
        set {
            self.bodyHash = newValue?.digest
            self.recordCount = newValue?.records ?? 0
            self.nextLink = newValue?.nextLink
            self.refusedLink = newValue?.refusedLink
            self.cursor = newValue?.cursor
            self.hasMore = newValue?.hasMore
            self.total = newValue?.total
            self.totalPages = newValue?.totalPages
            self.rejected = newValue?.rejected ?? 0
            self.unidentified = newValue?.unidentified ?? 0
        }
    }

    /// What a poll asks with; nil where the page must be read again.
    var remembered: StoredRequest? {
        facts.map { facts in
            StoredRequest(
                validators: ConditionalGET(etag: self.etag, lastModified: self.lastModified, bodyDigest: facts.digest), facts: facts, run: self.run)
        }
    }
}
