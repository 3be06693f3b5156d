import Foundation
import Synchronization
import Testing

@testable import SyncDaemon

@Suite(.timeLimit(.minutes(60))) struct ClockWatchTests {
    /// A watch that looks again at once, and what it finds: each reading once, the last one for ever.
    private func steps(_ readings: [(wall: Int, running: Int)]) async -> [Duration] {
        let rest = Mutex(readings[...])
        let (steps, input) = AsyncStream<Duration>.makeStream()
        let clocks = MachineClocks(
            read: {
                rest.withLock { rest in
                    let reading = rest.count > 1 ? rest.removeFirst() : rest[rest.startIndex]
                    if rest.count == 1 { input.finish() }
                    return .init(wall: .seconds(reading.wall), running: .seconds(reading.running))
                }
            }, wake: 1)
        let watch = ClockWatch(clocks: clocks) { input.yield($0) }
        defer { watch?.stop() }
        var all: [Duration] = []
        for await step in steps { all.append(step) }
        return all
    }

    @Test func aClockThatIsSetIsNoticedOnce() async {
        // The one behind the last is never read: what is told of the one before it is told by then.
        #expect(await steps([(100, 10), (3700, 10), (3701, 11), (3702, 12), (0, 0)]) == [.seconds(3600)])
        #expect(await steps([(100, 10), (50, 20), (51, 21), (52, 22), (0, 0)]) == [.seconds(-60)])
    }

    @Test func aMachineThatSleptOrAClockThatIsSlewedIsNone() async {
        #expect(await steps([(100, 10), (9100, 9010), (9105, 9010), (9100, 9010), (9101, 9011), (0, 0)]).isEmpty)
    }

    /// The watch's own timer, as the kernel shows it.
    @Test func theKernelIsAskedToTellWhenTheClockIsSet() throws {
        let before = Set(timers())
        let watch = try #require(ClockWatch { _ in })
        defer { watch.stop() }
        // Absolute, and cancelled when the clock is set. Others may make timers meanwhile, but none of this kind.
        #expect(timers().filter { !before.contains($0) }.contains { $0.contains("clockid: 0") && $0.contains("settime flags: 03") })
    }

    private func timers() -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo")) ?? []
        return names.compactMap { name in
            guard let text = try? String(contentsOfFile: "/proc/self/fdinfo/\(name)", encoding: .utf8), text.contains("settime flags") else {
                return nil
            }
            return "\(name): \(text)"
        }
    }
}
