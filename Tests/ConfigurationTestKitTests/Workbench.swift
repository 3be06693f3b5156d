import Foundation
import SyncConfiguration
import Testing

@testable import ConfigurationTestKit

/// A configuration and a file of tests in memory, and what becomes of them.
struct Workbench {
    static let configuration = """
        version = 1
        [[source]]
        name = "api"
        base_url = "https://api.example"
        auth = { kind = "bearer", token = { credential = "api_token" } }
          [[source.resource]]
          name = "items"
          path = "/items"
          entity = "Item"
          params = { sort = "id", per = 2 }
          pages = { kind = "link-header" }
          deletion = { detect = "snapshot", action = "delete", confirm_runs = 1, max_fraction = 1.0 }
          [[source.resource]]
          name = "notes"
          path = "/notes"
          entity = "Note"
          enabled = false
        [entity.Item]
        key = ["id"]
          [entity.Item.attributes]
          id = { type = "int64", optional = false }
          name = { type = "string" }
          price = { type = "decimal" }
          weight = { type = "double" }
          isNew = { type = "bool" }
          changed = { type = "date" }
          code = { type = "uuid" }
          [entity.Item.relationships]
          owner = { to = "Owner", match = "key" }
        [entity.Owner]
        key = ["login"]
          [entity.Owner.attributes]
          login = { type = "string", optional = false }
          [entity.Owner.relationships]
        [entity.Note]
        key = ["id"]
          [entity.Note.attributes]
          id = { type = "int64", optional = false }

        """

    var files: [String: String] = [:]

    /// The tests of a file beside the configuration.
    func tests(_ text: String) throws -> [ConfigurationTest] {
        var texts = files
        texts["/c/api.test.toml"] = text
        return try TestFile("/c/api.test.toml", in: ConfigurationTexts(texts)).tests
    }

    /// What is wrong in a file of tests, a line each.
    func problems(_ text: String) -> [String] {
        do {
            _ = try tests(text)
            return []
        } catch {
            return (error as? ConfigurationError)?.problems.map(\.description) ?? ["\(error)"]
        }
    }

    static func runner(_ toml: String = configuration) throws -> TestRunner {
        let files = ConfigurationTexts(["/c/api.toml": toml])
        let configuration = try ConfigurationReader(path: "/c/api.toml", files: files).configuration()
        return TestRunner(configuration, folder: FileManager.default.temporaryDirectory, version: "test")
    }

    /// The differences of the first test of a file, as lines.
    func differences(_ text: String, _ toml: String = configuration) async throws -> [String] {
        try await found(text, toml).map(\.description)
    }

    func found(_ text: String, _ toml: String = configuration) async throws -> [TestDifference] {
        try await Self.runner(toml).run(try tests(text)[0])
    }

    /// A test of two items on one page, with what is expected of it.
    static func twoItems(_ expect: String, request: String = "") -> String {
        """
        [[test]]
        name = "two"
        [[test.exchange]]
        request = "GET https://api.example/items?per=2&sort=id"
        \(request)
        body = '''[{"id": 1, "name": "a", "price": 1.10, "weight": 2, "isNew": true, "changed": "2025-01-02T03:04:05Z", "owner": "ada"},
          {"id": 2, "name": null, "code": "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"}]'''
        [test.expect]
        \(expect)
        """
    }
}
