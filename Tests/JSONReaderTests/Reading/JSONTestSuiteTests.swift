import JSONReader
import TestTraits
import Testing

/// The public suite of documents every parser must accept (`y_`), must refuse (`n_`) or may decide about (`i_`).
@Suite(.enabled(if: TestData.has("JSONTestSuite/test_parsing"), "needs JSONTestSuite in the test data (CISTERN_TEST_DATA)"))
struct JSONTestSuiteTests {
    static let folder = "JSONTestSuite/test_parsing"

    enum Outcome: Equatable {
        case accepted(JSONRecordProblem.Kind?)
        case refused(JSONReaderError.Kind)
    }

    func validate(_ bytes: [UInt8]) throws -> Outcome {
        try withExactBytes(bytes) { bytes in
            do {
                return .accepted(try JSONRecordReader().validate(bytes: bytes)?.kind)
            } catch let error as JSONReaderError {
                return .refused(error.kind)
            }
        }
    }

    func files(_ prefix: String) throws -> [(name: String, bytes: [UInt8])] {
        try TestData.files(in: Self.folder).filter { $0.hasPrefix(prefix) }.map { ($0, try TestData.bytes("\(Self.folder)/\($0)")) }
    }

    // J1
    @Test func everyDocumentThatMustBeAcceptedIs() throws {
        let files = try files("y_")
        #expect(files.count == 95)
        for (name, bytes) in files {
            guard case .accepted = try validate(bytes) else {
                Issue.record("\(name) was refused")
                continue
            }
            // As a page: everything but a single string, number or boolean is one.
            do {
                _ = try Page.read(
                    bytes, [JSONField(key: "a"), JSONField("0", path: "$[0]", capture: .raw)],
                    envelope: [JSONField("$", path: .root)])
            } catch let error as JSONReaderError {
                #expect(error.kind == .recordsNotAList, "\(name): \(error)")
            }
        }
    }

    // J1
    @Test func everyDocumentThatMustBeRefusedIs() throws {
        let files = try files("n_")
        #expect(files.count == 188)
        for (name, bytes) in files {
            guard case .refused = try validate(bytes) else {
                Issue.record("\(name) was accepted")
                continue
            }
            for records in [JSONPath.root, "$.a", "$[0]"] {
                #expect(throws: JSONReaderError.self, "\(name)") { try Page.read(bytes, records: records, [JSONField(key: "a")]) }
                #expect {
                    try Page.read(bytes, records: records, [])
                } throws: { error in
                    ![.recordsMissing, .recordsNotAList].contains((error as? JSONReaderError)?.kind)
                }
            }
        }
    }

    /// What this reader decides where the standard leaves it open. A number or string problem concerns the record it is in.
    static let decisions: [String: Outcome] = [
        // No double can stand for these two; as decimals they are exact.
        "i_number_double_huge_neg_exp": .accepted(nil), "i_number_real_underflow": .accepted(nil),
        "i_number_huge_exp": .accepted(.numberOverflow), "i_number_neg_int_huge_exp": .accepted(.numberOverflow),
        "i_number_pos_double_huge_exp": .accepted(.numberOverflow), "i_number_real_neg_overflow": .accepted(.numberOverflow),
        "i_number_real_pos_overflow": .accepted(.numberOverflow),
        // Integers of any size are exact.
        "i_number_too_big_neg_int": .accepted(nil), "i_number_too_big_pos_int": .accepted(nil),
        "i_number_very_big_negative_int": .accepted(nil),
        // Halves of surrogate pairs become U+FFFD.
        "i_object_key_lone_2nd_surrogate": .accepted(nil), "i_string_1st_surrogate_but_2nd_missing": .accepted(nil),
        "i_string_1st_valid_surrogate_2nd_invalid": .accepted(nil), "i_string_incomplete_surrogate_and_escape_valid": .accepted(nil),
        "i_string_incomplete_surrogate_pair": .accepted(nil), "i_string_incomplete_surrogates_escape_valid": .accepted(nil),
        "i_string_invalid_lonely_surrogate": .accepted(nil), "i_string_invalid_surrogate": .accepted(nil),
        "i_string_inverted_surrogates_U+1D11E": .accepted(nil), "i_string_lone_second_surrogate": .accepted(nil),
        // JSON is UTF-8, well-formed.
        "i_string_UTF-8_invalid_sequence": .refused(.invalidUTF8), "i_string_UTF8_surrogate_U+D800": .refused(.invalidUTF8),
        "i_string_invalid_utf-8": .refused(.invalidUTF8), "i_string_iso_latin_1": .refused(.invalidUTF8),
        "i_string_lone_utf8_continuation_byte": .refused(.invalidUTF8), "i_string_not_in_unicode_range": .refused(.invalidUTF8),
        "i_string_overlong_sequence_2_bytes": .refused(.invalidUTF8), "i_string_overlong_sequence_6_bytes": .refused(.invalidUTF8),
        "i_string_overlong_sequence_6_bytes_null": .refused(.invalidUTF8), "i_string_truncated-utf-8": .refused(.invalidUTF8),
        "i_string_UTF-16LE_with_BOM": .refused(.encoding), "i_string_utf16BE_no_BOM": .refused(.encoding),
        "i_string_utf16LE_no_BOM": .refused(.encoding),
        // 500 levels are more than max_depth.
        "i_structure_500_nested_arrays": .refused(.limit(depth)),
        // A byte order mark is skipped.
        "i_structure_UTF-8_BOM_empty_object": .accepted(nil),
    ]

    static let depth: JSONLimit = {
        guard case .limit(let limit) = pageError(String(repeating: "[", count: 200))?.kind else { preconditionFailure("no limit on depth") }
        return limit
    }()

    // J1
    @Test func everyOpenCaseIsDecided() throws {
        let files = try files("i_")
        #expect(files.count == 35)
        #expect(Self.decisions.count == 35)
        for (name, bytes) in files {
            #expect(try validate(bytes) == Self.decisions[String(name.dropLast(5))], "\(name)")
        }
    }

    // J2
    @Test(.enabled(if: TestData.has("JSONTestSuite/test_transform")))
    func nothingIsLostInTheCasesThatOthersChange() throws {
        let folder = "JSONTestSuite/test_transform"
        let files = try TestData.files(in: folder).filter { $0.hasSuffix(".json") }
        #expect(files.count == 22)
        for file in files {
            let bytes = try TestData.bytes("\(folder)/\(file)")
            let text = String(decoding: bytes, as: UTF8.self)
            if file.hasPrefix("number") {
                let number = text.filter { !"[] \n".contains($0) }
                let page = try Page.read(
                    "{\"v\":\(text)}",
                    [JSONField("v", path: "$.v[0]"), JSONField("raw", path: "$.v[0]", capture: .raw)])
                #expect(page.rows[0][1] == .raw(number))
                switch page.rows[0][0] {
                case .int64(let value): #expect(String(value) == number)
                case .bigNumber(let digits): #expect(digits == number)
                case .double(let value): #expect(value == Double(number))
                default: Issue.record("\(file): \(page.rows)")
                }
            } else {
                var expected = Outcome.accepted(file.hasPrefix("object_same") ? .duplicateKey : nil)
                // These contain a surrogate as three bytes, not as an escape.
                if file.hasPrefix("string") && !file.contains("escaped") { expected = .refused(.invalidUTF8) }
                #expect(try validate(bytes) == expected, "\(file)")
            }
        }
    }
}
