import SyncConfiguration
import Synchronization
import Testing

@testable import SyncDaemon
@testable import SyncPipeline

/// The joints of an exchange: with calls, with somebody who waits, with a stop, and with what goes wrong on the way.
@Suite(.timeLimit(.minutes(60))) struct EngineSlotTests {
    private struct Failure: Error {}

    private final class Engine: Sendable {
        let pipeline = FakePipeline()
        let document = FakeDocument()
        var parts: DaemonEngine { DaemonEngine(document: document, pipeline: pipeline) }
    }

    private let old = Engine()
    private let new = Engine()
    private let again = Engine()

    private func never(_: any OpenDocument) async throws -> DaemonEngine { throw Failure() }

    @Test func whatIsAskedDuringAnExchangeWaitsForTheNewEngine() async throws {
        let slot = EngineSlot(old.parts), gate = Gate(), stops = old.pipeline.stream()
        old.pipeline.answer { $0.onStop = { _ in await gate.wait() } }
        async let exchange: Void = slot.exchange(grace: .zero, for: { [new] _ in new.parts }, orAgain: never)
        for await call in stops where call == .stop(grace: .zero) { break }
        async let pause: Void = slot.pause("iso")
        // The status is answered meanwhile, and the exchange counts as work that moves.
        #expect(await slot.resources().count == 2)
        #expect(slot.liveness.isBusy)
        gate.open()
        try await exchange
        try await pause
        #expect(new.pipeline.calls == [.pause("iso")])
        #expect(old.pipeline.calls == [.stop(grace: .zero)])
        #expect(old.document.closings.withLock { $0 } == 1)
        #expect(!slot.liveness.isBusy)
    }

    @Test func anExchangeBeginsAfterTheCallsThatAreUnderWay() async throws {
        let slot = EngineSlot(old.parts), gate = Gate(), pauses = old.pipeline.stream(), order = Mutex<[String]>([])
        old.pipeline.answer {
            $0.onPause = {
                await gate.wait()
                order.withLock { $0.append("paused") }
            }
            $0.onStop = { _ in order.withLock { $0.append("stopped") } }
        }
        async let pause: Void = slot.pause("iso")
        for await call in pauses where call == .pause("iso") { break }
        async let exchange: Void = slot.exchange(grace: .zero, for: { [new] _ in new.parts }, orAgain: never)
        while !slot.liveness.isBusy { await Task.yield() }
        gate.open()
        try await pause
        try await exchange
        #expect(order.withLock { $0 } == ["paused", "stopped"])
    }

    @Test func whoWaitsForAPollThatIsCutOffIsServedByTheNextEngine() async throws {
        let slot = EngineSlot(old.parts), gate = Gate(), syncs = old.pipeline.stream()
        old.pipeline.answer {
            $0.onSync = {
                await gate.wait()
                return [Example.report(), Example.report(Example.languages, .cancelled)]
            }
            $0.onStop = { _ in gate.open() }
        }
        new.pipeline.answer { $0.onSync = { [Example.report(Example.languages)] } }
        async let reports = slot.sync(nil, cause: .control, full: true, wait: true)
        for await call in syncs where call == .sync(nil, .control, full: true, wait: true) { break }
        try await slot.exchange(grace: .zero, for: { [new] _ in new.parts }, orAgain: never)
        let outcomes = try await reports.map(\.outcome)
        #expect(outcomes == [.succeeded, .succeeded])
        // Only what the exchange cut off is asked for again.
        #expect(new.pipeline.calls == [.sync("iso/languages", .control, full: true, wait: true)])
    }

    @Test func whatSomebodyAskedForWithoutWaitingIsAskedOfTheNextEngine() async throws {
        let slot = EngineSlot(old.parts)
        old.pipeline.answer { $0.unserved = [UnservedPoll(scope: Example.countries, cause: .signal, isFull: true)] }
        try await slot.exchange(grace: .zero, for: { [new] _ in new.parts }, orAgain: never)
        #expect(new.pipeline.calls == [.sync("iso/countries", .signal, full: true, wait: false)])
    }

    @Test func whereTheNewEngineCannotBeMadeTheFormerOneIsMadeAgain() async throws {
        let slot = EngineSlot(old.parts)
        let failure = await #expect(throws: EngineSlot.ExchangeFailure.self) {
            try await slot.exchange(grace: .zero, for: never) { [again] _ in again.parts }
        }
        guard case .kept = failure else { return #expect(Bool(false), "\(String(describing: failure))") }
        try await slot.pause(nil)
        #expect(again.pipeline.calls == [.pause(nil)])
    }

    @Test func theDocumentIsClosedWhenNoRunIsOpenAnyMore() async throws {
        let slot = EngineSlot(old.parts), order = Mutex<[Int]>([]), document = old.document
        old.pipeline.answer { $0.onEnded = { order.withLock { $0.append(document.closings.withLock { $0 }) } } }
        try await slot.exchange(grace: .zero, for: { [new] _ in new.parts }, orAgain: never)
        #expect(order.withLock { $0 } == [0])
        #expect(old.document.closings.withLock { $0 } == 1)
    }

    @Test func whatPassesKeepsAnExchangeWaitingAndDoesNotEndIt() async throws {
        let slot = EngineSlot(old.parts), document = old.document
        document.failsToClose.withLock { $0 = true }
        try await slot.exchange(
            grace: .zero,
            isPassing: { _ in
                if document.closings.withLock({ $0 }) == 3 { document.failsToClose.withLock { $0 = false } }
                return true
            }, for: { [new] _ in new.parts }, orAgain: never)
        #expect(document.closings.withLock { $0 } == 4)
        try await slot.pause(nil)
        #expect(new.pipeline.calls == [.pause(nil)])
    }

    @Test func whoHurriesIsHeardInTheMiddleOfAnExchange() async throws {
        let slot = EngineSlot(old.parts), gate = Gate(), stops = old.pipeline.stream()
        old.pipeline.answer { $0.onStop = { grace in if grace > .zero { await gate.wait() } else { gate.open() } } }
        async let exchange: Void = slot.exchange(grace: .seconds(20), for: { [new] _ in new.parts }, orAgain: never)
        for await call in stops where call == .stop(grace: .seconds(20)) { break }
        await slot.hurry()
        try await exchange
        #expect(old.pipeline.calls == [.stop(grace: .seconds(20)), .stop(grace: .zero)])
    }

    @Test func whereNoEngineCanBeMadeNothingWaitsForever() async throws {
        let slot = EngineSlot(old.parts)
        let failure = await #expect(throws: EngineSlot.ExchangeFailure.self) { try await slot.exchange(grace: .zero, for: never, orAgain: never) }
        guard case .lost = failure else { return #expect(Bool(false), "\(String(describing: failure))") }
        await #expect(throws: SyncError.stopping) { try await slot.pause(nil) }
        await #expect(throws: SyncError.stopping) { try await slot.sync(nil, cause: .control, full: false, wait: true) }
        await slot.stop(grace: .zero)
        try await slot.close()
        // It was closed before, and once is enough.
        #expect(old.document.closings.withLock { $0 } == 1)
    }

    @Test func aStopThatIsAskedForMeanwhileComesAfterTheExchangeAndFindsTheDocumentClosed() async throws {
        let slot = EngineSlot(old.parts), gate = Gate(), stops = old.pipeline.stream()
        old.pipeline.answer { $0.onStop = { _ in await gate.wait() } }
        let exchange = Task { [never] in try await slot.exchange(grace: .zero, for: { _ in throw StopWanted() }, orAgain: never) }
        for await call in stops where call == .stop(grace: .zero) { break }
        async let stop: Void = slot.stop(grace: .seconds(20))
        gate.open()
        let failure = await #expect(throws: EngineSlot.ExchangeFailure.self) { try await exchange.value }
        guard case .givenUp = failure else { return #expect(Bool(false), "\(String(describing: failure))") }
        await stop
        try await slot.close()
        #expect(old.document.closings.withLock { $0 } == 1)
    }

    @Test func aStopThatComesMeanwhileStopsTheNewEngine() async throws {
        let slot = EngineSlot(old.parts), gate = Gate(), making = Gate()
        async let exchange: Void = slot.exchange(
            grace: .zero,
            for: { [new] _ in
                making.open()
                await gate.wait()
                return new.parts
            }, orAgain: never)
        await making.wait()
        let stop = Task.immediate { await slot.stop(grace: .seconds(20)) }
        gate.open()
        try await exchange
        await stop.value
        #expect(old.pipeline.calls == [.stop(grace: .zero)])
        #expect(new.pipeline.calls == [.stop(grace: .seconds(20))])
    }

    @Test func aStopThatComesWhenAnExchangeGoesOnAfterACallStopsTheNewEngine() async throws {
        let slot = EngineSlot(old.parts), gate = Gate(), pauses = old.pipeline.stream()
        old.pipeline.answer { $0.onPause = { await gate.wait() } }
        async let pause: Void = slot.pause("iso")
        for await call in pauses where call == .pause("iso") { break }
        async let exchange: Void = slot.exchange(grace: .zero, for: { [new] _ in new.parts }, orAgain: never)
        while !slot.liveness.isBusy { await Task.yield() }
        // It waits for the call, whose end makes it go on.
        let stop = Task.immediate { await slot.stop(grace: .seconds(20)) }
        #expect(old.pipeline.calls == [.pause("iso")])
        gate.open()
        try await pause
        try await exchange
        await stop.value
        #expect(old.pipeline.calls == [.pause("iso"), .stop(grace: .zero)])
        #expect(new.pipeline.calls == [.stop(grace: .seconds(20))])
        try await slot.close()
        #expect(old.document.closings.withLock { $0 } == 1 && new.document.closings.withLock { $0 } == 1)
    }

    @Test func aDocumentThatCannotBeClosedIsLeftForTheStopToClose() async throws {
        let slot = EngineSlot(old.parts)
        old.document.failsToClose.withLock { $0 = true }
        let failure = await #expect(throws: EngineSlot.ExchangeFailure.self) {
            try await slot.exchange(grace: .zero, for: { [new] _ in new.parts }, orAgain: never)
        }
        guard case .unsaved = failure else { return #expect(Bool(false), "\(String(describing: failure))") }
        old.document.failsToClose.withLock { $0 = false }
        try await slot.close()
        #expect(old.document.closings.withLock { $0 } == 2)
    }
}
