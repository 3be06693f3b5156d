import Foundation
import ManifestTestSupport

/// Where the traits of streams are.
enum ManifestTraits {
    /// The most frequent ones, and of the rarer ones some of each kind. They are part of the project; `count` says how many of a thousand streams have
    /// them, 0 for streams that are there as others' parents.
    static func fixture() throws -> [StreamFacts] {
        try StreamFacts.list(json: Data(contentsOf: URL(fileURLWithPath: TestData.fixture("manifest-traits.json"))))
    }

    /// Those of whole connectors: a file `sample-A.json` in one of the folders of the test data; nil where there is none.
    static let sample: String? = {
        let folders = (try? FileManager.default.contentsOfDirectory(atPath: TestData.folder)) ?? []
        return folders.sorted().map { "\(TestData.folder)/\($0)/sample-A.json" }.first { FileManager.default.fileExists(atPath: $0) }
    }()
}
