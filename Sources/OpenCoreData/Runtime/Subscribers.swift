import Synchronization

/// Whoever follows something, in the order of their coming, none of them kept alive. Safe to use from any thread.
package final class Subscribers<News>: Sendable {
    // A subscriber that hears nothing elsewhere is looked at on its own queue only, so that its end does not come on another.
    private struct Subscription: @unchecked Sendable {
        let identity: ObjectIdentifier
        weak var subscriber: AnyObject?
        let isTold: (AnyObject, News) -> Void
        let hearsAnywhere: Bool
    }

    private let list = Mutex<[Subscription]>([])

    package init() {}

    /// Follows from now on, once, whatever it did before.
    /// - Parameters:
    ///   - anywhere: it also hears what is told on other threads than those of the queue that it shares with who tells.
    ///   - isTold: returns at once where it may be called on other threads.
    package func add<Subscriber: AnyObject>(
        _ subscriber: Subscriber, anywhere: Bool = false, isTold: @escaping (Subscriber, News) -> Void
    ) {
        let subscription = Subscription(
            identity: ObjectIdentifier(subscriber), subscriber: subscriber,
            isTold: { isTold(unsafeDowncast($0, to: Subscriber.self), $1) }, hearsAnywhere: anywhere)
        list.withLock { list in
            list.removeAll { $0.identity == subscription.identity }
            list.append(subscription)
        }
    }

    package func remove(_ subscriber: AnyObject) {
        list.withLock { list in list.removeAll { $0.identity == ObjectIdentifier(subscriber) } }
    }

    /// Tells everybody in turn. The news are put together only if there is somebody to hear them.
    /// - Parameters:
    ///   - anywhere: this may be any thread; otherwise it is the queue of those who hear nothing elsewhere.
    ///   - sender: hears nothing of it.
    package func tell(_ news: @autoclosure () -> News, anywhere: Bool = false, except sender: AnyObject? = nil) {
        let told = list.withLock { list in
            // Nothing that could be the last to let go of a subscriber happens within the lock, which its end may want.
            var living: [(subscriber: AnyObject, isTold: (AnyObject, News) -> Void)] = [], ended: Set<ObjectIdentifier> = []
            for subscription in list where !anywhere || subscription.hearsAnywhere {
                if let subscriber = subscription.subscriber {
                    living.append((subscriber, subscription.isTold))
                } else {
                    ended.insert(subscription.identity)
                }
            }
            if !ended.isEmpty { list.removeAll { ended.contains($0.identity) } }
            return Unchecked(value: living)
        }
        guard told.value.contains(where: { $0.subscriber !== sender }) else { return }
        let news = news()
        for (subscriber, isTold) in told.value where subscriber !== sender { isTold(subscriber, news) }
    }
}
