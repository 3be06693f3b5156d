import Foundation
import JSONReader
import SyncConfiguration
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// Pages that are taken apart while they arrive.
@Suite struct PageSieveTests {
    private static let fields = JSONFieldPlan([JSONField(key: "id")])

    /// What is read of a page, and where it stands.
    private struct Read: Equatable {
        var records: [String] = []
        var places: [Int] = []
        var cursor: String?
        var count = 0
    }

    private static func plan(_ change: (inout ResourceConfiguration) -> Void = { _ in }) -> SievePlan {
        SievePlan(Fixture.resource("https://api.example", change))
    }

    private static let listed = plan {
        $0.records = "$.data"
        $0.pagination.kind = .cursor(PaginationConfiguration.Cursor(from: .path("$.next")))
    }

    private static func content(
        _ text: String, _ plan: SievePlan = plan(), chunk: Int = .max, known: Manifest? = nil, place: SpoolPlace = SpoolPlace()
    ) throws -> PageContent {
        var sieve = PageSieve(plan, known: known, place: place), rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            try Array(rest.prefix(chunk)).withUnsafeBytes { try sieve.take($0) }
            rest = rest.dropFirst(chunk)
        }
        return try sieve.finish()
    }

    private static func read(_ content: PageContent, _ plan: SievePlan = plan()) throws -> Read {
        var read = Read()
        let summary = try content.read(plan: fields, policies: JSONReaderPolicies()) { record, place in
            read.records.append(String(record.raw))
            read.places.append(place?.place ?? record.index)
        }
        read.cursor = plan.envelope.values(summary).cursor
        read.count = summary.recordCount
        return read
    }

    private static func hash(_ text: String) -> UInt64 { JSONHash(of: Array(text.utf8)).low }

    private static let page = #"{"next": "abc", "data": [{"id": 1}, {"id": 2} ,{"id": 3}], "x": 1}"#

    @Test(arguments: [1, 2, 7, 64, Int.max]) func aPageIsTheSameHoweverItArrives(chunk: Int) throws {
        let content = try Self.content(Self.page, Self.listed, chunk: chunk)
        let read = try Self.read(content, Self.listed)
        #expect(read == Read(records: [#"{"id": 1}"#, #"{"id": 2}"#, #"{"id": 3}"#], places: [0, 1, 2], cursor: "abc", count: 3))
        #expect(try content.digest == Self.content(Self.page, Self.listed).digest)
        #expect(content.isWhole && !content.isCompared)
        // Whoever has to begin again reads the same.
        #expect(try Self.read(content, Self.listed) == read)
    }

    @Test func recordsThatAreTheSameAreLeftOutAndTheOthersStandWhereTheyStood() throws {
        var known = Manifest()
        known.append(Self.hash(#"{"id": 1}"#), key: 71)
        known.append(Self.hash(#"{"id": 3}"#), key: 73)
        let content = try Self.content(Self.page, Self.listed, known: known)
        #expect(try Self.read(content, Self.listed) == Read(records: [#"{"id": 2}"#], places: [1], cursor: "abc", count: 3))
        #expect(content.isCompared && content.records.unread == [71, 73])
        var records = content.records
        try records.place(72, at: 1)
        #expect(try records.manifest(of: [71, 72, 73])?.piece(0).keys == [71, 72, 73])
        #expect(try content.digest == Self.content(Self.page, Self.listed).digest)
    }

    // Nothing is left out of it, and nothing is kept for its next reading.
    @Test(arguments: [1, 7, Int.max]) func aPageOfSeveralListsIsReadAsAWhole(chunk: Int) throws {
        let plan = Self.plan {
            $0.records = JSONPath(segments: [.key("groups"), .each, .key("data")])
            $0.pagination.kind = .cursor(PaginationConfiguration.Cursor(from: .path("$.next")))
        }
        let page = #"{"groups": [{"data": [{"id": 1}]}, {"data": [{"id": 2}, {"id": 3}]}], "next": "abc"}"#
        var known = Manifest()
        known.append(Self.hash(#"{"id": 1}"#), key: 71)
        let content = try Self.content(page, plan, chunk: chunk, known: known)
        let expected = Read(records: [#"{"id": 1}"#, #"{"id": 2}"#, #"{"id": 3}"#], places: [0, 1, 2], cursor: "abc", count: 3)
        #expect(try Self.read(content, plan) == expected)
        #expect(content.isWhole && !content.isCompared)
        var records = content.records
        for (place, id) in [1, 2, 3].enumerated() {
            #expect(records.append(Self.hash(#"{"id": \#(id)}"#)) == place)
            try records.place(Int64(70 + id), at: place)
        }
        #expect(try records.manifest(of: [71, 72, 73]) == nil)
        // The text of the last record of the last list is at hand.
        let last = JSONFieldPlan([JSONField(key: "id")])
        #expect(try content.readLast(last, policies: JSONReaderPolicies()) == PageContent.Token(text: "3", isNumber: true))
        #expect(try content.digest != Self.content(page.replacing("3", with: "4"), plan).digest)
    }

    // So is one of which other lists are read besides, as often as somebody wants them.
    @Test(arguments: [1, 7, Int.max]) func aPageThatMentionsOthersIsReadAsAWhole(chunk: Int) throws {
        let plan = Self.plan {
            $0.records = "$.data"
            $0.also = [MentionConfiguration(records: "$.included", entity: "User")]
            $0.pagination.kind = .cursor(PaginationConfiguration.Cursor(from: .path("$.next")))
        }
        let page = #"{"included": [{"id": 7}, {"id": 8}], "data": [{"id": 1}, {"id": 2}, {"id": 3}], "next": "abc"}"#
        var known = Manifest()
        known.append(Self.hash(#"{"id": 1}"#), key: 71)
        let content = try Self.content(page, plan, chunk: chunk, known: known)
        let expected = Read(records: [#"{"id": 1}"#, #"{"id": 2}"#, #"{"id": 3}"#], places: [0, 1, 2], cursor: "abc", count: 3)
        for _ in 1...2 {
            #expect(try Self.read(content, plan) == expected)
            var mentioned: [String] = []
            try content.read(list: "$.included", plan: Self.fields, policies: JSONReaderPolicies()) { mentioned.append(String($0.raw)) }
            #expect(mentioned == [#"{"id": 7}"#, #"{"id": 8}"#])
        }
        // Neither is it an error where there is no such list.
        try content.read(list: "$.nothing", plan: Self.fields, policies: JSONReaderPolicies()) { _ in Issue.record("nothing is there") }
        #expect(content.isWhole && !content.isCompared)
        var records = content.records
        for (place, id) in [1, 2, 3].enumerated() {
            #expect(records.append(Self.hash(#"{"id": \#(id)}"#)) == place)
            try records.place(Int64(70 + id), at: place)
        }
        #expect(try records.manifest(of: [71, 72, 73]) == nil)
        // What is mentioned is of the page.
        #expect(try content.digest != Self.content(page.replacing("8", with: "9"), plan).digest)
    }

    @Test func aRecordThatWasSetAsideIsNotRemembered() throws {
        var records = try Self.content(Self.page, Self.listed).records
        for (place, key) in [Int64(71), nil, 73].enumerated() {
            if let key { try records.place(key, at: place) } else { records.refuse(place) }
        }
        let manifest = try #require(try records.manifest(of: [71, 73]))
        #expect(try manifest.piece(0) == Manifest.Piece(hashes: [#"{"id": 1}"#, #"{"id": 3}"#].map(Self.hash), keys: [71, 73]))
    }

    @Test(arguments: [
        #"{"next": "abc", "data": [{"id": 1}, {"id": 3} ,{"id": 2}], "x": 1}"#, #"{"next": "abc", "data": [{"id": 1}, {"id": 2}], "x": 1}"#,
        #"{"next": "abc", "data": [{"id": 1}, {"id": 2} ,{"id": 3}], "x": 2}"#, #"{"next": "abc", "data": [{"id":1}, {"id": 2} ,{"id": 3}], "x": 1}"#,
        #"{"next": "abd", "data": [{"id": 1}, {"id": 2} ,{"id": 3}], "x": 1}"#, #"{"next": "abc", "data": [], "x": 1}"#,
    ]) func aPageThatHoldsSomethingElseIsAnotherPage(other: String) throws {
        #expect(try Self.content(other, Self.listed).digest != Self.content(Self.page, Self.listed).digest)
    }

    // What is wrong with a page does not end its fetch: it is said when it is read.
    @Test(arguments: [
        #"[{"id": 1}, {"id": 2}"#, #"[{"id": 1} {"id": 2}]"#, "[1,2]x", #"[{"id": 1}, {"id": tru}]"#, #"[{"id": 2},{"id": 1}, {"id": 1"b"}]"#,
        #"{"id": 01}"#, #"[{"id": 2}, {"id": 1}, {"id": "\u12"}]"#, "",
    ]) func whatIsWrongIsSaidWithItsPlaceWhenThePageIsRead(text: String) throws {
        let whole = #expect(throws: JSONReaderError.self) { try JSONRecordReader().read(body: Array(text.utf8), plan: Self.fields) { _ in } }
        var known = Manifest()
        known.append(Self.hash(#"{"id": 2}"#), key: 1)
        for known in [nil, known] {
            for chunk in [1, 5, Int.max] {
                let content = try Self.content(text, chunk: chunk, known: known)
                let error = #expect(throws: JSONReaderError.self) { try Self.read(content) }
                #expect(error?.location.byteOffset == whole?.location.byteOffset && error?.message == whole?.message, "\(chunk)")
            }
        }
    }

    @Test func aPageThatIsNotAListIsReadAsItIs() throws {
        let content = try Self.content(#"{"id": 7}"#)
        #expect(try Self.read(content) == Read(records: [#"{"id": 7}"#], places: [0], count: 1))
        #expect(content.isWhole && content.records.count == 0)
    }

    // MARK: The last record

    private static func keyset(_ change: (inout ResourceConfiguration) -> Void = { _ in }) -> SievePlan {
        plan {
            $0.records = "$.data"
            $0.pagination.kind = .keyset(PaginationConfiguration.Keyset(from: "$.id"))
            change(&$0)
        }
    }

    private static func last(_ content: PageContent, _ plan: SievePlan) throws -> String? {
        try content.readLast(try #require(plan.lastRecord), policies: JSONReaderPolicies())?.text
    }

    @Test(arguments: [1, 2, 7, Int.max]) func theLastRecordIsReadHoweverThePageArrives(chunk: Int) throws {
        let plan = Self.keyset(), content = try Self.content(Self.page, plan, chunk: chunk)
        #expect(try Self.last(content, plan) == "3")
        #expect(try content.digest == Self.content(Self.page, Self.listed).digest)
        let none = try Self.content(#"{"data": []}"#, plan, chunk: chunk)
        #expect(try Self.last(none, plan) == nil)
    }

    @Test(arguments: [("3", true), (#""3""#, false), ("3.50", true), ("12345678901234567890", true)])
    func aValueOfTheLastRecordKnowsWhetherItIsANumber(value: String, isNumber: Bool) throws {
        let plan = Self.keyset(), content = try Self.content(#"{"data": [{"id": \#(value)}]}"#, plan)
        let token = try content.readLast(try #require(plan.lastRecord), policies: JSONReaderPolicies())
        #expect(token == PageContent.Token(text: value.replacing("\"", with: ""), isNumber: isNumber))
    }

    @Test(arguments: [[3], [1, 2, 3], [1, 2]]) func theLastRecordIsReadAlsoWhereItIsLeftOut(ids: [Int]) throws {
        var known = Manifest()
        for id in ids { known.append(Self.hash(#"{"id": \#(id)}"#), key: Int64(id)) }
        let plan = Self.keyset(), content = try Self.content(Self.page, plan, known: known)
        #expect(content.isCompared)
        #expect(try Self.last(content, plan) == "3")
    }

    // Something around the records depends on them.
    @Test func theLastRecordOfAPageThatIsNotCutIsRead() throws {
        let plan = Self.keyset { $0.pagination.stop.hasMore = "$.data[0].more" }
        let content = try Self.content(Self.page, plan)
        #expect(content.records.count == 0)
        #expect(try Self.last(content, plan) == "3")
    }

    @Test(
        arguments: [
            (#"{"id": 7}"#, "7"), (#"{"id": "a\u00e9"}"#, "a\u{e9}"), (#"{"id": ""}"#, ""), (#"{"id": 1.50}"#, "1.50"), (#"{"id": 1e3}"#, "1e3"),
            (#"{"id": 123456789012345678901234567890}"#, "123456789012345678901234567890"), (#"{"id": null}"#, nil), (#"{"no": 1}"#, nil),
            (#"{"id": true}"#, nil), (#"{"id": {"id": 1}}"#, nil), (#"{"id": [1]}"#, nil), (#"{"id": 7, "a": 1, "a": 2}"#, nil), ("7", nil),
        ] as [(String, String?)])
    func ofTheLastRecordATextOrANumberIsReadAsItIsWritten(record: String, value: String?) throws {
        let plan = Self.keyset(), content = try Self.content(#"{"data": [{"id": 1}, \#(record)]}"#, plan)
        #expect(try Self.last(content, plan) == value)
    }

    // MARK: The spool

    private static func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("spool-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    private static let long = (1...60_000).map { #"{"id": \#($0), "text": "\#(String(repeating: "x", count: $0 % 90))"}"# }

    @Test func whatIsTooMuchForTheMemoryIsReadBackAsItWas() async throws {
        try Self.withFolder { folder in
            let text = "[\(Self.long.joined(separator: ", "))]", plan = Self.plan { $0.limits.maxRecordsPerPage = 60_000 }
            let whole = try Self.content(text, plan),
                spooled = try Self.content(text, plan, chunk: 10_000, place: SpoolPlace(folder: folder, memory: 1 << 20))
            #expect(try Self.read(spooled) == Self.read(whole))
            #expect(try Self.read(spooled).places == Array(0..<60_000))
            // The file has no name, so that nobody has to remove it.
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        }
    }

    @Test func whereThereIsNoRoomForABodyItIsSaidWhatWouldNotFitWhere() throws {
        let text = "[\(Self.long.prefix(20_000).joined(separator: ", "))]"
        try Self.withFolder { folder in
            for (place, reason) in [
                (SpoolPlace(folder: folder, memory: 0, leavesFree: .max), "No space left on device"),
                (SpoolPlace(folder: folder.appendingPathComponent("gone"), memory: 0), "No such file or directory"),
            ] {
                let error = #expect(throws: FetchError.self) { try Self.content(text, place: place) }
                #expect(error?.kind == .spool)
                #expect(error?.detail.contains(reason) == true && error?.detail.contains(folder.path) == true, "\(String(describing: error))")
            }
        }
    }
}
