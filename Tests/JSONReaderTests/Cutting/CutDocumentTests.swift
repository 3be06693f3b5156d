import TestTraits
import Testing

@testable import JSONReader

/// Cutter and reader together come to what the reader comes to alone: the same records, or the page is refused.
struct CutDocumentTests {
    static let paths = [[], ["data"], ["a", "b"]]

    /// Policies and limits that matter to single documents.
    func cutting(_ seed: UInt64, _ path: [String]) -> Cutting {
        var cutting = Cutting(records: JSONPath(keys: path))
        if seed.isMultiple(of: 2) { cutting.envelope = JSONFieldPlan([JSONField(key: "next"), JSONField("meta", path: "$.meta", capture: .raw)]) }
        if seed.isMultiple(of: 3) { cutting.policies.duplicateKeys = seed.isMultiple(of: 2) ? .first : .last }
        if seed.isMultiple(of: 5) { cutting.policies.invalidUTF8 = .replace }
        if seed.isMultiple(of: 7) { cutting.policies.byteOrderMark = .rejectPage }
        if seed.isMultiple(of: 11) { cutting.limits.maxDepth = Int(seed % 5) + path.count }
        if seed.isMultiple(of: 13) { cutting.limits.maxRecordsPerPage = Int(seed % 4) }
        if seed.isMultiple(of: 17) { cutting.limits.maxString = 4 }
        return cutting
    }

    @Test(.longComputation) func randomPagesAreCutAsTheyAreRead() throws {
        var cuts = 0
        var refusals = 0
        for seed in 0..<3000 as Range<UInt64> {
            var random = RandomDocument(seed: seed)
            let path = Self.paths[Int(seed % 3)]
            var page = random.page(path)
            if seed % 4 > 1 { page = random.damaged(page) }
            let cutting = cutting(random.next() % 10_000, path)
            let whole = try wholePage(page, cutting)
            if whole == nil { refusals += 1 } else if whole?.summary.recordList == .array { cuts += 1 }
            for (number, chunk) in Cutting.chunkSizes.enumerated() where chunk > 3 || page.count < 2000 {
                let instructions = Cutting.instructions[(Int(seed) + number) % Cutting.instructions.count]
                try expectSameVerdict(page, cutting, chunk: chunk, instructions, whole: whole, "seed \(seed)")
            }
        }
        // Neither side of it is rare.
        #expect(cuts > 1000 && refusals > 1000)
    }

    enum Outcome: Equatable {
        case cut(Cuts)
        case refused(String, Int)
    }

    @Test(.longComputation) func allInstructionsCutTheSame() throws {
        for seed in 5000..<6000 as Range<UInt64> {
            var random = RandomDocument(seed: seed)
            let path = Self.paths[Int(seed % 3)]
            var page = random.page(path)
            if seed.isMultiple(of: 2) { page = random.damaged(page) }
            func outcome(_ instructions: RecordCutter.Instructions, chunk: Int) throws -> Outcome {
                do {
                    return .cut(try Cuts(page, Cutting(records: JSONPath(keys: path)).cutter(instructions), chunk: chunk))
                } catch let error as JSONReaderError {
                    return .refused(error.message, error.location.byteOffset)
                }
            }
            let plain = try outcome(.plain, chunk: .max)
            for instructions in Cutting.instructions {
                for chunk in [63, 64, 65, 200, 4096, Int.max] {
                    let other = try outcome(instructions, chunk: chunk)
                    if other != plain { Issue.record("seed \(seed), \(instructions), chunks of \(chunk): \(other) and not \(plain)") }
                }
            }
        }
    }

    /// Every length from nothing to more than two blocks of 64 bytes, behind every number of backslashes.
    @Test(.longComputation) func runsOfBackslashesEndWhereTheyEndWhereverABlockEnds() throws {
        for lead in 0..<130 {
            let run = lead % 9
            let padding = String(repeating: "[", count: lead)
            let text = #"{"k":"\#(padding)\#(String(repeating: #"\\"#, count: run))\"}]","n":{}}"#
            let page = Array("[\(text), \(text)]".utf8)
            for instructions in Cutting.instructions {
                for chunk in [1, 64, 61, Int.max] {
                    let cuts = try Cuts(page, Cutting().cutter(instructions), chunk: chunk)
                    if cuts.texts != [text, text] {
                        Issue.record("\(lead) bytes and \(run) backslashes, \(instructions), chunks of \(chunk): \(cuts.texts)")
                    }
                }
            }
        }
    }

    @Test(.longComputation, .enabled(if: TestData.has(JSONTestSuiteTests.folder), "needs JSONTestSuite in the test data (CISTERN_TEST_DATA)"))
    func everyDocumentOfTheSuiteIsCutAsItIsRead() throws {
        let files = try TestData.files(in: JSONTestSuiteTests.folder)
        #expect(files.count == 318)
        for (number, name) in files.enumerated() {
            let bytes = try TestData.bytes("\(JSONTestSuiteTests.folder)/\(name)")
            let places: [(JSONPath, String, String)] = [
                (.root, "", ""), ("$.a", "", ""), (.root, "[", "]"), (.root, "[{},", ",1]"), ("$.data", #"{"x":"#, #","data":[{"id":1}]}"#),
                ("$.data", #"{"data":[{"id":1},[]],"x":"#, "}"),
            ]
            for (place, (path, before, after)) in places.enumerated() {
                let page = Array(before.utf8) + bytes + Array(after.utf8)
                let cutting = Cutting(records: path)
                let whole = try wholePage(page, cutting)
                for (size, chunk) in Cutting.chunkSizes.enumerated() where chunk > 3 || page.count < 10_000 {
                    let instructions = Cutting.instructions[(number + place + size) % Cutting.instructions.count]
                    try expectSameVerdict(page, cutting, chunk: chunk, instructions, whole: whole, name)
                }
            }
        }
    }
}
