import CoreData
import Foundation

/// The stack, as a new project of Xcode's has it.
struct PersistenceController {
    let container: NSPersistentContainer

    init(storeURL: URL? = nil) throws {
        container = NSPersistentContainer(name: "Bookshelf")
        if let storeURL { container.persistentStoreDescriptions.first?.url = storeURL }
        var failure: Error?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
        container.viewContext.automaticallyMergesChangesFromParent = true
    }
}
