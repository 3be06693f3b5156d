import SyncConfiguration
import Testing

@testable import SyncDaemon

@Suite struct ReloadTests {
    private func reader(_ text: String) -> ConfigurationReader {
        ConfigurationReader(path: "/c/cisternd.toml", files: ConfigurationTexts(["/c/cisternd.toml": text]))
    }

    private func decide(from old: String, to new: String) throws -> Reload.Outcome {
        Reload(reader: reader(new)).decide(inForce: try reader(old).configuration())
    }

    @Test func theSameAgainIsNoChange() throws {
        guard case .unchanged = try decide(from: TestConfiguration.text, to: TestConfiguration.text + "\n# a remark\n") else {
            return #expect(Bool(false), "expected no change")
        }
    }

    @Test func aChangedScheduleIsApplied() throws {
        let new = TestConfiguration.text.replacing("every = \"15m\"", with: "every = \"30m\"")
        guard case .apply(let configuration, let difference, _) = try decide(from: TestConfiguration.text, to: new) else {
            return #expect(Bool(false), "expected a change")
        }
        #expect(configuration.resource(scope: "iso/countries")?.schedule.every == .minutes(30))
        #expect(Reload.summary(difference) == "2 resources changed")
    }

    @Test func errorsKeepTheOldOneWithFileLineAndSuggestion() throws {
        let new = TestConfiguration.text.replacing("every = ", with: "evry = ")
        guard case .invalid(let problems) = try decide(from: TestConfiguration.text, to: new) else {
            return #expect(Bool(false), "expected errors")
        }
        let text = problems.map(\.description).joined(separator: "\n")
        #expect(text.contains("/c/cisternd.toml:4: "))
        #expect(text.contains("did you mean \"every\"?"))
    }

    @Test func whatIsReadOnceNeedsARestart() throws {
        let new = "[control]\nsteer_group = \"adm\"\n" + TestConfiguration.text.replacing("version = 1\n", with: "")
        guard case .needsRestart(let reasons) = try decide(from: TestConfiguration.text, to: "version = 1\n" + new) else {
            return #expect(Bool(false), "expected a restart")
        }
        #expect(reasons == ["control.steer_group"])
    }

    @Test(arguments: [
        ("name = { type = \"string\" }", "name = { type = \"string\", index = true }", "1 entity of the model changed"),
        ("version = 1\n", "version = 1\n[store]\nsynchronous = \"normal\"\n", "1 setting changed"),
    ])
    func aChangedModelAndWhatIsSetForTheStoreReopenTheDocument(old: String, new: String, words: String) throws {
        guard case .apply(_, let difference, _) = try decide(from: TestConfiguration.text, to: TestConfiguration.text.replacing(old, with: new))
        else {
            return #expect(Bool(false), "expected a change")
        }
        #expect(difference.reopensDocument)
        #expect(Reload.summary(difference) == words)
    }
}

enum TestConfiguration {
    static let text = """
        version = 1

        [defaults.schedule]
        every = "15m"

        [[source]]
        name = "iso"
        base_url = "http://127.0.0.1:1"

        [[source.resource]]
        name = "countries"
        entity = "Country"
        path = "/countries"

        [[source.resource]]
        name = "languages"
        entity = "Country"
        path = "/languages"

        [entity.Country]
        key = ["code"]
        [entity.Country.attributes]
        code = { type = "string", optional = false }
        name = { type = "string" }

        """
}
