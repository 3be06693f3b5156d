import Foundation
import Glibc
import Synchronization

/// A resource whose run was open when a process ended.
struct Suspicion: Hashable, Sendable {
    /// How many unclean ends in a row there were; 0: the end was orderly, but did not wait for the run, or the run had ended.
    var ends: Int
    /// When the last of those runs began, by the wall clock.
    var began: Date
    /// When the next poll is due after the last of them, which succeeded and is not in the store yet; nil: the store knows.
    var nextPoll: Date?
}

/// Which runs are open, in a file beside the store: after an unclean end it tells the next process whose runs were open, since when, and how often in
/// a row; and, for those that had ended but were not yet recorded in the store, when they began and when the next ones are due. It is written without
/// waiting for the disk: the end of a process does not undo its writes. If the file cannot be written, the pipeline works without it.
final class OpenRuns: Sendable {
    /// The file's name in the document's folder.
    static let fileName = ".runs"
    /// The count stops here.
    private static let most = 30
    /// More than all names of a configuration need.
    private static let longest = 1 << 24
    /// What ends the list: bytes behind it are of an older, longer one.
    private static let end = "."
    /// How many digits the count and the times of a line have, so that they can be replaced where they stand.
    private static let countDigits = 2, timeDigits = 15

    private struct State {
        /// Unclean ends in a row, of resources that had no clean one since.
        var ends: [ResourceScope: Suspicion] = [:]
        var open: [ResourceScope: Date] = [:]
        var isClosed = false
        /// Where the line of each resource begins, of those that have one; nil: the file is to be written anew.
        var places: [ResourceScope: off_t]?
        /// Where the next line goes.
        var length: off_t = 0

        /// What the next process would learn if this one ended now.
        func suspicion(of scope: ResourceScope) -> Suspicion? {
            let before = ends[scope], began = open[scope]
            guard let time = began ?? before?.began else { return nil }
            return Suspicion(
                ends: min(OpenRuns.most, (before?.ends ?? 0) + (began == nil ? 0 : 1)), began: time, nextPoll: began == nil ? before?.nextPoll : nil)
        }
    }

    private let file: Int32
    private let state: Mutex<State>
    /// Whose runs were open, as the last process left it.
    let suspects: [ResourceScope: Suspicion]

    init(folder: URL) {
        file = open(folder.appendingPathComponent(Self.fileName).path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o640)
        suspects = Self.read(file)
        state = Mutex(State(ends: suspects))
    }

    deinit {
        if file >= 0 { Glibc.close(file) }
    }

    func begin(_ scope: ResourceScope, at time: Date) { change(scope) { $0.open[scope] = time } }

    /// Its run has ended, one way or another: it is no longer suspected. When it began is kept until the store has it.
    func end(_ scope: ResourceScope) {
        change(scope) { state in
            if state.isClosed { return }
            state.ends[scope] = state.open.removeValue(forKey: scope).map { Suspicion(ends: 0, began: $0) }
        }
    }

    /// Its run has ended well and the store will say so a little later: until then it is known here when the next one is due.
    func expect(_ scope: ResourceScope, at nextPoll: Date) {
        change(scope) { state in
            guard state.open[scope] == nil, state.ends[scope]?.ends == 0 else { return }
            state.ends[scope]?.nextPoll = nextPoll
        }
    }

    /// When the run of it began that has ended and of which only this file tells.
    func ended(_ scope: ResourceScope) -> Date? {
        state.withLock { state in state.open[scope] == nil && state.ends[scope]?.ends == 0 ? state.ends[scope]?.began : nil }
    }

    /// The store says when that run began.
    func stored(_ scope: ResourceScope, began: Date) {
        change(scope) { state in
            guard state.open[scope] == nil, let left = state.ends[scope], left.ends == 0, left.began == began else { return }
            state.ends[scope] = nil
        }
    }

    /// The process ends in an orderly way: nothing it leaves open is suspected, whether or not that still ends.
    func close() {
        guard file >= 0 else { return }
        state.withLock { state in
            for (scope, began) in state.open { state.ends[scope] = Suspicion(ends: state.ends[scope]?.ends ?? 0, began: began) }
            state.open = [:]
            state.isClosed = true
            writeAll(&state)
        }
    }

    // MARK: The file

    /// Changes what is known of a resource, and its line: the others' are not touched, however many there are.
    private func change(_ scope: ResourceScope, _ body: (inout State) -> Void) {
        guard file >= 0 else { return }
        state.withLock { state in
            let before = state.suspicion(of: scope)
            body(&state)
            let suspicion = state.suspicion(of: scope)
            guard state.places != nil else { return writeAll(&state) }
            if suspicion == before { return }
            if let place = state.places?[scope] {
                if !write(Self.facts(suspicion), at: place) { state.places = nil }
                return
            }
            let line = Self.facts(suspicion) + Array("\(scope)\n".utf8)
            guard write(line + Array("\(Self.end)\n".utf8), at: state.length) else { return state.places = nil }
            state.places?[scope] = state.length
            state.length += off_t(line.count)
        }
    }

    /// Rewrites the file, without resources about which there is nothing to say.
    private func writeAll(_ state: inout State) {
        var bytes: [UInt8] = [], places: [ResourceScope: off_t] = [:]
        for scope in Set(state.ends.keys).union(state.open.keys).sorted() {
            places[scope] = off_t(bytes.count)
            bytes += Self.facts(state.suspicion(of: scope)) + Array("\(scope)\n".utf8)
        }
        state.length = off_t(bytes.count)
        bytes += Array("\(Self.end)\n".utf8)
        state.places = write(bytes, at: 0) && ftruncate(file, off_t(bytes.count)) == 0 ? places : nil
    }

    private func write(_ bytes: [UInt8], at place: off_t) -> Bool { pwrite(file, bytes, bytes.count, place) == bytes.count }

    /// The beginning of a line, equally long whatever it says: the count, when the run began, when the next one is due. What is not known has no digits.
    private static func facts(_ suspicion: Suspicion?) -> [UInt8] {
        column((suspicion?.ends).map(Int64.init), countDigits) + column(milliseconds(suspicion?.began), timeDigits)
            + column(milliseconds(suspicion?.nextPoll), timeDigits)
    }

    private static func milliseconds(_ date: Date?) -> Int64? {
        date.map { Int64(exactly: ($0.timeIntervalSince1970 * 1000).rounded(.towardZero)) ?? 0 }
    }

    private static func column(_ number: Int64?, _ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: UInt8(ascii: number == nil ? "-" : "0"), count: count)
        var rest = max(0, number ?? 0)
        for index in bytes.indices.reversed() where rest > 0 {
            bytes[index] += UInt8(rest % 10)
            rest /= 10
        }
        return bytes + [UInt8(ascii: " ")]
    }

    private static func date(_ digits: Substring) -> Date? { Int64(digits).map { Date(timeIntervalSince1970: Double($0) / 1000) } }

    private static func read(_ file: Int32) -> [ResourceScope: Suspicion] {
        var facts = stat()
        guard file >= 0, fstat(file, &facts) == 0 else { return [:] }
        var bytes = [UInt8](repeating: 0, count: min(longest, Int(facts.st_size)))
        let count = pread(file, &bytes, bytes.count, 0)
        var found: [ResourceScope: Suspicion] = [:]
        for bytes in bytes.prefix(max(count, 0)).split(separator: UInt8(ascii: "\n")) {
            let line = String(decoding: bytes, as: UTF8.self)
            if line == end { break }
            let parts = line.split(separator: " ", maxSplits: 3)
            guard parts.count == 4, let ends = Int(parts[0]), ends >= 0, let began = date(parts[1]) else { continue }
            let names = parts[3].split(separator: "/", maxSplits: 1).map(String.init)
            guard names.count == 2 else { continue }
            found[ResourceScope(source: names[0], resource: names[1])] = Suspicion(ends: min(ends, most), began: began, nextPoll: date(parts[2]))
        }
        return found
    }
}
