import Dispatch
import Foundation
import GRDB
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
                        + "go unreported; those of this process do not.",
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

/// Tells when the kernel has seen somebody write to one of a directory's files, by its name. No thread waits for it.
///
/// What is written through mapped memory is not seen, nor what another machine writes to a shared file system.
// A dispatch source may be used from any thread; here it is only made and cancelled.
final class DirectoryWatch: @unchecked Sendable {
    private let source: any DispatchSourceRead

    /// Nil where the kernel has no watch left to give.
    ///
    /// - Parameter names: the files to hear of; they need not exist yet.
    /// - Parameter handler: called on `queue`, once for all that came together.
    init?(_ directory: String, names: Set<String>, queue: DispatchQueue, handler: @escaping @Sendable () -> Void) {
        let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
        guard descriptor >= 0 else { return nil }
        let mask = UInt32(IN_MODIFY | IN_ATTRIB | IN_CREATE | IN_MOVED_TO)
        guard inotify_add_watch(descriptor, directory, mask) >= 0 else {
            close(descriptor)
            return nil
        }
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler {
            if Self.concerns(names, readingFrom: descriptor) { handler() }
        }
        source.setCancelHandler { close(descriptor) }
        source.resume()
    }

    deinit { source.cancel() }

    /// Takes everything that waits. Returns whether any of it is about these files, or was too much for the kernel to keep.
    private static func concerns(_ names: Set<String>, readingFrom descriptor: Int32) -> Bool {
        let header = MemoryLayout<inotify_event>.size
        var isConcerned = false
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: MemoryLayout<inotify_event>.alignment) { buffer in
            while let base = buffer.baseAddress {
                let count = read(descriptor, base, buffer.count)
                if count <= 0 { return }
                var offset = 0
                while offset + header <= count {
                    let event = base.load(fromByteOffset: offset, as: inotify_event.self)
                    let name = event.len == 0 ? "" : String(cString: (base + offset + header).assumingMemoryBound(to: CChar.self))
                    if names.contains(name) || event.mask & UInt32(IN_Q_OVERFLOW) != 0 { isConcerned = true }
                    offset += header + Int(event.len)
                }
            }
        }
        return isConcerned
    }
}

/// When to ask about something of which only signs are seen, and those before it happens: at once, and then again, ever later, until long after the
/// last sign. However many signs come, it is not asked more often than the first of the delays says. In nanoseconds of one clock.
struct AskingTimes: Sendable {
    /// After a sign. The last is as long as a commit may take from its first byte to its end.
    private static let delays: [UInt64] = [20, 100, 500, 2000, 8000].map { $0 * 1_000_000 }

    private var lastSign: UInt64 = 0
    private var lastAsked: UInt64?
    /// When to ask next; nil: not before there is another sign.
    private(set) var next: UInt64?

    /// There was a sign.
    ///
    /// - Returns: whether to ask now; `next` is later in any case.
    mutating func sawSign(at now: UInt64) -> Bool {
        lastSign = now
        if let lastAsked, now < lastAsked + Self.delays[0] {
            // What was asked a moment ago is not asked for each of many signs, and they don't put it off.
            next = min(next ?? .max, lastAsked + Self.delays[0])
            return false
        }
        asks(at: now)
        return true
    }

    /// It is asked now.
    mutating func asks(at now: UInt64) {
        lastAsked = now
        next = Self.delays.first { lastSign + $0 > now }.map { max(lastSign + $0, now + Self.delays[0]) }
    }
}

extension SQLiteStore: SharedStore {
    /// Has `handler` called, soon, if others have committed to the file since this was asked last. Needs no watch of the kernel's, of which a user
    /// has few.
    package func askForOthers(_ handler: @escaping @Sendable () -> Void) {
        pool.asyncWriteWithoutTransaction { [weak self] database in
            // A file that can't be read now is asked the next time.
            guard let self, let version = try? database.integer("PRAGMA data_version") else { return }
            let isNew = askedVersion.withLock { asked in
                defer { asked = version }
                return asked != nil && asked != version
            }
            if isNew { handler() }
        }
    }

    /// Follows what others commit to the file. Where that can't begin because the file can't be read, it is not followed.
    package func followOthers(_ handler: @escaping @Sendable () -> Void) {
        let pool = pool
        let version: @Sendable () throws -> Int64 = {
            try pool.writeWithoutTransaction { try $0.integer("PRAGMA data_version") ?? 0 }
        }
        guard let commits = try? ForeignCommits(file: path, version: version, handler: handler) else { return }
        foreignCommits.withLock { $0 = commits }
    }
}
