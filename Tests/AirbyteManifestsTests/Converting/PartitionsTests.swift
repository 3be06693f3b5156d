import SyncConfiguration
import Testing

@testable import AirbyteManifests

@Suite struct PartitionsTests {
    private func parents(_ more: String = "", key: String = "id") -> ManifestText {
        var manifest = ManifestText()
        manifest.path = "\"/repos/{{ stream_partition.repo_id }}/items\""
        manifest.retriever = """
            partition_router:
              type: SubstreamPartitionRouter
              parent_stream_configs:
                - type: ParentStreamConfig
                  parent_key: \(key)
                  partition_field: repo_id
                  stream: "#/definitions/repos"
            \(more.split(separator: "\n").map { "      \($0)" }.joined(separator: "\n"))
            """
        manifest.streams = "- \"#/definitions/repos\""
        manifest.more = """
            definitions:
              repos:
                type: DeclarativeStream
                name: repos
                primary_key: id
                retriever:
                  requester: { url_base: "https://api.example.com/v1", path: /repos }
                  record_selector: { extractor: { field_path: [] } }
                schema_loader:
                  type: InlineSchemaLoader
                  schema: { properties: { id: { type: integer }, slug: { type: string }, owner: { type: object } } }
            """
        return manifest
    }

    @Test func valuesArePartsOfTheirOwn() throws {
        var manifest = ManifestText()
        manifest.path = "\"/{{ stream_slice.region }}/items\""
        manifest.retriever = """
            partition_router:
              type: ListPartitionRouter
              cursor_field: region
              values: [eu, us, eu]
              request_option: { inject_into: request_parameter, field_name: r }
            """
        let lines = try manifest.lines()
        #expect(lines.contains("for_each = { values = [\"eu\", \"us\"], as = \"region\" }"))
        #expect(lines.contains("path = \"/{region}/items\""))
        #expect(lines.contains("params = { r = \"{region}\" }"))
    }

    @Test func aListOfTheUsersMayBeTheValues() throws {
        var manifest = ManifestText()
        manifest.path = "\"/{{ stream_partition['account'] }}/items\""
        manifest.retriever = "partition_router: { type: ListPartitionRouter, cursor_field: account, values: \"{{ config['accounts'] }}\" }"
        manifest.spec += ", accounts: { type: array, items: { type: string } }"
        manifest.required = "[accounts]"
        #expect(try manifest.lines().contains("for_each = { values = [\"fill-in-accounts\"], as = \"account\" }"))
        #expect(try manifest.lines(["accounts": "a, b"]).contains("for_each = { values = [\"a\", \"b\"], as = \"account\" }"))
    }

    @Test func severalListsAreTheirCombinations() throws {
        var manifest = ManifestText()
        manifest.path = "\"/{{ stream_partition.region }}/{{ stream_partition.kind }}\""
        manifest.retriever = """
            partition_router:
              - { type: ListPartitionRouter, cursor_field: region, values: [eu, us] }
              - { type: ListPartitionRouter, cursor_field: kind, values: [a, b] }
            """
        let lines = try manifest.lines()
        #expect(lines.contains("for_each = { values = [\"eu|a\", \"eu|b\", \"us|a\", \"us|b\"], as = \"part\" }"))
        #expect(lines.contains("path = \"/{part:split(|,0)}/{part:split(|,1)}\""))
    }

    @Test func objectsOfAnotherStreamAreParents() throws {
        let lines = try parents().lines()
        #expect(lines.contains("for_each = { resource = \"repos\", as = \"repo\" }"))
        #expect(lines.contains("path = \"/repos/{repo.id}/items\""))
        #expect(lines.filter { $0 == "name = \"repos\"" }.count == 1)
        #expect(try parents().converted().streams.sorted() == ["items", "repos"])
    }

    @Test func aParentThatIsNoStreamOfTheManifestIsAdded() throws {
        var manifest = parents()
        manifest.streams = ""
        let conversion = try manifest.converted()
        #expect(conversion.streams == ["items"])
        #expect(try manifest.lines().contains("name = \"repos\""))
        #expect(conversion.findings.map(\.isLeftOut) == [false])
    }

    @Test func aParentThatAsksForSomethingElseIsAnotherResource() throws {
        var manifest = parents()
        manifest.streams = """
            - $ref: "#/definitions/repos"
              retriever:
                requester: { url_base: "https://api.example.com/v1", path: /repos, request_parameters: { archived: "no" } }
                record_selector: { extractor: { field_path: [] } }
            """
        let lines = try manifest.lines()
        #expect(lines.contains("name = \"repos2\""))
        #expect(lines.contains("for_each = { resource = \"repos2\", as = \"repo\" }"))
        #expect(lines.contains("entity = \"Repo2\""))
    }

    @Test func fieldsOfAParentMayStandInRequestsAndInRecords() throws {
        var manifest = parents("extra_fields: [[slug]]\nrequest_option: { inject_into: request_parameter, field_name: repo }", key: "name")
        manifest.requester = "request_parameters: { slug: \"{{ stream_slice.extra_fields['slug'] }}\" }"
        manifest.stream = """
            transformations:
              - type: AddFields
                fields:
                  - { path: [repo], value: "{{ stream_partition.repo_id }}" }
            """
        let lines = try manifest.lines()
        #expect(lines.contains("params = { slug = \"{repo.slug}\", repo = \"{repo.name}\" }"))
        #expect(lines.contains("set = { repo = \"{repo.name}\" }"))
        // The schema of the parent has no such field.
        #expect(lines.filter { $0 == "name = { type = \"string\" }" }.count == 2)
        #expect(lines.contains("repo = { type = \"string\" }"))
    }

    @Test func aParentMayBeAPartItself() throws {
        var manifest = parents()
        manifest.path = "\"/{{ stream_partition.parent_slice.org }}/{{ stream_partition.repo_id }}/items\""
        manifest.more = manifest.more.replacing(
            "  record_selector: { extractor: { field_path: [] } }",
            with: "  record_selector: { extractor: { field_path: [] } }\n      "
                + "partition_router: { type: ListPartitionRouter, cursor_field: org, values: [a, b] }")
        let lines = try manifest.lines()
        #expect(lines.contains("path = \"/{repo.parent_org}/{repo.id}/items\""))
        #expect(lines.contains("set = { parent_org = \"{org}\" }"))
        #expect(lines.contains("for_each = { values = [\"a\", \"b\"], as = \"org\" }"))
    }

    /// Issues of repositories, and a stream for combinations of both.
    private func product(_ issues: String = "path: \"/repos/{{ stream_partition.repo }}/issues\"", isReversed: Bool = false) -> ManifestText {
        var manifest = parents()
        manifest.path = "\"/repos/{{ stream_partition.repo_id }}/issues/{{ stream_partition['issue_id'] }}/items\""
        let routers = [
            "{ type: SubstreamPartitionRouter, parent_stream_configs: [{ parent_key: id, partition_field: repo_id, stream: \"#/definitions/repos\" }] }",
            "{ type: SubstreamPartitionRouter, parent_stream_configs: [{ parent_key: number, partition_field: issue_id, "
                + "stream: \"#/definitions/issues\" }] }",
        ]
        manifest.retriever = "partition_router: [\((isReversed ? routers.reversed() : routers).joined(separator: ", "))]"
        let router =
            "partition_router: { type: SubstreamPartitionRouter, parent_stream_configs: "
            + "[{ parent_key: id, partition_field: repo, stream: \"#/definitions/repos\" }] }"
        manifest.more += """

              issues:
                type: DeclarativeStream
                name: issues
                primary_key: number
                retriever:
                  requester: { url_base: "https://api.example.com/v1", \(issues) }
                  record_selector: { extractor: { field_path: [] } }
                  \(issues.contains("stream_partition") ? router : "")
                schema_loader: { type: InlineSchemaLoader, schema: { properties: { number: { type: integer } } } }
            """
        return manifest
    }

    // What one lists are parts for what the other one lists: other combinations are none.
    @Test(arguments: [true, false]) func combinationsOfAParentAndWhatItHasAreWhatItHas(isReversed: Bool) throws {
        let manifest = product(isReversed: isReversed)
        let lines = try manifest.lines()
        #expect(lines.contains("for_each = { resource = \"issues\", as = \"issue\" }"))
        #expect(lines.contains("path = \"/repos/{issue.parent_repo_id}/issues/{issue.number}/items\""))
        #expect(lines.contains("set = { parent_repo_id = \"{repo.id}\" }"))
        #expect(try manifest.converted().findings.filter { $0.stream == "items" }.map(\.key) == ["partition_router"])
    }

    @Test func combinationsOfStreamsThatHaveNothingInCommonLeaveTheStreamOut() throws {
        #expect(try product("path: /issues").refusals().filter { $0.stream == "items" }.map(\.key) == ["partition_router"])
    }

    @Test func aStreamIsLeftOutWithItsParent() throws {
        var manifest = parents()
        manifest.more = manifest.more.replacing("path: /repos }", with: "path: /repos, http_method: PUT }")
        let conversion = try manifest.converted()
        #expect(conversion.toml == nil)
        #expect(Set(conversion.findings.map(\.stream)) == ["items", "repos"])
        #expect(conversion.findings.contains { $0.stream == "items" && $0.reason.contains("http_method") })
    }

    @Test func aStreamThatIsItsOwnParentEndsWithARefusal() throws {
        var manifest = ManifestText()
        manifest.retriever = """
            partition_router:
              type: SubstreamPartitionRouter
              parent_stream_configs: [{ type: ParentStreamConfig, parent_key: id, partition_field: x, stream: { $ref: "#/streams/0" } }]
            """
        #expect(try manifest.refusals().contains { $0.reason.contains("a parent of its own") })
    }

    @Test(arguments: [
        "partition_router: { type: CustomPartitionRouter, class_name: a.B }",
        "partition_router: { type: GroupingPartitionRouter, group_size: 2, underlying_partition_router: { type: ListPartitionRouter } }",
        "partition_router: { type: ListPartitionRouter, cursor_field: a, values: \"{{ response.x }}\" }",
        "partition_router: { type: ListPartitionRouter, cursor_field: a, values: [] }",
        "partition_router: { type: SubstreamPartitionRouter, parent_stream_configs: [] }",
    ])
    func whatCannotBeSaidLeavesTheStreamOut(_ router: String) throws {
        var manifest = ManifestText()
        manifest.retriever = router
        #expect(try manifest.refusals().contains { $0.key.hasPrefix("partition_router") })
    }

    @Test func onlyParentsThatChangedIsARemark() throws {
        let findings = try parents("incremental_dependency: true").converted().findings
        #expect(findings.map(\.isLeftOut) == [false])
        let key = try #require(findings.first?.key)
        #expect(key == "ParentStreamConfig.incremental_dependency")
    }

    @Test func whatIsInsideOfAnObjectOfAParentMayBeAPartOfARequest() throws {
        var manifest = parents(key: "owner")
        manifest.path = "\"/owners/{{ stream_partition.repo_id.login }}/items\""
        manifest.requester = "request_parameters: { org: \"{{ stream_slice['repo_id']['org']['id'] }}\" }"
        let lines = try manifest.lines()
        #expect(lines.contains("path = \"/owners/{repo.owner_login}/items\""))
        #expect(lines.contains("params = { org = \"{repo.owner_org_id}\" }"))
        #expect(lines.contains("owner_login = { path = \"$.owner.login\", type = \"string\" }"))
        let option = "request_option: { inject_into: request_parameter, field_name: repo }"
        #expect(try parents(option, key: "owner").converted().streams == ["repos"])
    }

    // What uses the parts is not told besides: it is nobody's fault.
    @Test func onlyWhatPartsLackIsTold() throws {
        var manifest = parents()
        manifest.more = manifest.more.replacing("path: /repos }", with: "path: /repos, http_method: PUT }")
        let findings = try manifest.converted().findings.filter { $0.stream == "items" }
        #expect(findings.map(\.key) == ["parent_stream_configs.stream"])
    }

    @Test func aListOrAnObjectIsNoPartOfARequest() throws {
        #expect(try parents(key: "owner").converted().streams == ["repos"])
    }
}
