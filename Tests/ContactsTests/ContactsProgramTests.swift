import Contacts
import Foundation
import Testing

struct ContactsProgramTests {
    /// A folder, and what the program said about it.
    private final class Session {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("contacts-\(UUID().uuidString)")
        private(set) var lines: [String] = []
        private(set) var complaints: [String] = []

        deinit { try? FileManager.default.removeItem(at: folder) }

        /// The exit status. Every call opens the file anew, as another process would.
        func run(_ arguments: String...) -> Int32 {
            lines = []
            complaints = []
            let program = ContactsProgram(say: { self.lines.append($0) }, complain: { self.complaints.append($0) })
            return program.run([folder.path] + arguments)
        }

        func file(_ json: String) throws -> String {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let file = folder.appendingPathComponent("input.json")
            try Data(json.utf8).write(to: file)
            return file.path
        }
    }

    @Test func whatIsAddedIsListedByTheNextRun() {
        let session = Session()
        #expect(session.run("add", "Grace", "2") == 0)
        #expect(session.run("add", "Ada", "1") == 0)
        #expect(session.lines.isEmpty)
        #expect(session.run("list") == 0)
        #expect(session.lines == ["Ada\t1", "Grace\t2"])
    }

    @Test func findLooksInNamesNumbersAndGroups() throws {
        let session = Session()
        let file = try session.file(#"[{"name": "Édith", "phone": "12", "groups": ["singers"]}, {"name": "Ada", "phone": 34}]"#)
        #expect(session.run("import", file) == 0)
        #expect(session.lines == ["2 contacts"])
        for (text, found) in [("edith", ["Édith\t12\t[singers]"]), ("SING", ["Édith\t12\t[singers]"]), ("3", ["Ada\t34"]), ("x", [])] {
            #expect(session.run("find", text) == 0)
            #expect(session.lines == found, "\(text)")
        }
    }

    @Test func updateAndDeleteChangeTheOneWhoIsNamed() {
        let session = Session()
        _ = session.run("add", "Ada", "1")
        _ = session.run("add", "Grace", "2")
        #expect(session.run("update", "Ada", "3") == 0)
        #expect(session.run("delete", "Grace") == 0)
        #expect(session.run("list") == 0)
        #expect(session.lines == ["Ada\t3"])
    }

    @Test func importChangesWhoIsThereAndAddsOthers() throws {
        let session = Session()
        _ = session.run("add", "Ada", "1")
        let file = try session.file(
            #"[{"name": "Ada", "phones": {"mobile": "9"}, "groups": ["friends"]}, {"name": "Alan", "phones": {"home": 4}, "groups": ["friends"]}]"#)
        #expect(session.run("import", file) == 0)
        #expect(session.run("list") == 0)
        #expect(session.lines == ["Ada\t9\t[friends]", "Alan\t4\t[friends]"])
    }

    @Test func anImportThatIsWrongChangesNothingAndSaysWhere() throws {
        let session = Session()
        _ = session.run("add", "Ada", "1")
        #expect(session.run("import", try session.file(#"[{"name": "Ada", "phone": "9"}, {"name": "Alan", "phone": ["4"]}]"#)) == 65)
        #expect(session.complaints.count == 1)
        #expect(session.complaints.first?.contains("$[1].phone: Contact.phone") == true)
        #expect(session.run("import", try session.file(#"[{"name": "Ada", "phone": "9"}, {"name": "Alan"}]"#)) == 65)
        #expect(session.run("import", try session.file("[{")) == 65)
        #expect(session.run("import", session.folder.path + "/nowhere.json") == 66)
        #expect(session.run("list") == 0)
        #expect(session.lines == ["Ada\t1"])
    }

    @Test func whatCannotBeDoneIsSaidInASentence() {
        let session = Session()
        _ = session.run("add", "Ada", "1")
        #expect(session.run("add", "Ada", "2") == 1)
        #expect(session.complaints == ["there is already a contact \"Ada\"; use update to change the number"])
        #expect(session.run("update", "Alan", "2") == 1)
        #expect(session.complaints == ["there is no contact \"Alan\"; list shows all"])
        #expect(session.run("delete", "Alan") == 1)
        #expect(session.run("add", "", "2") == 1)
        #expect(session.run("update", "Ada", "") == 1)
        for arguments in [["add", "Ada"], ["list", "all"], ["sing"]] {
            let program = ContactsProgram(say: { _ in }, complain: { #expect($0 == ContactsProgram.usage) })
            #expect(program.run([session.folder.path] + arguments) == 64)
        }
        let help = ContactsProgram(say: { #expect($0 == ContactsProgram.usage) }, complain: { _ in })
        #expect(help.run(["--help"]) == 0)
    }

    @Test func aFolderThatCannotBeMadeIsSaidToBeSo() throws {
        let session = Session()
        let file = try session.file("[]")
        let program = ContactsProgram(say: { _ in }, complain: { #expect($0.hasPrefix("the folder \(file) can't be used: ")) })
        #expect(program.run([file, "list"]) == 73)
    }

    @Test func whatWouldSteerATerminalIsNotPrinted() throws {
        let session = Session()
        #expect(session.run("import", try session.file(#"{"name": "A\u001b[2Jda", "phone": "1\n2"}"#)) == 0)
        #expect(session.run("list") == 0)
        #expect(session.lines == ["A?[2Jda\t1?2"])
    }

    @Test func neitherIsItInWhatAFileIsRefusedFor() throws {
        let session = Session()
        for json in [
            #"{"name": "Ada", "phone": ["\u001b[2J"]}"#, #"{"name": "Ada", "phone": "1", "groups": [{"na\u001b[31mme\u0007": 1, "name": ["\r\n"]}]}"#,
        ] {
            #expect(session.run("import", try session.file(json)) == 65)
            let control = session.complaints.joined().unicodeScalars.filter { $0.properties.generalCategory == .control }
            #expect(session.complaints.count == 1 && control.isEmpty, "\(session.complaints)")
        }
        #expect(session.run("update", "\u{1B}[2J", "1") == 1)
        #expect(session.complaints == ["there is no contact \"?[2J\"; list shows all"])
    }

    @Test func whatTheStoreSaysIsNoBadInput() {
        for code in [134030, 134060, 133020, 256] {
            #expect(ContactsProgram.Status(savingFailedWith: NSError(domain: NSCocoaErrorDomain, code: code)) == .storeFailure)
        }
        for code in [1550, 1570, 1680] {
            #expect(ContactsProgram.Status(savingFailedWith: NSError(domain: NSCocoaErrorDomain, code: code)) == .badInput)
        }
    }
}
