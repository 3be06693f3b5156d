import Foundation
import Glibc
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import TestTraits
import Testing

/// Kill −9 while workers push and the document saves: what was acknowledged is there.
@Suite struct PushJournalKillTests {
    // GB31
    @Test(.longProcess, arguments: [3, 11])
    func aKilledProcessLosesNoAcknowledgedPush(_ seed: Int) async throws {
        let fixture = try JournalFixture()
        let path = fixture.folder.appendingPathComponent("document").path, acknowledged = fixture.folder.appendingPathComponent("acknowledged").path
        var random = SeededRandom(seed: seed), replayed = 0
        for round in 0..<5 {
            let life = 5 + random.next(upTo: 120)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, acknowledged = acknowledged as String, round = round as Int, life = life as Int] in
                try Self.pushUntilKilled(URL(fileURLWithPath: path), acknowledged, round: round, life: life)
            }
            let document = JournalDocument(URL(fileURLWithPath: path), fixture.model)
            try document.openStore(creating: false)
            let found = Set(try document.look { try $0.values("Item", "key") })
            let told = try String(contentsOfFile: acknowledged, encoding: .utf8).split(separator: "\n").map(String.init)
            let lost = told.filter { !found.contains($0) }
            #expect(lost.isEmpty, "round \(round): lost \(lost.count) of \(told.count)")
            #expect(told.count > round * 5 && document.errors.isEmpty)
            replayed += document.pushRecovery?.pushes ?? 0
            try await document.close()
        }
        #expect(replayed > 0)
    }

    /// Never returns: the process is killed by a thread of its own once so many pushes were acknowledged, while others go on.
    private static func pushUntilKilled(_ url: URL, _ acknowledged: String, round: Int, life: Int) throws {
        let document = UIManagedDocument(
            fileURL: url, model: Company.model(), autosavePolicy: AutosavePolicy(interval: 15, changes: 40, bytes: 1 << 20))
        document.pushJournaling = .written
        try document.openStore(creating: true)
        let file = open(acknowledged, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        let count = Atomic(0), isTime = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            isTime.wait()
            kill(getpid(), SIGKILL)
        }
        for number in 0..<3 {
            Thread.detachNewThread {
                // A failure ends the process in a way that the test does not expect.
                do {
                    var next = 0
                    while true {
                        let worker = NSManagedObjectContext(.privateQueueConcurrencyType), key = "\(round).\(number).\(next)"
                        worker.parent = document.managedObjectContext
                        try worker.performAndWait {
                            worker.make("Item", ["key": key, "a": next])
                            try worker.save()
                        }
                        let line = Array("\(key)\n".utf8)
                        guard write(file, line, line.count) == line.count else { exit(3) }
                        if count.add(1, ordering: .relaxed).newValue == life { isTime.signal() }
                        next += 1
                    }
                } catch {
                    exit(2)
                }
            }
        }
        DispatchSemaphore(value: 0).wait()
    }
}
