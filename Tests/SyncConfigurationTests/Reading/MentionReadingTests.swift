import JSONPaths
import Testing

@testable import SyncConfiguration

/// The lists of other objects that pages have: `also`.
@Suite struct MentionReadingTests {
    private static let model = """
        [entity.Article]
        key = ["id"]
        [entity.Article.attributes]
        id = { type = "string" }
        title = { type = "string" }
        [entity.Article.relationships]
        author = { to = "Person", match = "key" }
        [entity.Person]
        key = ["id"]
        [entity.Person.attributes]
        id = { type = "string" }
        born = { type = "date" }
        [entity.Line]
        key = "content"
        attributes = { day = { type = "string" } }
        [entity.Total]
        key = "single"
        attributes = { sum = { type = "int64" } }

        """

    private static func source(_ lines: String) -> String {
        model + "[[source]]\nname = \"blog\"\nurl = \"https://a.example/articles\"\nentity = \"Article\"\nrecords = \"$.data\"\n\(lines)\n"
    }

    private static let people = "{ records = \"$.included\", entity = \"Person\", where = { path = \"$.type\", equals = \"people\" } }"

    private static var expected: MentionConfiguration {
        var mention = MentionConfiguration(records: "$.included", entity: "Person")
        mention.condition = condition("$.type", .equals(.text("people")))
        return mention
    }

    private static func condition(_ path: JSONPath, _ tests: ValueTest...) -> RecordCondition {
        var condition = RecordCondition(path: path)
        condition.tests = tests
        return condition
    }

    // MARK: What is read

    @Test(arguments: [
        "also = [\(people)]",
        """
        [[source.also]]
        records = "$.included"
        entity = "Person"
        where = { path = "$.type", equals = "people" }
        """,
        """
        [[source.also]]
        records = "/included"
        entity = "Person"
        [source.also.where]
        path = "/type"
        equals = "people"
        """,
    ])
    func anElementMayBeWrittenInAnyWay(lines: String) throws {
        #expect(try configuration(Self.source(lines)).sources[0].resources[0].also == [Self.expected])
    }

    @Test func withoutItPagesMentionNothing() throws {
        for lines in ["", "also = []"] { #expect(try configuration(Self.source(lines)).sources[0].resources[0].also.isEmpty) }
    }

    private static let conditions: [(String, ValueTest)] = [
        ("equals = \"a\"", .equals(.text("a"))), ("equals = \"\"", .equals(.text(""))), ("equals = 7", .equals(.integer(7))),
        ("equals = -1.5", .equals(.number(-1.5))), ("equals = true", .equals(.boolean(true))),
        ("equals = [\"a\", \"b\"]", .isAmong([.text("a"), .text("b")])), ("equals = [\"a\"]", .isAmong([.text("a")])),
        ("in = [1, \"b\"]", .isAmong([.integer(1), .text("b")])), ("not_equals = \"a\"", .notEquals(.text("a"))),
        ("exists = false", .exists(false)), ("contains = \"a\"", .contains("a")),
    ]

    @Test(arguments: conditions)
    func aConditionIsOneOfThoseThatRecordsHave(text: String, test: ValueTest) throws {
        let lines = "also = [{ records = \"$.x\", entity = \"Person\", where = { path = \"$.a.b\", \(text) } }]"
        let mention = try #require(try configuration(Self.source(lines)).sources[0].resources[0].also.first)
        #expect(mention.condition == Self.condition("$.a.b", test))
    }

    // What is shown of it can be read again.
    @Test func whatIsInForceIsShownAsItWouldBeWritten() throws {
        let lines = """
            also = [
              \(Self.people),
              { records = "$.users.*", entity = "Person", map_key = "id" },
              { records = "$['a \\"b\\"'].list", entity = "Article", where = { path = "$.n", equals = 1.5 } },
              { records = "$.x", entity = "Person", where = { path = "$.kind", equals = ["a \\"b\\"", "c"] } },
              { records = "$.y", entity = "Person", where = { path = "$.ok", equals = false, after = "-90d", format = "unix" } },
            ]
            """
        let reading = read(Self.source(lines))
        #expect(reading.errors.isEmpty, "\(reading.errors)")
        let setting = try #require(reading.resolved?.settings.first { $0.keyPath == "source.blog.also" })
        let line = Self.source("").count { $0 == "\n" }
        #expect(setting.isSettable && setting.origin == .file("/c/cisternd.toml", line: line))
        let resource = try #require(reading.configuration?.sources[0].resources[0])
        #expect(resource.also.count == 5 && resource.also[1].mapKey == "id" && resource.also[1].records.hasWildcard)
        #expect(try configuration(Self.source("also = \(setting.value)")).sources[0].resources[0].also == resource.also)
        #expect(try configuration(try #require(reading.resolved).toml()).sources[0].resources[0].also == resource.also)
    }

    @Test func aSourceSaysItForItsResourcesUnlessTheySayItThemselves() throws {
        let text = """
            \(Self.model)[[source]]
            name = "s"
            base_url = "https://a.example"
            records = "$.data"
            also = [\(Self.people)]
            [[source.resource]]
            name = "all"
            path = "/all"
            entity = "Article"
            [[source.resource]]
            name = "own"
            path = "/own"
            entity = "Article"
            also = [{ records = "$.users", entity = "Person" }]
            [[source.resource]]
            name = "none"
            path = "/none"
            entity = "Article"
            also = []
            """
        let resources = try configuration(text).sources[0].resources
        #expect(resources.map(\.also) == [[Self.expected], [MentionConfiguration(records: "$.users", entity: "Person")], []])
    }

    // What a later file says of a resource takes the place of what an earlier one does.
    @Test func aDropInReplacesTheList() throws {
        let dropIn = "[[source]]\nname = \"blog\"\nalso = [{ records = \"$.users\", entity = \"Person\" }]\n"
        let result = try configuration(Self.source("also = [\(Self.people)]"), dropIns: ["10.toml": dropIn])
        #expect(result.sources[0].resources[0].also == [MentionConfiguration(records: "$.users", entity: "Person")])
    }

    // MARK: What is refused

    private static let wrong: [(String, String, String, String)] = [
        ("1", "also", "expected a list of tables, found the integer 1", "write also = [{"),
        ("{ records = \"$.a\", entity = \"Person\" }", "also", "expected a list of tables, found a table", "write also = [{"),
        ("[\"Person\"]", "also", "expected a table, found the text \"Person\"", "write also = [{"),
        ("[{ entity = \"Person\" }]", "also.1.records", "\"records\" is missing", "write records = \"$.included\""),
        ("[{ records = \"$.a\" }]", "also.1.entity", "\"entity\" is missing", "write entity = \"User\""),
        ("[{ records = \"$.a\", entity = \"Persn\" }]", "also.1.entity", "there is no entity \"Persn\"", "did you mean \"Person\"?"),
        ("[{ records = \"$.a\", entity = \"Line\" }]", "also.1.entity", "\"Line\" has key = \"content\"", "give it a key of attributes"),
        ("[{ records = \"$.a\", entity = \"Total\" }]", "also.1.entity", "\"Total\" has key = \"single\"", "give it a key of attributes"),
        ("[{ records = \"$..a\", entity = \"Person\" }]", "also.1.records", "the search \"..\" in a path is not in this version", "write a path"),
        ("[{ records = \"$.a\", entity = \"Person\", key = [\"id\"] }]", "also.1.key", "unknown key \"key\"", "did you mean \"map_key\"?"),
        (
            "[{ records = \"$.a\", entity = \"Person\", map_key = \"id\" }]", "also.1.map_key", "records goes over no map",
            "write records = \"$.data.*\""
        ),
        ("[{ records = \"$.*\", entity = \"Person\", map_key = \"born\" }]", "also.1.map_key", "has the type date", "use string"),
        (
            "[{ records = \"$.*\", entity = \"Person\", map_key = \"nobody\" }]", "also.1.map_key", "is not an attribute of \"Person\"",
            "known attributes"
        ),
        ("[{ records = \"$.a\", entity = \"Person\", where = \"x\" }]", "also.1.where", "expected a table", "write a table such as {"),
        (
            "[{ records = \"$.a\", entity = \"Person\", where = { equals = 1 } }]", "also.1.where", "it does not say what to look at",
            "write path = \"$.type\""
        ),
        (
            "[{ records = \"$.a\", entity = \"Person\", where = { path = \"$.t\" } }]", "also.1.where", "nothing is asked of the path",
            "write exists = true"
        ),
        (
            "[{ records = \"$.a\", entity = \"Person\", where = { path = \"$\", equals = 1 } }]", "also.1.where", "path: \"$\" is all of it",
            "write a path such as"
        ),
        (
            "[{ records = \"$.a\", entity = \"Person\", where = { path = \"$.a[*]\", equals = 1 } }]", "also.1.where",
            "the wildcard \"*\" in a path is not in this version", "write a table"
        ),
        (
            "[{ records = \"$.a\", entity = \"Person\", where = { path = \"$.t\", equals = [] } }]", "also.1.where", "equals: the list is empty",
            "write"
        ),
        (
            "[{ records = \"$.data\", entity = \"Article\" }]", "also.1.records", "these are the resource's own records",
            "write where the other objects are"
        ),
        (
            "[{ records = \"$.a\", entity = \"Person\" }, { records = \"/a\", entity = \"Person\" }]", "also.2", "an element before it says the same",
            "remove one of them"
        ),
    ]

    @Test(arguments: wrong)
    func whatIsWrongIsSaidWithTheRemedy(value: String, key: String, message: String, suggestion: String) throws {
        let text = Self.source("also = \(value)"), found = read(text).errors
        #expect(found.count == 1, "\(found)")
        let problem = try #require(found.first)
        #expect(problem.message.contains(message) && problem.suggestion?.contains(suggestion) == true, "\(problem)")
        let line = Self.source("").count { $0 == "\n" }
        #expect(problem.keyPath == "source.blog.\(key)" && problem.line == line, "\(problem)")
    }

    // Of an entity whose key is set of the resource's own records nothing says which object is meant. Of others it is what they say.
    @Test func aKeyThatIsSetIsNoKeyOfOtherObjects() throws {
        let set = "set = { id = \"7\" }\n"
        let found = errors(Self.source(set + "also = [{ records = \"$.a\", entity = \"Article\" }]"))
        #expect(found.count == 1 && found.first?.contains("id is of the key of \"Article\" and is set") == true, "\(found)")
        #expect(errors(Self.source(set + "also = [{ records = \"$.a\", entity = \"Person\" }]")).isEmpty)
        // Unless it is the name under which they stand.
        let named = errors(Self.source(set + "also = [{ records = \"$.*\", entity = \"Article\", map_key = \"id\" }]"))
        #expect(named.count == 1 && named.first?.contains("id is in set as well") == true, "\(named)")
        #expect(errors(Self.source("set = { title = \"t\" }\nalso = [{ records = \"$.a\", entity = \"Article\" }]")).isEmpty)
    }

    // Two lists in one, told apart by what their objects say; also where the records are.
    @Test func oneListMayBeReadAsSeveral() throws {
        let lines = "also = [\(Self.people), { records = \"$.included\", entity = \"Article\" }, { records = \"$.data\", entity = \"Person\" }]"
        #expect(try configuration(Self.source(lines)).sources[0].resources[0].also.count == 3)
    }

    // A source's list that a resource replaces is read all the same.
    @Test func whatIsReplacedIsChecked() {
        let text = """
            \(Self.model)[[source]]
            name = "s"
            base_url = "https://a.example"
            also = [{ records = "$.a", entity = "Persn" }]
            [[source.resource]]
            name = "own"
            path = "/own"
            entity = "Article"
            also = []
            """
        let found = errors(text)
        #expect(found.count == 1 && found.first?.contains("there is no entity \"Persn\"") == true, "\(found)")
    }
}
