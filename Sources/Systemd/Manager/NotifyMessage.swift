import Foundation
import Glibc

/// One datagram to the service manager: assignments, one a line, and perhaps open files that travel with it.
public struct NotifyMessage: Sendable, Equatable {
    /// `NAME=VALUE` in the order in which they are sent.
    public let assignments: [Assignment]
    /// Open file descriptors that are passed along. Whoever sends the message closes them afterwards.
    public let descriptors: [Int32]

    /// One line of the datagram: `NAME=VALUE`.
    public struct Assignment: Sendable, Equatable {
        /// A variable of `sd_notify(3)`, such as `READY`. Not checked.
        public let name: String
        /// One line, without NUL.
        public let value: String

        /// A newline inside a value would start another assignment; line breaks and NUL therefore become spaces.
        public init(_ name: String, _ value: String) {
            self.name = name
            let oneLine = value.unicodeScalars.map { Self.breaksLine($0) ? " " : $0 }
            self.value = String(String.UnicodeScalarView(oneLine))
        }

        private static func breaksLine(_ scalar: Unicode.Scalar) -> Bool {
            scalar == "\n" || scalar == "\r" || scalar.value == 0
        }
    }

    /// The descriptors have to stay open until it is sent.
    public init(_ assignments: [Assignment], descriptors: [Int32] = []) {
        self.assignments = assignments
        self.descriptors = descriptors
    }

    /// What goes over the wire.
    public var text: String { assignments.map { "\($0.name)=\($0.value)" }.joined(separator: "\n") }

    /// The value of the first assignment of that name.
    public subscript(name: String) -> String? { assignments.first { $0.name == name }?.value }
}

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

    /// Asks for that much more time, from now, for the current start, reload or stop.
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
