import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

@Suite struct PersistentContainerTests {
    /// A container whose default directory is one of its own test, and is not there yet.
    // No state of its own.
    private final class Container: NSPersistentContainer, @unchecked Sendable {
        static let place = FileManager.default.temporaryDirectory.appendingPathComponent("container-\(UUID().uuidString)", isDirectory: true)

        override class func defaultDirectoryURL() -> URL { place.appendingPathComponent("made/later", isDirectory: true) }
    }

    private func temporaryFile() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("stores-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder.appendingPathComponent("store.sqlite")
    }

    private func inMemory() throws -> NSPersistentContainer {
        let container = NSPersistentContainer(name: "Test", managedObjectModel: Company.model())
        let description = try #require(container.persistentStoreDescriptions.first)
        description.type = NSInMemoryStoreType
        container.loadPersistentStores { #expect($1 == nil) }
        return container
    }

    // O1
    @Test func aContainerHasOneDefaultDescription() {
        let model = Company.model(), container = Container(name: "Shop", managedObjectModel: model)
        #expect(container.name == "Shop" && container.managedObjectModel === model)
        #expect(container.persistentStoreCoordinator.managedObjectModel === model)
        #expect(container.persistentStoreDescriptions.count == 1)
        let description = container.persistentStoreDescriptions.first
        #expect(description?.type == NSSQLiteStoreType && description?.url == Container.defaultDirectoryURL().appendingPathComponent("Shop.sqlite"))
        #expect(description?.shouldMigrateStoreAutomatically == true && description?.shouldInferMappingModelAutomatically == true)
        #expect(container.persistentStoreCoordinator.persistentStores.isEmpty)
        #expect(NSPersistentContainer.defaultDirectoryURL().isFileURL)
    }

    // O1
    @Test func theDefaultStoreIsMadeInTheDefaultDirectory() throws {
        defer { try? FileManager.default.removeItem(at: Container.place) }
        let model = Company.model()
        for round in 0..<2 {
            let container = Container(name: "Shop", managedObjectModel: model)
            var calls: [(url: URL?, error: (any Error)?)] = []
            container.loadPersistentStores { calls.append(($0.url, $1)) }
            #expect(calls.count == 1 && calls.first?.error == nil && calls.first?.url == container.persistentStoreDescriptions.first?.url)
            #expect(FileManager.default.fileExists(atPath: Container.defaultDirectoryURL().appendingPathComponent("Shop.sqlite").path))
            let context = container.newBackgroundContext()
            try context.performAndWait { () throws in
                #expect(try context.names("Person") == (round == 0 ? [] : ["Ada"]))
                if round == 0 { context.make("Person", ["name": "Ada"]) }
                try context.save()
            }
            for store in container.persistentStoreCoordinator.persistentStores { try container.persistentStoreCoordinator.remove(store) }
        }
    }

    // O1
    @Test func theHandlerIsCalledOncePerStoreAndGivenItsError() throws {
        let good = try temporaryFile(), missing = good.deletingLastPathComponent().appendingPathComponent("no/where.sqlite")
        defer { try? FileManager.default.removeItem(at: good.deletingLastPathComponent()) }
        let container = NSPersistentContainer(name: "Test", managedObjectModel: Company.model())
        container.persistentStoreDescriptions = [missing, good].map { NSPersistentStoreDescription(url: $0) }
        var codes: [String: Int] = [:], count = 0
        container.loadPersistentStores { description, error in
            count += 1
            codes[description.url?.lastPathComponent ?? ""] = (error as NSError?)?.code ?? 0
        }
        #expect(count == 2 && codes["where.sqlite"] == 134080 && codes["store.sqlite"] == 0)
        #expect(container.persistentStoreCoordinator.persistentStores.map(\.url) == [good])
        // Once more: the one that is there is left alone.
        count = 0
        container.loadPersistentStores { _, _ in count += 1 }
        #expect(count == 2 && container.persistentStoreCoordinator.persistentStores.count == 1)
    }

    // O1
    @Test func aStoreCanBeAddedWhileTheCallerGoesOn() async throws {
        let url = try temporaryFile()
        defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
        let container = NSPersistentContainer(name: "Test", managedObjectModel: Company.model())
        let description = NSPersistentStoreDescription(url: url)
        description.shouldAddStoreAsynchronously = true
        container.persistentStoreDescriptions = [description]
        let caller = Mutex(Optional(pthread_self()))
        let (isElsewhere, failed) = await withCheckedContinuation { (continuation: CheckedContinuation<(Bool, Bool), Never>) in
            container.loadPersistentStores { loaded, error in
                let isSame = caller.withLock { $0 == pthread_self() }
                continuation.resume(returning: (!isSame, error != nil || loaded !== description))
            }
            caller.withLock { $0 = nil }
        }
        #expect(isElsewhere && !failed && container.persistentStoreCoordinator.persistentStores.count == 1)
    }

    // O1, S6
    @Test func aReadOnlyDescriptionOpensAReadOnlyStore() throws {
        let url = try temporaryFile(), model = Company.model()
        defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
        for isReadOnly in [false, true] {
            let container = NSPersistentContainer(name: "Test", managedObjectModel: model)
            let description = NSPersistentStoreDescription(url: url)
            description.isReadOnly = isReadOnly
            description.setValue("NORMAL" as NSString, forPragmaNamed: "synchronous")
            description.timeout = 1
            container.persistentStoreDescriptions = [description]
            container.loadPersistentStores { #expect($1 == nil) }
            let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
            #expect(store.isReadOnly == isReadOnly)
            try container.persistentStoreCoordinator.remove(store)
        }
        // A pragma that the file format fixes.
        let container = NSPersistentContainer(name: "Test", managedObjectModel: model)
        container.persistentStoreDescriptions[0].url = url
        container.persistentStoreDescriptions[0].setValue("1024" as NSString, forPragmaNamed: "page_size")
        container.loadPersistentStores { #expect(($1 as NSError?)?.code == 134080) }
    }

    // O1
    @Test func aContainerFindsTheModelThatIsRegisteredUnderItsName() {
        let first = Company.model(), second = Company.model(), name = "Registered-\(UUID().uuidString)"
        NSManagedObjectModel.register(first, named: name)
        let container = NSPersistentContainer(name: name)
        #expect(container.name == name && container.managedObjectModel === first)
        #expect(container.persistentStoreDescriptions.first?.url?.lastPathComponent == "\(name).sqlite")
        NSManagedObjectModel.register(second, named: name)
        #expect(NSPersistentContainer(name: name).managedObjectModel === second && container.managedObjectModel === first)
    }

    // O1, E2
    @Test func aContainerWithoutAModelOfItsNameStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NSPersistentContainer(name: "Nowhere")
        }.trap(says: "there is no model named \"Nowhere\"")
    }

    // O2
    @Test func contextsOfAContainerAreConnectedToItsCoordinator() throws {
        let container = try inMemory()
        let first = container.newBackgroundContext(), second = container.newBackgroundContext()
        #expect(container.viewContext.concurrencyType == .mainQueueConcurrencyType)
        #expect(first.concurrencyType == .privateQueueConcurrencyType && first !== second)
        for context in [container.viewContext, first, second] {
            #expect(context.parent == nil && context.persistentStoreCoordinator === container.persistentStoreCoordinator)
        }
    }

    // O2
    @Test func aBackgroundTaskRunsWithAFreshContextOnItsQueue() async throws {
        let container = try inMemory()
        let identities = Mutex<Set<ObjectIdentifier>>([])
        let contexts = Mutex<[NSManagedObjectContext]>([])
        for number in 0..<3 {
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                Self.start(container) { context in
                    // Traps off the queue.
                    context.make("Item", ["key": "\(number)"])
                    #expect(throws: Never.self) { try context.save() }
                    identities.withLock { _ = $0.insert(ObjectIdentifier(context)) }
                    contexts.withLock { $0.append(context) }
                    continuation.resume()
                }
            }
        }
        #expect(identities.withLock { $0.count } == 3)
        #expect(contexts.withLock { $0 }.allSatisfy { $0 !== container.viewContext && $0.parent == nil })
        let count = try await container.performBackgroundTask { try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Item")) }
        #expect(count == 3)
    }

    /// The form with a callback: asynchronous code would choose the other one.
    private static func start(_ container: NSPersistentContainer, _ block: @escaping (NSManagedObjectContext) -> Void) {
        container.performBackgroundTask(block)
    }

    private struct Refusal: Error {}

    // C8, O2
    @Test func anAsynchronousBackgroundTaskGivesAValueAndThrows() async throws {
        let container = try inMemory()
        let keys = try await container.performBackgroundTask { context in
            context.make("Item", ["key": "a"])
            try context.save()
            return try context.names("Item", "key")
        }
        #expect(keys == ["a"])
        await #expect(throws: Refusal.self) { try await container.performBackgroundTask { _ in throw Refusal() } }
        let plain = await container.performBackgroundTask { _ in 7 }
        #expect(plain == 7)
    }
}
