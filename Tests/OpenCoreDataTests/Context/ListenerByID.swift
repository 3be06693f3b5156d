@testable import OpenCoreData

/// Hears by ID what changed in a context.
final class ListenerByID {
    private(set) var heard: [ContextChangeIDs] = []
    private(set) var resets = 0

    func follow(_ context: NSManagedObjectContext) {
        context.news.add(self) { listener, news in
            if case .wasReset = news { listener.resets += 1 }
            if let ids = news.changedIDs, !ids.isEmpty { listener.heard.append(ids) }
        }
    }
}

extension NSManagedObjectContext {
    /// Says that these objects may be other than they were.
    func tellOfRefreshed(_ ids: Set<NSManagedObjectID>) {
        var events = ContextEvents()
        events.reverted = ids
        news.tell(.didChange(ObjectChanges(events)))
    }
}
