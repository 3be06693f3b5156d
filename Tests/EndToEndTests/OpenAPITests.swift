import Foundation
import Glibc
import SyncReports
import SyncTestSupport
import Testing

/// From the description of a service to rows: a draft is made, and the daemon runs it against a service that does as it is described.
@Suite struct OpenAPITests {
    private static let description = """
        openapi: 3.1.0
        info: { title: Farm API, version: "1" }
        servers: [{ url: "@BASE@/v1" }]
        security: [{ farmer: [] }]
        paths:
          /fields:
            get:
              parameters: [{ name: offset, in: query, schema: { type: integer } }, { name: limit, in: query, schema: { type: integer, maximum: 2 } }]
              responses: { "200": { content: { application/json: { schema: { $ref: "#/components/schemas/Fields" } } } } }
          "/fields/{fieldId}/strips":
            get:
              responses: { "200": { content: { application/json: { schema: { type: array, items: { $ref: "#/components/schemas/Strip" } } } } } }
        components:
          securitySchemes: { farmer: { type: http, scheme: bearer } }
          schemas:
            Fields: { properties: { total: { type: integer }, fields: { type: array, items: { $ref: "#/components/schemas/Field" } } } }
            Field:
              required: [id, owner]
              properties:
                id: { type: string }
                owner: { $ref: "#/components/schemas/Owner" }
                sown: { type: [string, "null"], format: date }
            Owner: { type: object, required: [id], properties: { id: { type: integer }, name: { type: string } } }
            Strip: { type: object, required: [number], properties: { number: { type: integer }, crop: { type: string, enum: [rye, oats] } } }
        """

    private static let fields = [
        #"{"id": "a/1", "owner": {"id": 7, "name": "Ada"}, "sown": "2026-03-01"}"#, #"{"id": "b", "owner": {"id": 7, "name": "Ada"}, "sown": null}"#,
        #"{"id": "c", "owner": {"id": 8, "name": "Bo"}}"#,
    ]

    private static func answer(_ target: String) -> String? {
        if target == "/v1/fields/a%2F1/strips" || target == "/v1/fields/b/strips" {
            return #"[{"number": 1, "crop": "rye"}, {"number": 2, "crop": "oats"}]"#
        }
        if target == "/v1/fields/c/strips" { return "[]" }
        guard target.hasPrefix("/v1/fields?"), target.contains("limit=2"),
            let offset = target.firstRange(of: "offset=").flatMap({ Int(target[$0.upperBound...].prefix { $0.isNumber }) })
        else { return nil }
        return "{\"total\": 3, \"fields\": [\(fields.dropFirst(offset).prefix(2).joined(separator: ", "))]}"
    }

    @Test func aDraftOfADescriptionIsSyncedAsItIs() async throws {
        let shop = try Workshop()
        defer { shop.close() }
        let server = try await RawHTTPServer { request, _ in
            let isKnown = request.headers["authorization"] == "Bearer hunter2"
            guard isKnown, let body = Self.answer(request.target) else {
                return [.send(HostileServerTests.answer("404 Not Found", "{\"at\": \"\(request.target)\"}")), .close]
            }
            return [.send(HostileServerTests.answer("200 OK", body)), .close]
        }
        try Self.description.replacing("@BASE@", with: server.url("")).write(
            toFile: "\(shop.folder)/farm.yaml", atomically: true, encoding: .utf8)
        let drafted = try await shop.run(
            Workshop.binary("cisternctl"), ["infer", "\(shop.folder)/farm.yaml", "-o", "\(shop.folder)/draft.toml"])
        #expect(drafted.status == 0, "\(drafted)")
        #expect(drafted.errors.contains { $0.hasPrefix("Provide the credential farm_token") }, "\(drafted)")
        try "hunter2".write(toFile: "\(shop.folder)/token", atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(shop.folder)/token")
        let draft = try String(contentsOfFile: "\(shop.folder)/draft.toml", encoding: .utf8)
            .replacing("version = 1\n", with: "").replacing("{ credential = \"farm_token\" }", with: "{ file = \"\(shop.folder)/token\" }")
        try shop.configure(
            text: """
                version = 1
                [daemon]
                start = "wait"
                [log]
                format = "json"
                [document]
                autosave_interval = "1s"
                [store]
                min_free_disk = "1MiB"

                \(draft)
                """)
        let check = try await shop.check()
        #expect(check.status == 0, "\(check)")
        let daemon = try await shop.daemon()
        #expect(try await shop.sync("farm/fields")["farm/fields"]?.isComplete == true)
        let runs = try await shop.sync("farm/strips")
        #expect(runs["farm/strips"]?.isComplete == true, "\(runs) \(server.requests.map(\.target))\n\(draft)")
        #expect(try await shop.sql("SELECT id FROM Field ORDER BY id") == ["a/1", "b", "c"])
        #expect(try await shop.sql("SELECT id, name FROM Owner ORDER BY id") == ["7|Ada", "8|Bo"])
        #expect(
            try await shop.sql("SELECT field_id, number, crop FROM Strip ORDER BY field_id, number") == [
                "a/1|1|rye", "a/1|2|oats", "b|1|rye", "b|2|oats",
            ])
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        await server.shutdown()
    }
}
