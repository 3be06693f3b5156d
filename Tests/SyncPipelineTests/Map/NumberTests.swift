import SyncTestSupport
import Testing

@testable import SyncPipeline

/// Numbers become what they say, or their record is set aside with the reason.
@Suite struct NumberTests {
    /// The value of an attribute of this type for a JSON value, as text; nil: the record was set aside.
    private func stored(_ json: String, as type: String) async throws -> (value: String?, reason: String?) {
        let api = ScriptedAPI()
        let fixture = try await api.fixture(ScriptedAPI.people(attributes: "it = { type = \"\(type)\" }"))
        api.set("/people", "[{\"id\": 1, \"it\": \(json)}, {\"id\": 2}]")
        try await fixture.sync()
        let value = try await fixture.values("it", of: "Person", where: "id == 1").first
        let reason = try await fixture.pipeline.quarantine().first?.reason
        try await fixture.end()
        return (value, reason)
    }

    @Test(arguments: [
        (#""12 EUR""#, "decimal"), (#""1,234.50""#, "decimal"), (#""0x10""#, "decimal"), (#""""#, "decimal"), (#"" 12""#, "decimal"),
        (#""1e""#, "decimal"), (#"".""#, "decimal"), (#""nan""#, "decimal"), (#""12 EUR""#, "double"), (#""0x10""#, "double"),
        (#""nan""#, "double"), (#""inf""#, "double"), (#""1,5""#, "double"), (#""0x10""#, "int64"), (#""1_000""#, "int64"),
        (#""١٢""#, "int64"), (#""1.5""#, "int64"), ("1.5", "int64"), ("1.00000000000000000000000000000001", "int64"),
    ])
    func whatIsNoNumberIsSetAside(json: String, type: String) async throws {
        let (value, reason) = try await stored(json, as: type)
        #expect(value == nil)
        #expect(reason?.hasPrefix("it: ") == true, "\(reason ?? "")")
    }

    @Test(arguments: [
        ("123456789012345678901234567890123456789012345", "decimal", "digits"),
        ("0.10000000000000000000000000000000000000000001", "decimal", "digits"),
        (#""1e200""#, "decimal", "decimal"), ("1e-300", "decimal", "decimal"), ("9223372036854775808", "int64", "fit"), ("1e30", "int64", "fit"),
        ("40000", "int16", "fit"), ("1e-999", "double", "small"), (#""1e999""#, "double", "large"),
    ])
    func whatDoesNotFitIsSetAsideWithTheReason(json: String, type: String, word: String) async throws {
        let (value, reason) = try await stored(json, as: type)
        #expect(value == nil)
        #expect(reason?.contains(word) == true, "\(reason ?? "")")
    }

    @Test(arguments: [
        ("12345678901234567890123456789012345678", "decimal", "12345678901234567890123456789012345678"),
        (#""-0.5""#, "decimal", "-0.5"), (#""1234.50""#, "decimal", "1234.5"), ("1.10", "decimal", "1.1"), (#""1e3""#, "decimal", "1000"),
        ("0.1234567890123456789", "decimal", "0.1234567890123456789"), ("0.000", "decimal", "0"),
        ("1.0", "int64", "1"), ("1e3", "int64", "1000"), ("-0", "int64", "0"), (#""-12""#, "int64", "-12"), (#""+12""#, "int64", "12"),
        (#""007""#, "int64", "7"), ("9223372036854775807", "int64", "9223372036854775807"), ("9007199254740993.0", "int64", "9007199254740993"),
        (#""1.5""#, "double", "1.5"), ("18446744073709551616", "double", "1.8446744073709552e+19"), ("1.50", "string", "1.50"),
    ])
    func aNumberIsWhatItsDigitsSay(json: String, type: String, expected: String) async throws {
        let (value, reason) = try await stored(json, as: type)
        #expect(value == expected, "\(reason ?? "")")
    }

    @Test func fewDigitsInTextAreTheNearestDouble() {
        var random = SeededNumbers(15)
        for _ in 0..<20_000 {
            var text = String(Int64.random(in: 0..<1_000_000_000_000_000, using: &random) >> Int64.random(in: 0..<50, using: &random))
            if Bool.random(using: &random) {
                text.insert(".", at: text.index(text.startIndex, offsetBy: Int.random(in: 1...text.count, using: &random)))
            }
            if Bool.random(using: &random) { text = "-" + text }
            let value = NumberText.double(ofFewDigits: text.utf8)
            #expect(value == NumberText(text.utf8).flatMap { Double($0.canonical) }, "\(text)")
        }
        #expect(NumberText.double(ofFewDigits: "-0.0".utf8)?.sign == .plus)
    }

    @Test(arguments: ["", "-", ".", ".5", "+1", "1e3", "--1", "1-", "1.2.3", " 1", "1 ", "0x10", "1234567890123456", "0.0000000000000001"])
    func anyOtherTextIsReadDigitByDigit(text: String) {
        #expect(NumberText.double(ofFewDigits: text.utf8) == nil)
    }
}
