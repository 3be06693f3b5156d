package import Foundation

/// One `[[test]]` of a test file: what servers answer, and what a configuration is to make of it.
package struct ConfigurationTest: Sendable {
    /// What lines and messages call it.
    package var name: String
    /// Where it stands: `FILE:LINE`.
    package var place: String
    /// The wall time at which its first run begins.
    package var start: Date
    /// What credentials hold instead of `test-NAME`, by their names.
    package var secrets: [String: String]
    /// No listing is read beyond so many pages; nil: as far as the configuration says.
    package var maxPages: Int?
    /// One after the other over one store; never empty.
    package var runs: [TestRun]

    /// A test that begins when ``defaultStart`` says, unless said otherwise.
    package init(
        name: String, place: String, start: Date = ConfigurationTest.defaultStart, secrets: [String: String] = [:], maxPages: Int? = nil,
        runs: [TestRun]
    ) {
        self.name = name
        self.place = place
        self.start = start
        self.secrets = secrets
        self.maxPages = maxPages
        self.runs = runs
    }

    /// 2026-01-01, midnight in UTC.
    package static let defaultStart = Date(timeIntervalSince1970: 1_767_225_600)
}
