import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

@Suite struct RequestGateTests {
    private let clock = ManualClock()

    private func gate(_ change: (inout RateConfiguration) -> Void) -> RequestGate {
        var rate = RateConfiguration(), rules = RequestGate.Rules()
        change(&rate)
        rules.add(rate)
        let gate = RequestGate(clock: clock)
        gate.change(rules, isUnused: true)
        return gate
    }

    private final class Log: Sendable {
        let times = Mutex<[Duration]>([])
    }

    /// Six in a minute, one after the other.
    private var slow: RequestGate {
        gate {
            $0.requests = 6
            $0.burst = 1
        }
    }

    private func goOut(_ gate: RequestGate, patience: Duration = .seconds(300)) async throws -> RequestGate.Pass {
        let pass = try await gate.enter { _ in }
        do {
            repeat { try await pass.ready(patience: patience) { _ in } } while !pass.admit()
        } catch {
            pass.leave()
            throw error
        }
        return pass
    }

    @Test func requestsGoOutOneAfterTheOtherAsTheBudgetAllows() async throws {
        let gate = slow, clock = clock, log = Log()
        try await goOut(gate).leave()
        let tasks = (0..<3).map { _ in
            Task {
                let pass = try await goOut(gate)
                log.times.withLock { $0.append(clock.instant.sinceOrigin) }
                pass.leave()
            }
        }
        // One waits for the budget, the others for their turn.
        for _ in 0..<3 {
            await clock.sleepers(atLeast: 1)
            #expect(clock.deadlines.count == 1)
            clock.advanceToNextDeadline()
        }
        for task in tasks { try await task.value }
        #expect(log.times.withLock { $0 } == [.seconds(10), .seconds(20), .seconds(30)])
    }

    @Test func whoWaitsForTheTurnKnowsHowLong() async throws {
        let gate = slow, log = Log()
        try await goOut(gate).leave()
        let first = Task { try await goOut(gate) }
        await clock.sleepers(atLeast: 1)
        let second = Task { try await gate.enter { wait in log.times.withLock { $0.append(wait) } } }
        while gate.waiting != 1 { await Task.yield() }
        #expect(log.times.withLock { $0 } == [.seconds(20)])
        clock.advance(by: .seconds(10))
        try await first.value.leave()
        try await second.value.leave()
    }

    @Test func soManyAreUnderWayAtATime() async throws {
        let gate = gate { $0.concurrency = 2 }
        let first = try await goOut(gate), second = try await goOut(gate), third = Task { try await goOut(gate) }
        while gate.waiting != 1 { await Task.yield() }
        first.leave()
        // Once is enough.
        first.leave()
        try await third.value.leave()
        second.leave()
        #expect(gate.waiting == 0)
    }

    @Test func whoseTurnDoesNotComeInTimeIsToldWhy() async throws {
        let gate = gate { $0.concurrency = 1 }, log = Log()
        let first = try await goOut(gate), end = clock.instant.advanced(by: .seconds(60))
        let second = Task { try await gate.enter(until: end) { wait in log.times.withLock { $0.append(wait) } } }
        while gate.waiting != 1 { await Task.yield() }
        await clock.deadlines { $0.contains(end) }
        // How long it takes nobody knows.
        #expect(log.times.withLock { $0 } == [.seconds(60)])
        clock.advance(by: .seconds(60))
        let error = await #expect(throws: FetchError.self) { try await second.value }
        #expect(error?.kind == .budget && error?.detail.contains("not its turn") == true && gate.waiting == 0)
        first.leave()
        try await goOut(gate).leave()
    }

    @Test func whoGivesUpLetsTheNextOneHaveTheTurn() async throws {
        let gate = slow
        try await goOut(gate).leave()
        let first = Task { try await goOut(gate) }
        await clock.sleepers(atLeast: 1)
        let second = Task { try await goOut(gate) }, third = Task { try await goOut(gate) }
        while gate.waiting != 2 { await Task.yield() }
        // One that waits for its turn, and one that has it.
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        await clock.sleepers(atLeast: 1)
        clock.advance(by: .seconds(10))
        try await third.value.leave()
    }

    // What nobody's server has asked for is no time before which others leave it alone.
    @Test func aWaitThatIsTooLongForARunIsRefusedAndNobodyElses() async throws {
        let gate = slow
        try await goOut(gate).leave()
        let error = await #expect(throws: FetchError.self) { try await goOut(gate, patience: .seconds(9)) }
        #expect(error?.kind == .budget && error?.notBefore == nil && error?.detail.contains("in 10 s") == true)
        clock.advance(by: .seconds(10))
        try await goOut(gate, patience: .zero).leave()
    }

    // A redirect is one more request of one that is under way: it takes what comes next, before those that wait.
    @Test func whatIsUnderWayGoesOnFirst() async throws {
        let gate = slow, clock = clock
        let first = try await goOut(gate)
        let waiting = Task { try await goOut(gate) }
        await clock.sleepers(atLeast: 1)
        let redirect = Task { try await gate.follow(patience: .seconds(300)) { _ in } }
        await clock.sleepers(atLeast: 2)
        clock.advance(by: .seconds(10))
        try await redirect.value
        first.leave()
        await clock.deadlines { $0 == [SyncInstant(sinceOrigin: .seconds(20))] }
        clock.advance(by: .seconds(10))
        try await waiting.value.leave()
    }

    @Test func rulesThatStayAsTheyAreCountOn() async throws {
        var plan = ResourceConfiguration(name: "r", source: "s", url: "https://a.example/r", entity: "E", key: ["id"])
        plan.rate.requests = 6
        plan.rate.burst = 1
        let gates = RequestGates(clock: clock), scope = ResourceScope(source: "s", resource: "r")
        gates.configure([plan]) { _ in false }
        try await goOut(try #require(gates.gate(of: scope))).leave()
        plan.schedule.every = .hours(2)
        gates.configure([plan]) { _ in true }
        let gate = try #require(gates.gate(of: scope))
        await #expect(throws: FetchError.self) { try await goOut(gate, patience: .seconds(9)) }
        // Others begin as if all that they allow had gone out.
        plan.rate.requests = 60
        gates.configure([plan]) { _ in true }
        await #expect(throws: FetchError.self) { try await goOut(gate, patience: .seconds(1)) }
        clock.advance(by: .seconds(2))
        try await goOut(gate, patience: .zero).leave()
    }

    @Test func whereNothingIsSaidThereIsNoGate() {
        let plan = ResourceConfiguration(name: "r", source: "s", url: "https://a.example/r", entity: "E", key: ["id"])
        let gates = RequestGates(clock: clock)
        gates.configure([plan]) { _ in false }
        #expect(gates.gate(of: ResourceScope(source: "s", resource: "r")) == nil)
    }

    // What one says of a server holds for all that ask it with the same credential; `scope` says what counts together.
    @Test func allOfAPlaceShareWhatEachOfThemSays() {
        func plan(_ source: String, _ scope: RateConfiguration.Scope, token: String? = nil, requests: Int = 0) -> ResourceConfiguration {
            var plan = ResourceConfiguration(name: "r", source: source, url: "https://a.example/\(source)", entity: "E", key: ["id"])
            if let token { plan.secretHeaders = [SecretField(name: "X-Key", value: .secret(.credential(token)))] }
            plan.rate.scope = scope
            plan.rate.requests = requests
            return plan
        }
        func isShared(_ scope: RateConfiguration.Scope, _ token: String, _ other: String) -> Bool {
            let gates = RequestGates(clock: clock)
            gates.configure([plan("a", scope, token: token, requests: 6), plan("b", scope, token: other)]) { _ in false }
            return gates.gate(of: ResourceScope(source: "b", resource: "r")) != nil
        }
        #expect(isShared(.originAndCredential, "k", "k") && !isShared(.originAndCredential, "k", "l"))
        #expect(isShared(.origin, "k", "l") && !isShared(.source, "k", "k"))
    }
}
