import Testing

@testable import SyncPipeline

/// The real timer, which no manual clock can stand for. How long a sleep takes beyond its deadline decides nothing.
@Suite struct SleepersTests {
    private let sleepers: Sleepers

    init() throws {
        sleepers = try #require(Sleepers())
    }

    private func sleeper(_ duration: Duration) -> Task<Void, any Error> {
        Task { [sleepers] in try await sleepers.sleep(until: .now.advanced(by: duration)) }
    }

    private func count(_ count: Int) async {
        while sleepers.count != count { await Task.yield() }
    }

    @Test func whoComesLaterAndSleepsShorterIsWokenBefore() async throws {
        let long = sleeper(.seconds(3600))
        await count(1)
        try await sleeper(.milliseconds(1)).value
        #expect(sleepers.count == 1)
        long.cancel()
        await #expect(throws: CancellationError.self) { try await long.value }
    }

    @Test func aDeadlineThatHasPassedWakesAtOnce() async throws {
        try await sleeper(.seconds(-10)).value
    }

    @Test func nothingIsLeftOfASleepThatIsGivenUp() async throws {
        let others = (1...100).map { sleeper(.seconds(3600 + $0)) }
        await count(100)
        for other in others.shuffled() { other.cancel() }
        for other in others { await #expect(throws: CancellationError.self) { try await other.value } }
        #expect(sleepers.count == 0)
        // The timer was set for the first of them: the next one is met all the same.
        try await sleeper(.milliseconds(1)).value
    }

    @Test func whoIsCancelledBeforeItSleepsDoesNot() async {
        let task = Task { [sleepers] in
            withUnsafeCurrentTask { $0?.cancel() }
            try await sleepers.sleep(until: .now.advanced(by: .seconds(3600)))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(sleepers.count == 0)
    }

    @Test func allAreWokenOrCancelledWhateverComesFirst() async {
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<2000 {
                group.addTask {
                    let start = ContinuousClock.now, limit = Duration.microseconds(number % 7 * 100), task = sleeper(limit)
                    if number % 3 == 0 { task.cancel() }
                    let result = await task.result
                    if case .success = result { #expect(start.duration(to: .now) >= limit) } else { #expect(number % 3 == 0) }
                }
            }
        }
        #expect(sleepers.count == 0)
    }

    @Test func aCallIsMadeOnceAtItsTime() async {
        let start = ContinuousClock.now, (stream, input) = AsyncStream<ContinuousClock.Instant>.makeStream()
        _ = sleepers.call(at: start.advanced(by: .milliseconds(5))) { input.yield(.now) }
        _ = sleepers.call(at: start.advanced(by: .milliseconds(10))) { input.finish() }
        var times: [ContinuousClock.Instant] = []
        for await time in stream { times.append(time) }
        #expect(times.count == 1)
        #expect(times.allSatisfy { start.duration(to: $0) >= .milliseconds(5) })
        #expect(sleepers.count == 0)
    }

    @Test func aCallThatIsCancelledIsNotMadeAndLeavesNothing() {
        let call = sleepers.call(at: .now.advanced(by: .seconds(3600))) { Issue.record("a cancelled call was made") }
        #expect(sleepers.count == 1)
        call.cancel()
        #expect(sleepers.count == 0)
        call.cancel()
        #expect(sleepers.count == 0)
    }
}
