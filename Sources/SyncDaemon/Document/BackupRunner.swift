import Dispatch
import DocumentPackages
import Foundation
import SyncConfiguration
import SyncControl
import SyncPipeline
import Synchronization

/// When the daemon makes the next backup by itself. A value without a clock.
struct BackupSchedule: Sendable, Equatable {
    /// How old the newest one may get; nil: as old as it likes.
    var every: TimeSpan?
    /// When the newest one was begun, in whatever process; nil: there is none.
    var newest: Date?
    /// When the last attempt failed; nil: none has since one was made.
    var failedAt: Date?

    /// How long after one that failed it is tried again, at the most.
    static let retry = TimeSpan.minutes(15)

    /// Nil: never. A time that lies ahead, since the clock was set back, counts as now.
    func due(at now: Date) -> Date? {
        guard let every else { return nil }
        let regular = newest.map { min($0, now).addingTimeInterval(every.seconds) } ?? now
        return failedAt.map { max(regular, min($0, now).addingTimeInterval(min(every, Self.retry).seconds)) } ?? regular
    }
}

/// Makes backups of the document, one at a time: when somebody asks for one, and when the newest has become too old.
final class BackupRunner: Sendable {
    private struct State {
        var store: StoreConfiguration
        var schedule: BackupSchedule
        var isMaking = false
        var hasStopped = false
    }

    /// What has come of one.
    private struct Made: Sendable {
        let entry: BackupFolder.Entry
        let removed: [String]
        /// Why an old one is still there.
        let trouble: String?
    }

    private let slot: EngineSlot
    private let version: String
    private let clock: any SyncClock
    private let goesOn: @Sendable () -> Bool
    private let observe: @Sendable (SyncEvent) -> Void
    private let onNewest: @Sendable (Date?) -> Void
    private let state: Mutex<State>
    private let timer = Mutex<WakeTimer?>(nil)
    private let queue = DispatchQueue(label: "cistern.backup", qos: .utility)
    /// How long the timer sleeps at the most: the wall clock may be set meanwhile.
    private static let longestSleep = 3600.0

    /// - Parameters:
    ///   - version: of this program.
    ///   - goesOn: false gives up what is under way.
    ///   - observe: told how each one went.
    ///   - onNewest: told when the newest one was made that is there at the start, or after a reload.
    init(
        _ slot: EngineSlot, _ store: StoreConfiguration, version: String, clock: any SyncClock, goesOn: @escaping @Sendable () -> Bool = { true },
        observe: @escaping @Sendable (SyncEvent) -> Void, onNewest: @escaping @Sendable (Date?) -> Void = { _ in }
    ) {
        self.slot = slot
        self.version = version
        self.clock = clock
        self.goesOn = goesOn
        self.observe = observe
        self.onNewest = onNewest
        state = Mutex(State(store: store, schedule: BackupSchedule(every: store.backup.every)))
        timer.withLock { $0 = WakeTimer(clock: clock) { [weak self] in self?.fire() } }
    }

    /// Looks for what earlier processes have left, and makes the next one when it is due.
    func start() { queue.async { [self] in look() } }

    /// Another configuration is in force. One that is under way goes on as it began.
    func reload(_ store: StoreConfiguration) {
        let isSame = state.withLock { state in
            defer {
                state.store = store
                state.schedule.every = store.backup.every
            }
            return state.store.backup == store.backup
        }
        if !isSame { start() }
    }

    /// Gives up what is under way, without waiting for its end, and begins nothing more.
    func stop() {
        state.withLock { $0.hasStopped = true }
        timer.withLock { $0 }?.set(nil)
    }

    // MARK: The schedule

    private func look() {
        let folder = state.withLock { $0.store.backup.directory }, newest = BackupFolder(folder).newest(of: slot.path)
        state.withLock { $0.schedule.newest = newest }
        onNewest(newest)
        arm()
    }

    private func arm() {
        let now = clock.wallTime
        let due = state.withLock { $0.hasStopped || $0.isMaking ? nil : $0.schedule.due(at: now) }
        let wait = due.map { min(max(0, $0.timeIntervalSince(now)), Self.longestSleep) }
        timer.withLock { $0 }?.set(wait.map { clock.instant.advanced(by: .seconds($0)) })
    }

    private func fire() {
        let now = clock.wallTime
        if state.withLock({ $0.schedule.due(at: now).map { $0 <= now } ?? false }) {
            // What comes of it is told as an event.
            Task { _ = try? await make() }
        } else {
            arm()
        }
    }

    // MARK: One backup

    /// Saves, and makes a backup of what is saved then; the oldest ones go once it is complete. Throws 75 while another one is made, 74 where the disk
    /// does not allow it, 69 while the daemon stops.
    func make() async throws(ControlError) -> BackupReport {
        let store = try begin()
        defer { end() }
        do {
            let made = try await slot.withDocument { [self] document async throws -> Made in
                try await document.save()
                return try await write(document.path, store)
            }
            return take(made)
        } catch {
            throw fail(error)
        }
    }

    private func begin() throws(ControlError) -> StoreConfiguration {
        try state.withLock { state throws(ControlError) -> StoreConfiguration in
            if state.hasStopped { throw DaemonLifeCycle.stopping }
            if state.isMaking {
                throw ControlError(
                    "a backup is being made already", advice: "ask again when it is complete: `cisternctl backup list`", code: .temporaryFailure)
            }
            state.isMaking = true
            return state.store
        }
    }

    private func end() {
        state.withLock { $0.isMaking = false }
        arm()
    }

    /// The disk is waited for on a queue of its own, and not on a thread that runs tasks.
    private func write(_ document: String, _ store: StoreConfiguration) async throws -> Made {
        let now = clock.wallTime
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                continuation.resume(
                    with: Result {
                        let folder = BackupFolder(store.backup.directory)
                        let backup = DocumentBackup(of: document, in: folder, version: version, leavesFree: Int64(store.minFreeDisk.bytes))
                        // Whoever waits for its end to exchange the engine moves with it.
                        let entry = try backup.make(at: now) { [self] in
                            slot.steps()
                            return goesOn() && !state.withLock { $0.hasStopped }
                        }
                        do throws(PackageFailure) {
                            let removed = try folder.prune(document, keep: store.backup.keep, newest: entry.name)
                            return Made(entry: entry, removed: removed.map(\.text), trouble: nil)
                        } catch {
                            return Made(entry: entry, removed: [], trouble: error.message)
                        }
                    })
            }
        }
    }

    private func take(_ made: Made) -> BackupReport {
        let name = made.entry.name
        state.withLock { state in
            state.schedule.newest = name.madeAt
            state.schedule.failedAt = nil
        }
        observe(.backupMade(name: name.text, bytes: made.entry.bytes, removed: made.removed.count))
        if let trouble = made.trouble { observe(.backupFailed(reason: trouble)) }
        return BackupReport(
            name: name.text, path: made.entry.path, bytes: made.entry.bytes, madeAt: name.madeAt, document: made.entry.document,
            removed: made.removed)
    }

    private func fail(_ error: any Error) -> ControlError {
        let failure = error as? PackageFailure
        if failure?.kind == .givenUp || error as? SyncError == .stopping { return DaemonLifeCycle.stopping }
        let reason = failure?.message ?? "the document cannot be saved: \(error.inWords)", now = clock.wallTime
        state.withLock { $0.schedule.failedAt = now }
        observe(.backupFailed(reason: reason))
        return ControlError(
            reason, advice: "the database is not affected, and the backups that were there still are",
            code: failure?.kind == .inUse ? .temporaryFailure : failure?.kind == .unusable ? .failure : .ioError)
    }
}
