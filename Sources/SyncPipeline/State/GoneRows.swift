import OpenCoreData

/// The rows of which a resource's records have said that they are gone, and that no run has removed yet. They are kept with the pages that say so, in
/// the order of these: a run may end before it removes anything, and a page that has not changed does not say it again. On the context's queue.
enum GoneRows {
    /// Takes in a page that was read.
    ///
    /// - Parameters:
    ///   - gone: the rows that it says are gone.
    ///   - saysSo: it says so of some object, which need not have a row. Then it is remembered also where none has.
    ///   - listed: those that it lists: they are there, whatever an earlier page said.
    ///   - isRepeated: another page of the run was asked for in the same way. Both go by one name, and what either says is kept.
    static func note(
        _ gone: KeyRuns, saysSo: Bool = false, listed: KeyRuns, page request: String, isRepeated: Bool = false, of scope: ResourceScope,
        entity: String, in worker: NSManagedObjectContext
    ) throws {
        let before: KeyRuns = isRepeated ? try StoredKeys.keys(.deleted, of: scope, page: request, in: worker) ?? [] : []
        let all = before.union(gone), data = saysSo || !all.isEmpty ? all.data : nil
        if try StoredKeys.data(.deleted, of: scope, page: request, in: worker) != data {
            try StoredKeys.set(data, .deleted, of: scope, page: request, in: worker)
        }
        try note(gone, listed: listed, of: scope, entity: entity, in: worker)
    }

    /// Whether a page said that objects are gone, those without a row included.
    static func areSaid(byPage request: String, of scope: ResourceScope, in worker: NSManagedObjectContext) throws -> Bool {
        try StoredKeys.data(.deleted, of: scope, page: request, in: worker) != nil
    }

    /// Takes in a page that has not changed: it says what it said.
    static func noteAgain(page request: String, of scope: ResourceScope, entity: String, in worker: NSManagedObjectContext) throws {
        func keys(_ kind: StoredKeys.Kind) throws -> KeyRuns { try StoredKeys.keys(kind, of: scope, page: request, in: worker) ?? [] }
        try note(keys(.deleted), listed: keys(.members).union(keys(.listed)), of: scope, entity: entity, in: worker)
    }

    private static func note(_ gone: KeyRuns, listed: KeyRuns, of scope: ResourceScope, entity: String, in worker: NSManagedObjectContext) throws {
        let known = try StoredKeys.keys(.gone, of: scope, page: entity, in: worker) ?? []
        let now = known.subtracting(listed).union(gone)
        if now != known { try StoredKeys.set(now.data, .gone, of: scope, page: entity, in: worker) }
    }

    /// Whether there are any.
    static func areThere(of scope: ResourceScope, entity: String, in worker: NSManagedObjectContext) throws -> Bool {
        try StoredKeys.keys(.gone, of: scope, page: entity, in: worker)?.isEmpty == false
    }

    /// Forgets them, and not what pages say.
    static func forget(of scope: ResourceScope, entity: String, in worker: NSManagedObjectContext) throws {
        try StoredKeys.set(nil, .gone, of: scope, page: entity, in: worker)
    }

    /// Those of an entity among what is stored of a resource.
    static func load(of entity: String, among stored: [StoredKeys.Entry]) -> KeyRuns {
        stored.reduce(into: KeyCollector()) { gone, entry in
            if entry.kind == .gone, entry.request == entity, let keys = entry.keys { gone.add(keys) }
        }.keys
    }

    /// Those that some pages say are gone, among what is stored of a resource; nil where that is damaged.
    static func said(byPages pages: Set<String>, among stored: [StoredKeys.Entry]) -> KeyRuns? {
        var said = KeyCollector()
        for entry in stored where entry.kind == .deleted && pages.contains(entry.request) {
            guard let keys = entry.keys else { return nil }
            said.add(keys)
        }
        return said.keys
    }

    /// Takes in what is left of them. What is remembered of other entities says nothing any more.
    static func keep(_ left: KeyRuns, of entity: String, among stored: [StoredKeys.Entry], in worker: NSManagedObjectContext) {
        for entry in stored where entry.kind == .gone {
            if entry.request != entity { entry.delete(in: worker) } else if entry.keys != left { entry.replace(by: left, in: worker) }
        }
    }
}
