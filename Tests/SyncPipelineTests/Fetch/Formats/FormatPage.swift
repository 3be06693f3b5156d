import JSONReader
import SyncConfiguration
import Testing

@testable import SyncPipeline

/// Pages in other formats than JSON, as they arrive and are read.
enum FormatPage {
    /// How many bytes arrive at once.
    static let pieces = [1, 2, 3, 7, 64, 4096]

    private static let fields = JSONFieldPlan([JSONField(key: "id")])

    static func content(
        _ bytes: [UInt8], _ format: ContentFormat, piece: Int = .max, known: Manifest? = nil,
        _ change: (inout ResourceConfiguration) -> Void = { _ in }
    ) throws -> PageContent {
        let resource = Fixture.resource("https://api.example") {
            $0.format = format
            change(&$0)
        }
        var sieve = PageSieve(SievePlan(resource), known: known, place: SpoolPlace()), rest = bytes[...]
        while !rest.isEmpty {
            try Array(rest.prefix(piece)).withUnsafeBytes { try sieve.take($0) }
            rest = rest.dropFirst(piece)
        }
        return try sieve.finish()
    }

    /// The JSON texts of the records that have to be read.
    static func records(of content: PageContent, _ policies: JSONReaderPolicies = JSONReaderPolicies()) throws -> [String] {
        var records: [String] = []
        _ = try content.read(plan: fields, policies: policies) { record, _ in records.append(String(record.raw)) }
        return records
    }

    static func records(_ text: String, _ format: ContentFormat, piece: Int = .max) throws -> [String] {
        try records(of: try content(Array(text.utf8), format, piece: piece))
    }

    /// What is wrong with the records that are none, each with its line.
    static func problems(of content: PageContent) throws -> [String] {
        let lines = try #require(content.lines)
        var problems: [String] = []
        _ = try content.read(plan: fields, policies: JSONReaderPolicies()) { record, place in
            if let problem = record.problem { problems.append(lines.words(problem, of: place?.place ?? record.index)) }
        }
        return problems
    }

    /// Why a page is none; nil: it is one.
    static func refusal(
        _ text: String, _ format: ContentFormat, piece: Int = .max, _ policies: JSONReaderPolicies = JSONReaderPolicies()
    ) -> String? {
        refusal(Array(text.utf8), format, piece: piece, policies)
    }

    static func refusal(
        _ bytes: [UInt8], _ format: ContentFormat, piece: Int = .max, _ policies: JSONReaderPolicies = JSONReaderPolicies()
    ) -> String? {
        do {
            _ = try records(of: try content(bytes, format, piece: piece), policies)
            return nil
        } catch let error as FormatError {
            return "\(error)"
        } catch {
            return "another error: \(error)"
        }
    }

    /// The texts that are each one JSON value; nil if one of them is none.
    static func values(_ texts: [String]) -> [String]? {
        var values: [String] = []
        for text in texts where !text.allSatisfy({ " \t\r\n".contains($0) }) {
            var found: [String] = []
            do {
                // In brackets, since what no object and no list is may not stand alone for the reader.
                _ = try JSONRecordReader().read(body: Array("[\(text)]".utf8), plan: fields) { found.append(String($0.raw)) }
            } catch {
                return nil
            }
            guard found.count == 1 else { return nil }
            values.append(found[0])
        }
        return values
    }
}
