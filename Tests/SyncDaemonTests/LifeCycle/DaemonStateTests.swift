import Testing

@testable import SyncDaemon

@Suite struct DaemonStateTests {
    private func ready() -> DaemonState {
        var state = DaemonState()
        _ = state.handle(.started)
        return state
    }

    @Test func aStartEndsWithReady() {
        var state = DaemonState()
        #expect(state.phase == .starting)
        #expect(state.handle(.started) == [.announceReady])
        #expect(state.phase == .ready)
        #expect(state.handle(.started) == [])
    }

    @Test func signalsBeforeReadyAreKept() {
        var state = DaemonState()
        #expect(state.handle(.signal(.hangUp)) == [])
        #expect(state.handle(.signal(.pollNow)) == [])
        #expect(state.handle(.signal(.dumpStatus)) == [])
        #expect(!state.isStopWanted)
        #expect(state.handle(.started) == [.announceReady, .dumpStatus, .reload])
        #expect(state.handle(.reloadFinished) == [.announceReady, .pollEverything])
    }

    @Test func aStopBeforeReadyEndsTheStart() {
        var state = DaemonState()
        #expect(state.handle(.signal(.terminate)) == [])
        #expect(state.isStopWanted)
        #expect(state.handle(.started) == [.stop(.success)])
        #expect(state.phase == .stopping)
    }

    @Test func aThousandPollSignalsAreOneMorePoll() {
        var state = ready()
        #expect(state.handle(.signal(.pollNow)) == [.pollEverything])
        for _ in 0..<1000 { #expect(state.handle(.signal(.pollNow)) == []) }
        #expect(state.handle(.pollFinished) == [.pollEverything])
        #expect(state.handle(.pollFinished) == [])
    }

    @Test func reloadsDuringAReloadAreOneMoreReload() {
        var state = ready()
        #expect(state.handle(.signal(.hangUp)) == [.reload])
        #expect(state.phase == .reloading)
        for _ in 0..<5 { #expect(state.handle(.reloadRequested) == []) }
        #expect(state.handle(.reloadFinished) == [.announceReady, .reload])
        #expect(state.handle(.reloadFinished) == [.announceReady])
    }

    @Test func aStopWaitsForTheReloadThatIsUnderWay() {
        var state = ready()
        _ = state.handle(.reloadRequested)
        #expect(state.handle(.signal(.terminate)) == [])
        #expect(state.isStopWanted)
        #expect(state.handle(.reloadFinished) == [.announceReady, .stop(.success)])
    }

    @Test func aSecondStopSkipsThePageThatAReloadWaitsFor() {
        var state = ready()
        #expect(state.handle(.signal(.hangUp)) == [.reload])
        #expect(state.handle(.signal(.terminate)) == [])
        #expect(state.handle(.signal(.terminate)) == [.skipPage])
        #expect(state.handle(.signal(.terminate)) == [])
    }

    @Test func aSecondStopSkipsThePageOnce() {
        var state = ready()
        #expect(state.handle(.signal(.terminate)) == [.stop(.success)])
        #expect(state.handle(.signal(.interrupt)) == [.skipPage])
        #expect(state.handle(.signal(.terminate)) == [])
    }

    @Test func nothingIsBegunWhileStopping() {
        var state = ready()
        _ = state.handle(.signal(.terminate))
        #expect(state.handle(.signal(.hangUp)) == [])
        #expect(state.handle(.signal(.pollNow)) == [])
        #expect(state.handle(.reloadRequested) == [])
        #expect(state.handle(.stopFinished) == [])
        #expect(state.phase == .stopped)
        #expect(state.exitStatus == .success)
    }

    @Test func aDiskErrorStopsWithItsStatus() {
        var state = ready()
        #expect(state.handle(.failed(.ioError)) == [.stop(.ioError)])
        #expect(state.exitStatus == .ioError)
    }

    @Test func aStopThatGoesWrongHasItsOwnStatus() {
        var state = ready()
        _ = state.handle(.signal(.terminate))
        #expect(state.handle(.failed(.ioError)) == [])
        #expect(state.exitStatus == .ioError)
    }
}
