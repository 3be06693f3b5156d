import JSONPaths
import Testing

@testable import SyncConfiguration

/// Where records are, and what they are told by there.
@Suite struct RecordsReadingTests {
    private static let model = """
        [entity.Coin]
        key = ["symbol"]
        [entity.Coin.attributes]
        symbol = { type = "string" }
        rank = { type = "int32" }
        price = { type = "decimal" }
        seen = { type = "date" }
        [entity.Coin.relationships]
        base = { to = "Coin" }
        [entity.Line]
        key = "content"
        attributes = { day = { type = "string" } }

        """

    private static func source(_ lines: String, of entity: String = "Coin") -> String {
        model + "[[source]]\nname = \"coins\"\nurl = \"https://a.example/coins\"\nentity = \"\(entity)\"\n\(lines)\n"
    }

    @Test(arguments: [
        ("$.data.*", "$.data[*]"), ("$.data[*]", "$.data[*]"), ("$.groups[*].items", "$.groups[*].items"), ("$.*.rows[*]", "$[*].rows[*]"),
    ])
    func aPathOfRecordsMayGoOverListsAndMaps(text: String, canonical: String) throws {
        let reading = read(Self.source("records = \"\(text)\""))
        #expect(reading.errors.isEmpty)
        let resource = try #require(reading.configuration?.resource(scope: "coins/coins"))
        #expect(resource.records?.description == canonical && resource.records?.hasWildcard == true && resource.mapKey == nil)
        // What is shown of it can be read again.
        let shown = try #require(reading.resolved?.settings.first { $0.keyPath.hasSuffix(".records") }?.value)
        #expect(try configuration(Self.source("records = \(shown)")).sources[0].resources[0].records == resource.records)
    }

    // One value is wanted there.
    @Test(arguments: [
        "pages = { kind = \"cursor\", path = \"$.a[*]\" }", "pages = { kind = \"page\", stop = { total = \"$.*\" } }",
        "incremental = { field = \"$.rows[*].at\", since = \"since\" }",
        "[entity.Item]\nkey = [\"id\"]\nattributes = { id = { path = \"$.ids[*]\", type = \"int64\" } }",
    ])
    func noOtherPathGoesOverSeveralValues(lines: String) {
        let found = errors(Self.source(lines))
        #expect(found.contains { $0.contains("the wildcard \"*\" in a path is not in this version") }, "\(found)")
    }

    @Test func anAttributeMayBeTheNameInTheMap() throws {
        for name in ["symbol", "rank"] {
            let result = try configuration(Self.source("records = \"$.data.*\"\nmap_key = \"\(name)\""))
            #expect(result.sources[0].resources[0].mapKey == name)
        }
        // Under the attribute's own path another resource reads it; this says nothing of that.
        let both = try configuration(
            Self.source("records = \"$.data.*\"\nmap_key = \"symbol\"")
                + "[[source]]\nname = \"others\"\nurl = \"https://b.example/coins\"\nentity = \"Coin\"\n")
        #expect(both.sources.map(\.resources[0].mapKey) == ["symbol", nil])
        #expect(both.model.entity(named: "Coin")?.attribute(named: "symbol")?.isRead == true)
    }

    @Test(arguments: [
        ("map_key = \"symbol\"", "records goes over no map", "write records = \"$.data.*\""),
        ("records = \"$.data\"\nmap_key = \"symbol\"", "records goes over no map", "or remove map_key"),
        ("records = \"$.*\"\nmap_key = \"symbl\"", "\"symbl\" is not an attribute of \"Coin\"", "did you mean \"symbol\"?"),
        ("records = \"$.*\"\nmap_key = \"base\"", "\"base\" is not an attribute of \"Coin\"", "name an attribute"),
        ("records = \"$.*\"\nmap_key = \"price\"", "\"price\" has the type decimal, and a name is a text", "use string or an integer type"),
        ("records = \"$.*\"\nmap_key = \"seen\"", "\"seen\" has the type date", "use string or an integer type"),
        ("records = \"$.*\"\nmap_key = \"symbol\"\nset = { symbol = \"x\" }", "symbol is in set as well", "remove it from one of them"),
    ])
    func whatIsWrongWithANameIsSaidWithTheRemedy(lines: String, message: String, suggestion: String) throws {
        let found = read(Self.source(lines)).errors
        #expect(found.count == 1, "\(found)")
        let problem = try #require(found.first)
        #expect(problem.message.contains(message) && problem.suggestion?.contains(suggestion) == true, "\(problem)")
        let text = Self.source(lines), before = try #require(text.firstRange(of: "map_key")).lowerBound
        #expect(problem.keyPath == "source.coins.map_key" && problem.line == text[..<before].count { $0 == "\n" } + 1)
    }

    @Test func theKeyThatIsMadeIsNoName() {
        let found = errors(Self.source("records = \"$.*\"\nmap_key = \"cisternKey\"", of: "Line"))
        #expect(found.count == 1 && found.first?.contains("cisternKey is made of what records say") == true, "\(found)")
        #expect(errors(Self.source("records = \"$.*\"\nmap_key = \"day\"", of: "Line")).isEmpty)
    }

    // A path that is refused is complained about once.
    @Test func aRefusedPathIsNotRefusedForItsName() {
        let found = errors(Self.source("records = \"$..data\"\nmap_key = \"symbol\""))
        #expect(found.count == 1 && found.first?.contains("the search") == true, "\(found)")
    }

    @Test func aPathIsForAllResourcesOfASourceANameIsNot() throws {
        func text(_ source: String, _ resource: String) -> String {
            """
            \(Self.model)[[source]]
            name = "s"
            base_url = "https://a.example"
            records = "$.data.*"
            \(source)
            [[source.resource]]
            name = "coins"
            path = "/coins"
            entity = "Coin"
            \(resource)
            """
        }
        let resource = try configuration(text("", "map_key = \"symbol\"")).sources[0].resources[0]
        #expect(resource.records?.description == "$.data[*]" && resource.mapKey == "symbol")
        let found = errors(text("map_key = \"symbol\"", ""))
        #expect(found.count == 1 && found.first?.contains("\"map_key\" and [[source.resource]] cannot be used together; move it") == true, "\(found)")
        // Where a resource says that its records are elsewhere, they have no names.
        #expect(errors(text("", "records = \"$.rows\"\nmap_key = \"symbol\"")).first?.contains("records goes over no map") == true)
    }
}
