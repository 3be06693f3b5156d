import Foundation
import OpenCoreData

/// What is remembered of one page: its validators, and what the page said about the listing. The rows it vouches for are kept apart.
struct StoredRequest: Sendable, Hashable {
    var validators: ConditionalGET?
    /// Nil: the page must be read again, whatever it is answered with.
    var facts: PageFacts?
    /// The number of the run that read it.
    var run: Int64

    /// Nil if the page was never saved, or was read in another way than now: then it must be read again.
    static func load(scope: ResourceScope, key: String, fingerprint: String, in context: NSManagedObjectContext) throws -> StoredRequest? {
        guard let row = try RequestTable.existing(of: scope, key, in: context) else { return nil }
        return row.mapping == fingerprint ? row.remembered : nil
    }

    /// Sets the row in the context that holds the page's records, so that both reach the store in one transaction.
    ///
    /// - Parameters:
    ///   - members: the rows that the page's records are.
    ///   - listed: the rows of records that were set aside.
    func store(
        members: KeySet, listed: KeySet, scope: ResourceScope, key: String, fingerprint: String, in context: NSManagedObjectContext
    ) throws {
        var row = try RequestTable.row(of: scope, key, in: context)
        row.etag = validators?.etag
        row.lastModified = validators?.lastModified
        row.facts = facts
        // What the page vouched for until now and no complete run has judged yet must not be forgotten: a run may be cut off before it does. The
        // keys of another entity's rows mean nothing here.
        var gone = listed
        let entity = ModelMapping.entity(ofFingerprint: row.mapping)
        if entity == nil || entity == ModelMapping.entity(ofFingerprint: fingerprint) {
            for kind in [StoredKeys.Kind.previous, .members] {
                if let keys = try StoredKeys.keys(kind, of: scope, page: key, in: context) { gone.keys.formUnion(keys.keys) }
            }
        }
        gone.keys.subtract(members.keys)
        try StoredKeys.set(gone.keys.isEmpty ? nil : gone.data, .previous, of: scope, page: key, in: context)
        try StoredKeys.set(members.data, .members, of: scope, page: key, in: context)
        try StoredKeys.set(listed.keys.isEmpty ? nil : listed.data, .listed, of: scope, page: key, in: context)
        row.mapping = fingerprint
        row.run = run
        row.write(in: context)
    }

    /// Takes over the validators that a page is answered with now although its body is what it was.
    static func renew(_ validators: ConditionalGET, scope: ResourceScope, key: String, in context: NSManagedObjectContext) throws {
        var row = try RequestTable.row(of: scope, key, in: context)
        guard !row.isNew else { return }
        row.etag = validators.etag
        row.lastModified = validators.lastModified
        row.write(in: context)
    }
}
