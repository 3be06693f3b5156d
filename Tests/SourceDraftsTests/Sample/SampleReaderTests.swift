import Testing

@testable import SourceDrafts

@Suite struct SampleReaderTests {
    @Test func membersKeepTheirOrderAndNumbersTheirDigits() throws {
        let (value, problem) = try SampleReader.read(Array("\u{FEFF}{\"b\": 1.50, \"a\": [true, null], \"\\u00e9\\n\\ud83d\\ude00\": \"\\/\"}".utf8))
        let object = try #require(value.object)
        #expect(object.names.map(\.text) == ["b", "a", "é\n😀"] && problem == nil)
        #expect(object["b"]?.digits == "1.50" && object["a"]?.list?.count == 2 && object["é\n😀"]?.text == "/")
    }

    @Test func namesThatLookTheSameAreTwoAndOneThatOccursTwiceIsOne() throws {
        let twins = try SampleReader.read(Array(#"{"\u00e9": 1, "e\u0301": 2}"#.utf8)).value
        #expect(twins.object?.count == 2)
        let (twice, problem) = try SampleReader.read(Array(#"{"a": 1, "a": 2}"#.utf8))
        #expect(twice.object?.count == 1 && twice.object?["a"]?.digits == "1" && problem != nil)
    }

    @Test func objectsWithManyMembersAreSearchedAsThoseWithFew() throws {
        let text = "{" + (0..<50).map { "\"m\($0)\": \($0)" }.joined(separator: ",") + "}"
        let object = try #require(try SampleReader.read(Array(text.utf8)).value.object)
        #expect((0..<50).allSatisfy { object["m\($0)"]?.digits == "\($0)" } && object["m50"] == nil)
    }

    @Test func whatIsTooDeepIsRefused() {
        let text = String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000)
        #expect(throws: SourceDraftError.self) { try SampleReader.read(Array(text.utf8)) }
    }
}
