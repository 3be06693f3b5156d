import Foundation
import Glibc

extension Notify {
    /// Start-up or a reload is finished: `READY=1`. The process named is the service's main process.
    public func ready(status: String? = nil, mainProcess: pid_t = getpid()) {
        send([.init("READY", "1")], status, [.init("MAINPID", String(mainProcess))])
    }

    /// A reload begins. Ends with `ready(status:)`, also when the new configuration was refused. The moment goes along in the
    /// same datagram: a manager with `Type=notify-reload` waits for it, older ones pass it over.
    public func reloading(status: String? = nil, microseconds: UInt64 = MonotonicClock.microseconds()) {
        send([.init("RELOADING", "1"), .init("MONOTONIC_USEC", String(microseconds))], status)
    }

    /// The daemon is on its way out.
    public func stopping(status: String? = nil) {
        send([.init("STOPPING", "1")], status)
    }

    /// "Alive." `Watchdog` decides when this is true.
    public func watchdogPing() {
        send(.ping)
    }

    /// An invariant of the daemon is broken: the manager is to treat it as a watchdog that was missed, now.
    public func watchdogTrigger(status: String) {
        send([], status, [.init("WATCHDOG", "trigger")])
    }

    /// Asks for that much more time, from now, for the start, reload or stop that is under way.
    public func extendTimeout(by time: Duration, status: String? = nil) {
        send([], status, [.init("EXTEND_TIMEOUT_USEC", String(max(0, time.microseconds)))])
    }

    /// Why the daemon is about to end: an `errno` for `systemctl status`, and words.
    public func fatal(errno code: Int32, status: String) {
        send([.init("ERRNO", String(code))], status)
    }

    /// The process `pid` is the service's main process from now on.
    public func mainProcess(_ pid: pid_t) {
        send([.init("MAINPID", String(pid))], nil)
    }

    /// Healthy for long enough: forget the counted restarts (systemd 258; older ones pass it over).
    public func restartReset() {
        send([.init("RESTART_RESET", "1")], nil)
    }

    /// Leaves a duplicate of an open file with the manager, which hands it back under `name` at the next start. Does nothing if
    /// the manager stores none. For listening sockets only: data never travels this way.
    ///
    /// - Throws: `POSIXError` if the descriptor cannot be duplicated.
    public func storeDescriptor(_ descriptor: Int32, name: String) throws {
        guard isActive, canStoreDescriptors else { return }
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EBADF) }
        send(NotifyMessage([.init("FDSTORE", "1"), .init("FDNAME", name)], descriptors: [copy]))
    }

    /// Takes back what was stored under `name`.
    public func removeStoredDescriptor(name: String) {
        guard canStoreDescriptors else { return }
        send([.init("FDSTOREREMOVE", "1"), .init("FDNAME", name)], nil)
    }

    private func send(
        _ first: [NotifyMessage.Assignment], _ status: String?, _ last: [NotifyMessage.Assignment] = []
    ) {
        send(NotifyMessage(first + (status.map { [.init("STATUS", $0)] } ?? []) + last))
    }
}
