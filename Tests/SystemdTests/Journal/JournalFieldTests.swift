import Testing

@testable import Systemd

struct JournalFieldTests {
    // Section 9: [A-Z0-9_], at most 64, never a leading _
    @Test(arguments: ["CISTERN_SOURCE", "A", "ERRNO", "A1_", String(repeating: "A", count: 64)])
    func namesOfTheJournalsShapeAreTaken(name: String) {
        #expect(JournalField(name, "x")?.name == name)
        #expect(JournalField.adapting(name, "x").name == name)
    }

    @Test(arguments: ["", "_UID", "1A", "a", "CISTERN-X", "ÄNDERUNG", "A B", "A=B", String(repeating: "A", count: 65)])
    func otherNamesAreRefusedOrAdapted(name: String) {
        #expect(JournalField(name, "x") == nil)
        #expect(JournalField.isValid(JournalField.adapting(name, "x").name), "\(JournalField.adapting(name, "x").name)")
    }

    @Test func anAdaptedNameStaysReadable() {
        #expect(JournalField.adapting("request id", "7") == JournalField("CISTERN_REQUEST_ID", "7"))
        #expect(JournalField.adapting("_UID", "0") == JournalField("CISTERN__UID", "0"))
    }
}
