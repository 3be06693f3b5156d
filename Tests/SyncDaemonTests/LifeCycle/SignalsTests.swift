import Glibc
import Testing

import enum SyncDaemon.ExitStatus

@testable import SyncDaemon

@Suite(.timeLimit(.minutes(60))) struct SignalsTests {
    @Test func theLastResortEndsTheProcessWithItsWords() async {
        let result = await #expect(processExitsWith: .exitCode(ExitStatus.osError.rawValue), observing: [\.standardErrorContent]) {
            LastResort.arm(after: .zero)
            while true { pause() }
        }
        let words = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
        #expect(words.contains("<2>cisternd did not stop in time and exits now; what is committed is safe\n"))
    }

    @Test func whoAsksAgainToStopDoesNotMoveTheLastResort() async {
        await #expect(processExitsWith: .success) {
            LastResort.arm(after: .seconds(600))
            LastResort.arm(after: .zero)
            LastResort.arm(after: .seconds(6000))
            let left = alarm(0)
            #expect(left > 60 && left <= 601)
        }
    }
}
