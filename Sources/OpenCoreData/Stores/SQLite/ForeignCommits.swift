import Dispatch
import Foundation
import Glibc
import Synchronization

/// Finds out when somebody else commits to a SQLite file: another store of this process, or another process.
///
/// SQLite itself says whether others have committed since it was asked last (`data_version` of the connection that writes, which its own
/// commits leave alone). This asks it when there is reason to: a store of this process has committed to the same file, or the kernel has
/// seen somebody write to the log. A log is written before what is in it counts, so after such a sign it asks again for a while; those who
/// follow a file themselves also touch its log once they have committed, which is seen at once.
final class ForeignCommits: Sendable {
    private struct State: Sendable {
        var version: Int64
        var times = AskingTimes()
        var isStopped = false
        var watch: DirectoryWatch?
        var alarm: Alarm?
    }

    private let log: String
    private let place: FilePlace?
    private let queue = DispatchQueue(label: "OpenCoreData foreign commits", qos: .utility)
    private let version: @Sendable () throws -> Int64
    private let handler: @Sendable () -> Void
    private let state: Mutex<State>

    /// - Parameter version: asks SQLite on the connection that writes.
    /// - Parameter handler: called on a queue of its own after others have committed, once for all that came together.
    init(file: String, version: @escaping @Sendable () throws -> Int64, handler: @escaping @Sendable () -> Void) throws {
        log = SQLiteStore.log(of: file)
        place = FilePlace(file)
        self.version = version
        self.handler = handler
        state = Mutex(State(version: try version()))
        let file = URL(fileURLWithPath: log)
        let watch = DirectoryWatch(file.deletingLastPathComponent().path, names: [file.lastPathComponent], queue: queue) { [weak self] in
            self?.sawSign()
        }
        let alarm = Alarm(queue: queue) { [weak self] in self?.timeIsUp() }
        state.withLock { state in
            state.watch = watch
            state.alarm = alarm
        }
        if watch == nil {
            ContextDiagnostic.report(
                ContextDiagnostic(
                    .remoteChangesUnwatched,
                    "The kernel has no file watch left for \(file.path) (fs.inotify.max_user_watches, max_user_instances): changes by other processes "
                        + "are not told; those of this process are.",
                    subject: file.path))
        }
        Self.all.withLock { $0[ObjectIdentifier(self)] = Entry(commits: self) }
        // Others may have committed while nobody looked yet.
        ask()
    }

    /// The store that this belongs to has committed.
    func didCommit() {
        for other in Self.all.withLock({ $0.values.compactMap(\.commits) }) where other !== self && other.place == place { other.ask() }
        // Seen by other processes' watches, and now what was committed counts.
        utimensat(AT_FDCWD, log, nil, 0)
    }

    /// Nothing is told any more, though it may be told of just now.
    func stop() {
        let ended = state.withLock { state in
            defer {
                state.watch = nil
                state.alarm = nil
                state.isStopped = true
            }
            return (state.watch, state.alarm)
        }
        withExtendedLifetime(ended) {}
    }

    private func ask() { queue.async { [weak self] in self?.compare() } }

    private func sawSign() {
        let asks = state.withLock { $0.times.sawSign(at: DispatchTime.now().uptimeNanoseconds) }
        if asks { compare() }
        setAlarm()
    }

    private func timeIsUp() {
        state.withLock { $0.times.asks(at: DispatchTime.now().uptimeNanoseconds) }
        compare()
        setAlarm()
    }

    private func setAlarm() {
        state.withLock { state in
            if let next = state.times.next { state.alarm?.set(to: next) }
        }
    }

    private func compare() {
        // A file that can't be read now is asked at the next sign.
        guard let now = try? version() else { return }
        let isNew = state.withLock { state in
            defer { state.version = now }
            return state.version != now && !state.isStopped
        }
        if isNew { handler() }
    }

    // MARK: All of this process

    private struct Entry: Sendable {
        weak var commits: ForeignCommits?
    }

    private static let all = Mutex<[ObjectIdentifier: Entry]>([:])

    deinit { Self.all.withLock { $0[ObjectIdentifier(self)] = nil } }
}

/// Goes off once at the time it was set to last.
// A dispatch source may be used from any thread.
private final class Alarm: @unchecked Sendable {
    private let source: any DispatchSourceTimer

    init(queue: DispatchQueue, handler: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource(queue: queue)
        source.schedule(deadline: .distantFuture)
        source.setEventHandler(handler: handler)
        source.activate()
    }

    deinit { source.cancel() }

    /// - Parameter time: in nanoseconds of the machine's clock.
    func set(to time: UInt64) { source.schedule(deadline: DispatchTime(uptimeNanoseconds: time)) }
}
