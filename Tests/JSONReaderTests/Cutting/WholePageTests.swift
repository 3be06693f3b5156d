import Testing

@testable import JSONReader

/// Pages of which more than one list is read.
struct WholePageTests {
    private static let text =
        #"{"data": [{"id": 1}, {"id": 2}], "included": [{"id": 7}, 5, {"id": 8}], "next": "abc", "meta": {"users": {"a": {"id": 9}}}}"#
    private static let plan = JSONFieldPlan([JSONField(key: "id")])

    private static func envelope(_ text: String = text, chunk: Int = .max, limits: JSONReaderLimits = JSONReaderLimits()) throws -> PageEnvelope {
        let cutter = RecordCutter(records: "$.data", envelope: JSONFieldPlan([JSONField(key: "next")]), limits: limits, keepsWhole: true)
        let cuts = try Cuts(Array(text.utf8), cutter, chunk: chunk)
        #expect(cuts.records.isEmpty && cutter.status == .undecided)
        return try cutter.finish()
    }

    private static func list(_ envelope: PageEnvelope, _ path: String, _ policies: JSONReaderPolicies = JSONReaderPolicies()) throws -> [String] {
        var found: [String] = []
        let path = try JSONPath(parsing: path, allowsWildcards: true)
        _ = try envelope.read(JSONRecordReader(), list: path, plan: plan, policies: policies) { record in
            found.append("\(record.index) \(record.problem == nil ? String(record.raw) : "bad")")
        }
        return found
    }

    @Test(arguments: [1, 7, Int.max]) func eachListIsReadAsOftenAsSomebodyWantsIt(chunk: Int) throws {
        let envelope = try Self.envelope(chunk: chunk)
        var own: [String] = []
        for _ in 1...2 {
            own = []
            let summary = try envelope.read(JSONRecordReader(), plan: Self.plan) { own.append(String($0.raw)) }
            #expect(own == [#"{"id": 1}"#, #"{"id": 2}"#] && summary.recordCount == 2 && summary.envelope == [.string("abc")])
            #expect(try Self.list(envelope, "$.included") == [#"0 {"id": 7}"#, "1 bad", #"2 {"id": 8}"#])
            #expect(try Self.list(envelope, "$.meta.users.*") == [#"0 {"id": 9}"#])
        }
        #expect(!envelope.isCut)
    }

    @Test func aListThatIsNotThereIsAnErrorUnlessThatIsAllowed() throws {
        let envelope = try Self.envelope()
        let error = #expect(throws: JSONReaderError.self) { try Self.list(envelope, "$.nothing") }
        #expect(error?.kind == .recordsMissing)
        var policies = JSONReaderPolicies()
        policies.absentRecords = .noRecords
        #expect(try Self.list(envelope, "$.nothing", policies).isEmpty)
        // What is no list is none whatever is allowed.
        let scalar = #expect(throws: JSONReaderError.self) { try Self.list(envelope, "$.next", policies) }
        #expect(scalar?.kind == .recordsNotAList)
    }

    @Test func theLimitsOfThePageAreThoseOfEachList() throws {
        var limits = JSONReaderLimits()
        limits.maxRecordsPerPage = 2
        let envelope = try Self.envelope(limits: limits)
        #expect(try envelope.read(JSONRecordReader(), plan: Self.plan) { _ in }.recordCount == 2)
        let error = #expect(throws: JSONReaderError.self) { try Self.list(envelope, "$.included") }
        guard case .limit(let limit)? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(limit.name == .maxRecordsPerPage)
    }

    // Of a page that was cut the rest of its own list is not there any more.
    @Test func anotherListOfAPageThatWasCutIsAMisuse() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let cutter = RecordCutter(records: "$.data")
            let page: [UInt8] = Array(#"{"data": [], "included": []}"#.utf8)
            try page.withUnsafeBytes { page in try cutter.cut(page) { _ in } }
            _ = try cutter.finish().read(JSONRecordReader(), list: "$.included", plan: JSONFieldPlan([])) { _ in }
        }
        result.trap(says: "another list is wanted of a page that was cut")
    }
}
