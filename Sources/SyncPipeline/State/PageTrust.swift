import OpenCoreData
import Synchronization

/// Whether pages may be taken as unchanged. A page vouches for its records' rows, but an unchanged page does not mean unchanged rows: a short form
/// inside another page's record may have changed one of them, or a store that an older version wrote has rows that never got their values. Such a
/// page is read again.
final class PageTrust: Sendable {
    private struct Page: Hashable {
        let scope: ResourceScope
        let request: String
    }

    private struct State {
        /// Pages whose rows were all looked at, or written, since this process began: at which of the entity's doubts they were looked at last.
        var known: [Page: Int] = [:]
        /// Resources of which no two pages have a record of one row, as far as pages were read since.
        var apart: Set<ResourceScope> = []
        /// Rows that were changed by others than their records since, by entity.
        var overwritten: [String: Set<Int64>] = [:]
        /// How often rows came into doubt, by entity.
        var doubts: [String: Int] = [:]
        /// When the store was asked last whether another program has written to it.
        var askedForOthers: SyncInstant?
        /// How often all pages were forgotten.
        var generation = 0
        /// Resources the rows that their records hold were looked at: in which generation.
        var held: [ResourceScope: Int] = [:]

        mutating func doubt(_ rows: [String: Set<Int64>]) {
            for (entity, keys) in rows where !keys.isEmpty {
                overwritten[entity, default: []].formUnion(keys)
                doubts[entity, default: 0] += 1
            }
        }
    }

    /// How long runs that are due go by what the store was last asked.
    private static let patience = Duration.seconds(10)

    /// How many rows are looked at in one go.
    private static let piece = 10_000

    private let state = Mutex(State())

    /// Where what pages and resources vouch for is written.
    let vouching = VouchingJournal()
    /// What was said of tombstones.
    let tombstones = SaidTombstones()

    /// Runs draw their conclusions one after the other: whether a row goes depends on what the others vouch for.
    let conclusions = SerialTurns()

    /// A page was read and saved, and has changed these rows of other pages, by entity.
    ///
    /// - Parameter comparing: whether only records were read that were not the same as before. Then the rows of the others are known only if they were.
    func note(_ overwritten: [String: Set<Int64>], readingPage request: String, of scope: ResourceScope, comparing: Bool = false) {
        state.withLock { state in
            let page = Page(scope: scope, request: request)
            // Another program may have written since they were looked at: then nothing is known of them.
            if !comparing || state.known[page] != nil { state.known[page] = 0 }
            state.apart.remove(scope)
            state.doubt(overwritten)
        }
    }

    /// Whether it is known that no two pages of a resource have a record of one row.
    func pagesAreApart(of scope: ResourceScope) -> Bool { state.withLock { $0.apart.contains(scope) } }

    /// No two pages of a resource have a record of one row. It is so until a page is read.
    func notePagesApart(of scope: ResourceScope) { state.withLock { _ = $0.apart.insert(scope) } }

    /// Takes in that these rows were removed, by entity: pages that vouch for them must not be taken as unchanged.
    func doubt(_ removed: [String: Set<Int64>]) {
        state.withLock { $0.doubt(removed) }
    }

    /// What these pages vouch for cannot be read, or is no longer remembered: they are read again if they come again.
    func forget(_ requests: some Sequence<String>, of scope: ResourceScope) {
        state.withLock { state in
            for request in requests { state.known[Page(scope: scope, request: request)] = nil }
        }
    }

    /// Forgets the pages of all resources but these.
    func keep(only scopes: Set<ResourceScope>) {
        tombstones.forget()
        state.withLock { state in
            state.known = state.known.filter { scopes.contains($0.key.scope.whole) }
            state.apart = state.apart.filter { scopes.contains($0.whole) }
            state.held = state.held.filter { scopes.contains($0.key) }
        }
    }

    /// How many pages it knows.
    var count: Int { state.withLock { $0.known.count } }

    /// Whether a run that begins asks the store if another program has written to it. One that somebody asked for does; those that were merely due do
    /// so together, once in a few seconds.
    func asksForOthers(at now: SyncInstant, isDue: Bool) -> Bool {
        state.withLock { state in
            if isDue, let asked = state.askedForOthers, now < asked.advanced(by: Self.patience) { return false }
            state.askedForOthers = now
            return true
        }
    }

    /// Another program has written to the file: all rows are checked again.
    func forgetAll() {
        tombstones.forget()
        state.withLock { state in
            state.known = [:]
            state.generation += 1
        }
    }

    /// Whether it is known that the rows that a page vouches for are what its records say: nobody has to look.
    func isKnown(_ request: String, of scope: ResourceScope, entity: String) -> Bool {
        state.withLock { $0.known[Page(scope: scope, request: request)] == $0.doubts[entity] ?? 0 }
    }

    /// Whether the rows that some pages vouch for are what their records say. Looks at all of them once in the life of a process, and after others have
    /// written to the file; otherwise only at those in doubt. On the context's queue; throws what reading throws.
    ///
    /// - Parameters:
    ///   - requests: the pages; of several, one that does not hold lets none hold.
    ///   - found: told how many rows were not as they had been written: they are from now on rows whose records have to be read.
    ///   - members: reads the rows that the pages' records are; nil: they cannot be told. Not called where nothing came into doubt.
    func holds(
        _ requests: some Collection<String>, of scope: ResourceScope, entity: EntityMapping, in context: NSManagedObjectContext,
        found: (Int) -> Void = { _ in }, members: () throws -> KeyRuns?
    ) throws -> Bool {
        let pages = requests.map { Page(scope: scope, request: $0) }
        let (isLookedAt, isUnknown, doubts, generation) = state.withLock { state in
            let doubts = state.doubts[entity.name] ?? 0
            let known = pages.map { state.known[$0] }
            return (known.allSatisfy { $0 == doubts }, known.contains(nil), doubts, state.generation)
        }
        if isLookedAt { return true }
        guard let members = try members() else { return false }
        let doubtful = state.withLock { state in
            let overwritten = state.overwritten[entity.name] ?? []
            return members.count < overwritten.count ? Set(members.lazy.filter(overwritten.contains)) : overwritten.filter(members.contains)
        }
        if isUnknown { try Self.adopt(members, of: entity, in: context, found: found) }
        guard try Self.areWhole(isUnknown ? members : KeyRuns(doubtful), of: entity, in: context) else { return false }
        state.withLock { state in
            // Who overwrites one while they are read brings it into doubt anew: then it stays there.
            if state.doubts[entity.name] ?? 0 == doubts, !doubtful.isEmpty { state.overwritten[entity.name]?.subtract(doubtful) }
            // Otherwise another program may have changed a row after it was looked at here: the pages stay unknown.
            if state.generation == generation { for page in pages { state.known[page] = doubts } }
        }
        return true
    }

    /// Whether the rows that the records of a resource hold may still be what these say. Looks at all of them once in the life of a process, and after
    /// others have written to the file: then one may also be gone. On the context's queue; throws what reading throws.
    ///
    /// - Parameter found: told how many rows were not as they had been written.
    func heldRows(
        of scope: ResourceScope, entities: some Sequence<EntityMapping>, in context: NSManagedObjectContext, found: (Int) -> Void
    ) throws -> HeldRows {
        let (looked, generation) = state.withLock { ($0.held[scope], $0.generation) }
        if looked == generation { return .same }
        var changed = 0
        for entity in entities { changed += try Self.adopt(runs: [1...Int64.max], of: entity, in: context) }
        if changed > 0 { found(changed) }
        state.withLock { $0.held[scope] = generation }
        return changed > 0 ? .changed : looked == nil ? .same : .unknown
    }

    /// What is known of the rows that records hold.
    enum HeldRows {
        /// Nobody has changed them.
        case same
        /// Somebody may have removed some.
        case unknown
        case changed
    }

    /// Takes rows that another program has changed for rows whose records have to be read, and tells how many they were.
    private static func adopt(
        _ members: KeyRuns, of entity: EntityMapping, in context: NSManagedObjectContext, found: (Int) -> Void
    ) throws {
        var changed = 0
        try members.forEachPiece(of: piece) { changed += try adopt(runs: $0.runs, of: entity, in: context) }
        if changed > 0 { found(changed) }
    }

    private static func adopt(runs: [ClosedRange<Int64>], of entity: EntityMapping, in context: NSManagedObjectContext) throws -> Int {
        try context.endOfChain?.adoptRows(runs, of: entity.entity, emptying: ModelBuilder.Bookkeeping.hash.rawValue).count ?? 0
    }

    /// Whether these rows exist and are what their records said.
    private static func areWhole(_ keys: KeyRuns, of entity: EntityMapping, in context: NSManagedObjectContext) throws -> Bool {
        // Neighbours are counted by the store; what stands alone is no dearer to read.
        if keys.runs.count <= keys.count / 4, let whole = try context.count(entity.wholeRows, among: keys.runs) { return whole == keys.count }
        var isWhole = true
        try keys.forEachPiece(of: piece) { piece in
            guard isWhole else { return }
            let rows = try entity.rows(piece, in: context)
            isWhole = rows.count == piece.count && rows.values.allSatisfy(entity.bookkeeping.isWhole)
        }
        return isWhole
    }
}

extension EntityMapping.Bookkeeping {
    /// Whether a row is what a record of its own said, and nothing else.
    func isWhole(_ row: RowSnapshot) -> Bool { !row[hash].isNull && row[stub] != .bool(true) && row[deletedAt].isNull }
}

extension EntityMapping {
    /// The rows that are what their records said, as `Bookkeeping.isWhole` tells of one.
    fileprivate var wholeRows: FetchPlan {
        var plan = FetchPlan(entity: entity)
        let names = ModelBuilder.Bookkeeping.self
        plan.includesSubentities = false
        plan.predicate =
            NSPredicate(
                format: "%K != nil AND %K != YES AND %K == nil", names.hash.rawValue, names.stub.rawValue, names.deletedAt.rawValue
            ).node
        return plan
    }

    /// Those of the rows with these primary keys that exist.
    func rows(_ keys: KeyRuns, in context: NSManagedObjectContext) throws -> [NSManagedObjectID: RowSnapshot] {
        guard !keys.isEmpty, let store = context.endOfChain?.store(for: entity) else { return [:] }
        return try context.currentRows(
            keys.map { NSManagedObjectID(entity: entity, key: $0, store: store.identity, isTemporary: false) })
    }
}

/// Lets pieces of asynchronous work run one after the other, in the order in which they came.
final class SerialTurns: Sendable {
    private let last = Mutex<Task<Void, Never>?>(nil)

    /// Runs `body` when all that came before has ended.
    func run<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) async throws -> T {
        let task = last.withLock { last in
            let previous = last
            let task = Task {
                await previous?.value
                return try await body()
            }
            last = Task { _ = await task.result }
            return task
        }
        return try await task.value
    }
}
