import Foundation
import Glibc
import Synchronization
import Testing

@testable import Systemd

struct NativeJournalSinkTests {
    private func sent(_ entry: JournalEntry) throws -> [String] {
        let vectors = Mutex<[String]>([])
        let sink = NativeJournalSink(identifier: "cisternd") { fields in
            let texts = fields.map { String(decoding: $0, as: UTF8.self) }
            vectors.withLock { $0 = texts }
            return 0
        }
        try sink.write(entry)
        return vectors.withLock { $0 }
    }

    // Section 9, the table of fields
    @Test func everyFieldBecomesOneVector() throws {
        let entry = JournalEntry(
            .runFinished, "github/issues: 12 inserted",
            fields: [JournalField.adapting("CISTERN_SOURCE", "github"), .adapting("CISTERN_NOTE", "two\nlines = fine")],
            location: .init(file: "SyncDaemon/JournalReporter.swift", line: 12, function: "report(_:)"))
        #expect(
            try sent(entry) == [
                "MESSAGE=github/issues: 12 inserted", "PRIORITY=6", "SYSLOG_IDENTIFIER=cisternd",
                "MESSAGE_ID=f5412f54e1464f1ab7f2f868b8d0b310", "CODE_FILE=SyncDaemon/JournalReporter.swift", "CODE_LINE=12",
                "CODE_FUNC=report(_:)", "CISTERN_SOURCE=github", "CISTERN_NOTE=two\nlines = fine",
            ])
    }

    @Test func anEmptyMessageAndEmptyValuesGoThrough() throws {
        let fields = try sent(JournalEntry("", priority: .debug, fields: [.adapting("CISTERN_X", "")]))
        #expect(fields == ["MESSAGE=", "PRIORITY=7", "SYSLOG_IDENTIFIER=cisternd", "CISTERN_X="])
    }

    @Test func noAdditionalFieldCanContradictTheEntry() throws {
        let fields = try sent(JournalEntry("true", priority: .info, fields: [.adapting("MESSAGE", "false"), .adapting("PRIORITY", "0")]))
        #expect(fields == ["MESSAGE=true", "PRIORITY=6", "SYSLOG_IDENTIFIER=cisternd"])
    }

    @Test func aRefusalIsThrown() {
        let sink = NativeJournalSink(identifier: "cisternd") { _ in -ENOBUFS }
        #expect(throws: POSIXError(.ENOBUFS)) { try sink.write(JournalEntry("x", priority: .info)) }
    }
}
