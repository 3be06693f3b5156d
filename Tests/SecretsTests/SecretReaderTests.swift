import Foundation
import Secrets
import SyncConfiguration
import Testing

/// Each test has a credentials directory of its own.
final class SecretReaderTests {
    let directory = FileManager.default.temporaryDirectory.appending(path: "credentials-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: directory) }

    private var reader: SecretReader { SecretReader(environment: ["CREDENTIALS_DIRECTORY": directory.path]) }

    private func secret(_ name: String, form: SecretForm = .line) throws(SecretError) -> Secret {
        try reader.secret(.credential(name), form: form)
    }

    private var place: SecretError.Place { SecretError.Place(.credential("token"), at: directory.path + "/token") }

    private func put(_ name: String, _ content: some Sequence<UInt8>) throws {
        try Data(content).write(to: directory.appending(path: name))
    }

    private func error(_ name: String, form: SecretForm = .line) -> SecretError? {
        do throws(SecretError) {
            _ = try secret(name, form: form)
            return nil
        } catch { return error }
    }

    // Section 13: ID, cred_ID, cistern.ID
    @Test func theThreeNamesAreLookedUpInTheirOrder() throws {
        try put("cistern.token", "third".utf8)
        #expect(try secret("token").revealed() == "third")
        try put("cred_token", "second".utf8)
        #expect(try secret("token").revealed() == "second")
        try put("token", "first".utf8)
        #expect(try secret("token").revealed() == "first")
    }

    @Test(arguments: [("abc\n", "abc"), ("abc", "abc"), ("a b\u{fc} \n", "a bü ")])
    func oneNewlineAtTheEndIsTakenOff(content: String, value: String) throws {
        try put("token", content.utf8)
        #expect(try secret("token").revealed() == value)
    }

    @Test(
        arguments: [
            (Array("a\n\n".utf8), 1), (Array("a\r\n".utf8), 1), (Array("a\tb".utf8), 1), ([0x61, 0x00], 1), ([0x7F], 0), ([0x61, 0xFF], 1),
            (Array("ü\u{85}".utf8), 2),
        ] as [([UInt8], Int)])
    func whatIsNotOnePrintableLineIsRefused(content: [UInt8], offset: Int) throws {
        try put("token", content)
        #expect(error("token") == .notText(place, offset: offset))
    }

    @Test func aKeyOfSeveralLinesIsTakenIfAskedFor() throws {
        let key = "-----BEGIN KEY-----\r\nAA==\n\t-----END KEY-----\n"
        try put("key", key.utf8)
        #expect(error("key") != nil)
        #expect(try secret("key", form: .lines).revealed() == String(key.dropLast()))
        try put("key", [0x61, 0x00])
        #expect(error("key", form: .lines) != nil)
    }

    @Test func sixtyFourKibibytesAreTheLimit() throws {
        try put("token", [UInt8](repeating: 0x61, count: 65_536) + [0x0A])
        #expect(try secret("token").count == 65_536)
        try put("token", [UInt8](repeating: 0x61, count: 65_537))
        #expect(error("token") == .tooLarge(place, limit: 65_536))
        try put("token", [UInt8](repeating: 0x61, count: 200_000))
        #expect(error("token") == .tooLarge(place, limit: 65_536))
    }

    @Test(arguments: ["", "\n"]) func nothingIsNoSecret(content: String) throws {
        try put("token", content.utf8)
        #expect(error("token") == .empty(place))
    }

    @Test func aMissingOneSaysWhereItWasLookedFor() throws {
        let searched = ["token", "cred_token", "cistern.token"].map { "\(directory.path)/\($0)" }
        let missing = try #require(error("token"))
        #expect(missing == .missing(name: "token", searched: searched))
        for path in searched { #expect(missing.description.contains(path)) }
        #expect(missing.description.contains("/etc/cistern/credentials/token"))

        #expect(throws: SecretError.missing(name: "token", searched: [])) { try SecretReader(environment: [:]).secret(.credential("token")) }
    }

    @Test(arguments: ["", ".", "..", "../shadow", "a/b", "a b", "naïve", String(repeating: "a", count: 241)])
    func namesThatAreNoFileNamesAreRefused(name: String) {
        #expect(error(name) == .invalidName(name))
    }

    @Test func aFolderIsNotReadAsASecret() throws {
        try FileManager.default.createDirectory(at: directory.appending(path: "token"), withIntermediateDirectories: true)
        guard case .unreadable = error("token") else {
            Issue.record("\(String(describing: error("token")))")
            return
        }
    }

    // Section 13: never in logs, traces, errors
    @Test func noErrorAndNoDescriptionShowsTheValue() throws {
        let value = "hunter2-very-secret"
        try put("token", value.utf8)
        let secret = try self.secret("token")
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), "\([secret])", dumped] { #expect(!text.contains("hunter2"), "\(text)") }

        try put("token", (value + "\u{1}").utf8)
        #expect(error("token")?.description.contains("hunter2") == false)
        try put("token", (value + String(repeating: "x", count: 70_000)).utf8)
        #expect(error("token")?.description.contains("hunter2") == false)
    }

    @Test func outsideOfTheServiceTheSourceOfACredentialIsReadAfterWhatWasPassed() throws {
        let passed = directory.appending(path: "passed").path, sources = directory.appending(path: "sources").path
        try FileManager.default.createDirectory(atPath: passed, withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: sources, withIntermediateDirectories: true)
        let reader = SecretReader(environment: ["CREDENTIALS_DIRECTORY": passed], sources: sources)
        #expect {
            try reader.secret(.credential("token"))
        } throws: { error in
            guard case .missing(_, let searched)? = error as? SecretError else { return false }
            return searched == ["token", "cred_token", "cistern.token"].map { "\(passed)/\($0)" } + ["\(sources)/token"]
        }
        try put("sources/token", "source\n".utf8)
        #expect(try reader.secret(.credential("token")).revealed() == "source")
        try put("sources/token", "a\u{1}".utf8)
        #expect(throws: SecretError.notText(.init(.credential("token"), at: "\(sources)/token"), offset: 1)) {
            try reader.secret(.credential("token"))
        }
        try put("passed/cred_token", "passed".utf8)
        #expect(try reader.secret(.credential("token")).revealed() == "passed")
    }

    @Test func filesAndVariablesAreCheckedAsCredentialsAre() throws {
        let path = directory.appending(path: "file").path
        let reader = SecretReader(environment: ["TOKEN": "abc\n", "BAD": "a\tb", "NOTHING": "", "LONG": String(repeating: "a", count: 65_537)])
        try put("file", "abc\n".utf8)
        #expect(try reader.secret(.file(path)).revealed() == "abc")
        try put("file", "a\tb".utf8)
        #expect(throws: SecretError.notText(.init(.file(path), at: path), offset: 1)) { try reader.secret(.file(path)) }
        #expect(try reader.secret(.environment("TOKEN")).revealed() == "abc")
        #expect(throws: SecretError.notText(.init(.environment("BAD")), offset: 1)) { try reader.secret(.environment("BAD")) }
        #expect(throws: SecretError.tooLarge(.init(.environment("LONG")), limit: 65_536)) { try reader.secret(.environment("LONG")) }
        for name in ["NOTHING", "ABSENT"] {
            #expect(throws: SecretError.notSet(name)) { try reader.secret(.environment(name)) }
        }
        try put("file", [UInt8]())
        let error = #expect(throws: SecretError.self) { try reader.secret(.file(path)) }
        #expect(error?.description == "the secret in \(path) is empty: write the secret into the file it comes from")
    }

    @Test func aSecretThatWasReplacedIsTheNextOneRead() throws {
        try put("token", "one".utf8)
        let reader = reader
        #expect(try reader.secret(.credential("token")).revealed() == "one")
        try put("token", "two".utf8)
        #expect(try reader.secret(.credential("token")).revealed() == "two")
    }

    @Test func aSecretMadeInPlaceHoldsWhatWasWritten() {
        let secret = Secret(capacity: 8) { buffer in
            buffer.copyBytes(from: "abc".utf8)
            return 3
        }
        #expect(secret.revealed() == "abc")
        #expect(Secret(capacity: 0) { _ in 0 }.count == 0)
    }

    @Test func aSecretLendsItsBytes() throws {
        let secret = Secret(Array("abc".utf8))
        #expect(secret.withUnsafeBytes { Array($0) } == Array("abc".utf8))
        #expect(Secret([UInt8]()).count == 0)
        #expect(Secret([UInt8]()).revealed() == "")
    }
}
