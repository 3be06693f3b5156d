import Foundation

/// What is remembered about rows missing from listings: how often in a row each was missing, up to which listing that was judged, and which were
/// removed for it.
struct MissingKeys: Hashable, Sendable {
    /// How far the listings were judged.
    struct Judgement: Hashable, Sendable {
        /// The number of the last run whose listing counted: only pages that were read after it can say anything new.
        var run: Int64
        /// When a listing counted for all rows that were missing, or their being missing began.
        var time: Date
    }

    /// The rows that are missing, by how often they were. Each is in one set, and no set is empty.
    private(set) var counts: [Int: KeyRuns] = [:]
    /// Nil: nothing is missing.
    var judged: Judgement?
    /// Tombstones, by the time they were made, in whole seconds.
    var tombstones: [Int64: KeyRuns] = [:]
    /// Those tombstones whose objects something said to be gone, a record or a status: they are not just missing. By the same time; some of them may
    /// be others' to purge.
    private(set) var said: [Int64: KeyRuns] = [:]

    /// No row is counted further than to this.
    private static let mostOften = Int(Group.said) - 1

    init() {}

    /// A time as tombstones are sorted by.
    static func second(_ time: Date) -> Int64 {
        // Another program may have stored any number. One that is not a time never counts as long ago, so that nothing is purged because of it.
        Int64(exactly: time.timeIntervalSinceReferenceDate.rounded(.down)) ?? .max
    }

    /// All rows that are missing.
    var all: KeyRuns { counts.values.reduce(into: KeyCollector()) { $0.add($1) }.keys }

    /// Those that were missing so often, or more often.
    func missing(atLeast count: Int) -> KeyRuns { counts.reduce(into: KeyCollector()) { if $1.key >= count { $0.add($1.value) } }.keys }

    /// Those of these rows that were missing before, by how often.
    func counts(of keys: KeyRuns) -> [Int: KeyRuns] { counts.mapValues { $0.intersection(keys) }.filter { !$0.value.isEmpty } }

    /// These rows, which were not counted here yet, were missing so often.
    mutating func count(_ keys: KeyRuns, _ count: Int) {
        if !keys.isEmpty { counts[min(count, Self.mostOften), default: []].formUnion(keys) }
    }

    /// Takes over the tombstones that somebody else has made.
    mutating func inheritTombstones(of other: MissingKeys) {
        for (second, keys) in other.tombstones { tombstones[second, default: []].formUnion(keys) }
        for (second, keys) in other.said { said[second, default: []].formUnion(keys) }
    }

    /// Takes in that the objects of these tombstones are said to be gone.
    mutating func say(_ keys: KeyRuns, madeAt second: Int64) {
        if !keys.isEmpty { said[second, default: []].formUnion(keys) }
    }

    /// Forgets the tombstones that were made in that second, but for those that wait.
    mutating func forgetTombstones(madeAt second: Int64, besides waiting: KeyRuns) {
        tombstones[second] = waiting.isEmpty ? nil : waiting
        let left = said[second]?.intersection(waiting) ?? []
        said[second] = left.isEmpty ? nil : left
    }

    /// Forgets what was said of tombstones of that second or before that are others' to purge.
    mutating func forgetSaid(until last: Int64) { said = said.filter { $0.key > last || tombstones[$0.key] != nil } }

    /// These rows are not missing any more.
    mutating func forget(_ keys: KeyRuns) {
        counts = counts.mapValues { $0.subtracting(keys) }.filter { !$0.value.isEmpty }
        if counts.isEmpty { judged = nil }
    }

    // MARK: The compact form

    /// The groups of the compact form that are no counts.
    private enum Group {
        static let tombstones: UInt32 = 0
        static let judgement = UInt32.max
        static let said = UInt32.max - 1
    }

    /// Reads the compact form, up to where it is damaged: groups of a number, a length, and so many bytes. The number is how often the keys that
    /// follow were missed, or says that something else follows.
    init(_ data: Data) {
        var groups: [(count: Int, keys: KeyRuns)] = []
        Self.forEachGroup(of: data) { group, content in
            switch group {
            case Group.judgement:
                guard let judgement = Self.judgement(content) else { return false }
                judged = judgement
            case Group.tombstones:
                guard let second = Self.second(content), let keys = KeyRuns(content.dropFirst(8)) else { return false }
                tombstones[second] = keys
            case Group.said:
                guard let second = Self.second(content), let keys = KeyRuns(content.dropFirst(8)) else { return false }
                said[second] = keys
            default:
                guard let keys = KeyRuns(content) else { return false }
                groups.append((Int(group), keys))
            }
            return true
        }
        if Self.areDisjoint(groups.map(\.keys)) {
            // Nearly always: nothing has to be taken out of what was read before.
            var collectors: [Int: KeyCollector] = [:]
            for group in groups where !group.keys.isEmpty { collectors[min(group.count, Self.mostOften), default: KeyCollector()].add(group.keys) }
            counts = collectors.mapValues(\.keys)
            return
        }
        for group in groups {
            // What is said last of a row counts.
            counts = counts.mapValues { $0.subtracting(group.keys) }.filter { !$0.value.isEmpty }
            count(group.keys, group.count)
        }
    }

    /// Whether no key is in two of the sets. Looks at each of their runs once.
    private static func areDisjoint(_ sets: [KeyRuns]) -> Bool {
        var sum = 0
        for set in sets {
            let (next, isTooMany) = sum.addingReportingOverflow(set.count)
            if isTooMany { return false }
            sum = next
        }
        return sets.reduce(into: KeyCollector()) { $0.add($1) }.keys.count == sum
    }

    /// Nil if there is nothing to remember.
    var data: Data? {
        var result = Data()
        func append(_ group: UInt32, _ content: Data) {
            for number in [group, UInt32(content.count)] { withUnsafeBytes(of: number.littleEndian) { result.append(contentsOf: $0) } }
            result.append(content)
        }
        func bytes(_ numbers: Int64...) -> Data {
            numbers.reduce(into: Data()) { data, number in withUnsafeBytes(of: number.littleEndian) { data.append(contentsOf: $0) } }
        }
        if let judged { append(Group.judgement, bytes(judged.run, Self.second(judged.time))) }
        for (group, sets) in [(Group.tombstones, tombstones), (Group.said, said)] {
            for (time, keys) in sets.sorted(by: { $0.key < $1.key }) where !keys.isEmpty { append(group, bytes(time) + keys.data) }
        }
        for (count, keys) in counts.sorted(by: { $0.key < $1.key }) { append(UInt32(count), keys.data) }
        return result.isEmpty ? nil : result
    }

    /// Calls `body` with each group, until it returns false or the data is damaged.
    private static func forEachGroup(of data: Data, _ body: (UInt32, Data) -> Bool) {
        var rest = data[...]
        while rest.count >= 8 {
            let group = UInt32(number(rest.prefix(4))), length = Int(number(rest.dropFirst(4).prefix(4)))
            rest = rest.dropFirst(8)
            guard length <= rest.count, body(group, rest.prefix(length)) else { return }
            rest = rest.dropFirst(length)
        }
    }

    private static func judgement(_ content: Data) -> Judgement? {
        guard content.count == 16 else { return nil }
        return Judgement(
            run: Int64(bitPattern: number(content.prefix(8))),
            time: Date(timeIntervalSinceReferenceDate: Double(Int64(bitPattern: number(content.suffix(8))))))
    }

    private static func second(_ tombstones: Data) -> Int64? {
        tombstones.count < 8 ? nil : Int64(bitPattern: number(tombstones.prefix(8)))
    }

    private static func number(_ bytes: Data) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The compact form, and what every poll asks of it: the heads of its groups say that, and no keys are read.
    struct Stored: Hashable, Sendable {
        private let data: Data
        /// How often the row was missing that was the least often; nil: none is missing.
        private(set) var fewest: Int?
        private(set) var judged: Judgement?
        /// When the oldest tombstones were made.
        private var firstTombstones: Int64?

        init(_ data: Data = Data()) {
            self.data = data
            MissingKeys.forEachGroup(of: data) { group, content in
                switch group {
                case Group.judgement:
                    guard let judgement = MissingKeys.judgement(content) else { return false }
                    judged = judgement
                case Group.tombstones:
                    guard let second = MissingKeys.second(content) else { return false }
                    firstTombstones = min(firstTombstones ?? second, second)
                case Group.said: break
                default: fewest = min(fewest ?? Int(group), Int(group))
                }
                return true
            }
        }

        /// Everything.
        var whole: MissingKeys { MissingKeys(data) }

        /// Whether a row waits for another listing, and the last one that counted is a day old: servers that always answer "not modified" never
        /// produce another one by themselves.
        func waitsForAnotherListing(confirmRuns: Int, now: Date) -> Bool {
            guard let judged, let fewest, fewest < confirmRuns else { return false }
            return now.timeIntervalSince(judged.time) >= 86_400
        }

        /// Whether tombstones were made at `cutoff` or before.
        func hasTombstones(until cutoff: Date) -> Bool { firstTombstones.map { $0 <= MissingKeys.second(cutoff) } ?? false }
    }
}
