import Foundation
import Testing

@testable import SyncConfiguration

/// The presets of the package.
@Suite struct ShippedPresetTests: PresetReading {
    private static let root = URL(fileURLWithPath: #filePath)
        .resolvingSymlinksInPath().deletingLastPathComponent().appendingPathComponent("../../../..").standardizedFileURL.path
    private static let library = PresetLibrary(directories: ["\(root)/etc/cistern/presets"])

    /// A service, what has to be said of it, and what may be.
    struct Service: Sendable, CustomTestStringConvertible {
        let name: String
        let credential: String?
        var with: [String] = []
        var variants: [[String]] = [[]]
        var testDescription: String { name }
    }

    static let services = [
        Service(name: "crossref", credential: nil, with: ["filter = \"member:98\"", "mailto = \"me@example.org\""]),
        Service(name: "github", credential: "token", with: ["owner = \"apple\""], variants: [[], ["repositories = [\"swift-nio\", \".github\"]"]]),
        Service(name: "gitlab", credential: "token", variants: [[], ["group = \"a/b\""], ["projects = [\"a/b\", \"7\"]"]]),
        Service(name: "hubspot", credential: "token", variants: [[], ["contact_properties = [\"email\"]"]]),
        Service(name: "jira", credential: "password", with: ["site = \"acme\"", "email = \"me@example.org\"", "projects = [\"A\", \"B\"]"]),
        Service(name: "notion", credential: "token"),
        Service(name: "shopify", credential: "value", with: ["shop = \"acme\""], variants: [[], ["since = \"-30d\""]]),
        Service(
            name: "slack", credential: "token", variants: [[], ["since = \"-1d\"", "reread = \"1d\"", "channel_types = \"public_channel,im\""]]),
        Service(name: "stripe", credential: "token"),
        Service(name: "zendesk", credential: "password", with: ["subdomain = \"acme\"", "email = \"me@example.org\""]),
    ]

    private func reading(_ service: Service, _ lines: String = "", variant: [String] = []) throws -> ConfigurationReading {
        let preset = try Self.library.preset(named: service.name)
        let credential = service.credential.map { "auth.\($0) = { credential = \"id\" }" } ?? ""
        let text = """
            [daemon]
            contact = "me@example.org"
            [[source]]
            preset = "\(service.name)"
            \(credential)
            \(lines)
            [source.with]
            \((service.with + variant).joined(separator: "\n"))
            """
        return reading(text, presets: [service.name: preset.text])
    }

    @Test func everyPresetHasATest() {
        #expect(Self.library.names == Self.services.map(\.name))
    }

    // With as little as possible, with everything, and with each resource by itself.
    @Test(arguments: services) func thePresetIsReadWithoutAnyProblem(service: Service) throws {
        let preset = try Self.library.preset(named: service.name)
        let all = preset.resources.map(\.name)
        for variant in service.variants {
            let least = try reading(service, variant: variant)
            #expect(least.problems.map(\.description) == [])
            #expect(least.configuration?.sources.first?.resources.map(\.name) == preset.resources.filter(\.isDefault).map(\.name))
            let most = try reading(service, "resources = [\(all.map { "\"\($0)\"" }.joined(separator: ", "))]", variant: variant)
            #expect(most.problems.map(\.description) == [])
            #expect(most.configuration?.sources.first?.resources.map(\.name) == all)
            for name in all {
                let one = try reading(service, "resources = [\"\(name)\"]", variant: variant)
                #expect(one.problems.map(\.description) == [], "\(name)")
                #expect(one.configuration?.sources.first?.resource(named: name) != nil, "\(name)")
            }
            // No place is left over, wherever it would stand.
            #expect(most.resolved?.toml().contains("{with.") == false)
        }
    }

    @Test(arguments: services) func whatIsResolvedIsReadAgain(service: Service) throws {
        let first = try reading(service)
        let again = SyncConfigurationTests.read(try #require(first.resolved).toml())
        #expect(again.errors.map(\.description) == [] && again.configuration == first.configuration)
    }

    // Nobody reads a preset who does not know what comes of it: all that can be wrong about whom it asks, and how.
    @Test(arguments: services) func thePresetKeepsToTheRulesOfTheHouse(service: Service) throws {
        let preset = try Self.library.preset(named: service.name)
        #expect(preset.documentation.hasPrefix("https://") && !preset.summary.isEmpty && preset.parameters.allSatisfy { !$0.meaning.isEmpty })
        let names = preset.resources.map { "\"\($0.name)\"" }.joined(separator: ", ")
        let configuration = try #require(try reading(service, "resources = [\(names)]").configuration)
        for resource in configuration.sources[0].resources {
            #expect(resource.url.hasPrefix("https://"), "\(resource.scope)")
            #expect(!resource.pagination.stop.shortPage, "\(resource.scope)")
            #expect(resource.schedule.every >= .minutes(15), "\(resource.scope)")
            #expect(resource.method == .get || resource.isIdempotent, "\(resource.scope)")
            #expect((resource.authentication == .none) == (service.credential == nil), "\(resource.scope)")
            #expect(resource.http.nextLinks == .sameOrigin && resource.http.redirects == .sameOrigin, "\(resource.scope)")
            #expect(resource.retry == RetryConfiguration(), "\(resource.scope)")
        }
        // Its entities are called as it is, so that several presets stand in one model.
        let prefix = configuration.model.entities.map(\.name).reduce(configuration.model.entities[0].name) { $0.commonPrefix(with: $1) }
        #expect(prefix.lowercased().hasPrefix(service.name), "\(prefix)")
    }

    @Test func allOfThemStandInOneConfiguration() throws {
        var text = "[daemon]\ncontact = \"me@example.org\"\n"
        var presets: [String: String] = [:]
        for service in Self.services {
            presets[service.name] = try Self.library.preset(named: service.name).text
            let credential = service.credential.map { "auth.\($0) = { credential = \"id\" }" } ?? ""
            text += "[[source]]\npreset = \"\(service.name)\"\n\(credential)\n[source.with]\n\(service.with.joined(separator: "\n"))\n"
        }
        let reading = reading(text, presets: presets)
        #expect(reading.problems.map(\.description) == [])
        #expect(reading.configuration?.sources.map(\.name) == Self.services.map(\.name))
    }

    // The example of the manual, word for word.
    @Test func theExampleOfTheManualIsAConfiguration() throws {
        let page = try String(contentsOfFile: "\(Self.root)/docs/man/cisternd.toml.5", encoding: .utf8)
        let section = try #require(page.components(separatedBy: ".SH PRESETS\n").last?.components(separatedBy: "\n.SH ")[0])
        let example = try #require(section.components(separatedBy: ".EX\n").last?.components(separatedBy: ".EE\n")[0]).replacing("\\-", with: "-")
        let preset = try Self.library.preset(named: "github").text
        let configuration = try configuration(example, presets: ["github": preset])
        #expect(configuration.sources[0].resource(named: "repositories")?.partitions?.kind == .values(["swift-nio", "swift-log"]))
        #expect(configuration.sources[0].resource(named: "issues")?.authentication == .bearer(.init(token: .credential("github_token"))))
    }

    // cisternd.toml(5) lists what there is, no more and no less.
    @Test(arguments: services) func theManualListsWhatThePresetHas(service: Service) throws {
        let page = try String(contentsOfFile: "\(Self.root)/docs/man/cisternd.toml.5", encoding: .utf8)
        let section = try #require(page.components(separatedBy: ".SH PRESETS\n").last?.components(separatedBy: "\n.SH ")[0])
        let preset = try Self.library.preset(named: service.name)
        let others = preset.resources.filter { !$0.isDefault }.map(\.name).joined(separator: ", ")
        let parameters = preset.parameters.map { $0.isRequired ? "\\fB\($0.name)\\fR" : $0.name }.joined(separator: ", ")
        let row =
            [
                "\\fB\(service.name)\\fR|T{",
                preset.resources.filter(\.isDefault).map(\.name).joined(separator: ", ") + (others.isEmpty ? ";" : " (\(others));"),
            ]
            + (parameters.isEmpty ? [] : ["with \(parameters);"])
            + [preset.credentials.isEmpty ? "no credentials" : preset.credentials.map { "\\fB\($0.keyPath)\\fR" }.joined(separator: ", "), "T}"]
        #expect(section.contains(row.joined(separator: "\n") + "\n"), "\(row)")
    }

    @Test func theManualListsNoOtherPreset() throws {
        let page = try String(contentsOfFile: "\(Self.root)/docs/man/cisternd.toml.5", encoding: .utf8)
        let section = try #require(page.components(separatedBy: ".SH PRESETS\n").last?.components(separatedBy: "\n.SH ")[0])
        #expect(section.matches(of: #/\\fB([a-z]+)\\fR\|T\{/#).map { String($0.output.1) } == Self.library.names)
    }

    @Test(arguments: services) func theExampleOfThePresetIsAConfiguration(service: Service) throws {
        let preset = try Self.library.preset(named: service.name)
        // What has to be filled in is filled in: a name of one letter does everywhere.
        let text = preset.example.joined(separator: "\n").replacing("\"…\"", with: "\"x\"")
        #expect(errors(text, presets: [service.name: preset.text]) == [])
    }

    @Test func whatIsWrongWithAPresetIsThrown() {
        #expect { try PresetLibrary(directories: ["/nowhere"]).preset(named: "x") } throws: {
            "\($0)".contains("there is no preset \"x\"; none is in /nowhere")
        }
        let files = ConfigurationTexts(["/p/x.toml": "[preset]\nsummary = 1\n", "/p/.hidden.toml": "", "/p/y.txt": ""])
        let library = PresetLibrary(directories: ["/p"], files: files)
        #expect(library.names == ["x"])
        #expect { try library.preset(named: "x") } throws: { ($0 as? ConfigurationError)?.problems.count ?? 0 >= 2 }
    }
}
