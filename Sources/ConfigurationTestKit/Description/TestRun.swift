package import SyncConfiguration

/// One run of some resources: what is asked and answered, and what has come of it at its end.
package struct TestRun: Sendable {
    /// Where it stands: `FILE:LINE`.
    package var place: String
    /// Sources and resources, `github` or `github/issues`, in the order in which they are read; nil: all that are enabled, those first that list
    /// parts for others.
    package var scopes: [String]?
    /// How much later it begins than the run before it ended, at least: no resource is read sooner than its `min_interval` allows.
    package var delay: TimeSpan
    /// Whether everything is asked for, whatever is known.
    package var isFull: Bool
    /// What servers answer.
    package var exchanges: [RecordedExchange]
    /// What is to come of it.
    package var expectation: Expectation

    /// A run of everything, an hour after the one before, unless said otherwise.
    package init(
        place: String, scopes: [String]? = nil, delay: TimeSpan = .hours(1), isFull: Bool = false, exchanges: [RecordedExchange] = [],
        expectation: Expectation = Expectation()
    ) {
        self.place = place
        self.scopes = scopes
        self.delay = delay
        self.isFull = isFull
        self.exchanges = exchanges
        self.expectation = expectation
    }
}
