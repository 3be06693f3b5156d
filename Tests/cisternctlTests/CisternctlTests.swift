import ArgumentParser
import Foundation
import SyncConfiguration
import SyncControl
import Synchronization
import Testing

@testable import cisternctl

/// What the tool writes where, and how it ends.
final class Outcome: Sendable {
    private let texts = Mutex((out: "", error: ""))

    var out: String { texts.withLock { $0.out } }
    var error: String { texts.withLock { $0.error } }

    func surroundings(
        _ files: [String: String] = [:], environment: [String: String] = [:], existing: Set<String> = [], isTerminal: Bool = false
    ) -> Surroundings {
        Surroundings(
            environment: environment,
            console: Console(
                write: { text in self.texts.withLock { $0.out += text } }, writeError: { text in self.texts.withLock { $0.error += text } },
                isTerminal: isTerminal, width: 80, hasColour: false),
            files: ConfigurationTexts(files), exists: { existing.contains($0) }, now: { Date(timeIntervalSince1970: 0) })
    }
}

@Suite struct CisternctlTests {
    private let outcome = Outcome()
    private let configuration = """
        version = 1
        [[source]]
        name = "iso"
        base_url = "http://127.0.0.1:1"
        [[source.resource]]
        name = "countries"
        entity = "Country"
        path = "/countries"
        [entity.Country]
        key = ["code"]
        [entity.Country.attributes]
        code = { type = "string", optional = false }
        [control]
        socket = "/elsewhere/control.sock"

        """

    private func run(_ arguments: String..., files: [String: String] = [:], environment: [String: String] = [:]) async -> ControlExitCode {
        await Cisternctl.run(arguments: arguments, surroundings: outcome.surroundings(files, environment: environment))
    }

    @Test func helpAndVersionAreZero() async {
        #expect(await run("--help") == .success)
        #expect(outcome.out.contains("accept-deletes"))
        #expect(await run("--version") == .success)
        #expect(outcome.out.contains(CisternVersion.current))
    }

    @Test(arguments: [
        ["frobnicate"], ["sync", "--bogus"], ["accept-deletes"], ["accept-deletes", "github"], ["quarantine", "list", "--limit", "0"], ["try"],
        ["reset", "github"], ["reset", "--cursor"],
    ])
    func aBadCommandLineIs64(_ arguments: [String]) async {
        #expect(await Cisternctl.run(arguments: arguments, surroundings: outcome.surroundings()) == .usage)
        #expect(!outcome.error.isEmpty)
        #expect(outcome.out.isEmpty)
    }

    @Test func noVerbIsTheHelpAndNotSuccess() async {
        #expect(await run() == .usage)
        #expect(outcome.out.contains("USAGE: cisternctl"))
    }

    @Test func withoutTheDaemonEveryVerbSaysHowToStartIt() async {
        for verb in [["status"], ["sync"], ["reload"], ["pause"], ["quarantine", "list"]] {
            let code = await Cisternctl.run(arguments: verb + ["--socket", "/nonexistent/s"], surroundings: outcome.surroundings())
            #expect(code == .unavailable)
        }
        #expect(
            outcome.error.hasPrefix(
                "cisternctl: cisternd is not running (no socket at /nonexistent/s); start it with `systemctl start cisternd`\n"))
    }

    @Test func eachStepOfAReloadIsALineWhereThereIsNoTerminal() {
        var progress = ReloadProgress()
        let told = [
            "Reloading: saving", "Copying the database before the change, 3 %", "Copying the database before the change, 40 %", "Reloading: saving",
        ]
        #expect(told.map { progress.take($0) } == [true, true, false, true])
    }

    @Test func optionsMayStandBeforeTheVerb() async {
        #expect(Cisternctl.verbFirst(["--socket", "/s", "reload", "--wait"]) == ["reload", "--wait", "--socket", "/s"])
        #expect(Cisternctl.verbFirst(["--json", "--config=/c", "query", "--", "-x"]) == ["query", "--json", "--config=/c", "--", "-x"])
        #expect(Cisternctl.verbFirst(["--help"]) == ["--help"])
        #expect(Cisternctl.verbFirst(["--socket"]) == ["--socket"])
        #expect(await run("--socket", "/nonexistent/s", "reload", "--wait") == .unavailable)
    }

    @Test func theSocketIsTheOneThatIsNamedFirst() throws {
        let files = ["/c.toml": configuration]
        func socket(_ arguments: [String], _ environment: [String: String] = [:], existing: Set<String> = []) throws -> String {
            let verb = try #require(try Cisternctl.parseAsRoot(["status"] + arguments) as? StatusVerb)
            return outcome.surroundings(files, environment: environment, existing: existing).socket(verb.options)
        }
        #expect(try socket([]) == "/run/cistern/control.sock")
        #expect(try socket([], ["RUNTIME_DIRECTORY": "/run/cistern-a"]) == "/run/cistern-a/control.sock")
        #expect(try socket(["--config", "/c.toml"], ["RUNTIME_DIRECTORY": "/run/x"]) == "/elsewhere/control.sock")
        #expect(try socket(["--socket", "/s", "--config", "/c.toml"]) == "/s")
        let user = "/run/user/7/cistern/control.sock"
        #expect(try socket([], ["XDG_RUNTIME_DIR": "/run/user/7"], existing: [user]) == user)
        #expect(try socket([], ["XDG_RUNTIME_DIR": "/run/user/7"]) == "/run/cistern/control.sock")
    }

    @Test func aGoodConfigurationChecksWithZero() async {
        #expect(await run("check", "--config", "/c.toml", files: ["/c.toml": configuration]) == .success)
        #expect(outcome.out.contains("The configuration can be used: 1 source, 1 resource, 1 entity"))
    }

    @Test func aBadConfigurationChecksWith78AndSaysWhere() async {
        let bad = configuration.replacing("base_url", with: "base_ur")
        #expect(await run("check", "--config", "/c.toml", files: ["/c.toml": bad]) == .configuration)
        #expect(outcome.out.contains("/c.toml:4: "))
        #expect(outcome.out.contains("did you mean \"base_url\"?"))
        #expect(outcome.out.contains("error"))
    }

    @Test func aMissingConfigurationIs78() async {
        #expect(await run("check", "--config", "/c.toml") == .configuration)
        #expect(outcome.out.contains("/c.toml: the file cannot be read"))
    }

    @Test func configShowPrintsWhatFilesSetAndResolvedPrintsAll() async {
        let files = ["/c.toml": configuration]
        #expect(await run("config", "show", "--config", "/c.toml", files: files) == .success)
        #expect(outcome.out.contains("path = \"/countries\""))
        #expect(!outcome.out.contains("shutdown_grace"))
        let all = Outcome()
        let code = await Cisternctl.run(
            arguments: ["config", "show", "--resolved", "--origin", "--config", "/c.toml"], surroundings: all.surroundings(files))
        #expect(code == .success)
        #expect(all.out.contains("shutdown_grace = \"20s\"  # default"))
        #expect(all.out.contains("# /c.toml:8"))
    }

    @Test func configDefaultIsAConfigurationFile() async {
        #expect(await run("config", "default") == .success)
        let reading = ConfigurationReader(path: "/d.toml", files: ConfigurationTexts(["/d.toml": outcome.out])).read()
        #expect(reading.errors == [])
    }

    @Test func configCapabilitiesNamesWhatAConfigurationCanSay() async throws {
        #expect(await run("config", "capabilities") == .success)
        let names = outcome.out.split(separator: "\n").map(String.init)
        #expect(names == Capability.supported && names.contains("pages.offset"))
    }

    private static let presets = [
        "/etc/cistern/presets/hub.toml": """
        [preset]
        summary = "a hub"
        documentation = "https://hub.example/docs"
        resources = ["repos"]
        [preset.credentials]
        "auth.token" = "a token"
        [preset.with]
        owner = { type = "name", required = true, meaning = "whose they are" }
        size = { type = "integer", default = 50, meaning = "how many" }
        [[source]]
        base_url = "https://hub.example"
        auth = { kind = "bearer" }
          [[source.resource]]
          name = "repos"
          path = "/{with.owner}"
          entity = "HubRepo"
          [[source.resource]]
          name = "issues"
          for_each = { resource = "repos", as = "repo" }
          path = "/{repo.id}/{with.size}"
          entity = "HubRepo"
        [entity.HubRepo]
        attributes = { id = { type = "int64" } }
        """,
        "/usr/share/cistern/presets/hub.toml": "[preset]\nsummary = \"another\"", "/usr/share/cistern/presets/bad.toml": "x =",
    ]

    @Test func configPresetsListsThemWithALineEach() async {
        var files = Self.presets
        #expect(await run("config", "presets", files: files) == .dataError)
        #expect(outcome.error.contains("/usr/share/cistern/presets/bad.toml:1:"))
        #expect(outcome.out.contains("hub") && outcome.out.contains("a hub") && !outcome.out.contains("another"))
        files["/usr/share/cistern/presets/bad.toml"] = nil
        let json = Outcome()
        #expect(await Cisternctl.run(arguments: ["config", "presets", "--json"], surroundings: json.surroundings(files)) == .success)
        #expect(json.out.contains("\"summary\" : \"a hub\"") || json.out.contains("\"summary\":\"a hub\""))
        let none = Outcome()
        #expect(await Cisternctl.run(arguments: ["config", "presets"], surroundings: none.surroundings()) == .success)
        #expect(none.out.isEmpty && none.error.contains("no presets are in /etc/cistern/presets or /usr/share/cistern/presets"))
    }

    // What is shown is the preset still: it can be kept as one.
    @Test func configPresetsShowsWhatOneWantsAndHas() async throws {
        #expect(await run("config", "presets", "hub", files: Self.presets) == .success)
        for line in [
            "#     [[source]]", "#     preset = \"hub\"", "#     auth.token = { credential = \"ID\" }", "#     owner = \"…\"",
            "#     auth.token  a token",
            "#     owner  name, required: whose they are", "#     size   integer, 50 unless said otherwise: how many", "#       repos   HubRepo",
            "#     + issues  HubRepo, one list for each of repos", "# /etc/cistern/presets/hub.toml", "# https://hub.example/docs",
        ] {
            #expect(outcome.out.contains(line + "\n"), "\(line)")
        }
        let library = PresetLibrary(directories: ["/p"], files: ConfigurationTexts(["/p/hub.toml": outcome.out]))
        #expect(try library.preset(named: "hub").parameters.map(\.name) == ["owner", "size"])
        let json = Outcome()
        #expect(await Cisternctl.run(arguments: ["config", "presets", "hub", "--json"], surroundings: json.surroundings(Self.presets)) == .success)
        #expect(json.out.contains("\"forEach\"") && json.out.contains("\"isDefault\""))
    }

    @Test(arguments: ["hup", "bad"]) func aPresetThatCannotBeShownIs65(name: String) async {
        #expect(await run("config", "presets", name, files: Self.presets) == .dataError)
        #expect(outcome.out.isEmpty && outcome.error.contains(name == "hup" ? "did you mean \"hub\"?" : "bad.toml:1:"))
    }

    @Test func modelShowPrintsTablesThatAreTheModel() async {
        let model = """
            <model><entity name="A">
            <attribute name="code" attributeType="String"><userInfo><entry key="sync.remoteKey" value="a.b"/></userInfo></attribute>
            <attribute name="sum" optional="YES" attributeType="Integer 64" derived="YES" derivationExpression="code.length"/>
            <uniquenessConstraints><uniquenessConstraint><constraint value="code"/></uniquenessConstraint></uniquenessConstraints>
            </entity></model>
            """
        let files = ["/m/One.xcdatamodel/contents": model]
        #expect(await run("model", "show", "/m/One.xcdatamodel", files: files) == .success)
        #expect(
            outcome.out == """
                # One

                [entity.A]
                key = ["code"]

                [entity.A.attributes]
                code = { path = "$.a.b", type = "string", optional = false, index = false }

                """)
        #expect(outcome.error.contains("contents:3: warning: entity \"A\": attribute \"sum\": the attribute is derived"))
        let json = Outcome()
        #expect(
            await Cisternctl.run(arguments: ["model", "show", "--json", "/m/One.xcdatamodel"], surroundings: json.surroundings(files)) == .success)
        #expect(json.out.contains("\"entity.A.attributes.code\"") && json.out.contains("\"versions\""))
    }

    private static func model(_ keys: String...) -> [String: String] {
        let userInfo = keys.map { "<entry key=\"\($0)\" value=\"\($0 == "relatedByAttribute" ? "mapped" : "code")\"/>" }.joined()
        return [
            "/m/One.xcdatamodel/contents": """
            <model><entity name="A"><attribute name="code" attributeType="String"/><userInfo>\(userInfo)</userInfo></entity>
            <entity name="B"><attribute name="id" attributeType="String"/></entity></model>
            """
        ]
    }

    @Test func modelShowPrintsNoKeyThatNamesNoAttribute() async {
        #expect(await run("model", "show", "/m/One.xcdatamodel", files: Self.model("relatedByAttribute")) == .success)
        #expect(outcome.error.contains("warning: entity \"A\": relatedByAttribute names mapped, which is no attribute of A: it is left out"))
        #expect(outcome.out.contains("[entity.B]") && !outcome.out.contains("[entity.A") && !outcome.out.contains("mapped"))
        let named = Outcome()
        #expect(
            await Cisternctl.run(
                arguments: ["model", "show", "/m/One.xcdatamodel"],
                surroundings: named.surroundings(Self.model("relatedByAttribute", "identityAttribute"))) == .success)
        #expect(named.out.contains("[entity.A]\nkey = [\"code\"]"))
    }

    @Test(arguments: [[], ["--json"]]) func aModelOfWhichAnErrorIsToldIs65(_ options: [String]) async {
        let files = [
            "/m/One.xcdatamodel/contents": """
            <model><entity name="A">
            <attribute name="code" attributeType="String"><userInfo><entry key="sync.isPrimaryKey" value="YES"/></userInfo></attribute>
            <attribute name="id" attributeType="String"/><userInfo><entry key="relatedByAttribute" value="id"/></userInfo>
            </entity></model>
            """
        ]
        let arguments = ["model", "show", "/m/One.xcdatamodel"] + options
        #expect(await Cisternctl.run(arguments: arguments, surroundings: outcome.surroundings(files)) == .dataError)
        #expect((outcome.error + outcome.out).contains("relatedByAttribute makes the key id, sync.isPrimaryKey makes it code"))
        #expect(outcome.out.contains("entity.A"))
    }

    @Test func whatIsNoModelIs65() async {
        #expect(await run("model", "show", "/m/None.xcdatamodeld") == .dataError)
        #expect(outcome.error.contains("/m/None.xcdatamodeld: can't be read: no such file"))
        #expect(await run("model") == .usage)
    }

    @Test func tryNamesTheResourcesThereAre() async {
        #expect(await run("try", "iso/contries", "--config", "/c.toml", files: ["/c.toml": configuration]) == .usage)
        #expect(outcome.error == "cisternctl: there is no resource \"iso/contries\"; there are iso/countries\n")
    }

    @Test func tryReadsSecretsAsTheDaemonDoesAndWarnsOfThoseThatOthersMayRead() async {
        let files = [
            "/c.toml": configuration.replacing(
                "path = \"/countries\"", with: "path = \"/countries\"\nauth = { kind = \"bearer\", token = { env = \"TOKEN\" } }")
        ]
        let warning = "the environment variable TOKEN can be read by other processes of the same user"
        #expect(await run("try", "iso/countries", "--config", "/c.toml", files: files) == .noPermission)
        #expect(outcome.error.contains(warning))
        #expect(outcome.error.contains("the environment variable TOKEN is not set; set it in the unit, or use a credential"))
        #expect(!outcome.error.contains("daemon.contact"))
        let second = Outcome()
        let code = await Cisternctl.run(
            arguments: ["try", "iso/countries", "--config", "/c.toml"], surroundings: second.surroundings(files, environment: ["TOKEN": "a\tb"]))
        #expect(code == .noPermission)
        #expect(second.error.contains("the environment variable TOKEN is not one line of printable text (byte 1)"))
    }

    @Test func queryNeedsAStoreAndTheProgram() async {
        let files = ["/c.toml": configuration]
        let state = ["STATE_DIRECTORY": "/state"]
        #expect(await run("query", "select 1", "--config", "/c.toml", files: files, environment: state) == .unavailable)
        #expect(outcome.error.contains("there is no store at /state/StoreContent/persistentStore"))
        let second = Outcome()
        let code = await Cisternctl.run(
            arguments: ["query", "select 1", "--config", "/c.toml"],
            surroundings: second.surroundings(
                files, environment: state.merging(["PATH": "/bin"]) { $1 }, existing: ["/state/StoreContent/persistentStore"]))
        #expect(code == .unavailable)
        #expect(second.error.contains("the program sqlite3 is not installed; install it (apt install sqlite3)"))
    }

    @Test func queryIsReadOnlyAndSafe() {
        let arguments = QueryVerb.arguments(store: "/s", sql: "select 1", json: false, isTerminal: false)
        #expect(arguments.contains("-readonly"))
        #expect(arguments.contains("-safe"))
        #expect(arguments.suffix(2) == ["/s", "select 1"])
        #expect(QueryVerb.arguments(store: "/s", sql: "", json: true, isTerminal: true).contains("-json"))
        #expect(QueryVerb.find("sqlite3", in: "/a:/b", exists: { $0 == "/b/sqlite3" }) == "/b/sqlite3")
    }

    @Test func theVersionIsSaidWithoutTheDaemonToo() async {
        #expect(await run("version", "--socket", "/nonexistent/s") == .success)
        #expect(outcome.out == "cisternctl \(CisternVersion.current)\ncisternd does not answer\n")
    }
}
