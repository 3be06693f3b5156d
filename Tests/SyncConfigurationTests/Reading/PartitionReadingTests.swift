import Testing

@testable import SyncConfiguration

/// `for_each`, `set`, and the templates that they fill.
@Suite struct PartitionReadingTests {
    private static let model = """
        [entity.Owner]
        key = ["id"]
        attributes = { id = { type = "int64" }, login = { type = "string" } }
        [entity.Repo]
        key = ["id"]
        [entity.Repo.attributes]
        id = { type = "int64" }
        fullName = { type = "string" }
        topics = { type = "json" }
        [entity.Repo.relationships]
        owner = { to = "Owner" }
        issues = { to = "Issue", many = true, inverse = "repo" }
        [entity.Issue]
        key = ["id"]
        [entity.Issue.attributes]
        id = { type = "int64" }
        repoName = { type = "string" }
        place = { type = "json" }
        [entity.Issue.relationships]
        repo = { to = "Repo" }
        labels = { to = "Owner", many = true }

        """

    /// A resource of repositories and one of issues with some keys.
    private func text(_ path: String = "/repos/{repo.fullName}/issues", forEach: String? = "resource = \"repos\", as = \"repo\"", _ more: String = "")
        -> String
    {
        Self.model + """
            [[source]]
            name = "hub"
            base_url = "https://api.example"
            [[source.resource]]
            name = "repos"
            path = "/repos"
            entity = "Repo"
            [[source.resource]]
            name = "issues"
            path = "\(path)"
            entity = "Issue"
            \(forEach.map { "for_each = { \($0) }" } ?? "")
            \(more)
            """
    }

    @Test func aResourceHasPartsForWhatAnotherLists() throws {
        let result = try configuration(
            text(forEach: "resource = \"repos\", as = \"repo\", where = \"id > 3\"", "set = { repo = \"{repo}\", repoName = \"{repo.fullName}\" }"))
        let issues = try #require(result.resource(scope: "hub/issues")), parents = try #require(issues.partitions?.parents)
        #expect(issues.partitions?.alias == "repo" && parents.resource == "hub/repos" && parents.entity == "Repo" && parents.filter == "id > 3")
        #expect(issues.url == "https://api.example/repos/{repo.fullName}/issues")
        #expect(issues.assigned.map { "\($0.name) \($0.template)" } == ["repo {repo}", "repoName {repo.fullName}"])
    }

    @Test func aResourceHasPartsForValues() throws {
        let result = try configuration(
            text(
                "/{region}", forEach: "values = [\"eu\", 7], as = \"region\"",
                "params = { r = \"{region}\", n = \"{1}\" }\nset = { repoName = \"{region}\" }"))
        let issues = try #require(result.resource(scope: "hub/issues"))
        #expect(issues.partitions == PartitionConfiguration(as: "region", .values(["eu", "7"])))
    }

    // What stands at a source counts for its resources.
    @Test func partsAreInherited() throws {
        let result = try configuration(
            itemModel + """
                [[source]]
                name = "s"
                base_url = "https://a.example"
                for_each = { values = ["eu"], as = "region" }
                set = { code = "{region}" }
                [[source.resource]]
                name = "r"
                path = "/{region}"
                entity = "Item"
                """)
        let resource = try #require(result.resource(scope: "s/r"))
        #expect(resource.partitions?.alias == "region" && resource.assigned.map(\.name) == ["code"])
    }

    @Test func theResolvedConfigurationShowsThem() throws {
        let reading = read(text("/{region}", forEach: "values = [\"eu\"], as = \"region\"", "set = { repoName = \"{region}\" }"))
        let shown = try #require(reading.resolved?.toml())
        for line in ["for_each.values = [\"eu\"]", "for_each.as = \"region\"", "set = { repoName = \"{region}\" }", "path = \"/{region}\""] {
            #expect(shown.contains(line), "\(line)")
        }
    }

    private static let refusals: [(text: @Sendable (PartitionReadingTests) -> String, message: String)] = [
        ({ $0.text(forEach: nil) }, "{repo.fullName}: nothing is called \"repo\" here; write for_each = { …, as = \"repo\" }"),
        ({ $0.text("/{rep.id}") }, "nothing is called \"rep\" here; did you mean \"repo\"?"),
        ({ $0.text("/{repo.name}") }, "{repo.name}: Repo has no \"name\"; known properties: id, fullName"),
        ({ $0.text("/{repo}") }, "{repo} is an object of Repo, and no text; write {repo.id}"),
        ({ $0.text("/{repo.topics}") }, "a value of type json cannot be part of a text"),
        ({ $0.text("/{repo.id.x}") }, "\"id\" is an attribute, and nothing follows it"),
        ({ $0.text("/{repo.issues.id}") }, "\"issues\" leads to many objects"),
        ({ $0.text("/{repo.owner}") }, "is an object of Owner"),
        ({ $0.text("/{r.id}", forEach: "values = [\"a\"], as = \"r\"") }, "\"r\" is a text and has no properties; write {r}"),
        ({ $0.text(forEach: "resource = \"repo\", as = \"repo\"") }, "there is no resource \"hub/repo\"; did you mean \"hub/repos\"?"),
        ({ $0.text("/x", forEach: "resource = \"issues\", as = \"i\"") }, "hub/issues has parts for its own objects"),
        ({ $0.text("/x", forEach: "as = \"i\"") }, "for_each says neither what resource nor what values"),
        ({ $0.text("/x", forEach: "values = [\"a\"]") }, "\"as\" is missing"),
        ({ $0.text("/x", forEach: "values = [\"a\"], resource = \"repos\", as = \"i\"") }, "resource and values cannot be used together"),
        ({ $0.text("/x", forEach: "values = [\"a\"], as = \"i\", where = \"x\"") }, "values are texts"),
        ({ $0.text("/x", "set = { nam = \"x\" }") }, "Issue has no \"nam\""),
        ({ $0.text("/x", "set = { place = \"x\" }") }, "place has the type json, which cannot be set"),
        ({ $0.text("/x", "set = { labels = \"{repo}\" }") }, "labels is not a to-one"),
        ({ $0.text("/x", "set = { repo = \"x\" }") }, "repo leads to one Repo, and \"x\" is a text; write repo = \"{repo}\""),
        ({ $0.text("/x", "set = { repo = \"{repo.owner}\" }") }, "repo leads to one Repo, and {repo.owner} is one Owner"),
        ({ $0.text("/x", "set = { repo = \"{repo.id}\" }") }, "and {repo.id} is a value; write repo = \"{repo}\""),
        ({ $0.text("/x", "params = { q = \"{repos.id}\" }") }, "nothing is called \"repos\""),
        ({ $0.text("/x", "http.headers = { X-A = \"{repos.id}\" }") }, "nothing is called \"repos\""),
        ({ $0.text("/x", "headers = { X-A = \"{repos.id}\" }") }, "nothing is called \"repos\""),
    ]

    @Test(arguments: refusals.indices) func whatNamesNothingIsRefused(number: Int) {
        let refusal = Self.refusals[number], found = errors(refusal.text(self))
        #expect(found.count == 1 && found[0].contains(refusal.message), "\(refusal.message): \(found)")
    }

    @Test func circlesAreRefused() {
        let text =
            Self.model + """
                [[source]]
                name = "hub"
                base_url = "https://api.example"
                [[source.resource]]
                name = "repos"
                path = "/repos/{i.id}"
                entity = "Repo"
                for_each = { resource = "issues", as = "i" }
                [[source.resource]]
                name = "issues"
                path = "/issues/{r.id}"
                entity = "Issue"
                for_each = { resource = "repos", as = "r" }
                """
        #expect(errors(text).contains { $0.contains("hub/issues has parts for what is in hub/repos has parts for what is in hub/issues") })
    }

    @Test func aPlaceDoesNotDecideWhoIsAsked() {
        #expect(
            errors(itemModel + "[[source]]\nname = \"s\"\nentity = \"Item\"\nurl = \"https://{a}.example/\"\n").contains {
                $0.contains("a template cannot decide which host is asked")
            })
    }
}
