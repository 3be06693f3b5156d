import CoreData
import Dispatch
import Foundation

extension NSPersistentContainer {
    /// Runs a block with a new context of the background, saves what it changed, and gives its value. When this returns, the view context has the
    /// changes, too.
    ///
    /// If the block or the save throws, nothing is saved, the context and its changes are discarded, and the error is thrown. Objects do not leave
    /// the block: return their `objectID`, which stays good although it was temporary before the save.
    ///
    /// It waits for the main queue without holding a thread. It never returns where the main queue is blocked until it does.
    ///
    /// - Parameter mergePolicy: What happens if somebody else changed the same objects meanwhile; by default the save throws.
    public nonisolated(nonsending) func save<T>(
        mergePolicy: NSMergePolicy = .error, _ block: @escaping (NSManagedObjectContext) throws -> T
    ) async throws -> T {
        let context = newBackgroundContext()
        context.mergePolicy = mergePolicy
        let (value, news) = try await context.perform { try Self.saving(context, block) }
        guard let news else { return value }
        let view = viewContext
        await view.perform { view.mergeChanges(fromContextDidSave: news) }
        return value
    }

    /// Runs a block with a new context of the background, saves what it changed, and gives its value, before it returns. On the main queue the view
    /// context has the changes then; elsewhere it gets them before any block that is handed to it later.
    ///
    /// If the block or the save throws, nothing is saved, the context and its changes are discarded, and the error is thrown.
    ///
    /// - Parameter mergePolicy: What happens if somebody else changed the same objects meanwhile; by default the save throws.
    public func saveAndWait<T>(mergePolicy: NSMergePolicy = .error, _ block: (NSManagedObjectContext) throws -> T) throws -> T {
        let context = newBackgroundContext()
        context.mergePolicy = mergePolicy
        let (value, news) = try context.performAndWait { try Self.saving(context, block) }
        guard let news else { return value }
        let view = viewContext
        if MainQueue.isCurrent {
            view.performAndWait { view.mergeChanges(fromContextDidSave: news) }
        } else {
            // Not waited for: the main queue may be waiting for this thread.
            view.perform { view.mergeChanges(fromContextDidSave: news) }
        }
        return value
    }

    /// Runs the block, saves, and gives what the save announced; nil if there was nothing to save.
    private static func saving<T>(
        _ context: NSManagedObjectContext, _ block: (NSManagedObjectContext) throws -> T
    ) throws -> (value: T, news: Notification?) {
        let value = try block(context)
        guard context.hasChanges else { return (value, nil) }
        let announced = Announced()
        let observer = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextDidSave, object: context, queue: nil) {
            announced.note($0)
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try context.save()
        return (value, announced.notification)
    }
}

/// What a context's save announced.
// Written by the save and read after it, on the queue of the context.
private final class Announced: @unchecked Sendable {
    private(set) var notification: Notification?

    func note(_ notification: Notification) { self.notification = notification }
}

/// Whether the caller is on the main queue, which another thread than the first may be serving.
private enum MainQueue {
    private static let key = DispatchSpecificKey<Bool>()
    private static let marked: Void = DispatchQueue.main.setSpecific(key: key, value: true)

    static var isCurrent: Bool {
        _ = marked
        return DispatchQueue.getSpecific(key: key) == true || Thread.isMainThread
    }
}
