import Foundation
import OpenCoreData
import Synchronization

/// Writes down the notifications of one context while it lives.
// The list is guarded by a lock; notifications are posted on the context's queue.
public final class NotificationRecorder: @unchecked Sendable {
    // Read by the test after the context has posted it.
    private struct Entry: @unchecked Sendable {
        let notification: Notification
        let thread: pthread_t
    }

    private let entries = Mutex<[Entry]>([])
    private let tokens = Mutex<[Token]>([])

    // Only handed back to the centre that made it.
    private struct Token: @unchecked Sendable {
        let value: any NSObjectProtocol
    }

    public init(_ context: NSManagedObjectContext, _ names: Notification.Name...) {
        for name in names {
            let token = Token(
                value: NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { [weak self] notification in
                    let entry = Entry(notification: notification, thread: pthread_self())
                    self?.entries.withLock { $0.append(entry) }
                })
            tokens.withLock { $0.append(token) }
        }
    }

    deinit {
        for token in tokens.withLock({ $0 }) { NotificationCenter.default.removeObserver(token.value) }
    }

    public var notifications: [Notification] { entries.withLock { $0.map(\.notification) } }
    public var count: Int { entries.withLock { $0.count } }
    public var names: [String] { notifications.map { $0.name.rawValue.replacingOccurrences(of: "NSManagedObjectContext", with: "") } }
    /// On which thread each was posted.
    public var threads: [pthread_t] { entries.withLock { $0.map(\.thread) } }
    public func forget() { entries.withLock { $0 = [] } }

    /// The objects under a key of the last notification.
    public func objects(_ key: String) -> Set<NSManagedObject> { notifications.last?.userInfo?[key] as? Set<NSManagedObject> ?? [] }

    /// The IDs under a key of the last notification.
    public func ids(_ key: NSManagedObjectContext.NotificationKey) -> Set<NSManagedObjectID> {
        notifications.last?.userInfo?[key.rawValue] as? Set<NSManagedObjectID> ?? []
    }
}
