import Foundation
import OpenCoreData

/// What is remembered of one page: its validators, and what the page said about the listing. The rows it vouches for are kept apart.
struct StoredRequest: Sendable {
    var validators: ConditionalGET?
    /// Nil: the page must be read again, whatever it is answered with.
    var facts: PageFacts?
    /// The number of the run that read it.
    var run: Int64

    /// Nil if the page was never saved, or was read in another way than now: then it must be read again.
    static func load(scope: ResourceScope, key: String, fingerprint: String, in context: NSManagedObjectContext) throws -> StoredRequest? {
        let row = try StateRow.find(StateModel.request, key: [.string("\(scope)"), .string(key)], in: context)
        guard !row.isNew, row.string("mapping") == fingerprint else { return nil }
        guard let facts = row.string("next").flatMap({ try? JSONDecoder().decode(PageFacts.self, from: Data($0.utf8)) }) else { return nil }
        return StoredRequest(
            validators: ConditionalGET(etag: row.string("etag"), lastModified: row.string("lastModified"), bodyDigest: facts.digest),
            facts: facts, run: row.integer("run"))
    }

    /// Sets the row in the context that holds the page's records, so that both reach the store in one transaction.
    ///
    /// - Parameters:
    ///   - members: the rows that the page's records are.
    ///   - listed: the rows of records that were set aside.
    func store(
        members: KeySet, listed: KeySet, scope: ResourceScope, key: String, fingerprint: String, now: Date, in context: NSManagedObjectContext
    ) throws {
        var row = try StateRow.find(StateModel.request, key: [.string("\(scope)"), .string(key)], in: context)
        row["etag"] = AttributeValue(validators?.etag)
        row["lastModified"] = AttributeValue(validators?.lastModified)
        row["bodyHash"] = AttributeValue(facts?.digest.description)
        row["next"] = AttributeValue(try facts.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) })
        row["recordCount"] = AttributeValue(facts?.records)
        // What the page vouched for until now and no complete run has judged yet must not be forgotten: a run may be cut off before it does. The
        // keys of another entity's rows mean nothing here.
        var gone = listed
        let entity = ModelMapping.entity(ofFingerprint: row.string("mapping"))
        if entity == nil || entity == ModelMapping.entity(ofFingerprint: fingerprint) {
            for kind in [StoredKeys.Kind.previous, .members] {
                if let keys = try StoredKeys.keys(kind, of: scope, page: key, in: context) { gone.keys.formUnion(keys.keys) }
            }
        }
        gone.keys.subtract(members.keys)
        try StoredKeys.set(gone.keys.isEmpty ? nil : gone.data, .previous, of: scope, page: key, in: context)
        try StoredKeys.set(members.data, .members, of: scope, page: key, in: context)
        try StoredKeys.set(listed.keys.isEmpty ? nil : listed.data, .listed, of: scope, page: key, in: context)
        row["mapping"] = .string(fingerprint)
        row["run"] = .int64(run)
        row["savedAt"] = AttributeValue(now)
        row.write(in: context)
    }

    /// Takes over the validators that a page is answered with now although its body is what it was.
    static func renew(_ validators: ConditionalGET, scope: ResourceScope, key: String, in context: NSManagedObjectContext) throws {
        var row = try StateRow.find(StateModel.request, key: [.string("\(scope)"), .string(key)], in: context)
        guard !row.isNew else { return }
        row["etag"] = AttributeValue(validators.etag)
        row["lastModified"] = AttributeValue(validators.lastModified)
        row.write(in: context)
    }
}
