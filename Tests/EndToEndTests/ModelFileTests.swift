import Foundation
import Glibc
import SyncReports
import SyncTestSupport
import Testing

/// A Core Data model instead of tables, through the binaries.
@Suite struct ModelFileTests {
    private static let items = "SELECT id, name, page, version, pageCount, tagCount, amount, parent, category FROM @Item WHERE NOT _stub"
    private static let others = ["SELECT id, name FROM @Category", "SELECT id, name FROM @Tag"]

    /// The configuration of the shop, with a model in the place of its tables.
    private static func configure(_ shop: Workshop, _ server: FixtureServer, tables: String = "") throws {
        try shop.configure("pages.toml", ["API": server.address, "GRACE": "20s"]) { text in
            let sources = text.range(of: "[entity.Item]").map { String(text[..<$0.lowerBound]) } ?? text
            return sources + "[model]\nfile = \"Shop.xcdatamodeld\"\n" + tables
        }
        let package = "\(shop.folder)/Shop.xcdatamodeld"
        if !FileManager.default.fileExists(atPath: package) {
            try FileManager.default.copyItem(atPath: TestData.fixture("Shop.xcdatamodeld"), toPath: package)
        }
    }

    private static func setCurrent(_ version: String, _ shop: Workshop) throws {
        let list = try PropertyListSerialization.data(fromPropertyList: ["_XCCurrentVersionName": "\(version).xcdatamodel"], format: .xml, options: 0)
        try list.write(to: URL(fileURLWithPath: "\(shop.folder)/Shop.xcdatamodeld/.xccurrentversion"))
    }

    @Test(.timeLimit(.minutes(60))) func aModelKeepsWhatTheSameTablesKeep() async throws {
        let shop = try Workshop(), server = try await shop.server("pages.py", ["--pages", "3", "--records", "50"]), tables = try Workshop()
        defer {
            shop.close()
            tables.close()
        }
        try Self.configure(shop, server)
        let check = try await shop.check()
        #expect(check.status == 0 && check.output.last?.contains("2 resources, 3 entities") == true, "\(check)")
        #expect(try await shop.importEverything().values.allSatisfy { $0.isComplete })
        #expect(try await shop.number("SELECT count(*) FROM Item WHERE NOT _stub") == 150)
        try tables.configure("pages.toml", ["API": server.address, "GRACE": "20s"])
        #expect(try await tables.importEverything().values.allSatisfy { $0.isComplete })
        #expect(try await shop.differences([Self.items] + Self.others, from: tables) == [])
        #expect(try await shop.number("SELECT count(*) FROM Item_tags") == tables.number("SELECT count(*) FROM Item_tags"))
        #expect(try await shop.verify().status == 0)
    }

    @Test(.timeLimit(.minutes(60))) func anotherVersionOfTheModelMigratesTheStore() async throws {
        let shop = try Workshop(), server = try await shop.server("pages.py", ["--pages", "2", "--records", "30"])
        defer { shop.close() }
        try Self.configure(shop, server)
        #expect(try await shop.importEverything().values.allSatisfy { $0.isComplete })
        let names = try await shop.sql("SELECT id, name FROM Item ORDER BY id")
        try Self.setCurrent("Shop 2", shop)
        let plan = try await shop.plan()
        #expect(plan.status == 0 && plan.output.contains { $0.contains("owner") } && plan.output.contains { $0.contains("title") }, "\(plan)")
        let daemon = try await shop.daemon()
        #expect(try await shop.sql("SELECT id, title FROM Item ORDER BY id") == names)
        #expect(try await shop.sync().values.allSatisfy { $0.isComplete })
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        #expect(try await shop.number("SELECT count(owner) FROM Item") ?? 0 > 0)
    }

    @Test(.timeLimit(.minutes(60))) func tablesBesideAModelComeAfterIt() async throws {
        let shop = try Workshop(), server = try await shop.server("pages.py", ["--pages", "1", "--records", "20"])
        defer { shop.close() }
        try Self.configure(
            shop, server,
            tables: """
                [entity.Item.attributes]
                amount = { drop = true }
                code = { path = "$.parent_id", type = "string", index = true }
                name = { read = false }
                [entity.Item.relationships]
                category = { read = false }

                """)
        #expect(try await shop.importEverything().values.allSatisfy { $0.isComplete })
        let children = try #require(try await shop.number("SELECT count(parent) FROM Item WHERE NOT _stub"))
        #expect(children > 0)
        #expect(try await shop.number("SELECT count(*) FROM Item WHERE code IS NOT NULL AND NOT _stub") == children)
        #expect(try await shop.sql("SELECT name FROM pragma_table_info('Item') WHERE name = 'amount'").isEmpty)
        // The record has both, and they are not read.
        #expect(try await shop.sql("SELECT count(name), count(category), count(version) FROM Item WHERE NOT _stub") == ["0|0|20"])
    }

    @Test(.timeLimit(.minutes(60))) func aModelThatMakesNoSenseDoesNotStartTheDaemon() async throws {
        let shop = try Workshop(), server = try await shop.server("pages.py", ["--pages", "1", "--records", "1"])
        defer { shop.close() }
        try Self.configure(shop, server)
        let contents = "\(shop.folder)/Shop.xcdatamodeld/Shop.xcdatamodel/contents"
        let text = try String(contentsOfFile: contents, encoding: .utf8)
        try text.replacingOccurrences(of: "attributeType=\"Decimal\"", with: "attributeType=\"Money\"").write(
            toFile: contents, atomically: true, encoding: .utf8)
        let daemon = try shop.launch()
        #expect(await daemon.end() == 78)
        let words = (daemon.output + daemon.errors).joined(separator: "\n")
        #expect(words.contains("Shop.xcdatamodel/contents:15: model.file: Item.amount has attributeType="), "\(words)")
        let show = try await shop.run(Workshop.binary("cisternctl"), ["model", "show", "\(shop.folder)/Shop.xcdatamodeld"])
        #expect(show.status == 65 && show.errors.joined().contains("contents:15: Item.amount has attributeType=\"Money\""), "\(show)")
    }
}
