import Foundation
import OpenCoreData
import SyncConfiguration
import Synchronization

/// What becomes of a page that has arrived, or lay in the archive.
extension ListingRun {
    /// Has a page that was fetched mapped and saved.
    func parse(
        _ fetched: FetchedPage, _ packing: PagePacking?, request: PageRequest, isRepeated: Bool, _ comparison: RecordComparison,
        _ surroundings: Surroundings, page: Int, tally: inout RunTally
    ) async throws -> PageFacts {
        let asked = AskedPage(key: request.key, method: request.method, number: page, isRemembered: !isRepeated)
        return try await parse(fetched, packing, asked, comparison, surroundings.recipe, run: surroundings.number, &tally)
    }

    /// What a page was asked for as.
    struct AskedPage {
        let key: String
        let method: RequestMethod
        let number: Int
        /// False: nothing is to be recognised by it later, such as where another page of the run was asked for in the same way.
        let isRemembered: Bool
        /// The run that got it from its server; nil: this one.
        var readIn: Int64?
    }

    /// Has a page mapped and saved.
    func parse(
        _ fetched: FetchedPage, _ packing: PagePacking?, _ asked: AskedPage, _ comparison: RecordComparison, _ recipe: PageRecipe, run number: Int64,
        _ tally: inout RunTally
    ) async throws -> PageFacts {
        let page = asked.number
        tally.status = fetched.status
        tally.bytes += fetched.received
        tally.pacing = fetched.pacing
        let operation = ParseOperation(
            ParseOperation.Input(
                document: environment.document, recipe: recipe, scope: scope, run: number, readIn: asked.readIn, pageNumber: page,
                requestKey: asked.key,
                fingerprint: fingerprint, isUnstored: asked.isRemembered && knowledge.withLock { $0.requests?.isBlank == true },
                isRemembered: asked.isRemembered, comparison: comparison, page: fetched, packing: packing,
                badRecords: tally.badRecords, now: environment.clock.wallTime, tombstones: environment.trust.tombstones,
                probe: environment.parseProbe))
        let parsed: ParsedPage, url = recipe.settings.redactor.redact(fetched.address)
        let place = VouchingJournal.Place(scope: scope, page: asked.key)
        environment.trust.vouching.begin(place)
        defer { environment.trust.vouching.end(place) }
        do {
            parsed = try await environment.parseQueue.run(operation)
        } catch let error where error is SyncError || error is FetchError || error is UnsoundComparison {
            throw error
        } catch {
            // Before anything is cut off: half of a secret would not be found.
            let remote = (error as? FormatError)?.description ?? (error as? RecordFailure)?.description
            let words = remote.map { RemoteText.line(recipe.settings.redactor.redact($0)) } ?? error.inWords
            throw SyncError.page("\(scope): page \(page), \(url): \(words)")
        }
        environment.trust.note(parsed.overwritten, readingPage: asked.key, of: scope, comparing: fetched.content.isCompared)
        step { $0.records += parsed.facts.records }
        tally.take(parsed, of: fetched, request: asked.key, run: number)
        if let first = parsed.rejected.first {
            environment.observe(
                .quarantined(
                    scope: scope, run: id, page: page, count: parsed.counts.quarantined,
                    first: "record \(first.record): \(recipe.settings.redactor.redact(first.reason))"))
        }
        tellMismatches(of: parsed, page: page, recipe.settings.redactor, &tally)
        environment.observe(
            .pageSaved(
                PageReport(
                    scope: scope, run: id, page: page, method: asked.method.rawValue, url: url, status: fetched.status,
                    bytes: fetched.received, counts: parsed.counts, duration: fetched.duration)))
        if let message = fetched.ignored {
            environment.observe(.pageIgnored(scope: scope, run: id, page: page, status: fetched.status, message: message))
        }
        var facts = parsed.facts
        // Some services send null for an empty list. If rows were listed before, it does not prove that they are gone.
        if facts.isNull {
            // Of what has changed it is not asked whether anything is gone.
            let hasRows = try await hasListedRows()
            if tally.isIncrement || !hasRows { facts.isNull = false }
        }
        return facts
    }

    /// What the store remembers of no page any more the archive does not keep either.
    func tidyArchive(_ tally: RunTally, forgotten: Set<String>) async {
        let archive = environment.archive, scope = scope
        guard archive.isKept(scope) else { return }
        await archive.perform {
            if tally.isGone { return archive.drop(scope) }
            archive.forget(forgotten, of: scope)
            if tally.isListing { archive.retain(tally.slots, of: scope) }
        }
    }
}
