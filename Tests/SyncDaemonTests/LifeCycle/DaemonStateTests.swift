import Testing

@testable import SyncDaemon

@Suite struct DaemonStateTests {
    private func at(_ seconds: Int) -> Duration { .seconds(seconds) }

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
        #expect(state.handle(.signal(.hangUp, at: at(0))) == [])
        #expect(state.handle(.signal(.pollNow, at: at(0))) == [])
        #expect(state.handle(.signal(.dumpStatus, at: at(0))) == [])
        #expect(!state.isStopWanted)
        #expect(state.handle(.started) == [.announceReady, .dumpStatus, .reload])
        #expect(state.handle(.reloadFinished) == [.announceReady, .pollEverything])
    }

    @Test func aStopBeforeReadyEndsTheStart() {
        var state = DaemonState()
        #expect(state.handle(.signal(.terminate, at: at(0))) == [])
        #expect(state.isStopWanted)
        #expect(state.handle(.started) == [.stop(.success)])
        #expect(state.phase == .stopping)
    }

    @Test func aThousandPollSignalsAreOneMorePoll() {
        var state = ready()
        #expect(state.handle(.signal(.pollNow, at: at(1))) == [.pollEverything])
        for _ in 0..<1000 { #expect(state.handle(.signal(.pollNow, at: at(1))) == []) }
        #expect(state.handle(.pollFinished) == [.pollEverything])
        #expect(state.handle(.pollFinished) == [])
    }

    @Test func reloadsDuringAReloadAreOneMoreReload() {
        var state = ready()
        #expect(state.handle(.signal(.hangUp, at: at(1))) == [.reload])
        #expect(state.phase == .reloading)
        for _ in 0..<5 { #expect(state.handle(.reloadRequested) == []) }
        #expect(state.handle(.reloadFinished) == [.announceReady, .reload])
        #expect(state.handle(.reloadFinished) == [.announceReady])
    }

    @Test func aStopWaitsForTheReloadThatIsUnderWay() {
        var state = ready()
        _ = state.handle(.reloadRequested)
        #expect(state.handle(.signal(.terminate, at: at(1))) == [])
        #expect(state.isStopWanted)
        #expect(state.handle(.reloadFinished) == [.announceReady, .stop(.success)])
    }

    @Test func aSecondStopWithinTwoSecondsSkipsThePageOnce() {
        var state = ready()
        #expect(state.handle(.signal(.terminate, at: at(10))) == [.stop(.success)])
        #expect(state.handle(.signal(.interrupt, at: at(12))) == [.skipPage])
        #expect(state.handle(.signal(.terminate, at: at(12))) == [])
    }

    @Test func aLaterSecondStopIsNothingNew() {
        var state = ready()
        _ = state.handle(.signal(.terminate, at: at(10)))
        #expect(state.handle(.signal(.terminate, at: at(13))) == [])
    }

    @Test func nothingIsBegunWhileStopping() {
        var state = ready()
        _ = state.handle(.signal(.terminate, at: at(1)))
        #expect(state.handle(.signal(.hangUp, at: at(1))) == [])
        #expect(state.handle(.signal(.pollNow, at: at(1))) == [])
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
        _ = state.handle(.signal(.terminate, at: at(1)))
        #expect(state.handle(.failed(.ioError)) == [])
        #expect(state.exitStatus == .ioError)
    }
}
