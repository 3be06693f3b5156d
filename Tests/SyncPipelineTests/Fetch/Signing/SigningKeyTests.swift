import Crypto
import Foundation
import Secrets
import SyncConfiguration
import Testing

@testable import SyncPipeline

/// Keys as they are written, and signatures as the documents have them.
@Suite struct SigningKeyTests {
    private typealias Algorithm = AuthenticationConfiguration.WebToken.Algorithm

    private func key(
        _ text: String, _ algorithm: Algorithm, encoding: AuthenticationConfiguration.WebToken.KeyEncoding = .text
    ) throws -> SigningKey {
        try SigningKey(Secret(Array(text.utf8)), encoding: encoding, for: algorithm)
    }

    /// A signature, as tokens have it.
    private func signature(_ message: String, _ key: SigningKey) throws -> String {
        try key.signature(of: Secret(Array(message.utf8))).base64(isForURLs: true).revealed()
    }

    private func hexadecimal(_ bytes: some Sequence<UInt8>) -> String { bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

    private static let payload = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

    // RFC 7515, A.1
    @Test func aSharedKeySignsAsTheStandardShows() throws {
        let shared = try key(SigningKeys.shared, .hs256, encoding: .base64), message = "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9." + Self.payload
        #expect(try signature(message, shared) == "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    }

    // RFC 7515, A.2
    @Test(arguments: [
        SigningKeys.rsa, SigningKeys.oldRSA, SigningKeys.rsa.replacing("\n", with: "\r\n"), "Bag Attributes\n" + SigningKeys.rsa + "\n",
        SigningKeys.rsa.replacing("\n", with: "\n    "),
    ])
    func anRSAKeySignsAsTheStandardShows(text: String) throws {
        let expected =
            "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CU"
            + "Ar7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_d"
            + "O--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0ig"
            + "cN_IoypGlUPQGe77Rw"
        #expect(try signature("eyJhbGciOiJSUzI1NiJ9." + Self.payload, try key(text, .rs256)) == expected)
    }

    // RFC 8037, A.4
    @Test(arguments: [SigningKeys.ed25519] + SigningKeys.newEd25519) func anEd25519KeySignsAsTheStandardShows(text: String) throws {
        let expected = "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
        #expect(try signature("eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc", try key(text, .edDSA)) == expected)
    }

    @Test func eachAlgorithmHasItsOwnHash() throws {
        let message = Secret(Array("message".utf8))
        func digest(_ algorithm: Algorithm) throws -> String {
            RefreshChain.digest(of: try key(SigningKeys.rsa, algorithm).signature(of: message))
        }
        #expect(try digest(.rs384) == "a56018a30c1b516647ed6ae64c460cf0ade825fe5cc307201e10ba95e9212fd0")
        #expect(try digest(.rs512) == "9c029e6e9ff47a26a04641953cd82ef4dde8c677291d624b8660c63c2466246e")
        let hs384 = try key("key", .hs384).signature(of: message), hs512 = try key("key", .hs512).signature(of: message)
        #expect(
            hs384.withUnsafeBytes { hexadecimal($0) }
                == "0fd3ae3237be98c64a075b7394989fc6789f31788fada42eada85ee6698bde2feae20b66271b67544b9062c773b2d86f")
        #expect(
            hs512.withUnsafeBytes { hexadecimal($0) }
                == "e477384d7ca229dd1426e64b63ebf2d36ebd6d7e669a6735424e72ea6c01d3f8"
                + "b56eb39c36d8232f5427999b8d1a3f9cd1128fc69f4d75b434216810fa367e98")
    }

    // RFC 7518, 3.4: both numbers in their full length, and not in DER.
    @Test(arguments: [
        SigningKeys.p256, SigningKeys.oldP256,
        "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n" + SigningKeys.oldP256,
    ])
    func whatAnECKeySignsIsWhatItsPublicKeyAccepts(text: String) throws {
        let message = Array("message".utf8), known = try P256.Signing.PrivateKey(pemRepresentation: SigningKeys.p256).publicKey
        let signature = try key(text, .es256).signature(of: Secret(message))
        let bytes = signature.withUnsafeBytes { Data($0) }
        #expect(bytes.count == 64)
        #expect(known.isValidSignature(try P256.Signing.ECDSASignature(rawRepresentation: bytes), for: message))
        let longer = try key(SigningKeys.p384, .es384).signature(of: Secret(message)).withUnsafeBytes { Data($0) }
        let other = try P384.Signing.PrivateKey(pemRepresentation: SigningKeys.p384).publicKey
        #expect(longer.count == 96)
        #expect(other.isValidSignature(try P384.Signing.ECDSASignature(rawRepresentation: longer), for: message))
    }

    /// A text that is no key for an algorithm, and the words of the complaint.
    struct Wrong: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var text: String
        var algorithm = AuthenticationConfiguration.WebToken.Algorithm.rs256
        var words: String
    }

    static let wrong = [
        Wrong(testDescription: "a word", text: "hunter2", words: "holds no private key in PEM form"),
        Wrong(testDescription: "line breaks as text", text: SigningKeys.rsa.replacing("\n", with: "\\n"), words: "write one in place of every \\n"),
        Wrong(testDescription: "one line", text: SigningKeys.rsa.replacing("\n", with: " "), words: "holds a key without line breaks"),
        Wrong(testDescription: "only a beginning", text: String(SigningKeys.rsa.prefix(200)), words: "holds no private key in PEM form"),
        Wrong(testDescription: "a file of an account", text: "{\"private_key\": \"x\"}", words: "holds JSON"),
        Wrong(testDescription: "encrypted", text: SigningKeys.encryptedP256, algorithm: .es256, words: "encrypted key; decrypt it with openssl"),
        Wrong(
            testDescription: "encrypted in the old way",
            text: SigningKeys.oldRSA.replacing("-----BEGIN RSA PRIVATE KEY-----", with: "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED"),
            words: "encrypted key"),
        Wrong(testDescription: "public", text: SigningKeys.publicEd25519, algorithm: .edDSA, words: "“PUBLIC KEY”, and a private key is needed"),
        Wrong(testDescription: "of OpenSSH", text: SigningKeys.openSSH, algorithm: .edDSA, words: "ssh-keygen"),
        Wrong(testDescription: "EC for RSA", text: SigningKeys.p256, words: "an EC key of the curve P-256, and RS256 needs an RSA key"),
        Wrong(testDescription: "old EC for RSA", text: SigningKeys.oldP256, words: "an EC key of the curve P-256, and RS256 needs an RSA key"),
        Wrong(
            testDescription: "RSA for EC", text: SigningKeys.rsa, algorithm: .es256,
            words: "an RSA key, and ES256 needs an EC key of the curve P-256"),
        Wrong(testDescription: "another curve", text: SigningKeys.p521, algorithm: .es384, words: "the curve P-521, and ES384 needs"),
        Wrong(
            testDescription: "a key for secrets", text: SigningKeys.x25519, algorithm: .edDSA,
            words: "another kind, and EdDSA needs an Ed25519 key"),
        Wrong(testDescription: "short", text: SigningKeys.shortRSA, words: "less than 2048 bits"),
        Wrong(
            testDescription: "damaged", text: SigningKeys.rsa.replacing("EFAASCBKcwggSj", with: "EFAASCBKcwggSk"),
            words: "holds a damaged key"),
        Wrong(testDescription: "cut off", text: SigningKeys.ed25519.replacing("rAMcrn9g", with: ""), algorithm: .edDSA, words: "holds a damaged key"),
        Wrong(
            testDescription: "no Base64", text: SigningKeys.ed25519.replacing("rAMcrn9g", with: "rAMc!n9g"), algorithm: .edDSA,
            words: "holds a damaged key"),
    ]

    @Test(arguments: wrong) func whatIsWrongWithAKeyIsSaidWithoutShowingIt(wrong: Wrong) {
        let fault = #expect(throws: SigningKey.Fault.self) { try key(wrong.text, wrong.algorithm) }
        let said = fault?.description ?? ""
        #expect(said.contains(wrong.words), "\(said)")
        for line in wrong.text.split(separator: "\n") where line.count > 16 && !line.hasPrefix("-----") { #expect(!said.contains(line)) }
    }

    @Test func aSharedKeyThatIsNotBase64IsRefusedWhereItIsSaidToBe() throws {
        #expect(throws: SigningKey.Fault.notBase64) { try key("hunter2!", .hs256, encoding: .base64) }
        #expect(throws: SigningKey.Fault.notBase64) { try key("====", .hs256, encoding: .base64) }
        let written = try signature("message", try key("a2V5", .hs256, encoding: .base64))
        #expect(try signature("message", try key("key", .hs256)) == written)
    }

    @Test func base64IsReadInBothAlphabetsAndWrittenAsAsked() {
        for count in 0..<9 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: 251 + $0 * 37) }, secret = Secret(bytes)
            let plain = Data(bytes).base64EncodedString()
            let forURLs = plain.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            #expect(secret.base64().revealed() == plain && secret.base64(isForURLs: true).revealed() == forURLs)
            for text in [plain, forURLs, plain.map { "\($0)\n" }.joined()] {
                #expect(Secret.decoding(base64: Array(text.utf8))?.isEqual(to: secret) == true, "\(text)")
            }
        }
        for text in ["a", "abcde", "ab=c", "ab*d"] { #expect(Secret.decoding(base64: Array(text.utf8)) == nil, "\(text)") }
    }

    @Test func elementsOfDERAreWholeOrNone() {
        var bytes: ArraySlice<UInt8> = [0x30, 0x03, 1, 2, 3, 0x04, 0x81, 0x01, 9, 0x05]
        let contents = [DER.next(&bytes)?.content, DER.next(&bytes)?.content, DER.next(&bytes)?.content]
        #expect(contents == [[1, 2, 3], [9], nil])
        for broken: ArraySlice<UInt8> in [[], [0x30], [0x30, 0x02, 1], [0x30, 0x80], [0x30, 0x85, 1, 1, 1, 1, 1], [0x30, 0x82, 1]] {
            var rest = broken
            let tag = DER.next(&rest)?.tag
            #expect(tag == nil, "\(broken)")
        }
    }
}
