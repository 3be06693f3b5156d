import Testing

@testable import SyncConfiguration

/// What a source with a preset becomes.
@Suite struct PresetReadingTests: PresetReading {
    @Test func aSourceSaysNoMoreThanWhatIsMeant() throws {
        let result = try configuration(source())
        let hub = try #require(result.sources.first)
        #expect(hub.name == "hub" && hub.resources.map(\.name) == ["repos", "issues"])
        let repos = hub.resources[0], issues = hub.resources[1]
        #expect(repos.url == "https://api.hub.example/v1/owners/ada/repos")
        #expect(repos.parameters == [QueryParameter(name: "size", value: "50")])
        #expect(repos.authentication == .bearer(.init(token: .credential("t"), scheme: "Token")))
        #expect(repos.schedule.every == .hours(1) && issues.schedule.every == .minutes(5))
        #expect(issues.partitions?.parents?.resource == "hub/repos" && issues.partitions?.parents?.filter == "state == 'all'")
        #expect(issues.parameters.map { "\($0.name)=\($0.value)" } == ["q=owner:ada size>50", "state=all"])
        #expect(issues.headers == [HeaderField(name: "X-Owner", value: "ada")])
    }

    // Of the entities those are there that somebody refers to.
    @Test func theModelHasWhatTheResourcesNeed() throws {
        #expect(try configuration(source()).model.entities.map(\.name).sorted() == ["HubIssue", "HubRepo", "HubUser"])
        #expect(try configuration(source("resources = [\"repos\"]")).model.entities.map(\.name).sorted() == ["HubRepo", "HubUser"])
        #expect(try configuration(source("resources = [\"searches\"]")).model.entities.map(\.name) == ["HubSearch"])
        let own = "[entity.Note]\nattributes = { id = { type = \"int64\" } }\nrelationships = { search = { to = \"HubSearch\" } }"
        let model = try configuration(source("resources = [\"repos\"]", after: own)).model
        #expect(model.entities.map(\.name).sorted() == ["HubRepo", "HubSearch", "HubUser", "Note"])
    }

    // What a resource has parts for comes along with it.
    @Test func aResourceBringsItsParents() throws {
        #expect(try configuration(source("resources = [\"issues\"]")).sources[0].resources.map(\.name) == ["repos", "issues"])
        #expect(try configuration(source("resources = [\"searches\", \"repos\"]")).sources[0].resources.map(\.name) == ["repos", "searches"])
        // What the preset sets of a parent means nothing where the parts are values.
        let own = "[[source.resource]]\nname = \"issues\"\nfor_each = { values = [\"1\"], as = \"repo\" }\npath = \"/i/{repo}\""
        let found = errors(source("resources = [\"issues\"]", after: own))
        #expect(found.count == 1 && found[0].contains("{repo} is a value"), "\(found)")
    }

    @Test func aParameterDecidesWhichOfTwoResourcesThereIs() throws {
        let repos = try configuration(source(with: "repos = [\"x\", \"y/z\"]")).sources[0].resources[0]
        #expect(repos.partitions == PartitionConfiguration(as: "repo", .values(["x", "y/z"])))
        #expect(repos.url == "https://api.hub.example/v1/repos/ada/{repo:segment}")
        #expect(repos.pagination.kind == .none && repos.records?.segments.isEmpty == true)
    }

    @Test func valuesStandInAddressesBodiesAndPredicates() throws {
        let text = source("resources = [\"issues\", \"searches\"]", with: "site = \"eu\"\nstate = \"open\"\nsize = 7\nkeys = [\"a\", \"b\"]")
        let resources = try configuration(text).sources[0].resources
        #expect(resources[0].url == "https://eu.hub.example/v1/owners/ada/repos")
        #expect(resources[1].parameters.map { "\($0.name)=\($0.value)" } == ["key=a", "key=b", "q=owner:ada size>7", "state=open"])
        #expect(resources[1].partitions?.parents?.filter == "state == 'open'")
        guard case .json(let body)? = resources[2].body else {
            Issue.record("no body")
            return
        }
        #expect(body.member("n") == .number("7"))
        #expect(body.member("keys") == .array([.template(Template("a")), .template(Template("b"))]))
        #expect(body.member("text") == .template(Template("ada")))
    }

    // What is not said, and has no default, is left out.
    @Test func whereThereIsNoValueTheKeyIsLeftOut() throws {
        let body = try configuration(source("resources = [\"searches\"]")).sources[0].resources[0].body
        guard case .json(let value)? = body else {
            Issue.record("no body")
            return
        }
        #expect(value.member("keys") == nil && value.member("text") != nil)
    }

    @Test func aValueIsEscapedInAnAddress() throws {
        let preset = Self.hub.replacing("owner = { type = \"name\"", with: "owner = { type = \"text\"").replacing(
            "headers = { X-Owner = \"{with.owner}\" }", with: "")
        let text = source().replacing("owner = \"ada\"", with: "owner = \"a/b?c#d é%2F\"")
        let repos = try configuration(text, presets: ["hub": preset]).sources[0].resources[0]
        #expect(repos.url == "https://api.hub.example/v1/owners/a%2Fb%3Fc%23d%20%C3%A9%252F/repos")
    }

    // MARK: What a configuration says beside it

    @Test func whatTheSourceSaysComesAfterThePreset() throws {
        let own = """
            base_url = "https://hub.corp.example"
            schedule.every = "2h"
            params = { size = 10 }
            [source.http]
            redirects = "none"
            """
        let resources = try configuration(source("", after: "") + "\n").sources[0].resources
        #expect(resources[0].http.redirects == .sameOrigin)
        let changed = try configuration(source(own)).sources[0].resources
        #expect(changed.map(\.url) == ["https://hub.corp.example/owners/ada/repos", "https://hub.corp.example/repos/{repo.id}/issues"])
        // Also where the preset says something else of a resource.
        #expect(changed.allSatisfy { $0.schedule.every == .hours(2) && $0.http.redirects == .none })
        #expect(changed[0].parameters == [QueryParameter(name: "size", value: "10")])
        #expect(changed[1].parameters.map(\.name) == ["q", "size", "state"])
    }

    @Test func aResourceIsChangedByItsName() throws {
        let own = """
            [[source.resource]]
            name = "issues"
            schedule.every = "1m"
            params = { state = "open" }
            [[source.resource]]
            name = "labels"
            for_each = { resource = "repos", as = "repo" }
            path = "/repos/{repo.id}/labels/{with.owner}"
            entity = "HubIssue"
            """
        let resources = try configuration(source(after: own)).sources[0].resources
        #expect(resources.map(\.name) == ["repos", "issues", "labels"])
        #expect(resources[1].schedule.every == .minutes(1) && resources[1].parameters.contains(QueryParameter(name: "state", value: "open")))
        #expect(resources[1].assigned.map(\.name) == ["repo"])
        #expect(resources[2].url == "https://api.hub.example/v1/repos/{repo.id}/labels/ada")
        // A resource that the preset does not have is there although `resources` does not name it, and brings its parents.
        let labels = own.from("[[source.resource]]\nname = \"labels\"")
        let only = try configuration(source("resources = [\"searches\"]", after: labels)).sources[0].resources
        #expect(only.map(\.name) == ["repos", "searches", "labels"])
    }

    // A table of another kind has nothing of the preset's.
    @Test func anotherKindTakesThePlaceOfTheTable() throws {
        let text = source("pages = { kind = \"page\" }").replacing(
            "auth.token = { credential = \"t\" }", with: "auth = { kind = \"basic\", username = \"u\", password = { credential = \"p\" } }")
        let resources = try configuration(text).sources[0].resources
        #expect(resources.allSatisfy { $0.authentication == .basic(.init(username: .name("u"), password: .credential("p"))) })
        #expect(resources.allSatisfy { $0.pagination.kind == .page(.init()) })
        let none = source().replacing("auth.token = { credential = \"t\" }", with: "auth = { kind = \"none\" }")
        #expect(try configuration(none).sources[0].resources[0].authentication == .none)
        let form = source("resources = [\"searches\"]", after: "[[source.resource]]\nname = \"searches\"\nform = { q = \"{with.owner}\" }")
        #expect(try configuration(form).sources[0].resources[0].body == .form([FormField(name: "q", value: "ada")]))
        // One of the same kind is laid over it.
        let same = source().replacing("auth.token =", with: "auth.kind = \"bearer\"\nauth.token =")
        #expect(try configuration(same).sources[0].resources[0].authentication == .bearer(.init(token: .credential("t"), scheme: "Token")))
    }

    @Test func entitiesGetFurtherProperties() throws {
        let own = "[entity.HubIssue.attributes]\nbody = { type = \"string\" }\ntitle = { index = true }"
        let issue = try #require(try configuration(source(after: own)).model.entity(named: "HubIssue"))
        #expect(issue.attributes.map(\.name) == ["id", "title", "body"])
        #expect(issue.attribute(named: "title")?.isIndexed == true && issue.attribute(named: "title")?.type == .string)
    }

    @Test func dropInsAreMergedByThePresetsName() throws {
        let result = try configuration(
            source(),
            dropIns: [
                "10.toml": "[[source]]\nname = \"hub\"\nschedule.every = \"3h\"", "20.toml": "[[source]]\npreset = \"hub\"\nwith = { size = 1 }",
            ])
        #expect(result.sources.count == 1)
        #expect(result.sources[0].resources[0].parameters == [QueryParameter(name: "size", value: "1")])
        #expect(result.sources[0].resources[0].schedule.every == .hours(3))
    }

    @Test func twoSourcesOfOneServerShareEntities() throws {
        let result = try configuration(source() + "\n" + source("name = \"other\"").replacing("\"ada\"", with: "\"bo\""))
        #expect(result.sources.map(\.name) == ["hub", "other"])
        #expect(result.sources[1].resources[0].url == "https://api.hub.example/v1/owners/bo/repos")
        #expect(result.model.entities.count == 3)
    }

    @Test func aPrefixMakesEntitiesOfItsOwn() throws {
        let other = source("name = \"other\"\nentity_prefix = \"Eu\"", with: "site = \"eu\"")
        let result = try configuration(source() + "\n" + other)
        #expect(result.model.entities.map(\.name).sorted() == ["EuHubIssue", "EuHubRepo", "EuHubUser", "HubIssue", "HubRepo", "HubUser"])
        #expect(result.sources[1].resources.map(\.entity) == ["EuHubRepo", "EuHubIssue"])
        #expect(result.model.entity(named: "EuHubIssue")?.relationship(named: "repo")?.destination == "EuHubRepo")
    }

    // MARK: Where presets are

    @Test func thePresetBesideTheMainFileComesFirst() throws {
        func preset(_ every: String) -> String { Self.hub.replacing("schedule.every = \"1h\"", with: "schedule.every = \"\(every)\"") }
        var files = ConfigurationTexts([
            "/c/cisternd.toml": source(), "/usr/share/cistern/presets/hub.toml": preset("3h"), "/opt/presets/hub.toml": preset("2h"),
        ])
        func every(_ environment: [String: String] = [:]) throws -> TimeSpan {
            let reader = ConfigurationReader(path: "/c/cisternd.toml", environment: environment, files: files)
            return try reader.configuration().sources[0].resources[0].schedule.every
        }
        #expect(try every() == .hours(3))
        #expect(try every(["CISTERN_PRESETS": "/nowhere:/opt/presets"]) == .hours(2))
        files.files["/c/presets/hub.toml"] = Array(preset("4h").utf8)
        #expect(try every(["CISTERN_PRESETS": "/opt/presets"]) == .hours(4))
    }

    @Test func theResolvedConfigurationNamesThePresetsLinesAndIsReadAgain() throws {
        let first = reading(source(with: "repos = [\"x\"]"))
        #expect(first.files == ["/c/cisternd.toml", "/c/presets/hub.toml"])
        let resolved = try #require(first.resolved)
        let origins = Dictionary(resolved.settings.map { ($0.keyPath, $0.origin) }) { first, _ in first }
        let line = Self.hub.split(separator: "\n", omittingEmptySubsequences: false).firstIndex { $0.contains("/issues\"") }.map { $0 + 1 }
        #expect(origins["source.hub.resource.issues.path"] == .file("/c/presets/hub.toml", line: line))
        #expect(origins["source.hub.resource.repos.for_each.values"] == .file("/c/cisternd.toml", line: 7))
        #expect(origins["source.hub.name"] == .file("/c/cisternd.toml", line: 2))
        let again = SyncConfigurationTests.read(resolved.toml())
        #expect(again.errors == [] && again.configuration == first.configuration)
    }

    @Test func anotherValueChangesTheResourcesThatSayIt() throws {
        let before = try configuration(source()), after = try configuration(source(with: "size = 5"))
        let difference = ConfigurationDifference(from: before, to: after)
        #expect(difference.changedResources == ["hub/repos", "hub/issues"] && !difference.modelChanged)
        let state = ConfigurationDifference(from: before, to: try configuration(source(with: "state = \"open\"")))
        #expect(state.changedResources == ["hub/issues"])
        #expect(ConfigurationDifference(from: before, to: try configuration(source(with: "state = \"all\""))).isEmpty)
    }
}

extension String {
    /// From a text on.
    fileprivate func from(_ start: String) -> String {
        firstRange(of: start).map { String(self[$0.lowerBound...]) } ?? ""
    }
}
