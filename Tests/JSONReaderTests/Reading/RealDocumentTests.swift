import Foundation
import JSONReader
import TestTraits
import Testing

/// Answers of public services and published data sets.
@Suite(.enabled(if: TestData.has("SOURCES.md"), "needs the collected documents of the test data (CISTERN_TEST_DATA)"))
struct RealDocumentTests {
    /// Published malformed: with commas after the last member, or keys without quotes.
    static let malformed: Set = [
        "coredata/groot/JSON/cards.json", "coredata/groot/JSON/cards_update.json",
        "coredata/magicalrecord/Fixtures/MultipleEntitiesWithNoPrimaryKey.json", "coredata/restkit/Tests/Fixtures/JSON/error.json",
        "coredata/restkit/Tests/Fixtures/JSON/Foursquare.json",
    ]

    // J10
    @Test func realDocumentsAreTakenAndMalformedOnesAreNot() throws {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: TestData.directory.path).filter {
            $0.hasSuffix(".json") && !$0.hasPrefix("JSONTestSuite")
        }
        #expect(paths.count > 50)
        for path in paths {
            #expect(try accepts(TestData.bytes(path)) == !Self.malformed.contains(path), "\(path)")
        }
    }

    @Test func listsAreReadWhereverServicesPutThem() throws {
        let cases: [(file: String, records: JSONPath, key: String, count: Int)] = [
            ("simdjson-examples/twitter.json", "$.statuses", "id_str", 100), ("iso-codes/iso_3166-1.json", "/3166-1", "alpha_2", 249),
            ("iso-codes/iso_4217.json", "/4217", "alpha_3", 181), ("simdjson-examples/apache_builds.json", "$.jobs", "name", 875),
            ("geo/countries.json", "$", "iso2", 250), ("github-recorded/issues-page5.json", "$", "node_id", 100),
        ]
        for (file, records, key, count) in cases {
            let page = try Page.read(TestData.bytes(file), records: records, [JSONField(key: key)])
            #expect(page.rows.count == count, "\(file)")
            #expect(page.problems.allSatisfy { $0 == nil }, "\(file)")
            let keys = Set(page.rows.compactMap { $0[0].stringValue })
            #expect(keys.count == count, "\(file)")
        }
    }
}
