import Foundation
import OpenCoreData

/// The three recommended ways to import in the background.
enum Design: Int {
    /// coordinator ← main ← worker
    case nested = 1
    /// coordinator ← private root ← main ← worker
    case rooted = 2
    /// coordinator ← main, coordinator ← worker, kept in step by merging
    case merged = 3
}

/// One import: `count` objects made in a worker, saved all at once or every so often, until they are in the store and the main context knows.
struct Import: Sendable {
    let design: Design
    let count: Int
    /// 0: one save at the end.
    let saveEvery: Int
    /// The contexts' notifications carry no objects for what children pushed: nobody listens to them, as in the daemon.
    let idsOnly: Bool
    let coordinator: NSPersistentStoreCoordinator

    func run() throws {
        let main = NSManagedObjectContext(.mainQueueConcurrencyType)
        var root: NSManagedObjectContext?
        if design == .rooted {
            let context = NSManagedObjectContext(.privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            main.parent = context
            root = context
        } else {
            main.persistentStoreCoordinator = coordinator
        }
        let worker = NSManagedObjectContext(.privateQueueConcurrencyType)
        var token: (any NSObjectProtocol)?
        if design == .merged {
            worker.persistentStoreCoordinator = coordinator
            // The usual pattern: the worker's notification is merged on the main queue.
            token = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: worker, queue: nil) { notification in
                let parcel = Parcel(notification)
                main.perform { main.mergeChanges(fromContextDidSave: parcel.notification) }
            }
        } else {
            worker.parent = main
        }
        for context in [root, main, worker].compactMap({ $0 }) { context.materializesNotificationObjects = !idsOnly }
        let done = DispatchGroup()
        let failures = Failures()
        func saveUp() throws {
            try worker.save()
            guard design != .merged else { return }
            done.enter()
            main.perform { [root] in
                failures.catching { try main.save() }
                guard let root else { return done.leave() }
                root.perform {
                    failures.catching { try root.save() }
                    done.leave()
                }
            }
        }
        try worker.performAndWait {
            for number in 0..<count {
                Stop(context: worker).fill(number)
                if saveEvery > 0 && (number + 1) % saveEvery == 0 { try saveUp() }
            }
            if worker.hasChanges { try saveUp() }
        }
        done.wait()
        main.performAndWait {}
        if let token { NotificationCenter.default.removeObserver(token) }
        if let error = failures.first { throw error }
    }
}

/// A notification on its way to another queue.
// It is handed over once and not used by the sender any more.
private struct Parcel: @unchecked Sendable {
    let notification: Notification
    init(_ notification: Notification) { self.notification = notification }
}

// Guarded by its lock.
private final class Failures: @unchecked Sendable {
    private let lock = NSLock()
    private var errors: [any Error] = []

    var first: (any Error)? { lock.withLock { errors.first } }

    func catching(_ body: () throws -> Void) {
        do { try body() } catch { lock.withLock { errors.append(error) } }
    }
}
