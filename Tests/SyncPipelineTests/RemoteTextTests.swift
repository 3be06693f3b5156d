import Foundation
import SyncConfiguration
import SyncTestSupport
import Testing

@testable import SyncPipeline

@Suite struct RemoteTextTests: LoopbackTesting {
    @Test(arguments: [
        ("plain ünïcødé 日本語 עברית", "plain ünïcødé 日本語 עברית"), ("a\r\nb", "a b"),
        ("a\nb\rc\u{85}d\u{2028}e\u{2029}f\u{B}g\u{C}h\ti", "a b c d e f g h i"),
        ("\u{1B}]0;title\u{7}", "\u{FFFD}]0;title\u{FFFD}"), ("\u{9B}31m\u{90}\u{9C}\u{7F}\0", "\u{FFFD}31m\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"),
        ("\u{202E}\u{2066}\u{200F}\u{61C}\u{FEFF}\u{200B}\u{E0041}", String(repeating: "\u{FFFD}", count: 7)), ("👩‍👩‍👧 می‌خواهم", "👩‍👩‍👧 می‌خواهم"),
        ("\r\n<0>forged", " <0>forged"),
    ])
    func aLineIsOneHarmlessLine(_ text: String, _ expected: String) {
        #expect(RemoteText.line(text) == expected)
    }

    @Test func everyScalarComesOutHarmless() {
        let all = String(String.UnicodeScalarView((UInt32(0)...0x10FFFF).compactMap { Unicode.Scalar($0) }))
        #expect(RemoteText.line(all, limit: .max).unicodeScalars.allSatisfy(RemoteText.isHarmless))
    }

    @Test func aLineIsCutAndSaysSo() {
        #expect(RemoteText.line("abcdef", limit: 4) == "abc…")
        #expect(RemoteText.line("abcd", limit: 4) == "abcd")
        #expect(RemoteText.line(String(repeating: "x", count: 1_000_000)).unicodeScalars.count == RemoteText.longestLine)
    }

    @Test func aBlockKeepsItsLinesAndNothingElse() {
        #expect(RemoteText.block("{\r\n\t\"a\": \"\u{1B}[2J\"\n}") == "{ \n\t\"a\": \"\u{FFFD}[2J\"\n}")
    }

    /// The ways in which an answer comes back into a message.
    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Type: text/@\r\nContent-Length: 2\r\n\r\n[]",
        "HTTP/1.1 200 OK\r\nContent-Encoding: @\r\nContent-Length: 2\r\n\r\n[]",
        "HTTP/1.1 302 Found\r\nLocation: http://@.example/\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 302 Found\r\nLocation: @:x\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 500 No\r\nContent-Type: @\r\nContent-Length: 60\r\n\r\n@\r\n<0>forged\u{1B}[2J",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: @\r\n\r\n[]", "@",
    ])
    func anErrorIsOneHarmlessLineWithoutTheSecretThatAServerEchoes(_ answer: String) async throws {
        let secret = "TopSecret0815"
        let bytes = Array(answer.replacingOccurrences(of: "@", with: secret).utf8)
        try await with({ _, _ in [.send(bytes), .close] }) { server, transport in
            let outcome = try await fetch(server.url(), transport, secrets: Fixture.secret(secret)) {
                $0.authentication = .bearer(.init(token: .credential("t")))
            }
            let error = try #require(outcome.error)
            for text in [error.description, error.summary, error.detail, error.contentType ?? "", error.excerpt, "\(error.kind)", error.inWords] {
                #expect(!text.lowercased().contains(secret.lowercased()), "\(text)")
            }
            #expect(error.description.unicodeScalars.allSatisfy(RemoteText.isHarmless))
            #expect(error.description.unicodeScalars.count <= RemoteText.longestLine)
        }
    }
}
