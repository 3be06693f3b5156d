import Testing

@testable import JSONReader

struct RecordCutterTests {
    static let text = #"{"next": "[{\"]", "data" : [ {"id":1,"t":"}]\\"} ,[2, {}],"x\",", -3.5e1 , null]  , "meta":{"total":5}}"#
    static let records = [#"{"id":1,"t":"}]\\"}"#, "[2, {}]", #""x\",""#, "-3.5e1", "null"]

    /// What the reader says of what a cutter has left.
    @discardableResult func finish(
        _ cutter: RecordCutter, policies: JSONReaderPolicies = JSONReaderPolicies(), each: (JSONRecord) -> Void = { _ in }
    ) throws -> JSONPageSummary {
        try cutter.finish().read(JSONRecordReader(), plan: Cutting.plan, policies: policies, each: each)
    }

    /// The error with which a page is refused.
    func refusal(_ text: String, _ cutting: Cutting = Cutting(), chunk: Int = .max) -> JSONReaderError? {
        do {
            let cutter = cutting.cutter()
            _ = try Cuts(text, cutter, chunk: chunk)
            try finish(cutter, policies: cutting.policies)
            return nil
        } catch {
            return error as? JSONReaderError
        }
    }

    @Test(arguments: Cutting.chunkSizes) func recordsComeInOrderWithTheirPlaceAndHash(chunk: Int) throws {
        let cutter = Cutting(records: "$.data").cutter()
        let cuts = try Cuts(Self.text, cutter, chunk: chunk)
        #expect(cuts.texts == Self.records)
        let bytes = Array(Self.text.utf8)
        for (record, offset) in zip(cuts.records, cuts.offsets) { #expect(Array(bytes[offset...].prefix(record.count)) == record) }
        // The hash by which a record is known today.
        #expect(cuts.hashes == cuts.records.map { JSONHash(of: $0).low })
        #expect(try finish(cutter).recordCount == 5)
        #expect(cutter.status == .cut)
    }

    @Test func aHashIsThatOfTheRecordWhichTheReaderReads() throws {
        let body = Array(#"[{"id":1}, {"id":2,"text":"\#(String(repeating: "long", count: 100))"}]"#.utf8)
        var hashes: [UInt64] = []
        _ = try JSONRecordReader().read(body: body, plan: Cutting.plan) { hashes.append($0.hash.low) }
        #expect(try Cuts(body, Cutting().cutter()).hashes == hashes)
    }

    // Also where that is no list, or nothing is there: what is around it may say why.
    @Test(arguments: [
        #"{"data": [{"id": 1}, 2], "why": {"code": 7}}"#, #"{"why": {"code": 7}, "data": []}"#, #"{"why": {"code": 7}}"#,
        #"{"data": "none", "why": {"code": 7}}"#, #"{"data": {"id": 1}, "why": {"code": 7}}"#, #"{"data": null, "why": {"code": 7}}"#,
        #"{"data": {"a": "\ud800"}, "why": {"code": 7}, "other": "\ud800"}"#,
    ]) func whatIsAroundIsReadWhateverIsInIt(text: String) throws {
        let envelope = JSONFieldPlan([JSONField("code", path: "$.why.code"), JSONField("first", path: "$.data[0].id"), JSONField(key: "no")])
        for fields in [envelope, JSONFieldPlan(Array(envelope.fields.prefix(1)))] {
            let cutter = Cutting(records: "$.data", envelope: fields).cutter()
            _ = try Cuts(text, cutter, chunk: 5)
            var policies = JSONReaderPolicies()
            policies.loneSurrogates = .rejectRecord
            let values = try cutter.finish().values(JSONRecordReader(), policies: policies)
            #expect(values.first == .int64(7) && values.count == fields.fields.count, "\(values)")
            #expect(values.count == 1 || values[1] == (text.contains("[{") ? .int64(1) : .missing) && values[2] == .missing, "\(values)")
        }
    }

    @Test(arguments: ["", " ", "{", "[1, 2", "7"]) func nothingIsAroundWhatIsNoDocument(text: String) {
        let cutter = Cutting(records: "$.data", envelope: JSONFieldPlan([JSONField(key: "a")])).cutter()
        #expect(throws: JSONReaderError.self) {
            _ = try Cuts(text, cutter)
            _ = try cutter.finish().values(JSONRecordReader())
        }
    }

    @Test func whatIsAroundTheListIsRead() throws {
        let envelope = JSONFieldPlan([JSONField(key: "next"), JSONField("total", path: "$.meta.total")])
        let cutter = Cutting(records: "$.data", envelope: envelope).cutter()
        _ = try Cuts(Self.text, cutter, chunk: 7)
        let summary = try finish(cutter)
        #expect(summary.envelope == [.string("[{\"]"), .int64(5)])
        #expect(summary.recordList == .array)
    }

    @Test(arguments: [
        ("[,1]", 1, "expected a value"), ("[1,]", 3, "expected a value"), ("[1,,2]", 3, "expected a value"), ("[{}{}]", 3, #"expected "," or "]""#),
        ("[1 2]", 3, #"expected "," or "]""#), (#"["a""b"]"#, 4, #"expected "," or "]""#), ("[{}:{}]", 3, #"expected "," or "]""#),
        ("[{}}]", 3, #"expected "," or "]""#), ("[1 x]", 3, #"expected "," or "]""#), ("[x]", 1, "expected a value"),
        ("[\u{FEFF}{}]", 1, "expected a value"), ("[{},\u{FEFF}{}]", 4, "expected a value"), ("[}]", 1, "expected a value"),
        ("[{}", 3, "the document ends in the middle"), ("[{}, ", 5, "the document ends in the middle"), ("[", 1, "the document ends in the middle"),
        (#"[{"a":"]}"#, 9, "the document ends in the middle"), ("[[[1]", 5, "the document ends in the middle"),
    ])
    func betweenTwoRecordsIsOneCommaAndTheListIsClosed(text: String, offset: Int, message: String) {
        for chunk in Cutting.chunkSizes {
            let error = refusal(text, chunk: chunk)
            #expect(error?.message == message)
            #expect(error?.location.byteOffset == offset)
            #expect(error?.kind == .syntax)
        }
    }

    @Test func whatFollowsTheListIsRefusedAtItsPlaceInThePage() {
        for chunk in Cutting.chunkSizes {
            #expect(refusal("[{},{}] x", chunk: chunk)?.kind == .trailingData)
            #expect(refusal("[{},{}] x", chunk: chunk)?.location.byteOffset == 8)
            #expect(refusal("[{},{}]]", chunk: chunk)?.location.byteOffset == 7)
            #expect(refusal("[][]", chunk: chunk)?.kind == .trailingData)
            let error = refusal(#"{"x":1,"data":[1,2,3],"y":tru}"#, Cutting(records: "$.data"), chunk: chunk)
            #expect(error?.location.byteOffset == 26)
            // Before the list the line is known.
            #expect(refusal("{\n\"x\":01,\"data\":[1]}", Cutting(records: "$.data"), chunk: chunk)?.location.line == 2)
        }
    }

    @Test func aPlaceHasALineAsLongAsAllBytesBeforeItAreThere() throws {
        let error = try #require(refusal("[1,\n2,\n,3]"))
        #expect("\(error.location)" == "line 3, column 1 (byte 7)")
        #expect(error.excerpt == "[1, 2, ▸,3]")
        let late = try #require(refusal("[1,\n2,\n,3]", chunk: 5))
        #expect("\(late.location)" == "byte 7")
    }

    @Test func anEscapeIsNotForgottenAtTheEndOfAChunk() throws {
        for text in [#"{"k":"\"]}"}"#, #""\"],""#, #"{"k":"\\"}"#, #"{"k\"}":["\\\"}"]}"#] {
            for chunk in 1...text.utf8.count {
                #expect(try Cuts("[\(text),\(text)]", Cutting().cutter(), chunk: chunk).texts == [text, text])
                // And on the way to the list.
                #expect(try Cuts(#"{"x":\#(text),"data":[1]}"#, Cutting(records: "$.data").cutter(), chunk: chunk).texts == ["1"])
            }
        }
    }

    @Test func aRecordThatLiesInOneChunkIsNotCopied() throws {
        let body = Array(#"[{"id":1},"two",3 ]"#.utf8)
        try body.withUnsafeBytes { body in
            try Cutting().cutter().cut(body) { #expect($0.bytes.baseAddress == body.baseAddress! + $0.byteOffset) }
        }
    }

    @Test(arguments: [
        ("$", "\u{FEFF} [1]"), ("$.data", #"{"data":[1]}"#), ("$.data", #"{"d\u0061ta":[1]}"#),
        ("$.a.b['3166-1']", #"{"a":{"x":[2],"b":{"3166-1":[1]}}}"#),
        ("$.a.b", #"{"b":[2],"x":{"b":[2]},"y":["b",{"b":[2]}],"z":"b","a":{"bb":[2],"":[2],"b":[1]}}"#), ("/4217", #"{"4217":[1]}"#),
        ("$.d\u{e9}", #"{"d\u00e9":[1]}"#), ("$.dé", #"{"de":[2],"dé":[1]}"#), ("$['a\"b']", #"{"a\"b":[1]}"#), ("$['']", #"{"":[1]}"#),
    ])
    func theListIsCutWhereverThePathLeads(path: String, text: String) throws {
        for chunk in Cutting.chunkSizes {
            let cutter = Cutting(records: try JSONPath(parsing: path)).cutter()
            #expect(try Cuts(text, cutter, chunk: chunk).texts == ["1"])
            #expect(try finish(cutter).recordCount == 1)
        }
    }

    @Test(arguments: [
        ("$", #"{"id":1}"#), ("$.data", #"{"data":{"id":1},"x":[1]}"#), ("$.data", #"{"data":null}"#), ("$[1].items", #"[[],{"items":[{"id":1}]}]"#),
        ("$.a[0]", #"{"a":[[{"id":1}]]}"#), ("$", "null"),
    ])
    func withoutAListAtThePathNothingIsCutAndTheReaderHasThePage(path: String, text: String) throws {
        let cutting = Cutting(records: try JSONPath(parsing: path))
        for chunk in Cutting.chunkSizes {
            let cutter = cutting.cutter()
            #expect(try Cuts(text, cutter, chunk: chunk).records.isEmpty)
            #expect(cutter.status == .undecided)
            #expect(try CutPage.cut(Array(text.utf8), cutting, chunk: chunk) == CutPage.whole(Array(text.utf8), cutting))
        }
    }

    @Test(arguments: [
        ("$.data", #"{"message":"no"}"#, JSONReaderError.Kind.recordsMissing), ("$.data", "[]", .recordsMissing),
        ("$.a.b", #"{"a":[1]}"#, .recordsMissing),
        ("$.a.b", #"{"a":{},"b":[1]}"#, .recordsMissing), ("$", "7", .recordsNotAList), ("$.data", #"{"data":"x"}"#, .recordsNotAList),
        ("$", " ", .emptyBody),
        ("$", "", .emptyBody), ("$", "[\0{\0}\0]\0", .encoding), ("$", "\0[\0]", .encoding), ("$.data", #"{"da\qta":1,"data":[1]}"#, .syntax),
        ("$.data", #"{"x":1 "data":[1]}"#, .syntax), ("$.data", #"{"data":[1]"#, .syntax), ("$.data", #"{"x":[}],"data":[1]}"#, .syntax),
    ])
    func aPageWithoutAListIsRefusedAsTheReaderRefusesIt(path: String, text: String, kind: JSONReaderError.Kind) throws {
        for chunk in Cutting.chunkSizes { #expect(refusal(text, Cutting(records: try JSONPath(parsing: path)), chunk: chunk)?.kind == kind) }
    }

    @Test func aSecondListOfTheSameKeyIsTheReadersAffair() throws {
        for text in [#"{"data":[1],"data":[2,3]}"#, #"{"data":[1],"x":{"data":[4]},"data":null}"#] {
            for chunk in Cutting.chunkSizes {
                var cutting = Cutting(records: "$.data")
                #expect(refusal(text, cutting, chunk: chunk)?.kind == .ambiguousEnvelope)
                cutting.policies.duplicateKeys = .last
                #expect(refusal(text, cutting, chunk: chunk)?.kind == .ambiguousEnvelope)
                cutting.policies.duplicateKeys = .first
                let page = try CutPage.cut(Array(text.utf8), cutting, chunk: chunk)
                #expect(page.records.map(\.bytes) == [Array("1".utf8)])
                #expect(page == (try CutPage.whole(Array(text.utf8), cutting)))
            }
        }
    }

    @Test func theFirstOfTwoKeysLeadsToTheListOrNoneDoes() throws {
        var cutting = Cutting(records: "$.a.b")
        cutting.policies.duplicateKeys = .first
        for text in [#"{"a":{},"a":{"b":[1]}}"#, #"{"a":{"c":3},"a":{"b":[1]}}"#, #"{"a":1,"a":{"b":[1]}}"#, #"{"a":{"b":2,"b":[1]}}"#] {
            let cutter = cutting.cutter()
            #expect(try Cuts(text, cutter).records.isEmpty)
            #expect(cutter.status == .undecided)
            #expect(refusal(text, cutting)?.kind == (text.contains("2") ? .recordsNotAList : .recordsMissing))
        }
    }

    /// After a repair another key may be the first of its name.
    @Test func aKeyThatIsNotUTF8IsLeftToTheReader() throws {
        var cutting = Cutting(records: "$.d\u{FFFD}")
        cutting.policies.invalidUTF8 = .replace
        cutting.policies.duplicateKeys = .first
        let page = Array(#"{"d"#.utf8) + [0xFF] + Array("\":[1],\"d\u{FFFD}\":[2]}".utf8)
        #expect(try CutPage.cut(page, cutting, chunk: .max) == CutPage.whole(page, cutting))
        #expect(try CutPage.cut(page, cutting, chunk: .max).records.map(\.bytes) == [Array("1".utf8)])
    }

    @Test(arguments: [
        ("$", "$", true), ("$", "$[0].id", true), ("$", "$.next", false), ("$.data", "$.next", false), ("$.data", "$.data", true),
        ("$.data", "$.data[3]", true), ("$.data", "$", true), ("$.a.b", "$.a", true), ("$.a.b", "$.a.c", false), ("$.a.b", "$.a.b.c", false),
        ("$['5']", "/5", true),
    ])
    func anEnvelopeThatLooksIntoTheListLeavesItUncut(list: String, field: String, isUncut: Bool) throws {
        let envelope = JSONFieldPlan([JSONField("f", path: try JSONPath(parsing: field), capture: .raw)])
        let cutting = Cutting(records: try JSONPath(parsing: list), envelope: envelope)
        #expect(cutting.cutter().status == (isUncut ? .undecided : .looking))
        for text in ["[[1],[2]]", #"{"data":[[1],[2],3,4],"next":1}"#, #"{"a":{"b":[1],"c":2}}"#, #"{"5":[1]}"#, #"{"a":{"b":{"c":7}}}"#] {
            let page = Array(text.utf8)
            #expect(try wholePage(page, cutting) == (try? CutPage.cut(page, cutting, chunk: 3)))
        }
    }

    // A list is there whatever is taken out of it, and so is what is around it. What is in it is not.
    @Test(arguments: [("$.a.b", "$.a", false), ("$.a.b", "$.a.b", false), ("$", "$[0]", true), ("$.a.b", "$.a.b[1].c", true)])
    func whatOnlyHasToBeThereLeavesTheListToBeCut(list: String, field: String, isUncut: Bool) throws {
        let envelope = JSONFieldPlan([JSONField("f", path: try JSONPath(parsing: field), capture: .presence)])
        let cutting = Cutting(records: try JSONPath(parsing: list), envelope: envelope)
        #expect(cutting.cutter().status == (isUncut ? .undecided : .looking))
        for text in [#"{"a":{"b":[1,{"c":2}]}}"#, #"{"a":{"b":[]}}"#, #"{"a":{"b":null}}"#, #"{"a":null}"#, "{}", "[[1],[2]]", "[]"] {
            let page = Array(text.utf8)
            let values = try? JSONRecordReader().read(body: page, plan: JSONFieldPlan([]), envelope: envelope) { _ in }.envelope
            let cutter = cutting.cutter()
            try page.withUnsafeBytes { bytes in try cutter.cut(bytes) { _ in } }
            let found = try cutter.finish().values(JSONRecordReader())
            #expect(found.map(\.isNil) == values?.map(\.isNil), "\(text)")
        }
    }

    @Test func depthCountsFromTheOutermostLevel() throws {
        for (path, page) in [("$", "[[[1]]]"), ("$.a.b", #"{"a":{"b":[[[1]]]}}"#)] {
            for depth in 0...6 {
                var cutting = Cutting(records: try JSONPath(parsing: path))
                cutting.limits.maxDepth = depth
                #expect(try wholePage(Array(page.utf8), cutting) == (try? CutPage.cut(Array(page.utf8), cutting, chunk: 2)))
            }
        }
    }

    @Test func aRecordThatIsTooDeepIsRefusedByTheLimitOfThePage() throws {
        var cutting = Cutting(records: "$.a.b")
        cutting.limits.maxDepth = 5
        let cutter = cutting.cutter(), reader = JSONRecordReader(), body = Array("[[[[1]]]]".utf8)
        #expect(throws: Never.self) { try reader.read(body: Array("[[[1]]]".utf8), plan: Cutting.plan, limits: cutter.recordLimits) { _ in } }
        let error = #expect(throws: JSONReaderError.self) {
            try reader.read(body: body, plan: Cutting.plan, limits: cutter.recordLimits) { _ in }
        }
        guard case .limit(let limit)? = error?.kind else { throw try #require(error) }
        #expect(limit.name == .maxDepth && limit.value == 5)
    }

    @Test func aMillionLevelsTakeNoStack() throws {
        let deep = String(repeating: "[", count: 1_000_000) + String(repeating: "]", count: 1_000_000)
        for instructions in Cutting.instructions {
            let cuts = try Cuts("[\(deep)]", Cutting().cutter(instructions), chunk: 65_536)
            #expect(cuts.records.map(\.count) == [2_000_000])
        }
    }

    @Test func oneRecordTooManyIsRefused() throws {
        var cutting = Cutting()
        cutting.limits.maxRecordsPerPage = 2
        #expect(refusal("[1,2]", cutting) == nil)
        let error = try #require(refusal("[1,2, 3]", cutting, chunk: 2))
        guard case .limit(let limit) = error.kind else { throw error }
        #expect(limit.name == .maxRecordsPerPage && limit.value == 2)
        #expect(error.location.byteOffset == 6)
        // They are counted; the records of several pages may be read as one list.
        #expect(cutting.cutter().recordLimits.maxRecordsPerPage == .max)
    }

    @Test func aByteOrderMarkIsTreatedAsByTheReader() throws {
        for chunk in Cutting.chunkSizes {
            var cutting = Cutting()
            let error = refusal("\u{FEFF}[1,,]", cutting, chunk: chunk)
            #expect(error?.location.byteOffset == 6)
            cutting.policies.byteOrderMark = .rejectPage
            #expect(refusal("\u{FEFF}[1]", cutting, chunk: chunk)?.kind == .encoding)
        }
    }

    @Test func afterAnErrorAPageDoesNotGoOn() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let cutter = RecordCutter()
            let page: [UInt8] = Array("[,".utf8)
            page.withUnsafeBytes { page in
                try? cutter.cut(page) { _ in }
                try? cutter.cut(page) { _ in }
            }
        }
        result.trap(says: "a page was gone on with after an error")
    }
}
