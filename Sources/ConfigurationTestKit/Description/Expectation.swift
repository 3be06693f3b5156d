/// What is to have come of a run. What it does not say is not looked at, but for two things that have to be said: that a run fails or does not end
/// well, and that records are set aside.
package struct Expectation: Sendable {
    /// A row, with those of its properties that matter.
    package struct Row: Sendable {
        /// Where it stands: `FILE:LINE`.
        package var place: String
        /// Values by property; a table without members stands for no value.
        package var values: [String: TestValue]

        /// A row from its parts.
        package init(place: String, values: [String: TestValue]) {
            self.place = place
            self.values = values
        }
    }

    /// A record that is set aside. Nil: any.
    package struct Quarantined: Sendable {
        /// A part of the reason.
        package var reason: String?
        /// Where in the record the trouble is.
        package var path: String?
        /// On which page of its run it came, from 1.
        package var page: Int?
        /// Its position on the page, from 0.
        package var record: Int?

        /// Any record.
        package init() {}
    }

    /// Where it stands: `FILE:LINE`.
    package var place = ""
    /// All rows of entities, tombstones left out.
    package var rows: [String: [Row]] = [:]
    /// How many rows entities have, tombstones left out.
    package var objects: [String: Int] = [:]
    /// Sums over all resources of the run, by the names of `RecordCounts`.
    package var counts: [String: Int] = [:]
    /// Whether every resource was read to its end.
    package var isComplete: Bool?
    /// How many requests were made.
    package var requests: Int?
    /// Whether the exchanges take place in the order in which they stand.
    package var isInOrder = false
    /// A part of what a run says that went wrong; nil: nothing does.
    package var error: String?
    /// Everything that is set aside; nil: nothing comes to it in this run.
    package var quarantine: [Quarantined]?

    /// That all is well.
    package init() {}
}
