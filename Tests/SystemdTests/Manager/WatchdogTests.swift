import Dispatch
import Synchronization
import Testing

@testable import Systemd

struct WatchdogTests {
    let sender = RecordingSender()
    let clock = ManualServiceClock()

    /// What the checks answer and what was reported.
    final class Scene: Sendable {
        let verdicts = Mutex<[String: LivenessCheck.Verdict]>([:])
        let failures = Mutex<[LivenessFailure]>([])

        func check(_ name: String) -> LivenessCheck {
            LivenessCheck(name) { [self] in verdicts.withLock { $0[name] ?? .alive } }
        }

        func set(_ name: String, _ verdict: LivenessCheck.Verdict) { verdicts.withLock { $0[name] = verdict } }
        var reported: [LivenessFailure] { failures.withLock { $0 } }
    }

    private func makeWatchdog(_ scene: Scene, checks: [LivenessCheck]) -> (Watchdog, Notify) {
        let notify = Notify(sender: sender, clock: clock)
        let watchdog = Watchdog(timeout: .seconds(60), notify: notify, checks: checks, clock: clock) { failure in
            scene.failures.withLock { $0.append(failure) }
        }
        return (watchdog, notify)
    }

    private func turn(_ time: Duration, _ watchdog: Watchdog, _ notify: Notify) {
        clock.advance(by: time)
        watchdog.drain()
        notify.flush(within: .seconds(10))
    }

    // Section 6: WATCHDOG=1 every $WATCHDOG_USEC/3
    @Test func pingsThreeTimesPerIntervalWhileAllIsWell() {
        let scene = Scene()
        let (watchdog, notify) = makeWatchdog(scene, checks: [scene.check("main queue"), scene.check("store")])
        watchdog.start()
        turn(.milliseconds(19_999), watchdog, notify)
        #expect(sender.texts.isEmpty)
        turn(.milliseconds(1), watchdog, notify)
        #expect(sender.texts == ["WATCHDOG=1"])
        turn(.seconds(20), watchdog, notify)
        turn(.seconds(20), watchdog, notify)
        #expect(sender.texts.count == 3)
        #expect(scene.reported.isEmpty)
    }

    // Section 8: ping if all hold; on failure name the test
    @Test func oneFailedCheckIsEnoughForNoPingAndIsNamed() {
        let scene = Scene()
        let (watchdog, notify) = makeWatchdog(scene, checks: [scene.check("main queue"), scene.check("scheduler"), scene.check("store")])
        scene.set("scheduler", .failed("next poll is 90 s overdue"))
        watchdog.start()
        turn(.seconds(20), watchdog, notify)
        turn(.seconds(20), watchdog, notify)
        #expect(sender.texts.isEmpty)
        let finding = LivenessFailure.Finding(check: "scheduler", reason: "next poll is 90 s overdue")
        #expect(
            scene.reported == [
                LivenessFailure(findings: [finding], consecutive: 1), LivenessFailure(findings: [finding], consecutive: 2),
            ])
        #expect(scene.reported.first?.description == "scheduler: next poll is 90 s overdue")

        scene.set("scheduler", .alive)
        turn(.seconds(20), watchdog, notify)
        #expect(sender.texts == ["WATCHDOG=1"])
        scene.set("store", .failed("no answer"))
        turn(.seconds(20), watchdog, notify)
        #expect(scene.reported.last?.consecutive == 1)
    }

    @Test func aCheckThatHangsIsNamedAndKeepsThePingBack() {
        let scene = Scene()
        let (entered, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let hanging = LivenessCheck("store") {
            entered.signal()
            gate.wait()
            return .alive
        }
        let (watchdog, notify) = makeWatchdog(scene, checks: [hanging])
        watchdog.start()
        clock.advance(by: .seconds(20))
        entered.wait()
        clock.advance(by: .seconds(20))
        notify.flush(within: .seconds(10))
        #expect(sender.texts.isEmpty)
        #expect(scene.reported == [LivenessFailure(findings: [.init(check: "store", reason: "does not answer")], consecutive: 1)])
        gate.signal()
        gate.signal()
        watchdog.drain()
        turn(.seconds(20), watchdog, notify)
        #expect(sender.texts.contains("WATCHDOG=1"))
    }

    @Test func nothingIsPingedAfterStop() {
        let scene = Scene()
        let (watchdog, notify) = makeWatchdog(scene, checks: [scene.check("main queue")])
        watchdog.start()
        watchdog.stop()
        turn(.seconds(120), watchdog, notify)
        #expect(sender.texts.isEmpty)
        watchdog.start()
        turn(.seconds(20), watchdog, notify)
        #expect(sender.texts == ["WATCHDOG=1"])
    }

    @Test func startingTwiceDoesNotPingTwice() {
        let scene = Scene()
        let (watchdog, notify) = makeWatchdog(scene, checks: [])
        watchdog.start()
        watchdog.start()
        turn(.seconds(20), watchdog, notify)
        #expect(sender.texts.count == 1)
    }

    // Section 6: "if $WATCHDOG_PID is ours"
    @Test(
        arguments: [
            (["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "42"], Duration.seconds(60)),
            (["WATCHDOG_USEC": "60000000"], .seconds(60)),
            (["WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "43"], nil),
            (["WATCHDOG_USEC": "0"], nil),
            (["WATCHDOG_USEC": "soon"], nil),
            ([:], nil),
        ] as [([String: String], Duration?)])
    func theIntervalIsReadOnlyIfItIsMeantForUs(environment: [String: String], expected: Duration?) {
        var removed: [String] = []
        #expect(Watchdog.takeTimeout(from: environment, process: 42, unset: { removed.append($0) }) == expected)
        #expect(Set(removed) == ["WATCHDOG_USEC", "WATCHDOG_PID"])
    }
}
