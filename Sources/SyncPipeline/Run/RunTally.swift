import Foundation
import SyncConfiguration

/// What a run has found so far: counts and evidence, page by page.
struct RunTally: Sendable {
    var outcome = RunOutcome.succeeded
    var isComplete = false
    var pages = 0
    var notModified = 0
    var bytes = 0
    var counts = RecordCounts()
    var status: Int?
    var error: String?
    var failure: RunFailure?
    var parkedUntil: Date?
    /// What it says of the server.
    var evidence = Breaker.Evidence.none
    /// The rows listed by the pages that the run read; `unmodified` gives those of the others.
    var seen: KeyRuns { collected.keys.subtracting(gone) }
    private var collected = KeyCollector()
    /// Rows of which records say that they are gone: nobody lists these, whatever other pages say.
    private(set) var gone: KeyRuns = []
    /// A page that it read has such records, or one of a run before that removed none.
    var sawGone = false
    /// The rows of its records that it has made or changed; those since somebody asked for them are gathered only.
    private var written: KeyRuns = []
    private var writtenSince = KeyCollector()
    /// The number of the last run that read all there was; 0: none did.
    var completeRun: Int64 = 0
    /// The rows of pages that were read since then by other runs, by the number of the run that read them.
    private var unsettled: [Int64: KeyRuns] = [:]
    var hasUnsettled: Bool { !unsettled.isEmpty }
    /// The pages that are unchanged.
    private(set) var unmodified: [String] = []
    /// Which page was read in which run, in order.
    private var readings = ""
    private(set) var requestKeys: Set<String> = []
    /// How often pages were asked for that others had been asked for as before.
    private var repetitions: [String: Int] = [:]
    var isPartial = false
    var badRecords = 0
    var pacing: ServerPacing?

    /// The records of all pages, wanted or not, including those of unchanged ones: what is left out was read as it should be.
    private var records = 0
    /// How many of them were set aside, now or when their page was read.
    private var rejected = 0
    private var firstRejection: String?
    /// How many of those could not be identified by a key: each may be any row.
    private(set) var unidentified = 0
    /// The numbers of the pages that were read because they had changed.
    private(set) var readPages: Set<Int> = []
    /// The number of the run that read the page which was read the longest ago.
    private(set) var oldestReading = Int64.max
    /// The pages were requested without conditions, because rows wait for another listing.
    var isReadAnew = false
    /// Whether the records of its pages may be compared with those of their last reading.
    var mayCompare = false
    /// Of each page that was read it seemed to the end that its records had no rows.
    private(set) var isNew = true
    /// The server said that nothing is there any more of what was listed.
    private(set) var isGone = false
    /// It asks for what has changed, and not for everything: what it does not list may be there all the same.
    var isIncrement = false
    /// The newest of its records.
    private(set) var newest: SyncCursor?
    /// The newest of the first page that says it.
    private(set) var firstNewest: SyncCursor?
    /// Whether what was read so far need not be asked for again if the run ends early: all of it is what it should be.
    private(set) var isTrusted = true
    /// The last of its records that says how new it is.
    var lastCursor: SyncCursor?
    /// What the last page gave for the next run to go on from; nil: nothing.
    private(set) var token: String?
    /// Why there is none, where the page named one.
    private(set) var refusedToken: String?
    /// The last page of what has changed said that there is nothing: the run goes on from where it began, unless a page before said where.
    private(set) var keepsToken = false
    /// The attributes of which it was said that values are none, since they were of another type.
    var nulled: Set<String> = []
    /// What was said that records say and nothing is made of.
    var unknown: Set<String> = []
    /// It was said that the server sends what it was not asked for.
    var isIgnoranceTold = false
    /// How far runs have come with it.
    var cursor = CursorChange.none

    /// What becomes of how far runs have come.
    enum CursorChange: Sendable, Hashable {
        /// It stays.
        case none
        /// It is this from now on; nil: nobody knows, and everything is asked for.
        case set(SyncCursor?)
    }

    /// It was read to the end, and what it does not list is not there.
    var isListing: Bool { isCaughtUp && !isIncrement }

    /// All that it asked for was read.
    var isCaughtUp: Bool { isComplete && outcome == .succeeded }

    var wroteAnything: Bool { pages > notModified || counts.deleted > 0 }

    /// Takes in a page that was parsed and saved in the run of this number.
    mutating func take(_ page: ParsedPage, of fetched: FetchedPage, request: String, run: Int64) {
        pages += 1
        readPages.insert(pages)
        isPartial = isPartial || fetched.isPartial
        isNew = isNew && page.isNew
        counts += page.counts
        badRecords += page.facts.rejected
        see(page.members)
        see(page.listed)
        sawGone = sawGone || !page.gone.isEmpty
        // What other pages say of an object that records hold may be another thing.
        if page.changesHeld { mayCompare = false }
        writtenSince.add(page.written)
        firstRejection = firstRejection ?? page.firstRejection
        take(page.facts, request, readIn: run)
    }

    /// Takes in that a page was had for this request.
    mutating func note(_ request: String) {
        if !requestKeys.insert(request).inserted { repetitions[request, default: 0] += 1 }
    }

    /// How many pages were asked for like that before.
    func repetition(of request: String) -> Int { requestKeys.contains(request) ? (repetitions[request] ?? 0) + 1 : 0 }

    /// What its pages are called in the archive.
    var slots: Set<String> {
        Set(requestKeys.lazy.flatMap { [repetitions] key in (0...(repetitions[key] ?? 0)).map { ArchivedHead.slot(key, $0) } })
    }

    /// Takes in that these rows are listed.
    mutating func see(_ keys: KeyRuns) { collected.add(keys) }

    /// Takes in that the records of these rows say that they are gone.
    mutating func lose(_ keys: KeyRuns) { gone.formUnion(keys) }

    /// Takes in the rows of a page that was read in a run which may not have come to later pages that say another thing of them.
    mutating func unsettle(_ rows: KeyRuns, readIn run: Int64) { unsettled[run, default: []].formUnion(rows) }

    /// The rows that may have been made or changed, for pages before it, since a page was read in the run of this number. Two runs have the same number
    /// where the first one was killed.
    mutating func rowsWritten(over run: Int64) -> KeyRuns {
        written.formUnion(writtenSince.keys)
        writtenSince = KeyCollector()
        return unsettled.reduce(into: written) { rows, page in if page.key >= run { rows.formUnion(page.value) } }
    }

    /// Takes in an unchanged page.
    mutating func take(_ page: UnmodifiedPage, request: String, facts: PageFacts, stored: StoredRequest) {
        status = 304
        pages += 1
        notModified += 1
        bytes += page.received
        pacing = page.pacing
        unmodified.append(request)
        counts.unchanged += facts.wanted - facts.rejected
        take(facts, request, readIn: stored.run)
    }

    /// Distinguishes listings that do not consist of the same readings of the same pages.
    var listing: BodyDigest { BodyDigest(of: readings) }

    private mutating func take(_ facts: PageFacts, _ request: String, readIn run: Int64) {
        readings += "\(run) \(request)\n"
        records += facts.records
        rejected += facts.rejected
        unidentified += facts.unidentified
        oldestReading = min(oldestReading, run)
        firstNewest = firstNewest ?? facts.span?.newest
        newest = [newest, facts.span?.newest].compactMap { $0 }.max()
    }

    /// What made the run fail.
    mutating func fail(_ error: any Error) {
        outcome = .failed
        failure = RunFailure(error)
        self.error = error.inWords
    }

    /// Takes in that a page was read as it should be, or not. What the last one gives is what the next run goes on from.
    mutating func trust(_ facts: PageFacts, limits: LimitsConfiguration) {
        keepsToken = isIncrement && facts.saysNothing && facts.token == nil && facts.refusedToken == nil
        if !keepsToken { (token, refusedToken) = (facts.token, facts.refusedToken) }
        isTrusted = isTrusted && facts.isSound && !isPartial && !hasTooManyBad(limits)
    }

    private func hasTooManyBad(_ limits: LimitsConfiguration) -> Bool {
        rejected > 0 && (rejected >= records || Double(rejected) > limits.maxBadFraction * Double(records))
    }

    /// Takes in that the server said that nothing is there any more: that is all there is to be read.
    mutating func vanish(status: Int?) {
        isGone = true
        isComplete = true
        // When it is there again, everything is asked for.
        isIncrement = false
        cursor = .set(nil)
        self.status = status
    }

    /// Takes in how the listing ended, and judges it.
    mutating func end(_ end: PaginationEnd, limits: LimitsConfiguration) {
        if hasTooManyBad(limits) {
            outcome = .failed
            failure = .page
            let limit = rejected >= records ? "" : ", more than limits.max_bad_fraction = \(limits.maxBadFraction)"
            error =
                "\(rejected) of \(records) records were set aside\(limit)"
                + (firstRejection.map { "; the first: \($0)" } ?? "; see `cisternctl quarantine list`")
            return
        }
        isComplete = end.isComplete && !isPartial
        guard !isComplete else { return }
        outcome = .incomplete
        error = end.doubts.isEmpty ? "only part of a page arrived (206)" : end.doubts.map(\.description).joined(separator: "; ")
    }
}

/// What follows from a run for the rows of its resource. Pure: a judgement over what the run has seen and what was known before.
struct RunConclusion: Sendable, Hashable {
    /// What to do about the rows that were missing.
    private(set) var verdict = Sweep.Verdict()
    /// The rows that the resource vouches for from now on.
    let members: KeyRuns
    /// These are exactly the rows of the listing: the same listing, seen again, says nothing new.
    let leavesNothingOpen: Bool
    /// The run was a complete listing: what it did not have may be judged, and what was remembered of other pages is forgotten.
    let isListing: Bool

    /// What is known besides the run itself.
    struct Circumstances: Sendable {
        /// Those of the previously known rows that still exist. A row that is already gone, for whatever reason, is not missing.
        let live: KeyRuns
        /// Those that other resources vouch for.
        let others: KeyRuns
        /// How the model's rules forbid removing a row.
        var denials: [Int64: Sweep.Denial] = [:]
        /// What speaks against believing that a part is gone.
        var objection: String?
        /// Somebody accepted the held deletions.
        let isAccepted: Bool
        let endedAt: Date
    }

    init(_ tally: RunTally, state: RunState, deletion: DeletionConfiguration, _ known: Circumstances) {
        isListing = tally.isListing
        let seen = tally.seen, before = state.missing.whole
        guard isListing else {
            members = known.live.union(seen)
            leavesNothingOpen = false
            verdict.missing = before
            // What has changed is there.
            if tally.isIncrement { verdict.missing.forget(seen) }
            if tally.isReadAnew, !tally.isIncrement { verdict.missing.judged?.time = known.endedAt }
            return
        }
        if deletion.detect == .snapshot || tally.isGone {
            if tally.unidentified > 0 {
                verdict = Self.withoutProof(tally, absent: known.live.subtracting(seen), before: before)
            } else {
                verdict = Sweep(configuration: deletion, isVanished: tally.isGone, objection: known.objection).verdict(
                    known: known.live, seen: seen, missing: before, isAccepted: known.isAccepted || state.mayDelete,
                    others: known.others, denials: known.denials,
                    listing: Sweep.Listing(run: state.number, time: known.endedAt, oldestPage: tally.oldestReading))
            }
        }
        let kept = deletion.detect == .snapshot && tally.unidentified > 0 ? known.live : verdict.missing.all
        members = seen.union(kept)
        leavesNothingOpen = kept.isSubset(of: seen)
        verdict.missing.inheritTombstones(of: before)
    }

    /// A record that cannot be identified by its key may be any row: nothing is missing for certain.
    private static func withoutProof(_ tally: RunTally, absent: KeyRuns, before: MissingKeys) -> Sweep.Verdict {
        var verdict = Sweep.Verdict()
        verdict.missing = before
        verdict.missing.forget(before.all.subtracting(absent))
        guard !absent.isEmpty else { return verdict }
        verdict.held = absent.count
        verdict.guardName = "the key of \(tally.unidentified == 1 ? "a listed record" : "\(tally.unidentified) listed records") cannot be read"
        return verdict
    }

    /// Whether there is anything to conclude from a run although none of its pages was written.
    static func isDue(_ tally: RunTally, state: RunState, deletion: DeletionConfiguration, endedAt: Date) -> Bool {
        guard tally.isComplete else { return false }
        if state.missing.hasTombstones(until: deletion.purgeCutoff(endedAt)) { return true }
        guard deletion.detect == .snapshot || tally.isGone, !tally.isIncrement else { return false }
        return state.missing.fewest != nil || state.listing != tally.listing
    }
}

extension DeletionConfiguration {
    /// Tombstones that were made then or before are removed at `time`.
    func purgeCutoff(_ time: Date) -> Date { time.advanced(by: .zero - purgeAfter.duration) }
}
