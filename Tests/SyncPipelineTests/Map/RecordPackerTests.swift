import Foundation
import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Records that are written as they are become the same rows as those that go the long way, and what is wrong with them is told alike.
@Suite struct RecordPackerTests {
    private static func configuration(isText: Bool) -> String {
        ScriptedAPI.configuration(
            ScriptedAPI.resource(
                "things", of: "Thing", "deletion = { detect = \"snapshot\", confirm_runs = 1, max_fraction = 1.0, min_expected = 0 }"),
            defaults: "[defaults.limits]\nmax_bad_fraction = 1.0",
            entities: """
                [entity.Thing]
                key = ["id"]
                [entity.Thing.attributes]
                id = { type = "\(isText ? "string" : "int64")", optional = false, default = \(isText ? "\"none\"" : "-1") }
                text = { type = "string" }
                label = { type = "string", optional = false, default = "unnamed" }
                small = { type = "int16" }
                count = { type = "int32", default = 7 }
                ratio = { type = "double" }
                isOpen = { type = "bool", optional = false }
                at = { type = "date" }
                tag = { type = "uuid" }
                blob = { type = "data" }
                more = { type = "json" }
                [entity.Thing.relationships]
                owner = { to = "Owner", match = "key", inverse = "things" }
                maker = { to = "Owner" }
                shelf = { to = "Shelf", match = "key" }
                holder = { to = "Label" }
                labels = { to = "Label", many = true, match = "embedded", mode = "replace" }
                tags = { to = "Label", many = true, match = "keys", mode = "replace" }
                some = { to = "Shelf", many = true, mode = "replace" }
                [entity.Owner]
                key = ["id"]
                [entity.Owner.attributes]
                id = { type = "\(isText ? "string" : "int64")", optional = false }
                name = { type = "string" }
                [entity.Owner.relationships]
                things = { to = "Thing", many = true, inverse = "owner", path = "$.none" }
                [entity.Shelf]
                key = ["id"]
                [entity.Shelf.attributes]
                id = { type = "int16", optional = false }
                [entity.Label]
                key = ["id"]
                [entity.Label.attributes]
                id = { type = "int64", optional = false }
                name = { type = "string", optional = false, default = "plain" }
                color = { type = "string" }
                """)
    }

    private static let values: [String: [String]] = [
        "text": [#""a""#, #""ü\u0000\ud83d\ude00""#, #""\"quoted\"\n""#, "\"\(String(repeating: "x", count: 70_000))\"", #""""#, "null", "12", "{}"],
        "label": [#""b""#, "null", "true"], "small": ["1", "-32768", "32768", "1.0", "1.5", #""3""#, "null", "1e400"],
        "count": ["0", "2147483647", "2147483648", "[]", "null", "-0"], "ratio": ["0.1", "-0.0", "1", "1e999", "9007199254740993", #""2""#, "null"],
        "isOpen": ["true", "false", "0", "1", #""true""#, "null"],
        "at": [#""2026-01-02T03:04:05Z""#, #""2026-01-02""#, #""soon""#, "0", "1767225600", "null", #""2026-02-30T00:00:00Z""#],
        "owner": ["1", "null", "[2]", #""3""#, "1.5", "{}", #""""#],
        "maker": ["2", "null", #"{"name": "e", "id": 5}"#, #"{"name": "nobody"}"#, "true"], "shelf": ["1", "70000", "1.0", #""2""#, "null"],
        "blob": [#""YWJj""#, #""""#, #""no bytes""#, "null", "12"], "more": [#"{"a": [1, "b"]}"#, "[]", "1.0", #""text""#, "null"],
        "tag": [#""6BA7B810-9DAD-11D1-80B4-00C04FD430C8""#, #""x""#, "null"],
        "holder": [#"{"id": 1}"#, "3", "null", #"{"id": 2, "color": "red"}"#, #"{"color": "red"}"#, "[]"],
        "labels": [
            "[]", #"[{"id": 1, "name": "a"}, {"id": 2, "name": "b", "color": "red"}]"#, #"[{"id": 2, "color": "blue"}, {"id": 2, "color": "blue"}]"#,
            #"[{"id": 1, "name": "c"}, {"id": 1, "name": "a"}]"#, "null", "[null]", "[3]", #"[{"id": 3, "name": null}]"#,
            #"[{"name": "nobody"}, {"id": 4}]"#, #"{"id": 5}"#, "{}", #"[{"id": 1.5}, [], "x"]"#, #"[{"id": 6, "name": "f", "color": null}]"#,
        ],
        "tags": ["[]", "[1, 2, 1]", "[3]", #"["4", 5.0, null]"#, "7", #"[{"id": 1}]"#, "null"],
        "some": ["[1]", "[2, 3]", "[]", #"[{"id": 4}, 1]"#, "[70000]", "null", "5"],
    ]

    /// Those of which one of the first is what is usual.
    private static let lists: Set = ["holder", "labels", "tags", "some"]

    private static func record(_ random: inout SeededNumbers, isText: Bool, of keys: Int) -> String {
        var fields: [String] = []
        let key = random.next(upTo: keys)
        switch random.next(upTo: 40) {
        case 0: break
        case 1: fields.append(#""id": null"#)
        case 2: fields.append(#""id": \#(key).5"#)
        case 3: fields.append(#""id": []"#)
        case 4: fields.append(isText ? #""id": \#(key)"# : #""id": "\#(key)""#)
        default: fields.append(isText ? #""id": "k\#(key)""# : #""id": \#(key)"#)
        }
        let isPlain = random.chance(70)
        for (name, values) in Self.values.sorted(by: { $0.key < $1.key }) where isPlain ? name == "isOpen" || random.chance(80) : random.chance(80) {
            let few = Self.lists.contains(name) ? min(values.count, 4) : 1
            let usual = ["owner", "shelf"].contains(name) ? "\(random.next(upTo: 6))" : values[random.next(upTo: few)]
            fields.append("\"\(name)\": \(isPlain || random.chance(50) ? usual : values[random.next(upTo: values.count)])")
        }
        // A key that is there twice: a record to be set aside, whatever its values are.
        if random.chance(4) { fields += [#""text": "once""#, #""text": "twice""#] }
        return "{\(fields.joined(separator: ", "))}"
    }

    /// Whether two records of a page may have one key. How often such a row is counted, and whether it changes to and fro, depends on which of them are in
    /// one batch.
    private static func hasTwins(_ body: String) -> Bool {
        let keys = body.matches(of: /\{"id": "?([^",}]+)/).map(\.output.1)
        return Set(keys).count < keys.count
    }

    /// How many records were packed.
    private struct Packed {
        /// Those that were inserted as they were.
        var inserted = 0
        /// Those that were packed while their page arrived.
        var early = 0
    }

    /// What is in the file and what was told after some polls of the same bodies.
    ///
    /// - Parameters:
    ///   - listSize: about how many bytes are packed at once while a page arrives.
    ///   - threads: how many parse.
    private static func outcome(
        _ bodies: [String], isText: Bool, batchSize: Int, isPacking: Bool, listSize: Int = 1 << 20, threads: Int = 2
    ) async throws -> (lines: [String], packed: Packed) {
        let fixture = try await PipelineFixture(configuration(isText: isText)) { _, index in
            .response(status: 200, headers: ["Content-Type": "application/json"], body: Array(bodies[min(index, bodies.count - 1)].utf8))
        }
        let packed = Mutex(Packed())
        fixture.pipeline.parseQueue.maxConcurrentOperationCount = threads
        fixture.pipeline.parseProbe.withLock {
            $0 = ParseProbe(
                batchSize: batchSize, isPacking: isPacking, listSize: listSize, packed: { count in packed.withLock { $0.inserted += count } },
                taken: { count in packed.withLock { $0.early += count } })
        }
        var lines: [String] = []
        for poll in 1...bodies.count {
            let reports = try await fixture.sync()
            let isCounted = !hasTwins(bodies[poll - 1])
            let unknown: Set = bodies[..<poll].contains(where: hasTwins) ? ["cisternLastChanged", "cisternRun"] : []
            lines += reports.map {
                "poll \(poll): \($0.outcome) \(isCounted ? "\($0.counts)" : "") \($0.counts.quarantined) set aside \($0.error ?? "")"
            }
            lines += try await fixture.document.withWorker { worker in
                try ["Thing", "Owner", "Shelf", "Label", "CisternQuarantine"].flatMap { entity in
                    try worker.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).map { object in
                        let values = object.entity.attributesByName.keys.filter { !unknown.contains($0) }.sorted().map {
                            "\($0)=\("\(object.value(forKey: $0) ?? "nil")".prefix(60))"
                        }
                        let named = object.entity.relationshipsByName.values.filter { !$0.isToMany }.map(\.name).sorted().map {
                            "\($0)=\((object.value(forKey: $0) as? NSManagedObject)?.value(forKey: "id") ?? "nil")"
                        }
                        let listed = object.entity.relationshipsByName.values.filter(\.isToMany).map(\.name).sorted().map {
                            let members = (object.value(forKey: $0) as? Set<NSManagedObject>) ?? []
                            return "\($0)=\(members.map { "\($0.value(forKey: "id") ?? "nil")" }.sorted().joined(separator: ","))"
                        }
                        return "\(entity) " + (values + named + listed).joined(separator: " ")
                    }
                }.map { "after poll \(poll): \($0)" }.sorted()
            }
        }
        try await fixture.end()
        return (lines, packed.withLock { $0 })
    }

    // Any pages of any records, in batches of any size: the same rows, the same counts, the same quarantine.
    @Test(arguments: [false, true]) func recordsThatAreWrittenAsTheyAreBecomeTheRowsOfTheLongWay(isText: Bool) async throws {
        var count = Packed()
        for seed in 1...25 {
            var random = SeededNumbers(seed)
            // Few keys meet each other, many are new.
            let keys = random.chance(50) ? 8 : 1000
            let bodies = (0..<1 + random.next(upTo: 3)).map { _ in
                "[\((0..<random.next(upTo: 30)).map { _ in Self.record(&random, isText: isText, of: keys) }.joined(separator: ",\n"))]"
            }
            let batchSize = 1 + random.next(upTo: 12)
            let packed = try await Self.outcome(
                bodies, isText: isText, batchSize: batchSize, isPacking: true, listSize: [50, 200, 700][seed % 3], threads: 1 + seed % 4)
            let long = try await Self.outcome(bodies, isText: isText, batchSize: batchSize, isPacking: false)
            #expect(long.packed.inserted == 0 && long.packed.early == 0)
            count.inserted += packed.packed.inserted
            count.early += packed.packed.early
            guard packed.lines != long.lines else { continue }
            let lines =
                Set(packed.lines).subtracting(long.lines).map { "packed: \($0)" }
                + Set(long.lines).subtracting(packed.lines).map { "the long way: \($0)" }
            Issue.record("seed \(seed), batches of \(batchSize):\n\(lines.sorted().prefix(8).joined(separator: "\n"))")
            return
        }
        #expect(count.inserted > 150 && count.early > 0, "\(count)")
    }

    // A record that is not packed comes after one that is: what it says of a label that both hold counts.
    @Test func ofTwoRecordsThatHoldOneObjectTheLaterOneCounts() async throws {
        func record(_ name: String, _ text: String) -> String {
            #"{"id": \#(text.count), "isOpen": true, "text": "\#(text)", "labels": [{"id": 1, "name": "\#(name)"}]}"#
        }
        let long = String(repeating: "x", count: 70_000)
        let bodies = ["[\(record("a", "s")), \(record("b", long))]", "[\(record("c", "s")), \(record("d", long))]"]
        for isPacking in [true, false] {
            let (lines, packed) = try await Self.outcome(bodies, isText: false, batchSize: 10, isPacking: isPacking)
            #expect((packed.inserted > 0) == isPacking)
            #expect(lines.count { $0.hasPrefix("after poll 1: Label") && $0.contains("name=b") } == 1)
            #expect(lines.count { $0.hasPrefix("after poll 2: Label") && $0.contains("name=d") } == 1)
        }
    }

    // What was said of a label in several ways, by records that were packed together, is not lost where it was said in the last of them before.
    @Test func whatIsSaidInSeveralWaysIsAllTaken() async throws {
        func record(_ id: Int, _ label: String, _ text: String = "") -> String {
            #"{"id": \#(id), "isOpen": true, "text": "\#(text)", "labels": [{"id": 2\#(label)}]}"#
        }
        let first = record(1, "", String(repeating: "x", count: 400))
        let body = "[\(first), \(record(2, #", "color": "red""#)), \(record(3, ""))]"
        let (lines, _) = try await Self.outcome([body], isText: false, batchSize: 100, isPacking: true, listSize: 300)
        #expect(lines.count { $0.hasPrefix("after poll 1: Label") && $0.contains("color=red") } == 1)
    }

    // A default stands for a missing value, never for a missing key.
    @Test func aRecordWithoutItsKeyDoesNotGetTheDefaultForIt() async throws {
        let body = #"[{"id": 1, "isOpen": true}, {"isOpen": true}, {"id": 2, "isOpen": true}]"#
        let (lines, packed) = try await Self.outcome([body], isText: false, batchSize: 10, isPacking: true)
        #expect(packed.inserted > 0)
        #expect(lines.count { $0.contains("isOpen") && $0.contains(" id=") && !$0.contains("raw=") } == 2)
        #expect(!lines.contains { $0.contains("id=-1") })
    }
}
