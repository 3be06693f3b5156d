import Foundation
import OpenCoreData
import SyncConfiguration
import Synchronization

/// The result of a parsed and saved page.
struct ParsedPage: Sendable {
    let facts: PageFacts
    let counts: RecordCounts
    /// What was set aside, as far as it is kept.
    let rejected: [RejectedRecord]
    /// Why the first record was set aside; nil if none was.
    let firstRejection: String?
    /// What does not match the model, and is not set aside.
    let mismatches: PageMismatches
    /// The rows that the page's records are.
    let members: KeyRuns
    /// The rows of records that were set aside: listed, although nothing could be made of them.
    let listed: KeyRuns
    /// The rows of which its records say that they are gone.
    let gone: KeyRuns
    /// Rows of other pages' records that this one has changed, by entity.
    let overwritten: [String: Set<Int64>]
    /// The rows of its own records that it has made or changed.
    let written: KeyRuns
    /// Whether it seemed to the end that its records had no rows. Never so where records are not packed.
    let isNew: Bool
    /// Whether an object that its records hold was another before, or is two things at once.
    let changesHeld: Bool
}

/// Parses one page on an operation queue: makes its own worker context inside `main()`, as a child of the main context, reads and maps the records
/// there, sets the page's checkpoint beside them, and saves into the main context. All or nothing.
// Unchecked because `Operation` is; the input is immutable and a mutex guards the result.
final class ParseOperation: Operation, @unchecked Sendable {
    /// What to parse, and how.
    struct Input: Sendable {
        let document: UIManagedDocument
        let recipe: PageRecipe
        let scope: ResourceScope
        let run: Int64
        /// The run that got the page from its server; nil: this one.
        var readIn: Int64?
        let pageNumber: Int
        let requestKey: String
        /// What decides what the body becomes.
        let fingerprint: String
        /// Nothing is stored of the page.
        var isUnstored = false
        /// False: the page must not be recognised by its earlier content, because its request does not say which page it is.
        let isRemembered: Bool
        /// How its records are compared with those of its last reading.
        let comparison: RecordComparison
        let page: FetchedPage
        /// Has packed some of the page's records.
        let packing: PagePacking?
        /// How many records of earlier pages were set aside.
        let badRecords: Int
        let now: Date
        /// Knows the tombstones of objects that were said to be gone.
        var tombstones = SaidTombstones()
        let probe: ParseProbe?
    }

    private let input: Input
    private let outcome = Mutex<Result<ParsedPage, any Error>?>(nil)

    init(_ input: Input) { self.input = input }

    /// Set when the operation has finished. Cancelled operations fail with `SyncError.cancelled`.
    var result: Result<ParsedPage, any Error>? { outcome.withLock { $0 } }

    /// How often a page is read again because another one changed rows of it meanwhile. After that the later one wins, value by value.
    private static let attempts = 8

    /// Taken by who saves rows that have versions: a row that two pages make must not be that of the older record, whichever is saved last. One for all
    /// documents: there is one of them in a daemon.
    private static let turns = Mutex<Void>(())

    override func main() {
        var result: Result<ParsedPage, any Error>
        var attempt = 1
        let archived = input.page.body?.keep()
        repeat {
            result = isCancelled ? .failure(SyncError.cancelled) : readAndSave(attempt)
            attempt += 1
        } while attempt <= Self.attempts && result.isConflict
        if case .success = result { input.page.body?.settle(archived) }
        outcome.withLock { $0 = result }
    }

    private func readAndSave(_ attempt: Int) -> Result<ParsedPage, any Error> {
        let isLast = attempt == Self.attempts, recipe = input.recipe
        let hasVersions =
            recipe.mapping.comparesVersions(of: recipe.resource.entity)
            || recipe.mapping.mentions.contains { recipe.mapping.comparesVersions(of: $0.entity.name) }
        // Then nobody else changes such a row while this page is read.
        if isLast && hasVersions { return Self.turns.withLock { _ in readAndSave(isLast: true) { try $0() } } }
        return readAndSave(isLast: isLast) { save in
            if hasVersions { try Self.turns.withLock { _ in try save() } } else { try save() }
        }
    }

    /// - Parameters:
    ///   - isLast: false: fails if a row is no longer what this page's changes started from. What a page makes of a row depends on the row, so pages that
    ///     meet in one row get the same result as if one had waited for the other.
    ///   - inTurn: saves when nobody else does whose rows these may be.
    private func readAndSave(isLast: Bool, inTurn: (() throws -> Void) throws -> Void) -> Result<ParsedPage, any Error> {
        let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
        worker.name = "worker \(input.scope) page \(input.pageNumber)"
        worker.parent = input.document.managedObjectContext
        worker.parentConflictPolicy = isLast ? nil : .error
        // Rows go in and rows go up: nobody needs objects for them.
        worker.materializesNotificationObjects = false
        return worker.performAndWait {
            do {
                let (page, dropped, named, made) = try parse(in: worker)
                if isCancelled { throw SyncError.cancelled }
                input.probe?.reached(input.scope, .saving)
                // A row that was only removed from a list must not come back if it was permanently deleted in the meantime.
                if try !areThere(dropped) { throw RowsChanged() }
                try inTurn {
                    // What has versions must not be laid over a row that another page has made meanwhile.
                    if try isOneThere(made) { throw RowsChanged() }
                    try worker.save()
                }
                // Where a row went that a record names, the record's row is not what it said: the page is read as a whole when it comes next.
                if try !areThere(named) { try forgetManifest() }
                return .success(page)
            } catch {
                // The worker is discarded with everything in it: nothing of the page remains anywhere.
                worker.reset()
                return .failure(error)
            }
        }
    }

    private func forgetManifest() throws {
        let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
        worker.parent = input.document.managedObjectContext
        try worker.performAndWait {
            try StoredManifest.forget(input.scope, in: worker)
            try worker.save()
        }
    }

    private func areThere(_ ids: [NSManagedObjectID]) throws -> Bool {
        let piece = 10_000
        return try stride(from: 0, to: ids.count, by: piece).allSatisfy { first in
            let some = Array(ids[first..<min(first + piece, ids.count)])
            return try input.document.managedObjectContext.rows(for: some).count == some.count
        }
    }

    private func isOneThere(_ ids: [NSManagedObjectID]) throws -> Bool {
        let piece = 10_000
        return try stride(from: 0, to: ids.count, by: piece).contains { first in
            try !input.document.managedObjectContext.rows(for: Array(ids[first..<min(first + piece, ids.count)])).isEmpty
        }
    }

    /// The page, the rows about which it says only that they are no longer in a list, those that its records name, and those with versions that it makes.
    private func parse(
        in worker: NSManagedObjectContext
    ) throws -> (page: ParsedPage, dropped: [NSManagedObjectID], named: [NSManagedObjectID], made: [NSManagedObjectID]) {
        let scope = input.scope, comparison = input.comparison
        let reading = try input.recipe.read(
            input.page, into: worker, run: input.run, now: input.now, badRecords: input.badRecords,
            packing: input.packing, tombstones: input.tombstones, probe: input.probe.map { $0.mapperProbe(scope) },
            isCancelled: { [weak self] in self?.isCancelled ?? true })
        let facts = reading.facts, mapper = reading.mapper
        let (gone, spared) = try mapper.goneRows()
        var members = mapper.members
        if !mapper.outcome.isSound(members, besides: comparison.written) { throw UnsoundComparison() }
        // Which came later, the record that was left out or the one that says that its object is gone?
        if !mapper.outcome.unread.intersection(gone).isEmpty { throw UnsoundComparison() }
        members.subtract(gone)
        // A record that was left out may say otherwise of an object that both hold.
        if mapper.changesHeld, mapper.outcome.unreadCount > 0 { throw UnsoundComparison() }
        // What the page said may have been forgotten since it was compared.
        if try input.page.content.isCompared && RequestTable.existing(of: scope, input.requestKey, in: worker)?.manifest ?? 0 == 0 {
            throw UnsoundComparison()
        }
        var listed = try mapper.listedRows()
        listed.formUnion(spared)
        listed.subtract(members.union(gone))
        if mapper.entity.deletionSign != nil {
            try GoneRows.note(
                gone, saysSo: mapper.deletions > 0, listed: members.union(listed), page: input.requestKey, isRepeated: !input.isRemembered, of: scope,
                entity: mapper.entity.name,
                in: worker)
        }
        // The validators of a partial response are those of the whole: they would say nothing.
        // Which of its records are wanted may be another matter tomorrow, whatever the server says of it.
        let resource = input.recipe.resource, conditions = resource.filter + resource.also.compactMap(\.condition)
        let isTimeless = !conditions.contains(where: \.dependsOnTime)
        // As unchanged it would be one that lacks what it should have.
        let lacksToken = facts.saysNothing && input.recipe.resource.incremental?.token != nil
        let isRemembered = !lacksToken && input.isRemembered && !input.page.isPartial && facts.isSound && !facts.hasEmptyLists && isTimeless
        for entity in comparison.others { try StoredManifest.forget(entity: entity, in: worker) }
        let mayBeKept = comparison.mayBeKept && !(comparison.isPossible && mapper.changesHeld)
        if !mayBeKept { try StoredManifest.forget(input.scope, in: worker) }
        let isCompared = comparison.isPossible && mayBeKept && isRemembered
        try StoredRequest(
            validators: isRemembered ? input.page.validators : nil, facts: isRemembered ? facts : nil, run: input.readIn ?? input.run
        ).store(
            members: members, listed: listed, manifest: (isCompared ? try mapper.outcome.manifest(of: members) : nil) ?? Manifest(),
            scope: input.scope,
            key: input.requestKey, fingerprint: input.fingerprint, isUnstored: input.isUnstored, in: worker)
        try quarantine(mapper.rejected, in: worker)
        let page = ParsedPage(
            facts: facts, counts: mapper.counts, rejected: mapper.rejected, firstRejection: mapper.firstRejection, mismatches: mapper.mismatches,
            members: members,
            listed: listed, gone: gone, overwritten: mapper.overwritten, written: mapper.outcome.written, isNew: mapper.isNew,
            changesHeld: mapper.changesHeld)
        return (page, mapper.dropped, Array(mapper.named), mapper.madeWithVersions)
    }

    private func quarantine(_ records: [RejectedRecord], in worker: NSManagedObjectContext) throws {
        for record in records {
            var row = try QuarantineTable.row(BodyDigest(of: "\(input.scope)\n\(record.hash)"), in: worker)
            row.take(
                record, reason: RemoteText.line(input.recipe.settings.redactor.redact(record.reason)), of: input.scope, run: input.run,
                page: input.pageNumber, now: input.now)
            row.write(in: worker)
        }
    }
}

/// How the records of a page are compared with those of its last reading.
struct RecordComparison: Sendable {
    /// Whether the resource is the only one whose records are rows of its entity.
    var isAlone = false
    /// Whether records need not be read where they are the same: `ModelMapping.comparable`, and no other resource writes what they hold.
    var isComparable = false
    /// The entities of other records that its own make something else of: what is kept of those is forgotten.
    var others: Set<String> = []
    /// The rows that the run's pages before have made or changed.
    var written: KeyRuns = []
    /// Whether what pages say may be kept for their next reading; if not, what is kept of the resource's pages is forgotten.
    var mayBeKept = true

    /// Whether a page's records may be compared when it is read next.
    var isPossible: Bool { isAlone && isComparable }
}

/// A record that was left out since it is the same may be another's row: the page has to be fetched and read as a whole.
struct UnsoundComparison: Error {}

/// A row was deleted for good, made or changed while a page was read, and what became of the page was decided without that.
struct RowsChanged: Error, CustomStringConvertible {
    var description: String { "rows of it were changed elsewhere each time that it was read" }
}

extension Result where Failure == any Error {
    /// Whether a page was not saved because rows had changed meanwhile.
    fileprivate var isConflict: Bool {
        guard case .failure(let error) = self else { return false }
        if error is RowsChanged { return true }
        let refusal = error as NSError
        return refusal.domain == CocoaError.errorDomain && refusal.code == CocoaError.Code.managedObjectMerge.rawValue
    }
}

/// Lets a test decide the order in which concurrent parses look up, write and save. Nil in a daemon.
struct ParseProbe: Sendable {
    enum Stage: Sendable, CaseIterable {
        /// A batch was read; its objects are looked up next.
        case lookingUp
        /// They were looked up; their rows are written next.
        case writing
        /// The page is done; its worker context is saved next.
        case saving
    }

    /// How many objects make a batch.
    var batchSize: Int
    /// Whether plain records may be written as they are; otherwise each of them goes the long way.
    var isPacking = true
    /// About how many bytes of records are packed at once while a page arrives.
    var listSize: Int?
    /// Called on the parse's own thread; the parse goes on when it returns.
    var reached: @Sendable (ResourceScope, Stage) -> Void = { _, _ in }
    /// Called when the conclusion of a run is written, before it is saved, on its context's queue.
    var concludes: @Sendable (ResourceScope) -> Void = { _ in }
    /// Called with the number of records that were written as they are, each time some were.
    var packed: @Sendable (Int) -> Void = { _ in }
    /// Called when a page's records will be packed while it arrives.
    var packs: @Sendable (ResourceScope) -> Void = { _ in }
    /// Called with the number of records that were packed while their page arrived, each time some of them are taken.
    var taken: @Sendable (Int) -> Void = { _ in }

    /// Called when the parts of a run have been read, with how many rows of the pipeline's own tables were read to know what others vouch for.
    var vouched: @Sendable (Int) -> Void = { _ in }

    func mapperProbe(_ scope: ResourceScope) -> RecordMapper.Probe {
        RecordMapper.Probe(batchSize: batchSize, isPacking: isPacking, packed: packed, taken: taken) { reached(scope, $0) }
    }
}

extension OperationQueue {
    /// Parses a page on this queue. A cancelled task cancels it. Throws what parsing or saving the page threw.
    func run(_ operation: ParseOperation) async throws -> ParsedPage {
        let box = OperationBox(operation: operation)
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                box.operation.completionBlock = { continuation.resume() }
                addOperation(box.operation)
            }
        } onCancel: {
            box.operation.cancel()
        }
        operation.completionBlock = nil
        guard let result = operation.result else { throw SyncError.cancelled }
        return try result.get()
    }
}

// Operations may be cancelled and waited for from any thread; Foundation does not say so to the compiler.
private struct OperationBox: @unchecked Sendable {
    let operation: Operation
}
