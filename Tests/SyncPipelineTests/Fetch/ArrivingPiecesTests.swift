import JSONReader
import TestTraits
import Testing

@testable import SyncPipeline

/// JSONTestSuite as bodies of a resource, each in pieces of every size: through the sieve that a body goes through while it arrives, and the reading of what
/// it has left. That is the way of every page, so what is accepted here is accepted by the daemon.
@Suite(.enabled(if: TestData.has("JSONTestSuite/test_parsing"), "needs JSONTestSuite in the test data (CISTERN_TEST_DATA)"))
struct ArrivingPiecesTests {
    static let folder = "JSONTestSuite/test_parsing"
    private static let sizes = [1, 2, 3, 7, 64, 4096, Int.max]

    private enum Verdict: Equatable {
        /// As a page, or as JSON that holds no records; with the number of records, and of those that would be set aside.
        case read(records: Int, setAside: Int)
        case noList
        case refused
    }

    private static func verdict(_ body: [UInt8], piece: Int) throws -> Verdict {
        var rest = body[...]
        var sieve = PageSieve(SievePlan(Fixture.resource("https://api.example")), known: nil, place: SpoolPlace())
        while !rest.isEmpty {
            // Each piece is in memory of its own, which is gone when the next one comes.
            try Array(rest.prefix(piece)).withUnsafeBytes { try sieve.take($0) }
            rest = rest.dropFirst(piece)
        }
        let content = try sieve.finish()
        var setAside = 0
        do {
            let summary = try content.read(plan: JSONFieldPlan([]), policies: JSONReaderPolicies()) { record, _ in
                if record.problem != nil { setAside += 1 }
            }
            return .read(records: summary.recordCount, setAside: setAside)
        } catch let error as JSONReaderError {
            return [.recordsNotAList, .recordsMissing].contains(error.kind) ? .noList : .refused
        }
    }

    /// The verdict on each file; fails where it depends on the pieces.
    private func verdicts(_ prefix: String) throws -> [String: Verdict] {
        var verdicts: [String: Verdict] = [:]
        for name in try TestData.files(in: Self.folder) where name.hasPrefix(prefix) {
            let body = try TestData.bytes("\(Self.folder)/\(name)")
            let whole = try Self.verdict(body, piece: .max)
            for piece in Self.sizes.dropLast() {
                let verdict = try Self.verdict(body, piece: piece)
                if verdict != whole { Issue.record("\(name) in pieces of \(piece): \(verdict), and as a whole \(whole)") }
            }
            verdicts[name] = whole
        }
        return verdicts
    }

    // J1
    @Test(.longComputation) func everyBodyThatMustBeAcceptedIsHoweverItArrives() throws {
        let verdicts = try verdicts("y_")
        #expect(verdicts.count == 95)
        for (name, verdict) in verdicts where verdict == .refused { Issue.record("\(name) was refused") }
    }

    // J1
    @Test(.longComputation) func everyBodyThatMustBeRefusedIsHoweverItArrives() throws {
        let verdicts = try verdicts("n_")
        #expect(verdicts.count == 188)
        for (name, verdict) in verdicts where verdict != .refused { Issue.record("\(name): \(verdict)") }
    }

    /// What the standard leaves open, as this version decides it: these bodies are refused, and all others are read. Bytes that are not UTF-8, UTF-16, and more levels
    /// than `limits.max_depth`.
    private static let refused: Set = [
        "i_string_UTF-16LE_with_BOM.json", "i_string_UTF-8_invalid_sequence.json", "i_string_UTF8_surrogate_U+D800.json",
        "i_string_invalid_utf-8.json", "i_string_iso_latin_1.json", "i_string_lone_utf8_continuation_byte.json",
        "i_string_not_in_unicode_range.json", "i_string_overlong_sequence_2_bytes.json", "i_string_overlong_sequence_6_bytes.json",
        "i_string_overlong_sequence_6_bytes_null.json", "i_string_truncated-utf-8.json", "i_string_utf16BE_no_BOM.json",
        "i_string_utf16LE_no_BOM.json", "i_structure_500_nested_arrays.json",
    ]

    // J1
    @Test(.longComputation) func everyOpenCaseIsDecidedAndTheSameHoweverItArrives() throws {
        let verdicts = try verdicts("i_")
        #expect(verdicts.count == 35)
        #expect(Set(verdicts.filter { $0.value == .refused }.keys) == Self.refused)
    }
}
