import Testing

@testable import SyncConfiguration

/// Every key of every table: misspelt, of the wrong type, out of range, not of this version. // K4
@Suite struct GeneratedKeyTests {
    /// A table, and how to write a line into it.
    struct Table: Sendable, CustomTestStringConvertible {
        var path: String
        var prefix: String
        var keys: [KeyFacts]
        var testDescription: String { path }
    }

    struct KeyFacts: Sendable {
        var name: String
        var status: KeyStatus
        var wrong: [String]
    }

    private static func table<T: ConfigurationTable>(_ type: T.Type, _ path: String, _ prefix: String) -> Table {
        Table(path: path, prefix: prefix, keys: T.keys.map { KeyFacts(name: $0.name, status: $0.status, wrong: $0.wrong) })
    }

    private static let longSource =
        itemModel + """
            [[source]]
            name = "s"
            base_url = "https://api.example.com"
            [[source.resource]]
            name = "r"
            path = "/items"
            entity = "Item"

            """

    static let tables: [Table] = [
        table(TopTable.self, "", ""),
        table(DefaultsTable.self, "defaults", "[defaults]\n"),
        table(DaemonConfiguration.self, "daemon", "[daemon]\n"),
        table(DocumentConfiguration.self, "document", "[document]\n"),
        table(StoreConfiguration.self, "store", "[store]\n"),
        table(BackupConfiguration.self, "store.backup", "[store.backup]\n"),
        table(LogConfiguration.self, "log", "[log]\n"),
        table(ControlConfiguration.self, "control", "[control]\n"),
        table(ModelConfiguration.self, "model", "[model]\n"),
        table(ScheduleConfiguration.self, "defaults.schedule", "[defaults.schedule]\n"),
        table(HTTPConfiguration.self, "defaults.http", "[defaults.http]\n"),
        table(TLSConfiguration.self, "defaults.tls", "[defaults.tls]\n"),
        table(RetryConfiguration.self, "defaults.retry", "[defaults.retry]\n"),
        table(RateConfiguration.self, "defaults.rate", "[defaults.rate]\n"),
        table(BreakerConfiguration.self, "defaults.breaker", "[defaults.breaker]\n"),
        table(LimitsConfiguration.self, "defaults.limits", "[defaults.limits]\n"),
        table(ParsePolicy.self, "defaults.parse", "[defaults.parse]\n"),
        table(SchemaConfiguration.self, "defaults.schema", "[defaults.schema]\n"),
        table(DeletionConfiguration.self, "defaults.deletion", "[defaults.deletion]\n"),
        table(ScheduleConfiguration.self, "source.items.schedule", itemSource + "[source.schedule]\n"),
        table(RateConfiguration.self, "source.s.resource.r.rate", longSource + "[source.resource.rate]\n"),
        table(DeletionConfiguration.self, "source.s.resource.r.deletion", longSource + "[source.resource.deletion]\n"),
        table(SourceTable.self, "source.2", itemModel + "[[source]]\nname = \"x\"\n[[source]]\n"),
        table(ResourceTable.self, "source.s.resource.2", longSource + "[[source.resource]]\n"),
        table(AuthenticationTable.self, "source.items.auth", itemSource + "[source.auth]\n"),
        table(
            LoginTable.self, "source.items.auth.login",
            itemSource + "[source.auth]\nkind = \"session\"\ntoken_path = \"$.token\"\n[source.auth.login]\n"),
        table(
            SendAsTable.self, "source.items.auth.send_as",
            itemSource + "[source.auth]\nkind = \"session\"\ntoken_path = \"$.token\"\n[source.auth.send_as]\n"),
        table(
            AssertionTable.self, "source.items.auth.assertion",
            itemSource + "[source.auth]\nkind = \"oauth2\"\ngrant = \"jwt-bearer\"\n[source.auth.assertion]\n"),
        table(PaginationTable.self, "source.items.pages", itemSource + "[source.pages]\n"),
        table(
            PaginationConfiguration.StopRules.self, "source.items.pages.stop", itemSource + "pages.kind = \"page\"\n[source.pages.stop]\n"),
        table(PartitionTable.self, "source.items.for_each", itemSource + "[source.for_each]\n"),
        table(CSVFormat.self, "source.items.csv", itemSource + "format = \"csv\"\n[source.csv]\n"),
        table(MentionTable.self, "source.items.also.1", itemSource + "[[source.also]]\n"),
        table(IncrementalTable.self, "source.items.incremental", itemSource + "[source.incremental]\n"),
        table(EntityTable.self, "entity.Thing", "[entity.Thing]\n"),
        table(AttributeTable.self, "entity.Thing.attributes.id", "[entity.Thing.attributes.id]\n"),
        table(RelationshipTable.self, "entity.Item.relationships.rel", itemModel + "[entity.Item.relationships.rel]\n"),
    ]

    private func problems(_ table: Table, _ line: String, at path: String) -> [ConfigurationProblem] {
        read(table.prefix + line + "\n").errors.filter { $0.keyPath == path || $0.keyPath.hasPrefix(path + ".") }
    }

    @Test func thereAreEnoughCases() {
        let wrong = Self.tables.flatMap(\.keys).filter { $0.status == .settable }.map(\.wrong.count).reduce(0, +)
        let refused = Self.tables.flatMap(\.keys).count { $0.status == .later || $0.status == .inForce }
        #expect(wrong >= 600)
        #expect(refused >= 20)
    }

    @Test(arguments: tables)
    func aMisspeltKeyIsNamedWithTheKeyThatWasMeant(table: Table) {
        for key in table.keys where key.status == .settable || key.status == .structural {
            var spellings = [key.name + "x", String(key.name.dropLast()), "x" + key.name, key.name.uppercased()]
            if key.name.count > 3 { spellings.append(String(key.name.prefix(1) + String(key.name.dropFirst(2)))) }
            for spelling in spellings where spelling.count > 2 && !table.keys.contains(where: { $0.name == spelling }) {
                let path = table.path.isEmpty ? spelling : "\(table.path).\(spelling)"
                let found = problems(table, "\(spelling) = 1", at: path)
                #expect(found.count == 1, "\(table.path): \(spelling): \(found)")
                let problem = found.first
                #expect(problem?.message == "unknown key \"\(spelling)\"")
                #expect(
                    problem?.suggestion?.contains(key.name) == true || problem?.suggestion?.hasPrefix("did you mean") == true, "\(found)")
                #expect(problem?.line == table.prefix.count { $0 == "\n" } + 1, "\(table.path): \(spelling): \(found)")
            }
        }
    }

    @Test(arguments: tables)
    func aValueOfTheWrongTypeOrOutOfRangeIsRefusedWithASuggestion(table: Table) {
        for key in table.keys where key.status == .settable {
            #expect(key.wrong.count >= 2, "\(table.path).\(key.name) has no wrong values to be tried")
            for value in key.wrong {
                let path = table.path.isEmpty ? key.name : "\(table.path).\(key.name)"
                // In the list of sources the name itself is under trial.
                let found =
                    key.name == "name" && table.path.hasSuffix(".2")
                    ? read(table.prefix + "name = \(value)\n").errors.filter { $0.keyPath.hasSuffix("name") }
                    : problems(table, "\(key.name) = \(value)", at: path)
                #expect(!found.isEmpty, "\(path) = \(value) was accepted")
                for problem in found {
                    #expect(problem.suggestion?.isEmpty == false, "\(problem)")
                    #expect(!problem.message.isEmpty)
                    #expect(problem.file == "/c/cisternd.toml")
                    #expect(problem.line != nil, "\(problem)")
                }
            }
        }
    }

    @Test(arguments: tables)
    func aKeyOfALaterVersionIsRefusedAndNeverIgnored(table: Table) {
        for key in table.keys where key.status == .later || key.status == .inForce {
            for value in ["1", "\"x\"", "{}", "[]", "true"] {
                let path = table.path.isEmpty ? key.name : "\(table.path).\(key.name)"
                let found = problems(table, "\(key.name) = \(value)", at: path)
                #expect(found.count == 1, "\(path): \(found)")
                #expect(found.first?.message.contains("is not in this version") == true, "\(found)")
                #expect(found.first?.suggestion?.isEmpty == false)
            }
        }
    }

    @Test(arguments: tables.filter { !$0.path.isEmpty })
    func aTableThatIsNoTableIsRefused(table: Table) {
        let parts = table.path.split(separator: ".")
        guard !parts.contains("2"), parts.count <= 2, parts[0] != "entity" else { return }
        let line = parts.joined(separator: ".")
        for value in ["1", "\"x\"", "true", "[1]"] {
            #expect(!errors("\(line) = \(value)\n").isEmpty, "\(line) = \(value)")
        }
    }

    /// The columns of later milestones, spelt out: nothing of them may slip in by forgetting it here and there.
    @Test(arguments: [
        "metrics.listen = \"\"", "[store]\nhistory = \"none\"", "[store.postgresql]\nhost = \"x\"",
        "[store]\njournal_mode = \"wal\"", "[store]\nkind = \"postgresql\"",
        "[store]\nintegrity_check = \"full-weekly\"", "[log]\ntrace_http = \"bodies\"",
        "[defaults.http]\nhttp_version = \"2\"", "[defaults.http]\nproxy = \"\"",
        "[defaults.parse]\nkey_compare = \"bytes\"", "[defaults.schema]\ndrift_report = true", "[defaults.schema]\nunknown_fields = \"raw\"",
        "[defaults.deletion]\non_source_removed = \"keep\"",
        "[defaults.deletion]\ncascade = \"model\"", "[model]\nnaming = \"snake\"",
    ])
    func everythingOfLaterMilestonesIsRefused(text: String) {
        let found = errors(text)
        #expect(found.count == 1, "\(found)")
        #expect(found.first?.contains("is not in this version") == true, "\(found)")
    }

    @Test(arguments: [
        "for_each.order = \"id\"", "for_each.changed_only = true",
        "records = \"$..items\"", "records = \"$.items[?(@.a)]\"",
        "auth.strategy = \"x\"", "auth.kind = \"aws-sigv4\"", "auth.pool = {}",
    ])
    func everythingOfLaterMilestonesIsRefusedAtASource(line: String) {
        let found = errors(itemSource + line).filter {
            !$0.contains("kind is missing") && !$0.contains("for_each says") && !$0.contains("\"as\" is missing")
        }
        #expect(found.count == 1, "\(found)")
        #expect(found.first?.contains("is not in this version") == true, "\(found)")
    }

    @Test(arguments: [
        "abstract = true", "parent = \"Base\"", "discriminator = {}", "attributes.id.sensitive = true",
        "relationships.r = { to = \"T\", unresolved = \"defer\" }",
        "relationships.r = { to = \"T\", unresolved = \"null\" }", "relationships.r = { to = \"T\", unresolved = \"fail\" }",
    ])
    func everythingOfLaterMilestonesIsRefusedAtAnEntity(line: String) {
        let found = errors("[entity.T]\nattributes.id.type = \"int64\"\n" + line)
        #expect(found.count == 1, "\(found)")
        #expect(found.first?.contains("is not in this version") == true, "\(found)")
    }
}
