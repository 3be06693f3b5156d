import Foundation
import SyncConfiguration
import Testing

@testable import SourceDrafts

@Suite struct PagesDraftTests {
    private func pages(_ around: String, _ address: String = DraftTrial.address, link: String? = nil) throws -> String? {
        let body = "{\(around)\(around.isEmpty ? "" : ", ")\"items\": [{\"id\": 1}, {\"id\": 2}]}"
        let draft = try DraftTrial.draft(body, address, headers: link.map { [(name: "Link", value: $0)] } ?? [])
        _ = try DraftTrial.configuration(draft)
        #expect(!draft.toml.contains("short_page"))
        return DraftTrial.settings(draft).first { $0.hasPrefix("pages = ") }.map { String($0.dropFirst(8)) }
    }

    @Test(arguments: [
        ("\"next\": \"https://api.example/items?page=2\"", "{ kind = \"body-link\", path = \"$.next\" }"),
        ("\"next\": null, \"count\": 2", "{ kind = \"body-link\", path = \"$.next\" }"),
        ("\"links\": {\"next\": {\"href\": \"/items?p=2\"}}", "{ kind = \"body-link\", path = \"$.links.next.href\" }"),
        ("\"@odata.nextLink\": \"https://api.example/items?skip=2\"", "{ kind = \"body-link\", path = \"$['@odata.nextLink']\" }"),
        ("\"next_cursor\": \"abc\"", "{ kind = \"cursor\", path = \"$.next_cursor\", param = \"cursor\" }"),
        ("\"nextPageToken\": \"abc\"", "{ kind = \"cursor\", path = \"$.nextPageToken\", param = \"pageToken\" }"),
        ("\"paging\": {\"cursors\": {\"after\": \"abc\"}}", "{ kind = \"cursor\", path = \"$.paging.cursors.after\", param = \"after\" }"),
        (
            "\"page\": 1, \"total_pages\": 3, \"total\": 6",
            "{ kind = \"page\", param = \"page\", start = 1, size_param = \"\", stop = { total_pages = \"$.total_pages\", total = \"$.total\" } }"
        ),
        (
            "\"offset\": 0, \"limit\": 2, \"total\": 6",
            "{ kind = \"offset\", param = \"offset\", limit_param = \"limit\", limit = 2, stop = { total = \"$.total\" } }"
        ),
        // Fewer than there are here: it counts something else.
        ("\"page\": 0, \"total\": 1", "{ kind = \"page\", param = \"page\", start = 0, size_param = \"\" }"),
    ]) func theListingGoesOnAsTheAnswerSays(_ around: String, _ expected: String) throws {
        #expect(try pages(around) == expected)
    }

    @Test func aLinkHeaderComesFirst() throws {
        #expect(
            try pages("\"next_cursor\": \"a\"", link: "<https://api.example/items?page=2>; rel=\"next\", </x>; rel=last")
                == "{ kind = \"link-header\" }")
        #expect(try pages("", link: "</x>; rel=\"prev\"") == nil)
    }

    @Test func whatPromisesMoreWithoutAWayThereIsSaidAndNotGuessed() throws {
        let draft = try DraftTrial.draft(#"{"has_more": true, "data": [{"id": 1}]}"#)
        #expect(draft.decisions.contains { $0.subject == "source.pages" && $0.choice.isEmpty && $0.reason.contains("$.has_more") })
    }

    @Test func theNumberOfAPageLeavesTheAddress() throws {
        let draft = try DraftTrial.draft("[{\"id\": 1}]", "https://api.example/items?page=3&per_page=50")
        #expect(draft.toml.contains("url = \"https://api.example/items?per_page=50\"\n"))
        #expect(DraftTrial.settings(draft).contains("pages = { kind = \"page\", param = \"page\", start = 1, size_param = \"\" }"))
    }
}
