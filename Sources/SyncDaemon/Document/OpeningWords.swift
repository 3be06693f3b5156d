import Synchronization

/// What `STATUS=` says while the document is opened.
final class OpeningWords: Sendable {
    /// The percentage of a migration that is done; nil: none is under way.
    private let percent = Mutex<Int?>(nil)
    /// What it says before a migration.
    private let first = "Opening the database"

    var text: String { percent.withLock { $0.map(Self.words) } ?? first }

    /// The words for this share, 0 to 1; nil where they have been said.
    func migrated(_ share: Double) -> String? {
        let now = Int(share * 100)
        return percent.withLock { percent in
            defer { percent = now }
            return percent == now ? nil : Self.words(now)
        }
    }

    private static func words(_ percent: Int) -> String { "Bringing the database to the changed model, \(percent) %" }
}
