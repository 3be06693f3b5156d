@testable import OpenCoreData

/// Hears by ID what changed in a context.
final class ListenerByID: ContextChangeListener {
    private(set) var heard: [ContextChangeIDs] = []
    private(set) var resets = 0

    func contextDidChange(_ ids: ContextChangeIDs) { heard.append(ids) }
    func contextWasReset() { resets += 1 }
}
