import Foundation
import JSONReader
import OpenCoreData
import SyncConfiguration
import Synchronization

/// Packs the records of a page while the page arrives: a list of them at a time, in operations of the queue that parses pages. Whoever reads the page
/// takes the lists in order. What nobody has begun by then he reads himself, and meanwhile another thread packs what comes later.
///
/// It says nothing about the page. A list in which anything is unusual is not packed: whoever reads it finds out what that is.
final class PagePacking: PageArrival {
    private let recipe: PageRecipe
    private let mapping: EntityMapping
    private let run: Int64
    private let clock: any SyncClock
    private let queue: OperationQueue
    private let spill: BlockSpill
    private let state = Mutex(State())
    /// Entered by whoever packs a list.
    private let underway = DispatchGroup()

    private enum List {
        case waiting(RecordSpool.Place)
        case underway
        case packed([PackedRecords])
        /// It is for nobody but who reads the page.
        case other
    }

    private struct State {
        var lists: [List] = []
        /// No list before it is waiting.
        var next = 0
        /// Which lists these are: what is packed of others is for nobody.
        var attempt = 0
        var limits = JSONReaderLimits()
        /// When the page began to arrive, which is what its rows say.
        var now = Date.distantPast
        /// Operations that wait or run.
        var helpers = 0
        /// What threads pack with that do so no more, or not now.
        var packers: [ListPacker] = []
        var isOver = false

        mutating func forget() {
            lists = []
            next = 0
            attempt += 1
        }

        /// Whether a list is waiting; then `next` is one.
        mutating func findWaiting() -> Bool {
            while next < lists.count {
                if case .waiting = lists[next] { return true }
                next += 1
            }
            return false
        }

        mutating func claim() -> Claim? {
            guard findWaiting(), case .waiting(let place) = lists[next] else { return nil }
            lists[next] = .underway
            return Claim(number: next, place: place, attempt: attempt, limits: limits, now: now)
        }
    }

    /// A list that somebody packs.
    private struct Claim {
        let number: Int
        let place: RecordSpool.Place
        let attempt: Int
        let limits: JSONReaderLimits
        let now: Date
    }

    /// How many lists an operation packs before a page that waits has its turn.
    private static let listsOfAnOperation = 8

    /// - Parameters:
    ///   - queue: where operations pack, as far as it has room for them.
    ///   - spill: where packed records wait.
    /// - Returns: nil where records cannot be packed.
    init?(_ recipe: PageRecipe, run: Int64, clock: any SyncClock, queue: OperationQueue, spill: BlockSpill) {
        guard let mapping = recipe.mapping.entities[recipe.resource.entity], mapping.isPacked, recipe.mapping.mentions.isEmpty,
            !recipe.mapping.comparesVersions(of: mapping.name)
        else { return nil }
        self.recipe = recipe
        self.mapping = mapping
        self.run = run
        self.clock = clock
        self.queue = queue
        self.spill = spill
    }

    func began(under limits: JSONReaderLimits) {
        let now = clock.wallTime
        state.withLock { state in
            state.forget()
            state.limits = limits
            state.now = now
        }
    }

    func arrived(_ list: RecordSpool.Place) {
        let isHelped = state.withLock { state in
            if state.isOver { return true }
            state.lists.append(.waiting(list))
            if state.helpers >= queue.maxConcurrentOperationCount { return true }
            state.helpers += 1
            return false
        }
        if !isHelped { help() }
    }

    func failed() { state.withLock { $0.forget() } }

    /// Nothing more is packed.
    func end() {
        state.withLock { state in
            state.isOver = true
            state.forget()
            state.packers = []
        }
    }

    /// The records of a list, which is then no longer here. Waits while somebody packs it, and packs others meanwhile.
    ///
    /// - Returns: nil: the list has to be read.
    func take(_ number: Int) -> [PackedRecords]? {
        enum Step { case done([PackedRecords]?), pack(Claim), wait }
        while true {
            let step = state.withLock { state -> Step in
                guard number < state.lists.count else { return .done(nil) }
                switch state.lists[number] {
                case .underway: return claim(&state).map { .pack($0) } ?? .wait
                case .packed(let records):
                    state.lists[number] = .other
                    return .done(records)
                case .waiting, .other:
                    state.lists[number] = .other
                    return .done(nil)
                }
            }
            switch step {
            case .done(let records): return records
            case .pack(let claim): pack(claim)
            case .wait: underway.wait()
            }
        }
    }

    /// One more operation packs.
    private func help() {
        let operation = BlockOperation { [self] in
            for _ in 0..<Self.listsOfAnOperation {
                guard let claim = state.withLock({ claim(&$0) }) else { break }
                pack(claim)
            }
            let goesOn = state.withLock { state in
                if state.findWaiting() { return true }
                state.helpers -= 1
                return false
            }
            if goesOn { help() }
        }
        operation.queuePriority = .low
        queue.addOperation(operation)
    }

    private func claim(_ state: inout State) -> Claim? {
        let claim = state.claim()
        if claim != nil { underway.enter() }
        return claim
    }

    private func pack(_ claim: Claim) {
        let packer = state.withLock { $0.packers.popLast() } ?? ListPacker(recipe, mapping, run: run)
        let records = packer.records(of: claim.place, under: claim.limits, now: claim.now, in: spill)
        state.withLock { state in
            if !state.isOver { state.packers.append(packer) }
            // The page may have begun anew, or may be wanted no more.
            if state.attempt == claim.attempt { state.lists[claim.number] = records.map { .packed($0) } ?? .other }
        }
        underway.leave()
    }
}

/// Packs lists of records, one after the other.
// Unchecked: it belongs to who has taken it out of where it is kept.
private final class ListPacker: @unchecked Sendable {
    private let recipe: PageRecipe
    private let mapping: EntityMapping
    private let run: Int64
    private let reader = JSONRecordReader()
    private var list = RecordSpool.List()

    init(_ recipe: PageRecipe, _ mapping: EntityMapping, run: Int64) {
        self.recipe = recipe
        self.mapping = mapping
        self.run = run
    }

    /// A record that the mapper has to look at.
    private struct Unusual: Error {}

    /// Nil if one of them is not packed, or cannot be read.
    func records(of place: RecordSpool.Place, under limits: JSONReaderLimits, now: Date, in spill: BlockSpill) -> [PackedRecords]? {
        guard
            let packer = RecordPacker(
                mapping, among: recipe.mapping, constants: recipe.constants, limits: recipe.resource.limits, now: now, run: run)
        else { return nil }
        var result: [PackedRecords] = []
        func close() throws {
            guard let records = packer.records(in: spill) else { throw Unusual() }
            result.append(records)
            packer.removeAll()
        }
        do {
            try place.read(into: &list)
            let records = list.records
            _ = try list.bytes.withUnsafeBytes { bytes in
                try reader.read(bytes: bytes, plan: mapping.plan, limits: limits, policies: recipe.policies) { record in
                    let known = records[record.index]
                    let hash = Int64(bitPattern: known.hash ^ recipe.mapping.salt ^ recipe.constants.salt(of: record))
                    guard record.problem == nil, mapping.deletionSign?.isMet(by: record) != true, packer.add(record, at: known.place, hash: hash)
                    else { throw Unusual() }
                    if packer.builder.isFull { try close() }
                }
            }
            if !packer.places.isEmpty { try close() }
        } catch {
            // Whoever reads the page meets it again.
            return nil
        }
        return result
    }
}
