import OpenCoreData
import SyncReports
import Synchronization

/// What all resources and their pages vouch for, so that it can be asked for some rows without reading all of it: what `RunState.vouched` says, as long as
/// it is told of what was written since. Used on the context's queue.
struct VouchingIndex: Sendable {
    /// A page; with an empty request the resource itself.
    private struct Page: Hashable {
        let scope: String
        let request: String
    }

    private struct Claim {
        let keys: KeyRuns
        /// Of which the rows are; of a resource's own claim the resource knows it.
        let entity: String?
    }

    private struct Resource {
        let entity: String?
        /// It was a part, and is none any more.
        let isFormer: Bool

        init(_ row: StateRow<ResourceTable>) {
            entity = ModelMapping.entity(ofFingerprint: row.mapping)
            isFormer = !row.partition.isEmpty && row.isRemoved
        }
    }

    private var resources: [String: Resource] = [:]
    private var claims: [Page: Claim] = [:]
    /// The requests of the claims, by scope.
    private var requests: [String: Set<String>] = [:]
    /// The scopes of those and of the resources, by what they are parts of.
    private var parts: [Substring: Set<String>] = [:]
    /// The claims that have a key in a block of keys.
    private var blocks: [Int64: Set<Page>] = [:]
    /// Those that have keys in more blocks than can be listed.
    private var wide: Set<Page> = []
    /// How many rows of the pipeline's own tables it has read.
    private(set) var rowsRead = 0

    private static let kinds: [StoredKeys.Kind] = [.members, .previous]
    /// A block has 256 keys.
    private static let blockBits: Int64 = 8
    private static let mostBlocks: Int64 = 1 << 16

    /// Reads everything.
    init(in worker: NSManagedObjectContext) throws {
        for row in try StateRow<ResourceTable>.all(in: worker) { take(row) }
        take(try StateRow<RequestTable>.all(in: worker), try StoredKeys.entries(Self.kinds, in: worker))
    }

    /// Reads what may have been written.
    mutating func read(_ place: VouchingJournal.Place, in worker: NSManagedObjectContext) throws {
        let scope = "\(place.scope)"
        if let request = place.page {
            forget(Page(scope: scope, request: request))
            let row = try RequestTable.existing(of: place.scope, request, in: worker)
            take(row.map { [$0] } ?? [], try StoredKeys.entries(Self.kinds, ofScope: scope, page: request, in: worker))
            return
        }
        var rows = try [ResourceTable.existing(place.scope, in: worker)].compactMap { $0 }, scopes: Set = [scope]
        if place.scope.partition == nil {
            rows += try ResourceTable.parts(of: place.scope, in: worker)
            scopes.formUnion((parts[Self.whole(scope)] ?? []).filter { $0.hasPrefix("\(scope)[") })
            scopes.formUnion(rows.map { "\($0.scope)" })
        }
        for scope in scopes {
            for request in requests[scope] ?? [] { forget(Page(scope: scope, request: request)) }
            resources[scope] = nil
        }
        for row in rows { take(row) }
        for scope in scopes {
            take(
                try StateRow<RequestTable>.all(where: [.isEqual(\.scope, scope)], in: worker),
                try StoredKeys.entries(Self.kinds, ofScope: scope, in: worker))
        }
    }

    /// Those of these rows of an entity for which resources other than this one vouch, as `RunState.vouched` says it.
    func vouched(among keys: KeyRuns, of entity: String, byOthersThan scope: ResourceScope) -> KeyRuns {
        let own = "\(scope)"
        return claims(near: keys).reduce(into: KeyCollector()) { vouched, page in
            guard page.scope != own, resources[page.scope]?.isFormer != true, let claim = claims[page] else { return }
            let theirs = page.request.isEmpty ? resources[page.scope]?.entity : claim.entity
            if theirs == entity { vouched.add(keys.intersection(claim.keys)) }
        }.keys
    }

    /// The claims that may be about some of these rows.
    private func claims(near keys: KeyRuns) -> Set<Page> {
        var found = wide, next = Int64.min
        for run in keys.runs {
            let first = max(run.lowerBound >> Self.blockBits, next), last = run.upperBound >> Self.blockBits
            if first > last { continue }
            if last - first < Int64(blocks.count) {
                for block in first...last { if let pages = blocks[block] { found.formUnion(pages) } }
            } else {
                for (block, pages) in blocks where first <= block && block <= last { found.formUnion(pages) }
            }
            next = last + 1
        }
        return found
    }

    private mutating func take(_ row: StateRow<ResourceTable>) {
        rowsRead += 1
        let scope = "\(row.scope)"
        resources[scope] = Resource(row)
        parts[Self.whole(scope), default: []].insert(scope)
    }

    private mutating func take(_ rows: [StateRow<RequestTable>], _ entries: [StoredKeys.Entry]) {
        rowsRead += rows.count + entries.count
        let entities = rows.reduce(into: [Page: String]()) { entities, row in
            entities[Page(scope: row.scope, request: row.request)] = ModelMapping.entity(ofFingerprint: row.mapping)
        }
        let keys = entries.reduce(into: [Page: KeyCollector]()) { keys, entry in
            guard let theirs = entry.keys else { return }
            keys[Page(scope: entry.scope, request: entry.request), default: KeyCollector()].add(theirs)
        }
        for (page, keys) in keys { add(Claim(keys: keys.keys, entity: entities[page]), of: page) }
    }

    private mutating func add(_ claim: Claim, of page: Page) {
        claims[page] = claim
        requests[page.scope, default: []].insert(page.request)
        parts[Self.whole(page.scope), default: []].insert(page.scope)
        guard let spans = Self.blocks(of: claim.keys) else {
            wide.insert(page)
            return
        }
        for block in spans.joined() { blocks[block, default: []].insert(page) }
    }

    private mutating func forget(_ page: Page) {
        guard let claim = claims.removeValue(forKey: page) else { return }
        requests[page.scope]?.remove(page.request)
        if requests[page.scope]?.isEmpty == true { requests[page.scope] = nil }
        guard let spans = Self.blocks(of: claim.keys) else {
            wide.remove(page)
            return
        }
        for block in spans.joined() {
            blocks[block]?.remove(page)
            if blocks[block]?.isEmpty == true { blocks[block] = nil }
        }
    }

    /// The blocks that keys are in; nil: they are too many.
    private static func blocks(of keys: KeyRuns) -> [ClosedRange<Int64>]? {
        var count: Int64 = 0, spans: [ClosedRange<Int64>] = []
        for run in keys.runs {
            let span = (run.lowerBound >> blockBits)...(run.upperBound >> blockBits)
            if spans.last?.contains(span.lowerBound) == true, span.lowerBound == span.upperBound { continue }
            count += span.upperBound - span.lowerBound + 1
            if count > mostBlocks { return nil }
            spans.append(span)
        }
        return spans
    }

    /// What parts of one resource have in common with it.
    private static func whole(_ scope: String) -> Substring { scope.prefix { $0 != "[" } }
}

/// The index of a run of parts: read when a part asks for the first time, and from then on only where something was written since. Each part would read all
/// that the others vouch for otherwise.
final class VouchingMemory: Sendable {
    private struct State {
        var index: VouchingIndex?
        var reader: Int?
    }

    private let journal: VouchingJournal
    private let state = Mutex(State())

    init(_ journal: VouchingJournal) { self.journal = journal }

    deinit {
        if let reader = state.withLock({ $0.reader }) { journal.close(reader) }
    }

    /// How many rows of the pipeline's own tables the index has read.
    var rowsRead: Int { state.withLock { $0.index?.rowsRead ?? 0 } }

    /// As `RunState.vouched`. The worker has changed nothing of it.
    func vouched(among keys: KeyRuns, of entity: String, byOthersThan scope: ResourceScope, in worker: NSManagedObjectContext) throws -> KeyRuns {
        guard !keys.isEmpty else { return [] }
        return try state.withLock { state in
            let reader = state.reader ?? journal.open()
            state.reader = reader
            let changes = journal.changes(for: reader)
            do {
                if let changes, state.index != nil {
                    for place in changes { try state.index?.read(place, in: worker) }
                } else {
                    state.index = try VouchingIndex(in: worker)
                }
            } catch {
                // What it has heard of it will not hear of again.
                state.index = nil
                throw error
            }
            guard let index = state.index else { return try RunState.vouched(among: keys, of: entity, byOthersThan: scope, in: worker) }
            return index.vouched(among: keys, of: entity, byOthersThan: scope)
        }
    }
}
