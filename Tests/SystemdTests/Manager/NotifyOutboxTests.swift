import Testing

@testable import Systemd

struct NotifyOutboxTests {
    private func message(_ name: String) -> NotifyMessage { NotifyMessage([.init(name, "1")]) }

    @Test func messagesGoBeforeTheStatus() {
        var outbox = NotifyOutbox(statusInterval: .seconds(1))
        outbox.setStatus("now")
        outbox.add(message("READY"), at: .zero)
        #expect(outbox.next(at: .zero) == .send(message("READY")))
        #expect(outbox.sent(at: .zero) == message("READY"))
        #expect(outbox.next(at: .zero) == .send(NotifyMessage([.init("STATUS", "now")])))
        _ = outbox.sent(at: .zero)
        #expect(outbox.next(at: .zero) == .idle)
        #expect(outbox.isEmpty)
    }

    @Test func aStatusThatCameWhileAnotherWasOnItsWayIsKept() {
        var outbox = NotifyOutbox(statusInterval: .seconds(1))
        outbox.setStatus("old")
        _ = outbox.next(at: .zero)
        outbox.setStatus("new")
        _ = outbox.sent(at: .zero)
        #expect(outbox.next(at: .zero) == .wait(until: .seconds(1)))
        #expect(outbox.next(at: .seconds(1)) == .send(NotifyMessage([.init("STATUS", "new")])))
    }

    @Test func aStatusOfAMessageCountsForTheInterval() {
        var outbox = NotifyOutbox(statusInterval: .seconds(1))
        outbox.add(NotifyMessage([.init("READY", "1"), .init("STATUS", "Ready")]), at: .zero)
        _ = outbox.next(at: .zero)
        _ = outbox.sent(at: .zero)
        outbox.setStatus("Idle")
        #expect(outbox.next(at: .milliseconds(1)) == .wait(until: .seconds(1)))
        #expect(outbox.next(at: .milliseconds(1), hurrying: true) == .send(NotifyMessage([.init("STATUS", "Idle")])))
    }

    @Test func aMessageIsTriedForFiveSecondsFromWhenItWasGiven() {
        var outbox = NotifyOutbox(statusInterval: .seconds(1))
        outbox.add(message("READY"), at: .zero)
        _ = outbox.next(at: .seconds(4))
        #expect(outbox.failed(at: .seconds(4)) == nil)
        #expect(outbox.next(at: .seconds(4)) == .wait(until: .seconds(4) + NotifyOutbox.retryPause))
        #expect(outbox.next(at: .seconds(5)) == .send(message("READY")))
        #expect(outbox.failed(at: .seconds(5)) == message("READY"))
        #expect(outbox.next(at: .seconds(5)) == .idle)
    }
}
