import Testing

@testable import AirbyteManifests

@Suite struct PythonLiteralTests {
    @Test func aTextThatLooksLikeAValueIsOne() {
        #expect(PythonLiteral.value("12") == .integer(12))
        #expect(PythonLiteral.value("-1.5") == .number(-1.5))
        #expect(PythonLiteral.value("True") == .bool(true))
        #expect(PythonLiteral.value("'a'") == .text("a"))
        #expect(PythonLiteral.value("[ \"A\", 1 ]") == .list([.text("A"), .integer(1)]))
        #expect(PythonLiteral.value("{'a': [1]}") == .mapping(["a": .list([.integer(1)])]))
    }

    @Test(arguments: ["a", "", "true", "2024-01-01", "007", "[1", "{'a'}", "1 2", "[a]"]) func anyOtherStaysAText(_ text: String) {
        #expect(PythonLiteral.value(text) == nil)
    }

    @Test func theWordsOfJSONCountWhereItIsMeant() {
        #expect(PythonLiteral.value("{\"a\": true}", isJSON: true) == .mapping(["a": .bool(true)]))
        #expect(PythonLiteral.value("{\"a\": true}") == nil)
    }

    @Test func depthIsBounded() {
        #expect(PythonLiteral.value(String(repeating: "[", count: 100_000)) == nil)
    }
}
