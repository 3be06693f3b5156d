import Foundation
import Glibc
import Synchronization
import Testing

@testable import Systemd

struct NotifyTests {
    let sender = RecordingSender()
    let clock = ManualServiceClock()
    let patience = Duration.seconds(300)

    private func makeNotify(onFailure: (@Sendable (NotifyError) -> Void)? = nil, storing: Bool = false) -> Notify {
        Notify(sender: sender, canStoreDescriptors: storing, statusInterval: .seconds(1), clock: clock, onFailure: onFailure)
    }

    // Section 6, row "ready"
    @Test func readyNamesStatusAndMainProcess() {
        let notify = makeNotify()
        notify.ready(status: "Ready: 3 sources", mainProcess: 4_711)
        #expect(notify.flush(within: patience))
        #expect(sender.texts == ["READY=1\nSTATUS=Ready: 3 sources\nMAINPID=4711"])
    }

    // Section 6, row "SIGHUP"
    @Test func reloadingIsOneDatagramWithItsMoment() {
        let notify = makeNotify()
        notify.reloading(status: "Reloading configuration", microseconds: 123_456)
        #expect(notify.flush(within: patience))
        #expect(sender.texts == ["RELOADING=1\nMONOTONIC_USEC=123456\nSTATUS=Reloading configuration"])
    }

    @Test func reloadingTakesTheMomentFromTheMonotonicClock() throws {
        let notify = makeNotify()
        let before = MonotonicClock.microseconds()
        notify.reloading()
        let after = MonotonicClock.microseconds()
        #expect(notify.flush(within: patience))
        let value = try #require(sender.texts.first?.split(separator: "=").last.flatMap { UInt64($0) })
        #expect((before...after).contains(value))
    }

    // Section 6, the remaining rows
    @Test func everyVerbSaysWhatTheManagerUnderstands() {
        let notify = makeNotify()
        notify.extendTimeout(by: .seconds(30), status: "Checking database (34%)")
        notify.watchdogPing()
        notify.watchdogTrigger(status: "Invariant broken: two writers")
        notify.fatal(errno: 28, status: "Fatal: disk full")
        notify.mainProcess(12)
        notify.restartReset()
        notify.stopping(status: "Stopping")
        #expect(notify.flush(within: patience))
        #expect(
            sender.texts == [
                "STATUS=Checking database (34%)\nEXTEND_TIMEOUT_USEC=30000000", "WATCHDOG=1",
                "STATUS=Invariant broken: two writers\nWATCHDOG=trigger", "ERRNO=28\nSTATUS=Fatal: disk full", "MAINPID=12",
                "RESTART_RESET=1", "STOPPING=1\nSTATUS=Stopping",
            ])
    }

    // Section 6: "a newline inside a STATUS value would start a new assignment"
    @Test func aLineBreakInAStatusCannotStartAnotherAssignment() {
        let notify = makeNotify()
        notify.status("bad answer:\nREADY=1\r\nMAINPID=1\0")
        #expect(notify.flush(within: patience))
        // CR and LF are one character to Swift and two to the manager.
        #expect(sender.texts == ["STATUS=bad answer: READY=1  MAINPID=1 "])
    }

    // Section 7: STATUS coalesces, latest wins
    @Test func ofSeveralStatusesWithinTheIntervalTheNewestIsSentOnceItHasPassed() {
        let notify = makeNotify()
        notify.status("first")
        #expect(notify.flush(within: patience))
        notify.status("second")
        notify.status("third")
        notify.watchdogPing()
        notify.drain()
        #expect(sender.texts == ["STATUS=first", "WATCHDOG=1"])
        clock.advance(by: .milliseconds(999))
        #expect(sender.texts == ["STATUS=first", "WATCHDOG=1"])
        clock.advance(by: .milliseconds(1))
        #expect(sender.texts == ["STATUS=first", "WATCHDOG=1", "STATUS=third"])
    }

    @Test func aStatusThatIsNotSentIsNotWorkedOut() {
        let notify = makeNotify(), made = Mutex<[Int]>([])
        notify.status("first")
        #expect(notify.flush(within: patience))
        for number in 0..<100 {
            notify.status { @Sendable in
                made.withLock { $0.append(number) }
                return "text \(number)"
            }
        }
        notify.drain()
        #expect(made.withLock { $0 } == [])
        clock.advance(by: .seconds(1))
        #expect(made.withLock { $0 } == [99])
        #expect(sender.texts == ["STATUS=first", "STATUS=text 99"])
        notify.status { @Sendable in "last" }
        #expect(notify.flush(within: patience))
        #expect(sender.texts.last == "STATUS=last")
    }

    @Test func newsThatComesWhileAStatusIsWorkedOutTakesItsPlace() {
        let notify = makeNotify()
        notify.status { @Sendable [notify] in
            notify.status("newer")
            return "older"
        }
        #expect(notify.flush(within: patience))
        #expect(sender.texts == ["STATUS=newer"])
        notify.status { @Sendable [notify] in
            notify.stopping(status: "stopping")
            return "older"
        }
        #expect(notify.flush(within: patience))
        #expect(sender.texts == ["STATUS=newer", "STOPPING=1\nSTATUS=stopping"])
    }

    @Test func aStatusThatWaitsDoesNotOverwriteTheStatusOfALaterMessage() {
        let notify = makeNotify()
        notify.status("first")
        #expect(notify.flush(within: patience))
        notify.status("Polling page 7")
        notify.stopping(status: "Stopping: finishing page 7")
        clock.advance(by: .seconds(5))
        #expect(notify.flush(within: patience))
        #expect(sender.texts == ["STATUS=first", "STOPPING=1\nSTATUS=Stopping: finishing page 7"])
    }

    @Test func flushSendsAWaitingStatusAtOnce() {
        let notify = makeNotify()
        notify.status("first")
        notify.flush(within: patience)
        notify.status("last words")
        #expect(notify.flush(within: patience))
        #expect(sender.texts == ["STATUS=first", "STATUS=last words"])
    }

    // Section 7: READY, RELOADING and STOPPING are retried for up to 5 s
    @Test func readyIsRepeatedUntilTheManagerListens() {
        let notify = makeNotify()
        sender.refuse(with: EAGAIN)
        notify.ready(mainProcess: 1)
        notify.drain()
        clock.advance(by: .seconds(4))
        #expect(sender.attempts > 10)
        #expect(sender.texts.isEmpty)
        sender.refuse(with: nil)
        clock.advance(by: .milliseconds(100))
        #expect(sender.texts == ["READY=1\nMAINPID=1"])
    }

    @Test func whatWasRefusedForFiveSecondsIsGivenUpAndReportedOnce() {
        let failures = Mutex<[NotifyError]>([])
        let notify = makeNotify(onFailure: { failure in failures.withLock { $0.append(failure) } })
        sender.refuse(with: ECONNREFUSED)
        notify.ready()
        notify.stopping()
        notify.drain()
        clock.advance(by: .seconds(6))
        #expect(notify.flush(within: patience))
        #expect(failures.withLock { $0 } == [NotifyError(socket: "/run/test", code: ECONNREFUSED)])
        #expect(clock.pending.isEmpty, "nothing wakes a daemon whose manager is away")
        sender.refuse(with: nil)
        notify.watchdogPing()
        #expect(notify.flush(within: patience))
        #expect(sender.texts == ["WATCHDOG=1"])
    }

    @Test func messagesKeepTheirOrderWhileTheFirstIsRepeated() {
        let notify = makeNotify()
        sender.refuse(with: EAGAIN)
        notify.reloading(microseconds: 1)
        notify.drain()
        notify.ready(mainProcess: 1)
        sender.refuse(with: nil)
        clock.advance(by: .seconds(1))
        #expect(notify.flush(within: patience))
        #expect(sender.texts == ["RELOADING=1\nMONOTONIC_USEC=1", "READY=1\nMAINPID=1"])
    }

    @Test func pingsThatWaitAreOne() {
        let notify = makeNotify()
        sender.refuse(with: EAGAIN)
        for _ in 0..<5 { notify.watchdogPing() }
        notify.drain()
        sender.refuse(with: nil)
        clock.advance(by: .seconds(1))
        #expect(sender.texts == ["WATCHDOG=1"])
    }

    @Test func flushComesBackInTimeFromAManagerThatDoesNotRead() {
        let notify = makeNotify()
        sender.refuse(with: EAGAIN)
        notify.stopping()
        #expect(notify.flush(within: .milliseconds(10)) == false)
    }

    @Test func withoutASocketEveryVerbDoesNothing() throws {
        let notify = Notify.takingEnvironment([:], unset: { _ in })
        #expect(!notify.isActive)
        notify.ready()
        notify.status("x")
        try notify.storeDescriptor(0, name: "control")
        #expect(notify.flush(within: .zero, managerHasRead: true))
    }

    @Test func theSocketsNameIsTakenOutOfTheEnvironment() {
        var removed: [String] = []
        let environment = ["NOTIFY_SOCKET": "@none", "FDSTORE": "1"]
        let notify = Notify.takingEnvironment(environment, unset: { removed.append($0) })
        #expect(notify.isActive)
        #expect(notify.canStoreDescriptors)
        #expect(removed.contains("NOTIFY_SOCKET"))
    }

    // MARK: - Over a real socket

    @Test func aRealManagerReceivesOneDatagramFromOurProcess() throws {
        let manager = try ManagerSocket()
        let notify = Notify(sender: NotifySocket(address: manager.address))
        notify.reloading(status: "Reloading", microseconds: 7)
        let datagram = try manager.receive()
        #expect(datagram.text == "RELOADING=1\nMONOTONIC_USEC=7\nSTATUS=Reloading")
        // What NotifyAccess=main looks at.
        #expect(datagram.sender == getpid())
    }

    @Test func aSocketWithAPathWorksAsWell() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "notify-\(UUID().uuidString)").path
        defer { unlink(path) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(descriptor) }
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
        try #require(bound == 0)
        try NotifySocket(address: path).send(.ping)
        var buffer = [UInt8](repeating: 0, count: 100)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        #expect(String(decoding: buffer[..<max(0, count)], as: UTF8.self) == "WATCHDOG=1")
    }

    @Test func aManagerThatDoesNotReadIsReportedInsteadOfWaitedFor() throws {
        let manager = try ManagerSocket()
        let socket = NotifySocket(address: manager.address)
        let error = #expect(throws: NotifyError.self) {
            // The kernel's queue holds some ten datagrams.
            for _ in 0..<10_000 { try socket.send(.ping) }
        }
        #expect(error?.code == EAGAIN)
    }

    @Test func anAddressThatIsNoneIsRefused() {
        let unknown = "@cistern-test-\(UUID().uuidString)"
        #expect(throws: NotifyError(socket: unknown, code: ECONNREFUSED)) { try NotifySocket(address: unknown).send(.ping) }
        #expect(throws: NotifyError(socket: "", code: EINVAL)) { try NotifySocket(address: "").send(.ping) }
        let long = "/" + String(repeating: "x", count: 200)
        #expect(throws: NotifyError(socket: long, code: EINVAL)) { try NotifySocket(address: long).send(.ping) }
    }

    // Section 6, row "descriptor store"
    @Test func aStoredDescriptorArrivesAsADuplicateUnderItsName() throws {
        let manager = try ManagerSocket()
        let notify = Notify(sender: NotifySocket(address: manager.address), canStoreDescriptors: true)
        let pipe = Pipe()
        let descriptor = pipe.fileHandleForReading.fileDescriptor
        try notify.storeDescriptor(descriptor, name: "control")
        let datagram = try manager.receive()
        #expect(datagram.text == "FDSTORE=1\nFDNAME=control")
        let received = try #require(datagram.descriptors.first)
        defer { close(received) }
        var (ours, theirs) = (stat(), stat())
        try #require(fstat(descriptor, &ours) == 0 && fstat(received, &theirs) == 0)
        #expect(ours.st_ino == theirs.st_ino)
    }

    @Test func nothingIsStoredWithAManagerThatStoresNothing() throws {
        let notify = makeNotify(storing: false)
        try notify.storeDescriptor(0, name: "control")
        #expect(notify.flush(within: patience))
        #expect(sender.texts.isEmpty)
    }

    @Test func lastWordsAreWaitedForUntilTheManagerHasReadThem() throws {
        let manager = try ManagerSocket()
        let notify = Notify(sender: NotifySocket(address: manager.address))
        notify.fatal(errno: 28, status: "Fatal")
        #expect(notify.flush(within: .zero) || notify.flush(within: patience))
        // Nobody reads: the barrier does not lift.
        #expect(!notify.flush(within: .milliseconds(20), managerHasRead: true))
        #expect(try manager.receive().text == "ERRNO=28\nSTATUS=Fatal")
        let abandoned = try manager.receive()
        #expect(abandoned.text == "BARRIER=1")
        abandoned.descriptors.forEach { close($0) }

        let reader = DispatchQueue(label: "manager")
        // The socket is used by one thread at a time: this block, until `sync` below.
        nonisolated(unsafe) let socket = manager
        reader.async {
            guard let barrier = try? socket.receive() else { return }
            barrier.descriptors.forEach { close($0) }
        }
        #expect(notify.flush(within: patience, managerHasRead: true))
        reader.sync {}
    }
}
