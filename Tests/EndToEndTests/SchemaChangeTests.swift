import Foundation
import Glibc
import SyncReports
import SyncTestSupport
import Testing

/// A changed `[entity]` over a store that is there, through the binaries: what was fetched stays, and nothing is lost that the configuration does not name.
@Suite struct SchemaChangeTests {
    /// One edit of the configuration after the other: text that stands in it, and what stands there then.
    typealias Edit = (old: String, new: String)

    private static let migrated = "2e713e9106db4b26aedd593d0d05a28c"

    private static func text(_ edits: [Edit]) -> (String) -> String {
        { text in edits.reduce(text) { $0.replacingOccurrences(of: $1.old, with: $1.new) } }
    }

    /// A store with everything in it, whose daemon has ended.
    private static func filled() async throws -> (shop: Workshop, server: FixtureServer) {
        let shop = try Workshop(), server = try await shop.server("pages.py", ["--pages", "3", "--records", "50"])
        try shop.configure("pages.toml", ["API": server.address, "GRACE": "20s"])
        #expect(try await shop.importEverything().values.allSatisfy { $0.isComplete })
        return (shop, server)
    }

    private static func configure(_ shop: Workshop, _ server: FixtureServer, _ edits: [Edit]) throws {
        try shop.configure("pages.toml", ["API": server.address, "GRACE": "20s"], edit: text(edits))
    }

    /// How a changed configuration comes into force.
    enum Way: CaseIterable {
        case restart, reload
    }

    /// A daemon with the changed configuration in force. One that is to reload runs with the former one before.
    private static func daemon(_ shop: Workshop, _ server: FixtureServer, _ edits: [Edit], by way: Way, former: [Edit] = []) async throws -> Child {
        if way == .reload { try configure(shop, server, former) } else { try configure(shop, server, edits) }
        let daemon = try await shop.daemon()
        if way == .reload {
            try configure(shop, server, edits)
            let answer = try await shop.control("reload", "--wait")
            #expect(answer.status == 0, "\(answer)")
        }
        return daemon
    }

    /// Puts the changed configuration into force, looks, has everything polled and compares with a store that never knew another.
    private static func expect(
        _ shop: Workshop, _ server: FixtureServer, _ edits: [Edit], by way: Way = .restart, former: [Edit] = [], sameAs queries: [String],
        looking: () async throws -> Void = {}
    ) async throws {
        let daemon = try await daemon(shop, server, edits, by: way, former: former)
        // The answer to a reload may be here before the line is.
        if way == .reload {
            try await daemon.line { $0.contains(migrated) }
        } else {
            #expect((daemon.output + daemon.errors).contains { $0.contains(migrated) }, "nothing says that the store was migrated")
        }
        try await looking()
        try await shop.expectAsNew(daemon, sameAs: queries) { try configure($0, server, edits) }
    }

    private static let items = "SELECT id, name, page, version, pageCount, tagCount, amount, parent, category FROM @Item WHERE NOT _stub"

    @Test(.timeLimit(.minutes(60)), arguments: Way.allCases) func aNewAttributeIsFilledByTheNextPollAlthoughNothingChangedAtTheServer(by way: Way)
        async throws
    {
        let (shop, server) = try await Self.filled()
        defer { shop.close() }
        let edits: [Edit] = [("  page = { type", "  owner = { path = \"$.parent_id\", type = \"int64\", index = true }\n  page = { type")]
        try await Self.expect(shop, server, edits, by: way, sameAs: [Self.items, "SELECT id, owner FROM @Item WHERE NOT _stub"]) {
            let empty = try await shop.number("SELECT count(*) FROM Item WHERE owner IS NULL AND NOT _stub")
            #expect(empty == 150)
        }
        let owners = try #require(try await shop.number("SELECT count(owner) FROM Item"))
        #expect(owners > 0)
        #expect(try await shop.number("SELECT count(*) FROM sqlite_master WHERE name = 'Z_Item_owner'") == 1)
    }

    @Test(.timeLimit(.minutes(60))) func whatWouldBeLostNeedsAWordAndIsKeptInACopy() async throws {
        let (shop, server) = try await Self.filled()
        defer { shop.close() }
        let amounts = try #require(try await shop.number("SELECT count(amount) FROM Item"))
        try Self.configure(shop, server, [("  amount = { type = \"decimal\" }\n", "")])
        let refused = try shop.launch()
        #expect(await refused.end() == 78)
        let words = (refused.output + refused.errors).joined()
        #expect(words.contains("Item.amount goes with \(amounts) values"), "\(words)")
        #expect(words.contains("drop = true"))
        var plan = try await shop.plan()
        #expect(plan.status == 78)
        #expect(
            plan.output == [
                "Item.amount goes with \(amounts) values.",
                "cisternd does not start: Item.amount goes with \(amounts) values. Say what it is called now (renamed_from) or that it may go (drop = true).",
            ])
        var check = try await shop.check()
        #expect(check.status == 78)
        #expect(check.output.contains { $0.contains("cisternd does not start: Item.amount goes with \(amounts) values.") }, "\(check)")
        #expect(check.output.last == "Item.amount goes with \(amounts) values." && check.output.contains { $0.hasPrefix("1 error") })
        #expect(try await shop.number("SELECT count(amount) FROM Item") == amounts)

        let edits: [Edit] = [("amount = { type", "amount = { drop = true, type")]
        try Self.configure(shop, server, edits)
        plan = try await shop.plan()
        #expect(plan.status == 0)
        #expect(
            plan.output.last
                == "cisternd brings the store to this model at its next reload or start, which takes less than a second (150 objects, gone through 3 times). It keeps a copy of the store as it is."
        )
        check = try await shop.check()
        #expect(check.status == 0 && check.output.suffix(2) == plan.output.suffix(2), "\(check)")
        let left = "SELECT id, name, page, version, pageCount, tagCount, parent, category FROM @Item WHERE NOT _stub"
        try await Self.expect(shop, server, edits, sameAs: [left])
        let folder = URL(fileURLWithPath: shop.store).deletingLastPathComponent()
        let copies = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
            $0.hasPrefix("persistentStore.before-") && !$0.contains("-wal") && !$0.contains("-shm")
        }
        #expect(copies.count == 1)
        let copy = folder.appendingPathComponent(copies.first ?? "").path
        #expect(try await shop.sql("SELECT count(amount) FROM Item", store: copy) == ["\(amounts)"])
        // The word may stay.
        plan = try await shop.plan()
        #expect(plan.status == 0 && plan.output == ["The store is of this model: nothing changes."])
        check = try await shop.check()
        #expect(check.status == 0 && check.output.last?.hasPrefix("The configuration can be used: ") == true, "\(check)")
        let daemon = try await shop.daemon()
        #expect(!(daemon.output + daemon.errors).contains { $0.contains(Self.migrated) })
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
    }

    // No hash of the model tells of an index.
    @Test(.timeLimit(.minutes(60)), arguments: Way.allCases) func anIndexThatComesOrGoesIsToldBefore(by way: Way) async throws {
        let (shop, server) = try await Self.filled()
        defer { shop.close() }
        let indexes = "SELECT name FROM sqlite_master WHERE name IN ('Z_Item_page', 'Z_Item_name') ORDER BY name"
        #expect(try await shop.sql(indexes) == ["Z_Item_name"])
        let refuse: Edit = ("[store]\n", "[store]\non_schema_change = \"refuse\"\n")
        let edits: [Edit] = [
            refuse, ("  page = { type", "  page = { index = true, type"), ("{ type = \"string\", index = true }", "{ type = \"string\" }"),
        ]
        try Self.configure(shop, server, edits)
        let told = [
            "An index over Item.page is made.", "The index over Item.name goes.",
            "cisternd brings the store to this model at its next reload or start, which takes less than a second (150 objects, gone through once).",
        ]
        let plan = try await shop.plan(), check = try await shop.check()
        #expect(plan.status == 0 && plan.output == told, "\(plan)")
        #expect(check.status == 0 && check.output.suffix(3) == told[...], "\(check)")
        let daemon = try await Self.daemon(shop, server, edits, by: way, former: [refuse])
        #expect(try await shop.sql(indexes) == ["Z_Item_page"])
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        #expect(try await shop.plan().output == ["The store is of this model: nothing changes."])
    }

    @Test(.timeLimit(.minutes(60)), arguments: Way.allCases) func aRenamedAttributeKeepsItsValues(by way: Way) async throws {
        let (shop, server) = try await Self.filled()
        defer { shop.close() }
        let names = try await shop.sql("SELECT id, name FROM Item ORDER BY id")
        let edits: [Edit] = [
            ("name = { type = \"string\", index = true }", "title = { path = \"$.name\", type = \"string\", renamed_from = \"name\" }")
        ]
        try await Self.expect(shop, server, edits, by: way, sameAs: ["SELECT id, title, amount FROM @Item WHERE NOT _stub"]) {
            let titles = try await shop.sql("SELECT id, title FROM Item ORDER BY id")
            #expect(titles == names)
        }
    }

    @Test(.timeLimit(.minutes(60)), arguments: Way.allCases) func anIntegerThatBecomesATextKeepsItsDigits(by way: Way) async throws {
        let (shop, server) = try await Self.filled()
        defer { shop.close() }
        let daemon = try await Self.daemon(shop, server, [("version = { type = \"int32\" }", "version = { type = \"string\" }")], by: way)
        #expect(try await shop.sql("SELECT DISTINCT typeof(version), version FROM Item WHERE NOT _stub") == ["text|1"])
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        #expect(try await shop.verify().status == 0)
    }

    @Test(.timeLimit(.minutes(60)), arguments: Way.allCases) func aToOneThatBecomesAManyToManyKeepsItsObject(by way: Way) async throws {
        let (shop, server) = try await Self.filled()
        defer { shop.close() }
        let parents = try await shop.sql("SELECT id, parent FROM Item WHERE parent IS NOT NULL ORDER BY id")
        let daemon = try await Self.daemon(
            shop, server,
            [
                (
                    "parent = { to = \"Item\", path = \"$.parent_id\", match = \"key\"",
                    "parent = { to = \"Item\", many = true, path = \"$.parent_id\", match = \"keys\""
                )
            ], by: way)
        let views = try await shop.sql("SELECT name FROM sqlite_master WHERE type = 'view' AND name IN ('Item_parent', 'Item_children')")
        let view = try #require(views.first)
        let pairs = Set(try await shop.sql("SELECT * FROM \(view)"))
        #expect(pairs.count == parents.count && !parents.isEmpty)
        #expect(parents.allSatisfy { pair in pairs.contains(pair) || pairs.contains(pair.split(separator: "|").reversed().joined(separator: "|")) })
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
    }

    @Test(.timeLimit(.minutes(60)), arguments: Way.allCases) func aSecondAttributeOfTheKeyNeedsNoOtherStore(by way: Way) async throws {
        let (shop, server) = try await Self.filled()
        defer { shop.close() }
        let edits: [Edit] = [("[entity.Category]\nkey = [\"id\"]", "[entity.Category]\nkey = [\"id\", \"name\"]")]
        let queries = [
            "SELECT id, name FROM @Category WHERE NOT _stub", "SELECT i.id, c.name FROM @Item AS i LEFT JOIN @Category AS c ON c._pk = i.category",
        ]
        try await Self.expect(shop, server, edits, by: way, sameAs: Array(queries.prefix(1)))
    }

    @Test(.timeLimit(.minutes(60)), arguments: Way.allCases) func aRenamedEntityKeepsItsRowsAndWhoVouchesForThem(by way: Way) async throws {
        let (shop, server) = try await Self.filled()
        defer { shop.close() }
        let tags = try await shop.sql("SELECT _pk, id, name FROM Tag ORDER BY id")
        let edits: [Edit] = [
            ("entity = \"Tag\"", "entity = \"Label\""), ("to = \"Tag\"", "to = \"Label\""),
            ("[entity.Tag]\n", "[entity.Label]\nrenamed_from = \"Tag\"\n"),
            ("[entity.Tag.", "[entity.Label."),
        ]
        try await Self.expect(shop, server, edits, by: way, sameAs: [Self.items, "SELECT id, name FROM @Label WHERE NOT _stub"]) {
            let labels = try await shop.sql("SELECT _pk, id, name FROM Label ORDER BY id")
            #expect(labels == tags)
            let mappings = try await shop.sql("SELECT DISTINCT substr(ZMAPPING, 1, 6) FROM ZCISTERNRESOURCE WHERE ZRESOURCE = 'tags'")
            #expect(mappings == ["Label "])
        }
        #expect(try await shop.sql("SELECT _pk, id, name FROM Label ORDER BY id") == tags)
    }

    @Test(.timeLimit(.minutes(60)), arguments: Way.allCases) func anEntityThatWasDroppedCanComeBack(by way: Way) async throws {
        let (shop, server) = try await Self.filled()
        defer { shop.close() }
        let resource = "  [[source.resource]]\n  name = \"tags\"\n  entity = \"Tag\"\n  path = \"/tags\"\n"
        let edits: [Edit] = [(resource, ""), ("[entity.Tag]\n", "[entity.Tag]\ndrop = true\n"), ("  tags = { to", "  tags = { drop = true, to")]
        try await Self.expect(shop, server, edits, by: way, sameAs: [Self.items]) {
            let tables = try await shop.sql("SELECT name FROM sqlite_master WHERE name LIKE '%tag%' AND type = 'table'")
            #expect(tables == [])
        }
        try await Self.expect(
            shop, server, [], by: way, former: edits, sameAs: [Self.items, "SELECT id, name FROM @Tag WHERE NOT _stub", "SELECT * FROM @Item_tags"])
        let first = try #require(try await shop.number("SELECT min(_pk) FROM Tag"))
        #expect(first > 1)
    }

    @Test(.timeLimit(.minutes(60))) func whereTheConfigurationSaysSoAChangedModelIsRefused() async throws {
        let (shop, server) = try await Self.filled()
        defer { shop.close() }
        try Self.configure(
            shop, server,
            [("[store]\n", "[store]\non_schema_change = \"refuse\"\n"), ("  page = { type", "  owner = { type = \"int64\" }\n  page = { type")])
        let refused = try shop.launch()
        #expect(await refused.end() == 78)
        #expect((refused.output + refused.errors).joined().contains("Item.owner is new"))
    }

    @Test(.timeLimit(.minutes(60))) func aReloadThatWouldLoseSomethingIsRefusedAndEverythingGoesOn() async throws {
        let (shop, server) = try await Self.filled()
        defer { shop.close() }
        let amounts = try #require(try await shop.number("SELECT count(amount) FROM Item"))
        try Self.configure(shop, server, [])
        let daemon = try await shop.daemon()
        try Self.configure(shop, server, [("  amount = { type = \"decimal\" }\n", "")])
        let refused = try await shop.control("reload", "--wait")
        #expect(refused.status == 78)
        #expect((refused.output + refused.errors).joined().contains("Item.amount goes with \(amounts) values"), "\(refused)")
        #expect(try await shop.sync().values.allSatisfy { $0.isComplete })
        #expect(try await shop.number("SELECT count(amount) FROM Item") == amounts)
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
    }

    // The real world: 58,220 cities, one change after the other on the same store, the daemon started and ended around each, or running all the time.
    @Test(.enabled(if: GeoTests.hasData, "\(TestData.absent)"), .timeLimit(.minutes(60)), arguments: Way.allCases)
    func aWorldOfCitiesOutlivesOneChangeAfterTheOther(by way: Way) async throws {
        let shop = try Workshop()
        defer { shop.close() }
        try await GeoTests.unpack(shop)
        let server = try await shop.server("nginx.py", ["\(shop.folder)/www", "\(shop.folder)/nginx"])
        try shop.configure("geo.toml", ["API": server.address])
        #expect(try await shop.importEverything().values.allSatisfy { $0.outcome == .succeeded })
        var edits: [Edit] = [], daemon = try await shop.daemon(), migrations = 0
        func change(_ more: [Edit], looking: () async throws -> Void) async throws {
            edits += more
            try shop.configure("geo.toml", ["API": server.address], edit: Self.text(edits))
            if way == .reload {
                let answer = try await shop.control("reload", "--wait")
                #expect(answer.status == 0, "\(answer)")
            } else {
                daemon.signal(SIGTERM)
                #expect(await daemon.end() == 0)
                daemon = try await shop.daemon()
                migrations = 0
            }
            migrations += 1
            let told = (daemon.output + daemon.errors).count { $0.contains(Self.migrated) }
            #expect(told == migrations)
            try await looking()
            let damage = try await shop.damage()
            #expect(damage == [])
        }
        func cities(_ condition: String, of entity: String = "City") async throws -> Int? {
            try await shop.number("SELECT count(*) FROM \(entity) WHERE NOT _stub AND \(condition)")
        }
        // At once: a new attribute, a renamed one, one that goes, an integer that becomes a text, a to-one that becomes a many-to-many.
        try await change([
            ("[entity.City.attributes]", "[entity.City.attributes]\n  flag = { type = \"string\" }"),
            ("native = { type = \"string\" }", "ownName = { path = \"$.native\", type = \"string\", renamed_from = \"native\" }"),
            (
                "  kind = { path = \"$.type\", type = \"string\" }\n  latitude = { type = \"decimal\" }\n  longitude = { type = \"decimal\" }\n  population = { type = \"int64\" }\n  timezone",
                "  kind = { drop = true }\n  latitude = { type = \"decimal\" }\n  longitude = { type = \"decimal\" }\n  population = { type = \"string\" }\n  timezone"
            ),
            (
                "parent = { to = \"City\", path = \"$.parent_id\", match = \"key\" }",
                "parent = { to = \"City\", many = true, path = \"$.parent_id\", match = \"keys\" }"
            ),
        ]) {
            let found = [
                try await cities("ownName IS NOT NULL"), try await cities("flag IS NULL"), try await cities("typeof(population) = 'integer'"),
            ]
            #expect(found[0] ?? 0 > 50_000)
            #expect(found[1...] == [58_220, 0])
            let columns = try await shop.sql("SELECT name FROM pragma_table_info('City') WHERE name IN ('kind', 'native')")
            #expect(columns == [])
        }
        // Another name.
        try await change([
            ("entity = \"City\"", "entity = \"Town\""), ("to = \"City\"", "to = \"Town\""),
            ("[entity.City]\nkey = [\"id\"]", "[entity.Town]\nrenamed_from = \"City\"\nkey = [\"id\"]"), ("[entity.City.", "[entity.Town."),
        ]) {
            let found = try await cities("1", of: "Town")
            #expect(found == 58_220)
        }
        // It goes, and comes back.
        let resource =
            "  [[source.resource]]\n  name = \"cities\"\n  entity = \"Town\"\n  path = \"/cities.json\"\n  deletion = { confirm_runs = 1 }\n"
        let before = edits
        try await change([
            (resource, ""), ("renamed_from = \"City\"\n", "drop = true\n"), ("  cities = { to = \"Town\"", "  cities = { drop = true, to = \"Town\""),
        ]) {}
        edits = before
        try await change([]) {
            let found = [try await cities("1", of: "Town"), try await shop.number("SELECT count(*) FROM State WHERE NOT _stub")]
            #expect(found == [0, 5308])
            let runs = try await shop.sync()
            #expect(runs.values.allSatisfy { $0.outcome == .succeeded })
            let again = try await cities("1", of: "Town")
            #expect(again == 58_220)
        }
        // A second attribute of the key; what is found by one alone goes.
        try await change([
            ("renamed_from = \"City\"\nkey = [\"id\"]", "renamed_from = \"City\"\nkey = [\"id\", \"timezone\"]"),
            ("parent = { to = \"Town\", many = true,", "parent = { drop = true, to = \"Town\", many = true,"),
        ]) {
            let runs = try await shop.sync()
            #expect(runs.values.allSatisfy { $0.outcome == .succeeded })
            let found = try await cities("1", of: "Town")
            #expect(found == 58_220)
        }
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        let verified = try await shop.verify()
        #expect(verified.status == 0)
    }

    @Test(.timeLimit(.minutes(60))) func whatCannotBeCarriedOutIsRefusedBeforeAnythingIsCopied() async throws {
        let (shop, server) = try await Self.filled()
        defer { shop.close() }
        try Self.configure(
            shop, server,
            [
                ("amount = { type", "amount = { drop = true, type"), ("[entity.Tag]\nkey = [\"id\"]", "[entity.Tag]\nkey = [\"kind\"]"),
                ("[entity.Tag.attributes]\n", "[entity.Tag.attributes]\n  kind = { type = \"string\", default = \"x\", optional = false }\n"),
            ])
        let plan = try await shop.plan()
        #expect(plan.status == 78, "\(plan)")
        let refused = try shop.launch()
        #expect(await refused.end() == 78)
        let folder = URL(fileURLWithPath: shop.store).deletingLastPathComponent()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy { !$0.contains("before-") })
        let damage = try await shop.damage()
        #expect(damage == [])
    }

    @Test(.timeLimit(.minutes(60))) func whatFailsOnTheWayLeavesNoCopyAndIsNotTriedAgain() async throws {
        let (shop, server) = try await Self.filled()
        defer { shop.close() }
        let trigger = "CREATE TRIGGER watch AFTER INSERT ON ZTAG BEGIN SELECT 1; END"
        #expect(try await shop.run("sqlite3", [shop.store, trigger]).status == 0)
        let resource = "  [[source.resource]]\n  name = \"tags\"\n  entity = \"Tag\"\n  path = \"/tags\"\n"
        try Self.configure(
            shop, server, [(resource, ""), ("[entity.Tag]\n", "[entity.Tag]\ndrop = true\n"), ("  tags = { to", "  tags = { drop = true, to")])
        let refused = try shop.launch()
        #expect(await refused.end() == 78)
        let words = (refused.output + refused.errors).joined()
        #expect(words.contains("the trigger watch"), "\(words)")
        let folder = URL(fileURLWithPath: shop.store).deletingLastPathComponent()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy { !$0.contains("before-") })
        let tags = try #require(try await shop.number("SELECT count(*) FROM Tag"))
        #expect(tags > 0)
    }
}
