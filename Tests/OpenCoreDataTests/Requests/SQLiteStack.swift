import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// A coordinator with one store in a file whose statements are counted, and contexts on it.
final class SQLiteStack {
    let fixture: StoreFixture
    let coordinator: NSPersistentStoreCoordinator
    let root: NSManagedObjectContext

    init(_ model: NSManagedObjectModel = Company.model()) throws {
        fixture = try StoreFixture(model)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        coordinator.add(fixture.store)
        root = NSManagedObjectContext(.privateQueueConcurrencyType)
        root.name = "root"
        root.persistentStoreCoordinator = coordinator
    }

    func child(of parent: NSManagedObjectContext) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.parent = parent
        return context
    }

    /// How many SELECTs the store runs during `body`.
    func selects(_ body: () throws -> Void) rethrows -> Int {
        let before = fixture.store.statements.current
        try body()
        return (fixture.store.statements.current - before).selects
    }

    /// `body` makes the store run that many SELECTs.
    func expect(selects wanted: Int, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void) rethrows {
        let found = try selects(body)
        #expect(found == wanted, sourceLocation: sourceLocation)
    }

    /// Nothing is in memory afterwards but what is unsaved in the children of `root`.
    func forget() {
        root.performAndWait { root.reset() }
        coordinator.rowCache.removeAll()
    }

    /// Saves that many items, `a` counting from 0.
    func makeItems(_ count: Int) throws {
        try root.performAndWait { () throws in
            for number in 0..<count { root.make("Item", ["key": "k\(number)", "a": number]) }
            try root.save()
        }
        forget()
    }
}
