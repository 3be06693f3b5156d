import Foundation
import SyncConfiguration
import SyncPipeline
import Testing

@testable import SourceDrafts

@Suite struct SourceDraftTests {
    @Test func aListOfObjectsBecomesASourceThatSaysWhy() throws {
        let draft = try DraftTrial.draft(#"[{"id": 1, "name": "Ada", "born": "1815-12-10"}, {"id": 2, "name": null}]"#)
        #expect(
            draft.toml == """
                # A draft, made of one answer with 2 records: read it, then look at what it makes of the service:
                # cisternctl check && cisternctl try items/items
                version = 1

                [[source]]
                name = "items"
                url = "https://api.example/items"
                entity = "Item"
                # The answer is a list of 2 objects.
                # Nothing in the answer leads to another page. If the service has more records than these, \
                write pages = { kind = … }, see cisternd.toml(5).

                [entity.Item]
                # "id" is in each of the 2 records, never null, and unique.
                key = ["id"]

                [entity.Item.attributes]
                # Any of these may be missing or null, but for the key; a value of another type sets its record aside.
                id = { type = "int64", optional = false }
                name = { type = "string" }
                born = { type = "date" }

                """)
        #expect(draft.scope == "items/items" && draft.entities == ["Item"] && draft.recordCount == 2)
        #expect(draft.decisions.map(\.subject) == ["source.records", "source.pages", "entity.Item.key"])
        _ = try DraftTrial.configuration(draft)
    }

    @Test(arguments: [
        (#"{"items": [{"id": 1}], "meta": {}}"#, [#"entity = "Item""#, #"records = "$.items""#]),
        (#"{"data": {"books": [{"id": 1}]}}"#, [#"entity = "Book""#, #"records = "$.data.books""#]),
        (#"{"a b": [{"id": 1}]}"#, [#"entity = "AB""#, #"records = "$['a b']""#]),
        (#"{"version": "1", "limit": 3}"#, [#"entity = "Item""#, #"records = "$""#]),
        (#"{"result": {"A": {"x": 1}, "B": {"x": 2}, "C": {"x": 3}}}"#, [#"entity = "Item""#, #"records = "$.result[*]""#, #"map_key = "key""#]),
    ]) func recordsAreFoundWhereServicesPutThem(_ body: String, _ expected: [String]) throws {
        let draft = try DraftTrial.draft(body)
        #expect(Array(DraftTrial.settings(draft).prefix(expected.count)) == expected)
        _ = try DraftTrial.configuration(draft)
    }

    @Test func aMapIsKeyedByItsNamesAndByTheMemberThatSaysTheSame() throws {
        let plain = try DraftTrial.draft(#"{"1": {"n": "a"}, "2": {"n": "b"}, "3": {"n": "c"}}"#)
        #expect(DraftTrial.settings(plain).contains(#"key = { type = "int64", optional = false }"#))
        #expect(DraftTrial.settings(plain).contains(#"key = ["key"]"#))
        let said = try DraftTrial.draft(#"{"AD": {"iso": "AD"}, "AE": {"iso": "AE"}, "AF": {"iso": "AF"}}"#)
        #expect(DraftTrial.settings(said).contains(#"map_key = "iso""#))
        #expect(DraftTrial.settings(said).suffix(1) == [#"iso = { type = "string", optional = false }"#])
        // "key" is a member already, and says something else.
        let taken = try DraftTrial.draft(#"{"A": {"key": 1, "mapKey": 1}, "B": {"key": 1}, "C": {"key": 1}}"#)
        #expect(DraftTrial.settings(taken).contains(#"map_key = "map_name""#))
        for draft in [plain, said, taken] { _ = try DraftTrial.configuration(draft) }
    }

    @Test func whatHasNoRecordsIsRefusedWithAReason() {
        for body in ["[]", "[1, 2]", "3", "null", "{}", #"{"items": []}"#, "[", "", "<html>", #"{"a":1,}"#] {
            #expect(throws: SourceDraftError.self, "\(body)") { try DraftTrial.draft(body) }
        }
    }

    @Test func typesAreThoseThatHoldAllValues() throws {
        let draft = try DraftTrial.draft(
            """
            [{"id": 1, "d": 1, "b": true, "big": 18446744073709551616, "u": "123e4567-e89b-12d3-a456-426614174000", "m": "a", "l": [1], "o": {}, \
            "n": null, "created_at": 1500000000, "count": 1500000000, "t": "2020-01-01", "x": "2020-01-01"}, \
            {"id": 2, "d": 1.5, "b": false, "big": 1, "u": "123e4567-e89b-12d3-a456-426614174001", "m": 5, "l": [], "o": {}, \
            "n": null, "created_at": 1500000001, "count": 3, "t": "2020-01-01T10:00:00Z", "x": "never"}]
            """)
        let settings = DraftTrial.settings(draft)
        for (name, type) in [
            ("d", "double"), ("b", "bool"), ("big", "decimal"), ("u", "uuid"), ("m", "string"), ("l", "json"), ("o", "json"), ("n", "json"),
            ("count", "int64"), ("t", "date"), ("x", "string"),
        ] {
            #expect(settings.contains("\(name) = { type = \"\(type)\" }"), "\(name): \(settings)")
        }
        #expect(settings.contains(#"created_at = { type = "date", format = "unix" }"#))
        _ = try DraftTrial.configuration(draft)
    }

    @Test func objectsWithoutAnIdAreTakenApartAndThoseWithOneAreEntities() async throws {
        let body = """
            [{"id": 1, "address": {"city": "Rome", "geo": {"lat": 1.5}}, "owner": {"id": 7, "login": "a", "site": "x"},
              "labels": [{"id": 1, "name": "bug"}], "reviewer": {"id": 8, "login": "b", "site": "y"}, "lines": [{"text": "no id"}]},
             {"id": 2, "address": null, "owner": {"id": 7, "login": "a", "site": "x"}, "labels": [], "reviewer": null, "lines": []}]
            """
        let draft = try DraftTrial.draft(body)
        let settings = DraftTrial.settings(draft)
        #expect(settings.contains(#"address_city = { path = "$.address.city", type = "string" }"#))
        #expect(settings.contains(#"address_geo_lat = { path = "$.address.geo.lat", type = "double" }"#))
        #expect(settings.contains(#"owner = { to = "Owner", path = "$.owner", match = "embedded" }"#))
        #expect(settings.contains(#"reviewer = { to = "Owner", path = "$.reviewer", match = "embedded" }"#))
        #expect(settings.contains(#"labels = { to = "Label", path = "$.labels", many = true, match = "embedded" }"#))
        #expect(settings.contains(#"lines = { type = "json" }"#))
        #expect(draft.entities == ["Item", "Owner", "Label"])
        let page = try await DraftTrial.page(draft, body: Array(body.utf8))
        #expect(page.rejected.isEmpty)
        #expect(page.objects.map(\.entity).sorted() == ["Item", "Item", "Label", "Owner", "Owner"])
    }

    @Test func whatIsOnceAnObjectAndOnceAListIsKeptAsJSON() async throws {
        // PHP writes an empty object as an empty list; here it is met after the others, in another member.
        let body = """
            [{"id": 1, "owner": {"id": 7, "a": 1, "b": 1, "extra": {"id": 1}}}, {"id": 2, "owner": {"id": 8, "a": 1, "b": 1, "extra": {"id": 2}}},
             {"id": 3, "other": {"id": 9, "a": 1, "b": 1, "extra": []}}]
            """
        let draft = try DraftTrial.draft(body)
        #expect(DraftTrial.settings(draft).contains(#"extra = { type = "json" }"#))
        #expect(try await DraftTrial.page(draft, body: Array(body.utf8)).rejected.isEmpty)
    }

    @Test func recordsMayHoldRecordsOfTheirOwnKind() async throws {
        let body = #"[{"id": 1, "a": 1, "b": 2, "parent": {"id": 2, "a": 1, "b": 2, "parent": null}}]"#
        let draft = try DraftTrial.draft(body)
        #expect(DraftTrial.settings(draft).contains(#"parent = { to = "Item", path = "$.parent", match = "embedded" }"#))
        #expect(draft.entities == ["Item"])
        #expect(try await DraftTrial.page(draft, body: Array(body.utf8)).objects.count == 2)
    }

    @Test func namesThatTheConfigurationDoesNotTakeAreChangedAndLeadToTheirMembers() async throws {
        let body = """
            [{"id": 1, "description": "d", "a-b": 1, "1st": 2, "": 3, "café": 4, "say \\"hi\\"": 5, "x]y": 6, "it's": 7, "cisternRow": 8,
              "ID": 9, "firstName": 1, "first_name": 2, "tab\\there": 10, "\\u202Eleft": 11, "#": 12, "a.b": 13}]
            """
        let draft = try DraftTrial.draft(body)
        let page = try await DraftTrial.page(draft, body: Array(body.utf8))
        #expect(page.rejected.isEmpty)
        let values = Dictionary(page.objects[0].values.map { ($0.name, $0.value) }) { first, _ in first }
        #expect(
            values["itemDescription"] == "d" && values["a_b"] == "1" && values["n1st"] == "2" && values["value"] == "3"
                && values["remote_cisternRow"] == "8")
        #expect(values["ID_2"] == "9" && values["firstName"] == "1" && values["first_name"] == "2")
        #expect(Set(values.values).isSuperset(of: ["4", "5", "6", "7", "11", "12", "13"]))
        #expect(draft.decisions.contains { $0.reason.hasPrefix("Left out:") })
        #expect(!draft.toml.unicodeScalars.contains { $0.value == 0x202E || $0.value == 0x09 })
    }

    @Test func aTextOfTheServiceEndsNoLineAndNoQuote() throws {
        let evil = #"x\"\n[entity.Evil]\nkey = [\"id\"]\n#"#
        let draft = try DraftTrial.draft("{\"items\": [{\"id\": 1, \"\(evil)\": {\"\(evil)\": 1}, \"q\\\"] = 1 #\": 2, \"data\": {\"'\\\\\": 1}}]}")
        let configuration = try DraftTrial.configuration(draft)
        #expect(configuration.model.entities.map(\.name) == ["Item"])
    }

    @Test func moreRecordsThanAPageMayHaveAreAllowed() throws {
        let body = "[" + (0..<20_001).map { "{\"id\":\($0)}" }.joined(separator: ",") + "]"
        let draft = try DraftTrial.draft(body)
        #expect(try DraftTrial.configuration(draft).sources[0].resources[0].limits.maxRecordsPerPage == 40_002)
    }

    @Test func whatTheAnswerSaysOfItselfIsSaid() throws {
        let draft = try DraftTrial.draft(
            #"[{"id": 1, "updated_at": "2024-01-01T00:00:00Z"}]"#,
            headers: [("ETag", "\"1\""), ("Content-Type", "text/plain; charset=utf-8")])
        #expect(DraftTrial.settings(draft).contains { $0.hasPrefix("parse = ") && $0.contains("\"text/plain\"") })
        #expect(draft.toml.contains("# The answer has ETag: a page that has not changed is not sent again.\n"))
        #expect(draft.toml.contains("\n# incremental = { field = \"$.updated_at\", since = \"updated_since\" }\n"))
        #expect(try DraftTrial.configuration(draft).sources[0].resources[0].incremental == nil)
        let usual = try DraftTrial.draft("[{\"id\": 1}]", headers: [("Content-Type", "application/vnd.api+json")])
        #expect(!usual.toml.contains("parse"))
    }
}
