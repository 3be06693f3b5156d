import SyncPipeline
import Testing

@testable import SourceDrafts

@Suite struct ScalarFormTests {
    @Test(arguments: [
        ("2024-02-29", "rfc3339"), ("2024-02-29T10:20:30Z", "rfc3339"), ("2024-02-29 10:20:30.123+02:00", "rfc3339"),
        ("2024-02-29T10:20:30+0200", "%FT%T%z"), ("2024-02-29T10:20:30.5+0000", "%FT%T.%f%z"),
        ("Sun, 06 Nov 1994 08:49:37 GMT", "%a, %d %b %Y %T GMT"),
        ("Thu Apr 06 15:24:15 +0000 2017", "%a %b %d %T %z %Y"), ("2024/02/29", "%Y/%m/%d"),
    ]) func aFormatIsRecognisedByItsText(_ text: String, _ format: String) async throws {
        #expect(ScalarForm.dateFormat(of: [text, text]) == format)
        // What is drafted is read.
        let body = "[{\"id\": 1, \"d\": \"\(text)\"}]"
        let draft = try DraftTrial.draft(body)
        #expect(DraftTrial.settings(draft).last?.contains("\"date\"") == true)
        #expect(try await DraftTrial.page(draft, body: Array(body.utf8)).rejected.isEmpty)
    }

    @Test(arguments: [
        "", "2023-02-29", "2024-13-01", "2024-1-1", "2024-01-01T25:00:00Z", "2024-01-01T10:00", "01/02/2024", "2024-01-01Z", "20240101", "today",
    ])
    func whatIsNoDateStaysAText(_ text: String) {
        #expect(ScalarForm.dateFormat(of: [text]) == nil)
    }

    @Test func oneTextThatIsNoDateMakesAllOfThemTexts() {
        #expect(ScalarForm.dateFormat(of: ["2024-01-01", "unknown"]) == nil)
        #expect(ScalarForm.dateFormat(of: []) == nil)
    }
}
