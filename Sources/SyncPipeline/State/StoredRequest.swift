import Foundation
import OpenCoreData

/// What is remembered of one page: its validators, and what the page said about the listing. The rows it vouches for are kept separately.
struct StoredRequest: Sendable, Hashable {
    var validators: ConditionalGET?
    /// Nil: the page must be read again, whatever it is answered with.
    var facts: PageFacts?
    /// The number of the run that read it.
    var run: Int64
    /// How many records its manifest has; 0: there is none.
    var manifest = 0

    /// The page is read whatever it is answered with. Its records may be compared with what they were.
    mutating func disbelieve() { (validators, facts) = (nil, nil) }

    /// Nil if the page was never saved, or was read under other rules: then it must be read again.
    static func load(scope: ResourceScope, key: String, fingerprint: String, in context: NSManagedObjectContext) throws -> StoredRequest? {
        guard let row = try RequestTable.existing(of: scope, key, in: context) else { return nil }
        return row.mapping == fingerprint ? row.remembered : nil
    }

    /// Sets the row in the context that holds the page's records, so that both reach the store in one transaction.
    ///
    /// - Parameters:
    ///   - members: the rows that the page's records are.
    ///   - listed: the rows of records that were set aside.
    ///   - manifest: what its records are; empty: that can't be relied on.
    ///   - isUnstored: nothing is stored of the page.
    func store(
        members: KeyRuns, listed: KeyRuns, manifest: Manifest, scope: ResourceScope, key: String, fingerprint: String, isUnstored: Bool = false,
        in context: NSManagedObjectContext
    ) throws {
        var row = try isUnstored ? StateRow<RequestTable>(newKey: "\(scope)", key, in: context) : RequestTable.row(of: scope, key, in: context)
        row.etag = validators?.etag
        row.lastModified = validators?.lastModified
        row.facts = facts
        let kinds: [StoredKeys.Kind] = [.previous, .members, .listed]
        let keys = try StoredKeys.rows(kinds, of: scope, page: key, areUnstored: isUnstored, in: context)
        // What the page vouched for so far, and no complete run has judged yet, must not be forgotten: a run may be cut off before it judges. The
        // keys of another entity's rows mean nothing here.
        var gone = listed
        let entity = ModelMapping.entity(ofFingerprint: row.mapping)
        if entity == nil || entity == ModelMapping.entity(ofFingerprint: fingerprint) {
            for stored in keys.prefix(2) {
                if let keys = stored.keys.flatMap({ KeyRuns($0) }) { gone.formUnion(keys) }
            }
        }
        gone.subtract(members)
        for (stored, data) in zip(keys, [gone.isEmpty ? nil : gone.data, members.data, listed.isEmpty ? nil : listed.data]) {
            StoredKeys.set(data, stored, in: context)
        }
        if !manifest.isEmpty || row.manifest > 0 {
            try StoredManifest.set(manifest, over: row.manifest, of: scope, page: key, isUnstored: isUnstored, in: context)
            row.manifest = manifest.count
        }
        row.mapping = fingerprint
        row.run = run
        row.write(in: context)
    }

    /// Takes over new validators for a page whose body is unchanged.
    static func renew(_ validators: ConditionalGET, scope: ResourceScope, key: String, in context: NSManagedObjectContext) throws {
        var row = try RequestTable.row(of: scope, key, in: context)
        guard !row.isNew else { return }
        row.etag = validators.etag
        row.lastModified = validators.lastModified
        row.write(in: context)
    }
}

/// Sets of primary keys that outlive the process: what pages and listings vouch for. Each is in a row of its own, apart from the rows that every poll
/// reads and writes, so that those who need none pay nothing. Used on the context's queue.
enum StoredKeys {
    enum Kind: String, ColumnValue {
        /// Of a resource: the rows that complete listings had, and those that pages saved since. Of a page: the rows that its records are.
        case members
        /// What a page vouched for until its last reading, and no complete listing has judged yet.
        case previous
        /// The rows of a page's records that were set aside: listed, although nothing could be made of them.
        case listed
        /// Of a resource: `MissingKeys`.
        case missing
        /// Of a page: the rows of which its records say that they are gone. It is there also where none of their objects has a row.
        case deleted
        /// Of a resource, by entity: `GoneRows`.
        case gone
    }

    /// A set with the names that it goes by. It is read when somebody asks for it, and once.
    final class Entry {
        private let row: StateRow<KeysTable>
        let kind: Kind
        let scope: String
        /// The page; empty: it is the resource's own; of what is gone the entity.
        let request: String

        var data: Data { row.keys ?? Data() }
        /// Nil: it is damaged.
        private(set) lazy var keys = KeyRuns(data)

        /// Nil: it is none of this version's.
        fileprivate init?(_ row: StateRow<KeysTable>) {
            guard let kind = row.kind else { return nil }
            self.row = row
            self.kind = kind
            scope = row.scope
            request = row.request
        }

        func delete(in worker: NSManagedObjectContext) { row.delete(in: worker) }

        /// Stores other keys in place of these.
        func replace(by keys: KeyRuns, in worker: NSManagedObjectContext) { StoredKeys.set(keys.data, row, in: worker) }
    }

    /// The compact form; nil: nothing is stored.
    static func data(_ kind: Kind, of scope: ResourceScope, page request: String = "", in worker: NSManagedObjectContext) throws -> Data? {
        try StateRow<KeysTable>.existing(key: "\(scope)", request, kind, in: worker)?.keys
    }

    /// Nil where nothing is stored, or what is stored is damaged.
    static func keys(_ kind: Kind, of scope: ResourceScope, page request: String = "", in worker: NSManagedObjectContext) throws -> KeyRuns? {
        try data(kind, of: scope, page: request, in: worker).flatMap { KeyRuns($0) }
    }

    /// Stores a compact form in place of the one before; nil: forgets it.
    static func set(
        _ data: Data?, _ kind: Kind, of scope: ResourceScope, page request: String = "", in worker: NSManagedObjectContext
    ) throws {
        set(data, try rows([kind], of: scope, page: request, in: worker)[0], in: worker)
    }

    /// The rows for these sets, in their order.
    ///
    /// - Parameter areUnstored: none of them is stored.
    fileprivate static func rows(
        _ kinds: [Kind], of scope: ResourceScope, page request: String, areUnstored: Bool = false, in worker: NSManagedObjectContext
    ) throws -> [StateRow<KeysTable>] {
        if areUnstored { return try kinds.map { try StateRow(newKey: "\(scope)", request, $0, in: worker) } }
        return try StateRow.find(keys: kinds.map { ["\(scope)", request, $0] }, in: worker)
    }

    fileprivate static func set(_ data: Data?, _ row: StateRow<KeysTable>, in worker: NSManagedObjectContext) {
        var row = row
        guard let data else { return row.delete(in: worker) }
        row.keys = data
        row.write(in: worker)
    }

    /// Everything that is stored of a resource and its pages.
    static func entries(of scope: ResourceScope, in worker: NSManagedObjectContext) throws -> [Entry] {
        try StateRow.all(where: [.isEqual(\.scope, "\(scope)")], in: worker).compactMap(Entry.init)
    }

    /// The rows that the records of some pages of a resource are; nil where that is not stored of all of them, or damaged.
    static func members(of scope: ResourceScope, pages: [String], in worker: NSManagedObjectContext) throws -> KeyRuns? {
        let rows = try StateRow<KeysTable>.existing(keys: pages.map { ["\(scope)", $0, Kind.members] }, in: worker)
        var members = KeyCollector()
        for row in rows {
            guard let keys = row.keys.flatMap({ KeyRuns($0) }) else { return nil }
            members.add(keys)
        }
        return rows.count == pages.count ? members.keys : nil
    }

    /// Whether no two pages of a resource have a record of one row.
    static func pagesAreApart(of scope: ResourceScope, in worker: NSManagedObjectContext) throws -> Bool {
        let pages = try StateRow.all(where: [.isEqual(\.scope, "\(scope)"), .isEqual(\.kind, Kind.members), .isNot(\.request, "")], in: worker)
            .compactMap(Entry.init)
        if pages.count < 2 { return true }
        var all = KeyCollector(), count = 0
        for page in pages {
            guard let keys = page.keys else { return false }
            all.add(keys)
            count += keys.count
        }
        return all.keys.count == count
    }

    /// What is stored of all resources and their pages.
    static func entries(_ kinds: [Kind], in worker: NSManagedObjectContext) throws -> [Entry] {
        try StateRow.all(where: [.isAmong(\.kind, kinds)], in: worker).compactMap(Entry.init)
    }

    /// What is stored of a resource and its pages.
    static func entries(_ kinds: [Kind], ofScope scope: String, in worker: NSManagedObjectContext) throws -> [Entry] {
        try StateRow.all(where: [.isEqual(\.scope, scope), .isAmong(\.kind, kinds)], in: worker).compactMap(Entry.init)
    }

    /// What is stored of a page.
    static func entries(_ kinds: [Kind], ofScope scope: String, page request: String, in worker: NSManagedObjectContext) throws -> [Entry] {
        try StateRow<KeysTable>.existing(keys: kinds.map { [scope, request, $0] }, in: worker).compactMap(Entry.init)
    }

    /// What is stored of other resources and their pages.
    static func entries(_ kinds: [Kind], ofOthersThan scope: ResourceScope, in worker: NSManagedObjectContext) throws -> [Entry] {
        try StateRow.all(where: [.isNot(\.scope, "\(scope)"), .isAmong(\.kind, kinds)], in: worker).compactMap(Entry.init)
    }
}
