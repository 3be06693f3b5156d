import Foundation
import Synchronization

/// How long contexts have held the main queue: in all, and at a time. In nanoseconds.
public enum MainQueueLoad {
    private static let sum = Atomic<UInt64>(0)
    private static let peak = Atomic<UInt64>(0)
    private static let blocks = Atomic<UInt64>(0)

    static func add(_ nanoseconds: UInt64) {
        sum.add(nanoseconds, ordering: .relaxed)
        blocks.add(1, ordering: .relaxed)
        peak.max(nanoseconds, ordering: .relaxed)
    }

    public static var total: UInt64 { sum.load(ordering: .relaxed) }
    public static var longest: UInt64 { peak.load(ordering: .relaxed) }
    public static var count: UInt64 { blocks.load(ordering: .relaxed) }
}
