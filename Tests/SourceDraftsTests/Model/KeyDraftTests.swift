import Foundation
import Testing

@testable import SourceDrafts

@Suite struct KeyDraftTests {
    private func key(_ body: String) throws -> String? {
        let draft = try DraftTrial.draft(body)
        _ = try DraftTrial.configuration(draft)
        return DraftTrial.settings(draft).first { $0.hasPrefix("key = ") && !$0.contains("type") }
    }

    @Test(arguments: [
        (#"[{"code": "a", "id": 1}, {"code": "b", "id": 2}]"#, #"key = ["id"]"#),
        // Not unique, null, missing.
        (#"[{"id": 1, "uuid": "a"}, {"id": 1, "uuid": "b"}]"#, #"key = ["uuid"]"#),
        (#"[{"id": 1, "slug": "a"}, {"id": null, "slug": "b"}]"#, #"key = ["slug"]"#),
        (#"[{"id": 1, "sku": "a"}, {"sku": "b"}]"#, #"key = ["sku"]"#),
        // One value, written in two ways, is one key.
        (#"[{"id": 1}, {"id": "1"}]"#, #"key = "content""#),
        (#"[{"id": ""}, {"id": "1"}]"#, #"key = "content""#),
        (#"[{"id": 1.5}, {"id": 2.5}]"#, #"key = "content""#),
        (#"[{"item_id": 1, "n": 1}, {"item_id": 2, "n": 1}]"#, #"key = ["item_id"]"#),
        // Somebody else's id may be unique by chance.
        (#"[{"owner_id": 1}, {"owner_id": 2}]"#, #"key = "content""#),
        (#"{"theme": "dark", "size": 3}"#, #"key = "single""#),
        (#"{"id": 3, "tags": [{"x": 1}, {"x": 2}]}"#, #"key = ["id"]"#),
        // Names are compared byte by byte.
        ("[{\"id\": \"e\\u0301\"}, {\"id\": \"\\u00e9\"}]", #"key = ["id"]"#),
    ]) func theKeyIsWhatTellsAllRecordsApart(_ body: String, _ expected: String) throws {
        #expect(try key(body) == expected)
    }

    @Test func twoMembersAreAKeyOnlyOfEnoughRecords() throws {
        func body(_ count: Int) -> String {
            "[" + (0..<count).map { "{\"user_id\": \($0 / 2), \"day\": \"2024-01-0\($0 % 2 + 1)\", \"n\": 1}" }.joined(separator: ",") + "]"
        }
        #expect(try key(body(6)) == #"key = ["user_id", "day"]"#)
        #expect(try key(body(4)) == #"key = "content""#)
    }
}
