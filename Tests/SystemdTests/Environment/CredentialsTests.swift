import Foundation
import Testing

@testable import Systemd

/// Each test has a credentials directory of its own.
final class CredentialsTests {
    let directory = FileManager.default.temporaryDirectory.appending(path: "credentials-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: directory) }

    private var credentials: Credentials { Credentials(directory: directory.path) }

    private func put(_ name: String, _ content: some Sequence<UInt8>) throws {
        try Data(content).write(to: directory.appending(path: name))
    }

    private func error(_ name: String, form: Credentials.Form = .line) -> CredentialError? {
        do throws(CredentialError) {
            _ = try credentials.secret(name, form: form)
            return nil
        } catch { return error }
    }

    // Section 13: ID, cred_ID, cistern.ID
    @Test func theThreeNamesAreLookedUpInTheirOrder() throws {
        try put("cistern.token", "third".utf8)
        #expect(try credentials.secret("token").revealed() == "third")
        try put("cred_token", "second".utf8)
        #expect(try credentials.secret("token").revealed() == "second")
        try put("token", "first".utf8)
        #expect(try credentials.secret("token").revealed() == "first")
    }

    @Test(arguments: [("abc\n", "abc"), ("abc", "abc"), ("a b\u{fc} \n", "a bü ")])
    func oneNewlineAtTheEndIsTakenOff(content: String, value: String) throws {
        try put("token", content.utf8)
        #expect(try credentials.secret("token").revealed() == value)
    }

    @Test(
        arguments: [
            (Array("a\n\n".utf8), 1), (Array("a\r\n".utf8), 1), (Array("a\tb".utf8), 1), ([0x61, 0x00], 1), ([0x7F], 0), ([0x61, 0xFF], 1),
            (Array("ü\u{85}".utf8), 2),
        ] as [([UInt8], Int)])
    func whatIsNotOnePrintableLineIsRefused(content: [UInt8], offset: Int) throws {
        try put("token", content)
        #expect(error("token") == .notText(name: "token", path: directory.path + "/token", offset: offset))
    }

    @Test func aKeyOfSeveralLinesIsTakenIfAskedFor() throws {
        let key = "-----BEGIN KEY-----\r\nAA==\n\t-----END KEY-----\n"
        try put("key", key.utf8)
        #expect(error("key") != nil)
        #expect(try credentials.secret("key", form: .lines).revealed() == String(key.dropLast()))
        try put("key", [0x61, 0x00])
        #expect(error("key", form: .lines) != nil)
    }

    @Test func sixtyFourKibibytesAreTheLimit() throws {
        try put("token", [UInt8](repeating: 0x61, count: 65_536) + [0x0A])
        #expect(try credentials.secret("token").count == 65_536)
        try put("token", [UInt8](repeating: 0x61, count: 65_537))
        #expect(error("token") == .tooLarge(name: "token", path: directory.path + "/token", limit: 65_536))
        try put("token", [UInt8](repeating: 0x61, count: 200_000))
        #expect(error("token") == .tooLarge(name: "token", path: directory.path + "/token", limit: 65_536))
    }

    @Test(arguments: ["", "\n"]) func nothingIsNoSecret(content: String) throws {
        try put("token", content.utf8)
        #expect(error("token") == .empty(name: "token", path: directory.path + "/token"))
    }

    @Test func aMissingOneSaysWhereItWasLookedFor() throws {
        let searched = ["token", "cred_token", "cistern.token"].map { "\(directory.path)/\($0)" }
        let missing = try #require(error("token"))
        #expect(missing == .missing(name: "token", searched: searched))
        for path in searched { #expect(missing.description.contains(path)) }
        #expect(missing.description.contains("/etc/cistern/credentials/token"))

        #expect(throws: CredentialError.missing(name: "token", searched: [])) { try Credentials(directory: nil).secret("token") }
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
        let secret = try credentials.secret("token")
        var dumped = ""
        dump(secret, to: &dumped)
        for text in ["\(secret)", String(reflecting: secret), "\([secret])", dumped] { #expect(!text.contains("hunter2"), "\(text)") }

        try put("token", (value + "\u{1}").utf8)
        #expect(error("token")?.description.contains("hunter2") == false)
        try put("token", (value + String(repeating: "x", count: 70_000)).utf8)
        #expect(error("token")?.description.contains("hunter2") == false)
    }

    @Test func aSecretLendsItsBytes() throws {
        let secret = Secret(Array("abc".utf8))
        #expect(secret.withUnsafeBytes { Array($0) } == Array("abc".utf8))
        #expect(Secret([UInt8]()).count == 0)
        #expect(Secret([UInt8]()).revealed() == "")
    }
}
