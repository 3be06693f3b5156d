import Foundation
import OpenCoreData

/// What is remembered of one page: its validators, the rows they vouch for, and what the page said about the listing.
struct StoredRequest: Sendable {
    var validators: ConditionalGET?
    var facts: PageFacts?
    var members: KeySet

    /// Nil if the page was never saved, or was mapped in another way than now: then it must be read again.
    static func load(scope: ResourceScope, key: String, mapping: String, in context: NSManagedObjectContext) throws -> StoredRequest? {
        let row = try StateRow.find(StateModel.request, key: [.string("\(scope)"), .string(key)], in: context)
        guard !row.isNew, row.string("mapping") == mapping else { return nil }
        let facts = row.string("next").flatMap { try? JSONDecoder().decode(PageFacts.self, from: Data($0.utf8)) }
        guard let facts, let members = KeySet(row.data("members") ?? Data()) else { return nil }
        return StoredRequest(
            validators: ConditionalGET(etag: row.string("etag"), lastModified: row.string("lastModified"), bodyDigest: facts.digest),
            facts: facts, members: members)
    }

    /// Sets the row in the context that holds the page's records, so that both reach the store in one transaction.
    func store(scope: ResourceScope, key: String, mapping: String, run: Int64, now: Date, in context: NSManagedObjectContext) throws {
        var row = try StateRow.find(StateModel.request, key: [.string("\(scope)"), .string(key)], in: context)
        row["etag"] = AttributeValue(validators?.etag)
        row["lastModified"] = AttributeValue(validators?.lastModified)
        row["bodyHash"] = AttributeValue(facts?.digest.description)
        row["next"] = AttributeValue(try facts.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) })
        row["recordCount"] = AttributeValue(facts?.records)
        // What the page vouched for until now and no complete run has judged yet must not be forgotten: a run may be cut off before it does.
        var gone = KeySet(row.data("previous") ?? Data()) ?? KeySet()
        gone.keys.formUnion((KeySet(row.data("members") ?? Data()) ?? KeySet()).keys)
        gone.keys.subtract(members.keys)
        row["previous"] = gone.keys.isEmpty ? .null : .data(gone.data)
        row["members"] = .data(members.data)
        row["mapping"] = .string(mapping)
        row["run"] = .int64(run)
        row["savedAt"] = AttributeValue(now)
        row.write(in: context)
    }
}
