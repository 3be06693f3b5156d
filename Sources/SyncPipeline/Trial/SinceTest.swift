import Foundation
import OpenCoreData
import SyncConfiguration

/// `since-filters`: a request for what is as new as the newest record of the first page.
struct SinceTest {
    let increment: Increment
    private let resource: ResourceConfiguration
    private let newest: SyncCursor
    /// What the request really says: of a time, what its format leaves of it.
    private let asked: SyncCursor
    private let first: CheckedPage

    enum Prepared {
        case test(SinceTest)
        case obstacle(String)
    }

    /// - Parameter now: wall time.
    static func prepared(_ page: CheckedPage, resource: ResourceConfiguration, now: Date) -> Prepared {
        guard var incremental = resource.incremental else { return .obstacle("it asks for everything each time (no incremental)") }
        if incremental.token != nil { return .obstacle("what it goes on from is known at the end of a listing only") }
        let isAsked = incremental.since != nil || resource.templates.contains { $0.references.contains { $0.alias == "since" } }
        guard isAsked else { return .obstacle("its requests do not say from where on; runs end at the first record that is known") }
        guard incremental.field != nil else { return .obstacle("records do not say how new they are (no incremental.field)") }
        guard let span = page.facts?.span, let newest = span.newest else {
            return .obstacle("no record of the first page says how new it is")
        }
        guard let oldest = span.oldest, oldest < newest else { return .obstacle("all records of the first page are equally new") }
        incremental.lookback = .zero
        incremental.window = nil
        incremental.start = nil
        let increment = Increment(incremental, before: newest.text, isFull: false, now: now)
        guard let since = increment.slice(after: nil)?.since else { return .obstacle("there is nothing that could be asked for") }
        var asked = since
        if case .time(let seconds) = since, case .time(let own) = incremental.kind {
            let format = incremental.requestFormat ?? own
            let written = DateWriting.text(seconds, format: format).flatMap { DateConversion.seconds($0, format: format) }
            asked = .time(written ?? seconds)
        }
        return .test(SinceTest(increment: increment, resource: resource, newest: newest, asked: asked, first: page))
    }

    private init(increment: Increment, resource: ResourceConfiguration, newest: SyncCursor, asked: SyncCursor, first: CheckedPage) {
        (self.increment, self.resource, self.newest, self.asked, self.first) = (increment, resource, newest, asked, first)
    }

    /// What is asked for, as it is told.
    var words: String { asked.words }

    private var name: String { resource.incremental?.since.map { "\"\($0)\"" } ?? "the template with {since}" }

    var change: ResourceCheck.Change {
        ResourceCheck.Change(
            "incremental.since", "the parameter that the service filters by; \(name) does not, or not in this format (incremental.request_format)")
    }

    /// Of a request that did not bring a page.
    func judge(_ answer: ResourceChecker.Answer) -> ResourceCheck.Test {
        guard case .failed(let error) = answer else { return .notTried(.sinceFilters, answer.reason ?? "the answer did not come") }
        return .failed(.sinceFilters, "what was asked for since \(words): \(error)", AnswerTest.fault(of: error), change)
    }

    func judge(_ page: CheckedPage) -> ResourceCheck.Test {
        guard let facts = page.facts else {
            return .failed(.sinceFilters, "what was asked for since \(words) cannot be mapped", .answer, change)
        }
        guard page.count > 0 else { return judgeEmpty() }
        let known = Set(first.keys.map { $0.key }), found = Set(page.keys.map { $0.key })
        // Where no record says its key, nothing is the same.
        if !known.isEmpty, found == known {
            return .failed(.sinceFilters, "what was asked for since \(words) brings all records of the first page", .answer, change)
        }
        guard let oldest = facts.span?.oldest, oldest < asked else {
            return .passed(.sinceFilters, "\(page.count) records since \(words), in place of \(first.count)")
        }
        // A service may mean the day of another time zone.
        if case .time(let seconds) = asked, case .time(let old) = oldest, isOfDays, old >= seconds - 86_400 {
            return .warned(.sinceFilters, "what was asked for since \(words) brings records of \(oldest.words): a day of another time zone?", nil)
        }
        return .failed(.sinceFilters, "what was asked for since \(words) brings records of \(oldest.words)", .answer, change)
    }

    /// Whether requests say days, and no times.
    private var isOfDays: Bool {
        guard let incremental = resource.incremental, case .time(let own) = incremental.kind else { return false }
        guard case .pattern(let pattern) = incremental.requestFormat ?? own else { return false }
        return !["%H", "%I", "%T", "%R", "%s"].contains { pattern.contains($0) }
    }

    private func judgeEmpty() -> ResourceCheck.Test {
        guard case .time = asked, resource.incremental?.lookback == TimeSpan.zero, !isOfDays else {
            return .passed(.sinceFilters, "nothing since \(words): the service leaves out what is of that moment")
        }
        return .warned(
            .sinceFilters, "nothing since \(words), of which there is a record: what is changed later in the same moment would be missed",
            ResourceCheck.Change("incremental.lookback", "\"1s\""))
    }
}
