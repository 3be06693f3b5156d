import Dispatch
import Foundation
import Glibc
import Testing

@testable import Systemd

struct JournalTests {
    @Test func entriesAreWrittenInTheirOrder() {
        let sink = RecordingSink()
        let journal = Journal(sink: sink)
        for index in 0..<100 { journal.send(JournalEntry("\(index)", priority: .info)) }
        #expect(journal.flush(within: .seconds(10)))
        #expect(sink.messages == (0..<100).map(String.init))
    }

    // Section 7: bounded; what overflows is counted and reported in one entry
    @Test func whatDoesNotFitIsCountedAndToldInOneEntry() throws {
        let gate = DispatchSemaphore(value: 0)
        let sink = RecordingSink(gate: gate)
        let journal = Journal(sink: sink, capacity: 4)
        for index in 0..<7 { journal.send(JournalEntry("\(index)", priority: .info)) }
        for _ in 0..<20 { gate.signal() }
        #expect(journal.flush(within: .seconds(10)))
        #expect(sink.messages == ["0", "1", "2", "3", "3 journal entries were lost: they came faster than the journal took them"])
        let report = try #require(sink.entries.last)
        #expect(report.priority == .warning)
        #expect(report.fields == [JournalField("CISTERN_LOST_ENTRIES", "3")])

        journal.send(JournalEntry("afterwards", priority: .info))
        #expect(journal.flush(within: .seconds(10)))
        #expect(sink.messages.last == "afterwards")
        #expect(sink.messages.count == 6)
        for _ in 0..<20 { gate.signal() }
    }

    // Section 1, fact 8: the journal blocks
    @Test func sendReturnsWhileTheJournalDoesNotRead() {
        let gate = DispatchSemaphore(value: 0)
        let sink = RecordingSink(gate: gate)
        let journal = Journal(sink: sink)
        journal.send(JournalEntry("stuck", priority: .info))
        sink.reached.wait()
        journal.send(JournalEntry("next", priority: .info))
        #expect(!journal.flush(within: .milliseconds(10)))
        gate.signal()
        gate.signal()
        #expect(journal.flush(within: .seconds(10)))
        #expect(sink.messages == ["stuck", "next"])
    }

    @Test func anEntryTheJournalRefusesGoesToTheFallback() {
        let (sink, fallback) = (RecordingSink(), RecordingSink())
        sink.fail()
        let journal = Journal(sink: sink, fallback: fallback)
        journal.send(JournalEntry("x", priority: .error))
        #expect(journal.flush(within: .seconds(10)))
        #expect(fallback.messages == ["x"])
    }

    // Section 9: native if device and inode of standard error equal $JOURNAL_STREAM
    @Test func theTargetIsTheJournalOnlyIfTheDescriptorIsItsStream() throws {
        let descriptor = open("/dev/null", O_RDONLY)
        defer { close(descriptor) }
        var information = stat()
        try #require(fstat(descriptor, &information) == 0)
        let stream = "\(information.st_dev):\(information.st_ino)"
        #expect(JournalTarget.isJournalStream(descriptor, environment: ["JOURNAL_STREAM": stream]))
        for other in ["\(information.st_dev):\(information.st_ino + 1)", "", "7", "a:b", stream + ":1"] {
            #expect(!JournalTarget.isJournalStream(descriptor, environment: ["JOURNAL_STREAM": other]))
        }
        #expect(!JournalTarget.isJournalStream(descriptor, environment: [:]))
        #expect(!JournalTarget.isJournalStream(-1, environment: ["JOURNAL_STREAM": stream]))
        #expect(JournalTarget.auto.isNative(descriptor: descriptor, environment: ["JOURNAL_STREAM": stream]))
        #expect(!JournalTarget.auto.isNative(descriptor: descriptor, environment: [:]))
        #expect(JournalTarget.journal.isNative(descriptor: descriptor, environment: [:]))
        #expect(!JournalTarget.stderr.isNative(descriptor: descriptor, environment: ["JOURNAL_STREAM": stream]))
    }

    @Test func theTargetsAndFormatsAreTheWordsOfTheConfiguration() {
        #expect(JournalTarget.allCases.map(\.rawValue) == ["auto", "journal", "stderr"])
        #expect(JournalFormat.allCases.map(\.rawValue) == ["text", "json"])
    }

    @Test func anAutomaticJournalWithoutAStreamWritesLines() throws {
        let pipe = Pipe()
        let journal = Journal(identifier: "cisternd", descriptor: pipe.fileHandleForWriting.fileDescriptor, environment: [:])
        journal.send(JournalEntry("hello", priority: .notice))
        #expect(journal.flush(within: .seconds(10)))
        try pipe.fileHandleForWriting.close()
        #expect(try pipe.fileHandleForReading.readToEnd() == Data("<5>hello\n".utf8))
    }
}
