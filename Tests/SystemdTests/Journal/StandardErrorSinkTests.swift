import Foundation
import Testing

@testable import Systemd

struct StandardErrorSinkTests {
    private func written(_ entries: [JournalEntry], format: JournalFormat = .text, withPriority: Bool? = nil) throws -> String {
        let pipe = Pipe()
        let sink = StandardErrorSink(
            descriptor: pipe.fileHandleForWriting.fileDescriptor, format: format, identifier: "cisternd", withPriority: withPriority,
            microsecondsSince1970: { 1_700_000_000_000_001 })
        for entry in entries { try sink.write(entry) }
        try pipe.fileHandleForWriting.close()
        return String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    }

    // Section 5, row 10: stderr with <n> prefixes
    @Test func everyPriorityHasItsPrefix() throws {
        let entries = JournalPriority.allCases.map { JournalEntry("text", priority: $0) }
        #expect(try written(entries) == (0...7).map { "<\($0)>text\n" }.joined())
    }

    @Test func everyLineOfAMessageCarriesThePriority() throws {
        #expect(try written([JournalEntry("one\ntwo", priority: .error)]) == "<3>one\n<3>two\n")
    }

    @Test(arguments: ["\n", "\r\n", "\r", "\n\r\n", "\u{85}", "\u{2028}"])
    func noLineBreakBeginsALineOfAnotherPriority(_ lineBreak: String) throws {
        let text = try written([JournalEntry("one\(lineBreak)<0>two", priority: .info)])
        #expect(text.utf8.split(separator: 10).allSatisfy { $0.starts(with: "<6>".utf8) }, "\(text.debugDescription)")
    }

    @Test func aPersonAtATerminalSeesTheMessageAlone() throws {
        #expect(try written([JournalEntry("one", priority: .error)], withPriority: false) == "one\n")
    }

    @Test func jsonHasEveryFieldAndRepeatedOnesAsAList() throws {
        let raw = "\"\\\n\t\u{1}ü😀"
        let fields = [("CISTERN_TAG", "a"), ("CISTERN_TAG", "b"), ("CISTERN_RAW", raw)].map { JournalField.adapting($0.0, $0.1) }
        let text = try written([JournalEntry(.ready, "Ready", fields: fields)], format: .json)
        #expect(text.hasSuffix("}\n"))
        #expect(text.split(separator: "\n").count == 1)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(object["MESSAGE"] as? String == "Ready")
        #expect(object["PRIORITY"] as? String == "5")
        #expect(object["SYSLOG_IDENTIFIER"] as? String == "cisternd")
        #expect(object["MESSAGE_ID"] as? String == MessageID.ready.rawValue)
        #expect(object["CISTERN_TAG"] as? [String] == ["a", "b"])
        #expect(object["CISTERN_RAW"] as? String == raw)
        #expect(object["__REALTIME_TIMESTAMP"] as? String == "1700000000000001")
    }

    @Test func aClosedDescriptorIsAnError() throws {
        let pipe = Pipe()
        let sink = StandardErrorSink(descriptor: -1, identifier: "cisternd")
        #expect(throws: POSIXError(.EBADF)) { try sink.write(JournalEntry("x", priority: .info)) }
        withExtendedLifetime(pipe) {}
    }
}
