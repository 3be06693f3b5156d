import Foundation
import OpenCoreData
import SyncConfiguration
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Maps of records by name.
@Suite struct RecordNameTests {
    private let api = ScriptedAPI()

    private static let snapshot = "deletion = { detect = \"snapshot\", confirm_runs = 1, max_fraction = 1.0 }"

    /// A resource of coins, and what it says of its map.
    private static func coins(
        _ lines: String = "map_key = \"symbol\"", key: String = "[\"symbol\"]", others: String = "", relationships: String = ""
    ) -> String {
        ScriptedAPI.configuration(
            ScriptedAPI.resource("coins", of: "Coin", "records = \"$.data.*\"\n\(snapshot)\n\(lines)"), others,
            defaults: "[defaults.limits]\nmax_bad_fraction = 1.0",
            entities: """
                [entity.Coin]
                key = \(key)
                [entity.Coin.attributes]
                id = { type = "int64" }
                symbol = { type = "string" }
                rank = { type = "int32" }
                label = { type = "string" }
                number = { type = "int16" }
                region = { type = "string" }
                \(relationships)
                """)
    }

    private func set(_ data: String, etag: String? = nil) { api.set("/coins", #"{"at": 1, "data": \#(data)}"#, etag: etag) }

    private func live(_ fixture: PipelineFixture, _ attribute: String = "symbol") async throws -> [String] {
        try await fixture.values(attribute, of: "Coin", where: "cisternDeletedAt == nil")
    }

    private func reload(_ fixture: PipelineFixture, _ toml: String) async throws {
        try await fixture.pipeline.reload(try PipelineFixture.configuration(toml))
    }

    @Test(arguments: [true, false]) func aMapIsMirroredByItsNames(isPacking: Bool) async throws {
        set(#"{"BTC": {"rank": 1}, "ETH": {"rank": 2}, "\u00d6\"": {"rank": 3, "symbol": "a lie"}}"#)
        let fixture = try await api.fixture(Self.coins())
        fixture.pipeline.parseProbe.withLock { $0 = ParseProbe(batchSize: 1000, isPacking: isPacking) }
        let first = try await fixture.sync("api/coins")
        #expect(first.isComplete && first.counts.inserted == 3, "\(first)")
        #expect(try await live(fixture) == ["BTC", "ETH", "Ö\""])
        // One changes, one stays, one goes and one comes.
        set(#"{"Ö\"": {"rank": 3, "symbol": "a lie"}, "ETH": {"rank": 7}, "XRP": {"rank": 1}}"#)
        let second = try await fixture.sync("api/coins")
        #expect(second.counts.unchanged == 1 && second.counts.updated == 1 && second.counts.inserted == 1 && second.counts.deleted == 1, "\(second)")
        #expect(try await live(fixture) == ["ETH", "XRP", "Ö\""])
        #expect(try await live(fixture, "rank") == ["1", "3", "7"])
        // As it was.
        #expect(try await fixture.sync("api/coins").notModifiedPages == 1)
        try await fixture.end()
    }

    // Their texts are the same.
    @Test(arguments: [true, false]) func recordsThatSayTheSameAreToldApartByTheirNames(isPacking: Bool) async throws {
        set(#"{"a": {"rank": 1}, "b": {"rank": 1}}"#)
        let fixture = try await api.fixture(Self.coins())
        fixture.pipeline.parseProbe.withLock { $0 = ParseProbe(batchSize: 1000, isPacking: isPacking) }
        #expect(try await fixture.sync("api/coins").counts.inserted == 2)
        set(#"{"b": {"rank": 1}, "c": {"rank": 1}}"#)
        let report = try await fixture.sync("api/coins")
        #expect(report.counts.unchanged == 1 && report.counts.inserted == 1 && report.counts.deleted == 1, "\(report)")
        #expect(try await live(fixture) == ["b", "c"])
        try await fixture.end()
    }

    // The row is told by its id, and its record says what it said.
    @Test(arguments: [true, false]) func aRecordThatOnlyChangesItsNameIsAnUpdate(isPacking: Bool) async throws {
        set(#"{"x": {"id": 1}, "y": {"id": 2}}"#)
        let fixture = try await api.fixture(Self.coins("map_key = \"label\"", key: "[\"id\"]"))
        fixture.pipeline.parseProbe.withLock { $0 = ParseProbe(batchSize: 1000, isPacking: isPacking) }
        try await fixture.sync("api/coins")
        set(#"{"z": {"id": 1}, "y": {"id": 2}}"#)
        let report = try await fixture.sync("api/coins")
        #expect(report.counts.updated == 1 && report.counts.unchanged == 1, "\(report)")
        #expect(try await live(fixture, "label") == ["y", "z"])
        try await fixture.end()
    }

    @Test func listsByNameGiveTheirNameToEachRecord() async throws {
        set(#"{"eu": [{"id": 1}, {"id": 2}], "us": {"id": 3}}"#)
        let fixture = try await api.fixture(Self.coins("map_key = \"region\"", key: "[\"region\", \"id\"]"))
        #expect(try await fixture.sync("api/coins").counts.inserted == 3)
        #expect(try await live(fixture, "region") == ["eu", "eu", "us"])
        // The same id under another name is another row.
        set(#"{"eu": [{"id": 1}], "us": [{"id": 3}, {"id": 2}]}"#)
        let report = try await fixture.sync("api/coins")
        #expect(report.counts.inserted == 1 && report.counts.deleted == 1 && report.counts.unchanged == 2, "\(report)")
        try await fixture.end()
    }

    // MARK: Integers

    @Test func aNameIsAnIntegerAsItIsWrittenOrItsRecordIsSetAside() async throws {
        set(#"{"7": {}, "-8": {}, "07": {}, "+9": {}, "1.0": {}, "x": {}, "": {}, "40000": {}, " 5": {}, "-0": {}, "32767": {}}"#)
        let fixture = try await api.fixture(Self.coins("map_key = \"number\"", key: "[\"number\"]"))
        let report = try await fixture.sync("api/coins")
        #expect(report.counts.inserted == 3 && report.counts.quarantined == 8, "\(report)")
        #expect(try await live(fixture, "number") == ["-8", "32767", "7"])
        let reasons = try await fixture.values("reason", of: "CisternQuarantine")
        // Each is there by itself, although all of them say the same.
        #expect(reasons.count == 8)
        #expect(reasons.contains("in \"07\": number: the name \"07\" is not an integer"), "\(reasons)")
        #expect(reasons.contains("in \"40000\": number: the name \"40000\" does not fit int16"), "\(reasons)")
        // Which row it would be is not known: none is missing for certain.
        set(#"{"7": {}, "x": {}}"#)
        let fewer = try await fixture.sync("api/coins")
        #expect(fewer.counts.deleted == 0, "\(fewer)")
        #expect(try await live(fixture, "number").count == 3)
        try await fixture.end()
    }

    @Test func aRecordInAListHasNoName() async throws {
        set(#"[{"rank": 1}, {"rank": 2}]"#)
        let fixture = try await api.fixture(Self.coins())
        let report = try await fixture.sync("api/coins")
        #expect(report.counts.inserted == 0 && report.counts.quarantined == 2, "\(report)")
        #expect(
            try await fixture.values("reason", of: "CisternQuarantine").first
                == "symbol: the record stands in a list, and has no name that map_key could take")
        try await fixture.end()
    }

    // A bad record among others is told by its name.
    @Test func aBadRecordIsToldByItsName() async throws {
        set(#"{"BTC": {"rank": 1}, "LUNA": {"rank": "high"}, "updated": 17, "DOGE": null}"#)
        let fixture = try await api.fixture(Self.coins())
        #expect(try await fixture.sync("api/coins").counts.quarantined == 3)
        let reasons = try await fixture.values("reason", of: "CisternQuarantine")
        #expect(reasons.contains { $0.hasPrefix("in \"LUNA\": rank: ") }, "\(reasons)")
        #expect(reasons.contains { $0.hasPrefix("in \"updated\": a record that is not an object") }, "\(reasons)")
        #expect(try await live(fixture) == ["BTC"])
        try await fixture.end()
    }

    // MARK: Names that stand twice

    @Test func aNameThatStandsTwiceFailsThePageUnlessTheFirstCounts() async throws {
        set(#"{"BTC": {"rank": 1}, "ETH": {"rank": 2}}"#)
        let fixture = try await api.fixture(Self.coins())
        try await fixture.sync("api/coins")
        set(#"{"BTC": {"rank": 3}, "\u0042TC": {"rank": 4}}"#)
        let report = try await fixture.sync("api/coins")
        #expect(report.outcome == .failed && report.counts.deleted == 0, "\(report)")
        #expect(try await live(fixture, "rank") == ["1", "2"])
        try await reload(fixture, Self.coins("map_key = \"symbol\"\nparse.duplicate_keys = \"first\""))
        #expect(try await fixture.sync("api/coins").isComplete)
        #expect(try await live(fixture, "rank") == ["3"])
        try await fixture.end()
    }

    // MARK: Other configurations

    // A page that the server calls unchanged is read again, and its records, whose texts are the same, are written.
    @Test(arguments: [
        ("map_key = \"label\"", "map_key = \"region\"", "x"), ("", "map_key = \"region\"", "x"), ("map_key = \"region\"", "", "EU"),
        ("map_key = \"region\"\nset = { label = \"l\" }", "map_key = \"label\"", "EU"),
    ])
    func anotherAttributeForTheNameReadsEverythingAgain(before: String, after: String, region: String) async throws {
        set(#"{"x": {"id": 1, "region": "EU"}}"#, etag: "\"1\"")
        let fixture = try await api.fixture(Self.coins(before, key: "[\"id\"]"))
        try await fixture.sync("api/coins")
        #expect(try await fixture.sync("api/coins").notModifiedPages == 1)
        try await reload(fixture, Self.coins(after, key: "[\"id\"]"))
        let report = try await fixture.sync("api/coins")
        #expect(report.notModifiedPages == 0 && report.counts.updated == 1, "\(report)")
        #expect(try await live(fixture, "region") == [region])
        if after.contains("label") { #expect(try await live(fixture, "label") == ["x"]) }
        #expect(try await fixture.sync("api/coins").notModifiedPages == 1)
        try await fixture.end()
    }

    // One says the key in its records, the other by their names.
    @Test func anEntityIsFilledFromAMapAndFromAList() async throws {
        let list = ScriptedAPI.resource("list", of: "Coin", Self.snapshot)
        set(#"{"BTC": {"rank": 1}, "ETH": {"rank": 2}}"#)
        api.set("/list", #"[{"symbol": "ETH", "label": "Ether"}, {"symbol": "XRP", "label": "Ripple"}]"#)
        let fixture = try await api.fixture(Self.coins(others: list))
        try await fixture.sync("api/coins")
        try await fixture.sync("api/list")
        #expect(try await live(fixture) == ["BTC", "ETH", "XRP"])
        // What one no longer has stays as long as the other has it.
        set(#"{"BTC": {"rank": 1}}"#)
        #expect(try await fixture.sync("api/coins").counts.deleted == 0)
        #expect(try await live(fixture) == ["BTC", "ETH", "XRP"])
        api.set("/list", #"[{"symbol": "XRP", "label": "Ripple"}]"#)
        #expect(try await fixture.sync("api/list").counts.deleted == 1)
        #expect(try await live(fixture) == ["BTC", "XRP"])
        try await fixture.end()
    }

    // MARK: Keys and relationships

    @Test func aNameIsPartOfAKeyBesideWhatIsSet() async throws {
        for region in ["eu", "us"] { api.set("/coins?region=\(region)", #"{"data": {"BTC": {"rank": 1}, "\#(region)": {"rank": 2}}}"#) }
        let fixture = try await api.fixture(
            Self.coins(
                "map_key = \"symbol\"\nfor_each = { values = [\"eu\", \"us\"], as = \"region\" }\nparams = { region = \"{region}\" }\n"
                    + "set = { region = \"{region}\" }", key: "[\"region\", \"symbol\"]"))
        #expect(try await fixture.sync("api/coins").counts.inserted == 4)
        #expect(try await live(fixture) == ["BTC", "BTC", "eu", "us"])
        api.set("/coins?region=us", #"{"data": {"us": {"rank": 2}}}"#)
        #expect(try await fixture.sync("api/coins").counts.deleted == 1)
        #expect(try await live(fixture) == ["BTC", "eu", "us"])
        try await fixture.end()
    }

    @Test(arguments: [true, false]) func whatARecordSaysAndItsNameAreItsContent(hasName: Bool) async throws {
        set(#"{"a": {"rank": 1}, "b": {"rank": 1}}"#)
        let fixture = try await api.fixture(Self.coins(hasName ? "map_key = \"symbol\"" : "", key: "\"content\""))
        try await fixture.sync("api/coins")
        #expect(try await live(fixture) == (hasName ? ["a", "b"] : ["nil"]))
        try await fixture.end()
    }

    // Whatever order they come in.
    @Test func recordsNameEachOtherByTheirNames() async throws {
        set(#"{"a": {"base": "b"}, "b": {"base": null}, "c": {"base": "d"}}"#)
        let fixture = try await api.fixture(Self.coins(relationships: "[entity.Coin.relationships]\nbase = { to = \"Coin\" }"))
        let report = try await fixture.sync("api/coins")
        #expect(report.counts.inserted == 3 && report.counts.quarantined == 0, "\(report)")
        let bases = try await fixture.document.withWorker { worker in
            try worker.fetch(NSFetchRequest<NSManagedObject>(entityName: "Coin")).map { coin in
                let base = coin.value(forKey: "base") as? NSManagedObject
                return "\(coin.value(forKey: "symbol") ?? "nil") \(base?.value(forKey: "symbol") ?? "nil")"
            }.sorted()
        }
        #expect(bases == ["a b", "b nil", "c d", "d nil"])
        try await fixture.end()
    }

    @Test func aTrialShowsNames() async throws {
        set(#"{"BTC": {"rank": 1}}"#)
        let configuration = try PipelineFixture.configuration(Self.coins()), resource = configuration.sources[0].resources[0]
        let transport = StubTransport { [api] request, _ in api.answer(request) }
        let pages = try await PageTrial.run(
            resource, configuration: configuration, transports: TransportPool { _ in transport }, clock: ManualClock(), secrets: .none,
            version: "test", pages: 1)
        let values = try #require(pages.first?.objects.first?.values)
        #expect(values.contains { $0.name == "symbol" && $0.value == "BTC" }, "\(values)")
    }
}
