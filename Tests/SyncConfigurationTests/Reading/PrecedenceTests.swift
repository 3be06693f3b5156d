import Testing

@testable import SyncConfiguration

@Suite struct PrecedenceTests {
    private let text =
        itemModel + """
            [defaults.schedule]
            every = "10m"
            max_age = "1h"
            [defaults.http.headers]
            Accept = "application/json"
            X-Level = "defaults"
            [[source]]
            name = "s"
            base_url = "https://api.example.com/v1/"
            params = { a = "source", b = 1 }
            headers = { X-From = "source" }
            pages = { kind = "page", size = 50 }
            auth = { kind = "bearer", token = { credential = "t" } }
            schedule = { every = "20m", jitter = "5%" }
            http.headers = { x-level = "source" }
              [[source.resource]]
              name = "own"
              path = "/own"
              entity = "Item"
              params = { b = [1, true], c = 1.5 }
              headers = { x-from = "resource" }
              schedule.every = "30m"
              pages = { size = 10 }
              auth = { kind = "none" }
              http.headers = { X-Level = "resource" }
              [[source.resource]]
              name = "inherits"
              path = "/inherits"
              entity = "Item"
              pages = { kind = "link-header" }
            """

    @Test func theResourceGoesBeforeTheSourceBeforeTheDefaultsBeforeTheBuiltIn() throws {
        let result = try configuration(text)
        let own = try #require(result.resource(scope: "s/own"))
        let inherits = try #require(result.resource(scope: "s/inherits"))
        #expect(own.schedule.every == .minutes(30))
        #expect(inherits.schedule.every == .minutes(20))
        #expect(own.schedule.jitter == Percentage(percent: 5))
        #expect(own.schedule.maxAge == .span(.hours(1)))
        #expect(own.schedule.maxInterval == .hours(24))
        #expect(own.url == "https://api.example.com/v1/own")
    }

    @Test func headersAndParametersAreLaidOverEachOtherByName() throws {
        let own = try #require(try configuration(text).resource(scope: "s/own"))
        #expect(
            own.parameters == [
                .init(name: "a", value: "source"), .init(name: "b", value: "1"), .init(name: "b", value: "true"),
                .init(name: "c", value: "1.5"),
            ])
        #expect(own.headers == [.init(name: "x-from", value: "resource")])
        #expect(own.http.headers == [.init(name: "Accept", value: "application/json"), .init(name: "X-Level", value: "resource")])
    }

    @Test func paginationAndCredentialsAreInheritedUnlessAnotherKindReplacesThem() throws {
        let result = try configuration(text)
        let own = try #require(result.resource(scope: "s/own"))
        let inherits = try #require(result.resource(scope: "s/inherits"))
        guard case .page(let page) = own.pagination.kind else { Issue.record("\(own.pagination)"); return }
        #expect(page.size == 10)
        #expect(page.sizeParameter == "per_page")
        #expect(inherits.pagination.kind == .linkHeader(relation: "next"))
        #expect(own.authentication == .none)
        #expect(inherits.authentication == .bearer(.init(token: .credential("t"))))
    }

    @Test func everySettingKnowsWhereItComesFrom() throws {
        let resolved = try #require(read(text).resolved)
        func origin(_ path: String) -> String? { resolved.settings.first { $0.keyPath == path }?.origin.description }
        #expect(origin("source.s.resource.own.schedule.every") == "/c/cisternd.toml:25")
        #expect(origin("source.s.resource.inherits.schedule.every") == "/c/cisternd.toml:17")
        #expect(origin("source.s.resource.own.schedule.max_age") == "/c/cisternd.toml:6")
        #expect(origin("source.s.resource.own.schedule.max_interval") == "default")
        #expect(origin("source.s.resource.own.key") == "derived")
        #expect(origin("defaults.schedule.every") == "/c/cisternd.toml:5")
    }

    @Test func theResolvedTextReadAgainGivesTheSameConfiguration() throws {
        let reading = read(text + ModelReadingTests.github)
        #expect(reading.errors.map(\.description) == [])
        let resolved = try #require(reading.resolved)
        for origins in [false, true] {
            let again = read(resolved.toml(origins: origins))
            #expect(again.errors.map(\.description) == [], "\(resolved.toml())")
            #expect(again.configuration == reading.configuration)
        }
    }

    @Test func theBuiltInTextReadAgainIsTheEmptyConfiguration() {
        let text = ResolvedConfiguration.builtIn.toml()
        #expect(read(text).problems.map(\.description) == [])
        #expect(read(text).configuration == read("").configuration)
        #expect(text.contains("# key_compare = \"bytes\"  # in force"))
    }

    @Test func variablesInPathsComeFromTheGivenEnvironmentOnly() throws {
        let given = read("", environment: ["STATE_DIRECTORY": "/srv/a:/srv/b", "RUNTIME_DIRECTORY": "/run/x"]).configuration
        #expect(given?.document.path == "/srv/a")
        #expect(given?.control.socket == "/run/x/control.sock")
        let fallback = read("[document]\npath = \"$STATE_DIRECTORY/data\"\n").configuration
        #expect(fallback?.document.path == "/var/lib/cistern/data")
        #expect(fallback?.control.socket == "/run/cistern/control.sock")
        #expect(errors("[document]\npath = \"$HOME/x\"\n").count == 1)
    }
}
