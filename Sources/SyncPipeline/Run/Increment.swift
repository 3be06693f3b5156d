import Foundation
import SyncConfiguration

/// What a run asks for: everything, or what has changed since the runs before it.
struct Increment: Sendable {
    let configuration: IncrementalConfiguration
    /// It asks for everything, as far as `start` goes back.
    let isFull: Bool
    /// How far the runs before had come; nil: nobody knows.
    let before: SyncCursor?
    /// Wall time of the run's begin. No run comes further than this, whatever the records say: what a wrong clock dates ahead would hide all that
    /// is changed until then.
    let now: Date

    /// A step of a run: what it asks for at once.
    struct Slice: Sendable, Hashable {
        /// From where on; nil: from the beginning.
        let since: SyncCursor?
        /// Up to where, in seconds since 2001; nil: to the end.
        let until: Double?
        let isLast: Bool
    }

    /// - Parameters:
    ///   - before: how far the runs before had come, as it is stored.
    ///   - isFull: everything is wanted, whatever there is.
    init(_ configuration: IncrementalConfiguration, before: String?, isFull: Bool, now: Date) {
        self.configuration = configuration
        self.before = before.flatMap { SyncCursor($0, of: configuration.kind) }
        self.isFull = isFull || self.before == nil
        self.now = now
    }

    /// The same, but everything is asked for.
    var full: Increment { Increment(configuration, before: before?.text, isFull: true, now: now) }

    /// Where the run begins to ask.
    var since: SyncCursor? {
        let start = start
        guard !isFull, let before else { return start }
        guard case .time(let seconds) = before else { return before }
        let cursor = SyncCursor.time(seconds - configuration.lookback.seconds)
        // What is older than the start is not wanted by anybody.
        return start.map { max($0, cursor) } ?? cursor
    }

    private var start: SyncCursor? {
        switch configuration.start {
        case nil: nil
        case .time(let seconds)?: .time(Date(timeIntervalSince1970: seconds).timeIntervalSinceReferenceDate)
        case .ago(let span)?: .time(now.timeIntervalSinceReferenceDate - span.seconds)
        case .integer(let value)?: .integer(value)
        }
    }

    /// The step after another one; nil: there is none.
    func slice(after slice: Slice?) -> Slice? {
        if slice?.isLast == true { return nil }
        let end = now.timeIntervalSinceReferenceDate
        guard case .time = configuration.kind else { return Slice(since: since, until: nil, isLast: true) }
        let since = slice?.until.map { SyncCursor.time($0) } ?? since
        guard let window = configuration.window, case .time(let begin)? = since, begin + window.seconds < end else {
            return Slice(since: since, until: end, isLast: true)
        }
        return Slice(since: since, until: begin + window.seconds, isLast: false)
    }

    /// How far the runs have come after this one.
    ///
    /// - Parameters:
    ///   - tally: what it has read, to the end.
    ///   - last: the last step.
    func cursor(after tally: RunTally, last: Slice) -> SyncCursor? {
        if configuration.token != nil { return tally.token.map { .token($0) } ?? (tally.keepsToken ? before : nil) }
        guard configuration.field != nil else { return last.until.map { .time($0) } ?? before }
        var newest = tally.newest
        // What changes while pages are read, on one that is read already, has a larger number than any that was there when the first one was read. Times
        // go no further than to the run's begin.
        if configuration.kind == .integer, configuration.order == .unsorted, tally.pages > 1 { newest = tally.firstNewest }
        // What a run that asked for everything has not seen is not there any more; only, it may not have read what it knew.
        var cursor = isFull && tally.notModified == 0 ? newest : [newest, before].compactMap { $0 }.max()
        if configuration.window != nil { cursor = [cursor, last.since].compactMap { $0 }.max() }
        return capped(cursor) ?? before
    }

    /// What is not ahead of the run.
    func capped(_ cursor: SyncCursor?) -> SyncCursor? {
        guard case .time(let seconds)? = cursor else { return cursor }
        return .time(min(seconds, now.timeIntervalSinceReferenceDate))
    }

    /// Whether a page that begins or ends so far back shows that the rest of the listing is known. Only where the newest come first.
    func isBehind(_ span: CursorSpan?, _ slice: Slice) -> Bool {
        guard configuration.order == .descending, !isFull, let since = slice.since, let last = span?.last else { return false }
        return last < since
    }

    /// Whether the server has sent what is much older than it was asked for: then it does not know the parameter.
    func isIgnored(_ span: CursorSpan?, _ slice: Slice) -> Bool {
        guard configuration.order != .descending, !isFull, case .time(let since)? = slice.since, case .time(let oldest)? = span?.oldest else {
            return false
        }
        // A service may ask for days, and may mean those of another time zone.
        return oldest < since - 2 * 86_400
    }

    /// What is wrong with the order of a page's records; nil: nothing.
    ///
    /// - Parameter before: the last record of the page before.
    func disorder(_ span: CursorSpan, after before: SyncCursor?) -> String? {
        switch configuration.order {
        case .unsorted: return nil
        case .ascending:
            if span.isAscending, before.flatMap({ before in span.first.map { $0 >= before } }) ?? true { return nil }
            return "incremental.order = \"asc\", but a record is older than the one before it"
        case .descending:
            if span.isDescending, before.flatMap({ before in span.first.map { $0 <= before } }) ?? true { return nil }
            return "incremental.order = \"desc\", but a record is newer than the one before it"
        }
    }
}

/// What the times in templates are.
struct RunTimes: Sendable {
    let since: SyncCursor?
    let until: Double?
    let now: Date
}

extension RunTimes {
    /// The times of a step of a run.
    init(_ slice: Increment.Slice?, now: Date) { self.init(since: slice?.since, until: slice?.until, now: now) }

    /// Some times, to see whether a text is good.
    static let any = RunTimes(since: .time(0), until: 0, now: Date(timeIntervalSinceReferenceDate: 0))
}
