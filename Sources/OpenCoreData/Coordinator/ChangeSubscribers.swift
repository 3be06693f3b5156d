import Synchronization

/// Somebody who follows what goes into a channel: a context that merges its parent's changes by itself.
package protocol ChangeSubscriber: AnyObject, Sendable {
    /// Called on the thread that made the changes; returns at once.
    func hear(of changes: ChangedObjectIDs)
}

/// The subscribers of one channel, weakly held. Safe to use from any thread.
package final class ChangeSubscribers: Sendable {
    private struct Subscription: Sendable {
        weak var subscriber: (any ChangeSubscriber)?
    }

    private let list = Mutex<[Subscription]>([])

    package init() {}

    func add(_ subscriber: any ChangeSubscriber) {
        list.withLock { list in
            list.removeAll { $0.subscriber == nil || $0.subscriber === subscriber }
            list.append(Subscription(subscriber: subscriber))
        }
    }

    func remove(_ subscriber: any ChangeSubscriber) {
        list.withLock { list in list.removeAll { $0.subscriber == nil || $0.subscriber === subscriber } }
    }

    /// Tells everybody but the one who made the changes. What changed is put together only if somebody listens.
    func announce(_ changes: @autoclosure () -> ChangedObjectIDs, except sender: (any ChangeSubscriber)? = nil) {
        let listeners = list.withLock { list in list.compactMap(\.subscriber) }.filter { $0 !== sender }
        guard !listeners.isEmpty else { return }
        let changes = changes()
        for listener in listeners { listener.hear(of: changes) }
    }
}
