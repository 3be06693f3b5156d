import Foundation
import JSONReader
import SyncConfiguration

/// How far runs have come in a listing that grows: a value of `incremental.field`, or a token of the service's own.
enum SyncCursor: Sendable, Hashable, Comparable {
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case time(Double)
    case integer(Int64)
    /// As the service gave it; an address as it may be stored.
    case token(String)

    /// Reads what ``text`` writes; nil if it is of another kind, or none.
    init?(_ text: String, of kind: IncrementalConfiguration.Kind) {
        switch kind {
        case .time:
            guard let seconds = DateConversion.seconds(text, format: .rfc3339) else { return nil }
            self = .time(seconds)
        case .integer:
            guard let value = Int64(text) else { return nil }
            self = .integer(value)
        case .token:
            guard !text.isEmpty else { return nil }
            self = .token(text)
        }
    }

    /// As it is stored: RFC 3339, digits, or the token.
    var text: String {
        switch self {
        case .time(let seconds): DateWriting.text(seconds, format: .rfc3339) ?? ""
        case .integer(let value): "\(value)"
        case .token(let token): token
        }
    }

    /// As it is told. Of a token nobody learns anything, and it may open what it leads to.
    var words: String { if case .token = self { "its token" } else { text } }

    static func < (left: SyncCursor, right: SyncCursor) -> Bool {
        switch (left, right) {
        case (.time(let left), .time(let right)): left < right
        case (.integer(let left), .integer(let right)): left < right
        // Never compared: a run has one kind of them, and tokens have no order.
        case (.time, .integer), (.time, .token), (.integer, .token): true
        case (.integer, .time), (.token, _): false
        }
    }
}

/// What the records of a page say of how new they are.
struct CursorSpan: Sendable, Hashable {
    private(set) var oldest: SyncCursor?
    private(set) var newest: SyncCursor?
    private(set) var first: SyncCursor?
    private(set) var last: SyncCursor?
    /// No record is older than the one before it.
    private(set) var isAscending = true
    /// None is newer than the one before it.
    private(set) var isDescending = true
    /// How many do not say it.
    private(set) var missing = 0

    init() {}

    /// What is remembered of a page that has not changed; nil: nothing is.
    init?(of facts: PageFacts, _ kind: IncrementalConfiguration.Kind) {
        newest = facts.newest.flatMap { SyncCursor($0, of: kind) }
        last = facts.last.flatMap { SyncCursor($0, of: kind) }
        if newest == nil { return nil }
    }

    /// Takes in the next record.
    mutating func add(_ cursor: SyncCursor?) {
        guard let cursor else {
            missing += 1
            return
        }
        if let last {
            if cursor < last { isAscending = false }
            if cursor > last { isDescending = false }
        }
        first = first ?? cursor
        last = cursor
        oldest = min(oldest ?? cursor, cursor)
        newest = max(newest ?? cursor, cursor)
    }
}

extension IncrementalConfiguration {
    /// The value of the field; nil where there is none, or none that could be understood.
    func cursor(_ cell: JSONCell) -> SyncCursor? {
        switch kind {
        case .time(let format): return DateConversion.seconds(cell, format: format).map { .time($0) }
        case .integer:
            switch cell {
            case .int64(let value): return .integer(value)
            case .string(let text): return Int64(String(text)).map { .integer($0) }
            default: return nil
            }
        case .token: return nil
        }
    }
}
