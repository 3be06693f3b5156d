import Secrets
import SyncConfiguration
import Testing

@testable import SyncPipeline

/// Codes of messages, as the documents have them.
@Suite struct MessageCodeTests {
    private typealias Algorithm = AuthenticationConfiguration.RequestSignature.Algorithm

    private func code(_ message: String, _ key: [UInt8], _ algorithm: Algorithm) -> String {
        MessageCode.text(of: MessageCode.code(of: Secret(Array(message.utf8)), key: Secret(key), algorithm), .hex)
    }

    // RFC 4231, 4.2, 4.3 and 4.7
    @Test func codesAreThoseOfTheStandard() {
        let first = [UInt8](repeating: 0x0B, count: 20), jefe = Array("Jefe".utf8), long = [UInt8](repeating: 0xAA, count: 131)
        let question = "what do ya want for nothing?", large = "Test Using Larger Than Block-Size Key - Hash Key First"
        #expect(code("Hi There", first, .sha256) == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
        #expect(
            code("Hi There", first, .sha384)
                == "afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59cfaea9ea9076ede7f4af152e8b2fa9cb6")
        #expect(
            code("Hi There", first, .sha512)
                == "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cdedaa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854")
        #expect(code(question, jefe, .sha256) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        #expect(
            code(question, jefe, .sha512)
                == "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737")
        #expect(code(large, long, .sha256) == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }

    // RFC 2202, 2 and 3
    @Test func olderHashesAreThereToo() {
        let question = "what do ya want for nothing?", jefe = Array("Jefe".utf8)
        #expect(code(question, jefe, .md5) == "750c783e6ab0b503eaa86e310a5db738")
        #expect(code(question, jefe, .sha1) == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79")
    }

    @Test func bytesAreWrittenInThreeWays() {
        let bytes: [UInt8] = [0xFB, 0xEF, 0x01]
        #expect(MessageCode.text(of: bytes, .hex) == "fbef01")
        #expect(MessageCode.text(of: bytes, .base64) == "++8B" && MessageCode.text(of: bytes, .base64url) == "--8B")
        #expect(MessageCode.text(of: [0xFB], .base64) == "+w==" && MessageCode.text(of: [0xFB], .base64url) == "-w")
        let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        #expect(MessageCode.text(of: MessageCode.digest(of: nil), .hex) == nothing)
        #expect(MessageCode.text(of: MessageCode.digest(of: Secret([UInt8]())), .hex) == nothing)
    }
}
