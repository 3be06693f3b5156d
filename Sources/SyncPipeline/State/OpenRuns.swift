import Foundation
import Glibc
import Synchronization

/// A resource whose run was open when a process ended.
struct Suspicion: Hashable, Sendable {
    /// How many unclean ends in a row that were; 0: the end was in order, and did not wait for the run, or the run had ended.
    var ends: Int
    /// When the last of those runs began, by the wall clock.
    var began: Date
}

/// Which runs are open, in a file beside the store: after an unclean end it tells the next process whose runs were open, since when, and how often in a
/// row that was so; and when those began that had ended while the store did not say so yet. It is written without waiting for the disk: what ends a
/// process leaves what it wrote. A file that cannot be written is done without.
final class OpenRuns: Sendable {
    /// The file's name in the document's folder.
    static let fileName = ".runs"
    /// Nobody counts further.
    private static let most = 30
    /// More than all names of a configuration take.
    private static let longest = 1 << 20
    /// What ends the list: bytes behind it are of an older, longer one.
    private static let end = "."

    private struct State {
        /// Unclean ends in a row, of resources that had no clean one since.
        var ends: [ResourceScope: Suspicion] = [:]
        var open: [ResourceScope: Date] = [:]
        var isClosed = false

        /// What the next process would learn if this one ended now.
        func suspicion(of scope: ResourceScope) -> Suspicion? {
            let before = ends[scope], began = open[scope]
            guard let time = began ?? before?.began else { return nil }
            return Suspicion(ends: min(OpenRuns.most, (before?.ends ?? 0) + (began == nil ? 0 : 1)), began: time)
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

    func begin(_ scope: ResourceScope, at time: Date) { change { $0.open[scope] = time } }

    /// Its run has ended, however well: nobody suspects it any more. When it began is kept until the store has it.
    func end(_ scope: ResourceScope) {
        change { state in
            if state.isClosed { return }
            state.ends[scope] = state.open.removeValue(forKey: scope).map { Suspicion(ends: 0, began: $0) }
        }
    }

    /// When the run of it began that has ended and of which only this file tells.
    func ended(_ scope: ResourceScope) -> Date? {
        state.withLock { state in state.open[scope] == nil && state.ends[scope]?.ends == 0 ? state.ends[scope]?.began : nil }
    }

    /// The store says when that run began.
    func stored(_ scope: ResourceScope, began: Date) {
        if ended(scope) == began { change { $0.ends[scope] = nil } }
    }

    /// The process ends in order: nobody is under suspicion for what it leaves open, whether or not that ends after all.
    func close() {
        change { state in
            for (scope, began) in state.open { state.ends[scope] = Suspicion(ends: state.ends[scope]?.ends ?? 0, began: began) }
            state.open = [:]
            state.isClosed = true
        }
    }

    private func change(_ body: (inout State) -> Void) {
        guard file >= 0 else { return }
        state.withLock { state in
            body(&state)
            let lines = Set(state.ends.keys).union(state.open.keys).sorted().compactMap { scope in
                state.suspicion(of: scope).map { "\($0.ends) \(Int64($0.began.timeIntervalSince1970 * 1000)) \(scope)" }
            }
            let bytes = Array((lines + [Self.end, ""]).joined(separator: "\n").utf8)
            guard pwrite(file, bytes, bytes.count, 0) == bytes.count else { return }
            _ = ftruncate(file, off_t(bytes.count))
        }
    }

    private static func read(_ file: Int32) -> [ResourceScope: Suspicion] {
        var bytes = [UInt8](repeating: 0, count: longest)
        let count = file >= 0 ? pread(file, &bytes, bytes.count, 0) : 0
        var found: [ResourceScope: Suspicion] = [:]
        for bytes in bytes.prefix(max(count, 0)).split(separator: UInt8(ascii: "\n")) {
            let line = String(decoding: bytes, as: UTF8.self)
            if line == end { break }
            let parts = line.split(separator: " ", maxSplits: 2)
            guard parts.count == 3, let ends = Int(parts[0]), ends >= 0, let time = Int64(parts[1]) else { continue }
            let names = parts[2].split(separator: "/", maxSplits: 1).map(String.init)
            guard names.count == 2 else { continue }
            found[ResourceScope(source: names[0], resource: names[1])] = Suspicion(
                ends: min(ends, most), began: Date(timeIntervalSince1970: Double(time) / 1000))
        }
        return found
    }
}
