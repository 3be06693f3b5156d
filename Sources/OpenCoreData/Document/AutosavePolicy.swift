import Foundation

/// When a document saves by itself: whichever of the three comes first. What a kill may lose is bounded by it.
public struct AutosavePolicy: Hashable, Sendable {
    /// How old the oldest unsaved change may get, in seconds.
    public var interval: TimeInterval
    /// How many changed objects may wait.
    public var changes: Int
    /// Roughly how many bytes of changed rows may wait.
    public var bytes: Int

    public init(interval: TimeInterval = 15, changes: Int = 5000, bytes: Int = 16 << 20) {
        self.interval = interval
        self.changes = changes
        self.bytes = bytes
    }

    /// What to do about unsaved changes.
    package enum Verdict: Hashable, Sendable {
        case nothing
        case saveNow
        /// After so many seconds.
        case saveLater(TimeInterval)
    }

    /// - Parameter age: seconds since the oldest unsaved change.
    package func verdict(rows: Int, bytes: Int, age: TimeInterval) -> Verdict {
        if rows == 0 { return .nothing }
        if rows >= changes || bytes >= self.bytes || age >= interval { return .saveNow }
        return .saveLater(interval - age)
    }
}

/// What tells a document the time: the system's clock, or a test's.
package protocol DocumentClock: Sendable {
    /// Seconds since any fixed moment; never goes back.
    var now: TimeInterval { get }
    /// Runs a block after so many seconds.
    func schedule(after seconds: TimeInterval, _ block: @escaping @Sendable () -> Void)
}

/// The machine's clock.
package struct SystemDocumentClock: DocumentClock {
    private static let queue = DispatchQueue(label: "UIManagedDocument autosave")

    package init() {}

    package var now: TimeInterval { TimeInterval(DispatchTime.now().uptimeNanoseconds) / 1e9 }

    package func schedule(after seconds: TimeInterval, _ block: @escaping @Sendable () -> Void) {
        Self.queue.asyncAfter(deadline: .now() + seconds, execute: block)
    }
}
