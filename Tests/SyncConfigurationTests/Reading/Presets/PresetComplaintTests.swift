import Testing

@testable import SyncConfiguration

/// What is wrong with a source that names a preset, or with a preset: said where it stands, with all that there is to choose from.
@Suite struct PresetComplaintTests: PresetReading {
    private static let known =
        "parameters: owner: name, required; repos: list of texts, optional; site: name, \"api\" unless said otherwise; "
        + "state: \"open\" or \"all\", \"all\" unless said otherwise; size: integer, 50 unless said otherwise; keys: list of names, optional"

    @Test func aMissingParameterIsNamedWithWhatItIsForAndAllOthers() {
        let missing = source().replacing("owner = \"ada\"", with: "size = 1")
        #expect(
            errors(missing) == [
                "/c/cisternd.toml:5: source \"hub\": with: \"owner\" is missing: whose repositories are meant; "
                    + "write owner = \"…\" in [source.with] (\(Self.known))"
            ])
        let none = "[[source]]\npreset = \"hub\"\nauth.token = { credential = \"t\" }\n"
        #expect(errors(none).map { $0.contains("/c/cisternd.toml:1: source \"hub\": with: \"owner\" is missing") } == [true])
    }

    @Test func anUnknownParameterIsNamedWithTheOneThatWasMeant() {
        let near = errors(source(with: "stat = \"open\""))
        #expect(near.count == 1 && near[0].contains("/c/cisternd.toml:7: source \"hub\": with: the preset hub has no parameter \"stat\""), "\(near)")
        #expect(near[0].contains("did you mean \"state\"? (\(Self.known))"), "\(near)")
        let far = errors(source(with: "somethingElse = 1"))
        #expect(far.count == 1 && far[0].hasSuffix("has no parameter \"somethingElse\"; \(Self.known)"), "\(far)")
    }

    @Test(arguments: [
        ("owner = 1", "with.owner: expected a text of letters"), ("owner = \"a/b\"", "with.owner: \"a/b\" is not a name"),
        ("owner = \"..\"", "with.owner: \"..\" is not a name"),
        ("owner = \"ada\"\nstate = \"closed\"", "with.state: \"closed\" is none of its values"),
        ("owner = \"ada\"\nsize = \"5\"", "write it without quotes"), ("owner = \"ada\"\nrepos = \"x\"", "write it in brackets"),
        ("owner = \"ada\"\nrepos = []", "with.repos: the list is empty"), ("owner = \"ada\"\nrepos = [\"a\", \"a\"]", "appears twice in the list"),
        ("owner = \"ada\"\nrepos = [\"{since}\"]", "a value of a preset has no places of its own"),
        ("owner = \"ada\"\nsite = \"a.b\"", "with.site: \"a.b\" is not one label of a host's name"),
        ("owner = \"ada\"\nsite = \"-a\"", "with.site: \"-a\" is not one label of a host's name"),
    ]) func aValueThatIsNoneIsRefusedWhereItIsSaid(lines: String, message: String) {
        let found = errors(source().replacing("owner = \"ada\"", with: lines))
        #expect(found.count == 1 && found[0].hasPrefix("/c/cisternd.toml:") && found[0].contains(message), "\(found)")
    }

    // A value cannot end the text that it stands in.
    @Test func aPredicateAndAHeaderTakeNoSpecialCharacters() {
        let preset = Self.hub.replacing("one_of = [\"open\", \"all\"], default = \"all\", ", with: "default = \"all\", ")
        let quote = errors(source(with: "state = \"' OR ''='\""), presets: ["hub": preset])
        #expect(quote.contains { $0.contains("with.state: \"' OR ''='\" cannot be part of a predicate") }, "\(quote)")
        let name = Self.hub.replacing("owner = { type = \"name\"", with: "owner = { type = \"text\"")
        let header = errors(source().replacing("\"ada\"", with: "\"ä\""), presets: ["hub": name])
        #expect(header.contains { $0.contains("with.owner: \"ä\" cannot be part of a header") }, "\(header)")
        let dots = errors(source().replacing("\"ada\"", with: "\"..\""), presets: ["hub": name])
        #expect(dots.count == 1 && dots[0].contains("with.owner: \"..\" cannot be part of an address"), "\(dots)")
    }

    @Test func aMissingCredentialIsNamedOnce() {
        let text = source().replacing("auth.token = { credential = \"t\" }", with: "")
        let expected =
            "/c/cisternd.toml:1: source \"hub\": auth: \"auth.token\" is missing: a token that may read; write auth.token = { credential = \"ID\" }"
        #expect(errors(text) == [expected])
        // A source that authenticates itself otherwise needs another one, or none.
        #expect(errors(source().replacing("auth.token = { credential = \"t\" }", with: "auth = { kind = \"none\" }")) == [])
    }

    @Test func aPresetThatThereIsNotIsNamedWithTheOneThatWasMeant() {
        let found = errors("[[source]]\npreset = \"hup\"\n")
        #expect(found == ["/c/cisternd.toml:2: source \"hup\": preset: there is no preset \"hup\"; did you mean \"hub\"?"])
        let none = errors("[[source]]\npreset = \"hub\"\n", presets: [:])
        #expect(none.count == 1 && none[0].contains("none is in /c/presets or /usr/share/cistern/presets"), "\(none)")
    }

    @Test func whatAPresetIsForNeedsOne() {
        for line in ["with = { a = 1 }", "resources = [\"a\"]", "entity_prefix = \"A\""] {
            let found = errors(itemSource + line)
            #expect(found.count == 1 && found[0].contains("is for a source with a preset; write preset = \"NAME\", or remove it"), "\(found)")
        }
    }

    @Test func everyKeyRefusesWhatItCannotBe() {
        for key in PresetUseTable.keys {
            #expect(key.wrong.count >= 2)
            for value in key.wrong {
                let text = key.name == "preset" ? "[[source]]\nname = \"x\"\npreset = \(value)\n" : source("\(key.name) = \(value)")
                let found = reading(text).errors
                let isNamed = found.contains { $0.keyPath.hasSuffix(".\(key.name)") && $0.line != nil && $0.suggestion?.isEmpty == false }
                #expect(isNamed, "\(key.name) = \(value): \(found)")
            }
        }
    }

    @Test func resourcesAreNamedAsThePresetHasThem() {
        let unknown = errors(source("resources = [\"issue\", \"repos\"]"))
        #expect(unknown.count == 1 && unknown[0].contains("the preset hub has no resource \"issue\"; did you mean \"issues\"?"), "\(unknown)")
        let left = errors(source("resources = [\"repos\"]", after: "[[source.resource]]\nname = \"issues\"\nschedule.every = \"1m\""))
        #expect(left.count == 1 && left[0].contains("resource \"issues\": the resource is not among resources; add \"issues\" there"), "\(left)")
    }

    // Their rows would be one another's.
    @Test func twoServersDoNotShareEntities() {
        let other = source("name = \"other\"", with: "site = \"eu\"")
        let found = errors(source() + "\n" + other)
        #expect(found.count == 1 && found[0].contains("whose keys are unique within one server only; write entity_prefix"), "\(found)")
        let account = Self.hub.replacing("summary = \"a hub\"", with: "summary = \"a hub\"\nunique = \"account\"")
        let accounts = errors(source() + "\n" + source("name = \"other\""), presets: ["hub": account])
        #expect(accounts.count == 1 && accounts[0].contains("unique within one account only"), "\(accounts)")
        let twins = errors(source() + "\n" + source().replacing("\"hub\"", with: "\"twin\""), presets: ["hub": Self.hub, "twin": Self.hub])
        #expect(twins.contains { $0.contains("the entity \"HubIssue\" is in the preset hub, too") }, "\(twins)")
    }

    // MARK: In the preset's file

    @Test(arguments: [
        ("schedule.every = \"1h\"", "schedule.evry = \"1h\"", "/c/presets/hub.toml:19: source \"hub\": schedule: unknown key \"evry\""),
        ("entity = \"HubRepo\"\n  params", "entity = \"HubRepos\"\n  params", "there is no entity \"HubRepos\""),
        ("summary = \"a hub\"", "summry = \"a hub\"", "preset \"hub\": preset: unknown key \"summry\"; did you mean \"summary\"?"),
        ("[preset]", "[presets]\nx = 1\n[preset]", "/c/presets/hub.toml:1: preset \"hub\": unknown key \"presets\""),
        ("type = \"name\", required", "type = \"nam\", required", "did you mean \"name\"?"),
        ("type = \"name\", required = true", "required = true", "\"type\" is missing"),
        ("meaning = \"whose repositories are meant\"", "one_of = [\"ada\"]", "\"meaning\" is missing"),
        ("default = 50", "default = \"x\"", "expected an integer"),
        ("required = true", "required = true, default = \"a\"", "what is required has no default"),
        ("resources = [\"repos\", \"issues\"]", "resources = [\"repo\"]", "the preset has no resource \"repo\"; did you mean \"repos\"?"),
        ("when_missing = [\"repos\"]", "when_missing = [\"rep\"]", "the preset has no parameter \"rep\""),
        ("{with.size}", "{with.sizee}", "{with.sizee}: the preset has no such parameter; did you mean \"size\"?"),
        ("\"{with.keys}\", q", "\"a{with.keys}\", q", "{with.keys} is a part of a text, and keys need not be given"),
        ("q = \"owner:{with.owner}", "q = \"owner:{with.owner", "{with.owner size>{with.size} is no place for a value"),
        ("name = \"repos\"\n  when_missing", "when_missing", "\"name\" is missing"),
        ("\"auth.token\"", "token", "\"token\" is no key of a table of the source"),
        (
            "type = \"int64\", optional = false }\n", "type = \"int64\", optional = false }\nx = { type = \"{with.site}\" }\n",
            "an entity has no places for values"
        ),
        ("base_url", "preset = \"hub\"\nbase_url", "\"preset\" is for the source that names the preset"),
    ]) func aMistakeInAPresetIsNamedInItsFile(text: String, mistake: String, message: String) {
        let broken = Self.hub.replacing(text, with: mistake)
        #expect(broken != Self.hub, "\(text)")
        let found = errors(source(), presets: ["hub": broken])
        #expect(found.contains { $0.hasPrefix("/c/presets/hub.toml:") && $0.contains(message) }, "\(found)")
    }

    @Test func aListIsNoPartOfATextByItself() {
        let preset = Self.hub.replacing("q = \"owner:{with.owner}", with: "q = \"{with.repos}:")
        let found = errors(source(with: "repos = [\"a\", \"b\"]"), presets: ["hub": preset])
        #expect(found.count == 1 && found[0].contains("{with.repos} is a list, and a part of a text; write {with.repos:join(,)}"), "\(found)")
        let joined = preset.replacing("{with.repos}:", with: "{with.repos:join(\\\", \\\")}:")
        let issues = try? configuration(source(with: "repos = [\"a\", \"b\"]"), presets: ["hub": joined]).sources[0].resources[1]
        #expect(issues?.parameters.first?.value == "a\", \"b: size>50")
    }

    @Test func aFileThatIsNoPresetIsRefusedAsAWhole() {
        #expect(errors(source(), presets: ["hub": "x ="]).map { $0.hasPrefix("/c/presets/hub.toml:1:") } == [true])
        let none = errors(source(), presets: ["hub": "[preset]\nsummary = \"x\"\n"])
        #expect(none.count == 1 && none[0].contains("a preset has one source, and this has 0; write [[source]] once"), "\(none)")
        var files = ConfigurationTexts(["/c/cisternd.toml": source()])
        files.files["/c/presets/hub.toml"] = [0xFF]
        let found = ConfigurationReader(path: "/c/cisternd.toml", files: files).read().errors
        #expect(found.map(\.message) == ["the file is not valid UTF-8"])
    }
}
