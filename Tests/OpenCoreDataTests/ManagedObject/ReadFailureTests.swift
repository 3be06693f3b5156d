import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

/// A store that can't be read says nothing about its objects: none of them is gone, and none is changed for it.
@Suite struct ReadFailureTests {
    /// What a store in a file throws when the disk fails.
    private static let failure = SQLiteError(code: 10, message: "disk I/O error", operation: "while reading")
        .cocoaError(.persistentStoreOperation, "Can't read the store.")

    /// Lets requests of these kinds fail until it is told to stop.
    private final class Disk: Sendable {
        private let broken = Mutex(false)

        init(_ stack: TestStack, fails: @escaping @Sendable (StoreRequest) -> Bool) {
            stack.store.observe { [self] request in
                if self.broken.withLock({ $0 }) && fails(request) { throw ReadFailureTests.failure }
            }
        }

        func breaks() { broken.withLock { $0 = true } }
        func mends() { broken.withLock { $0 = false } }
    }

    private static func isRows(_ request: StoreRequest) -> Bool { if case .rows = request { true } else { false } }
    private static func isMembers(_ request: StoreRequest) -> Bool { if case .relatedIDs = request { true } else { false } }

    private static func isReading(_ request: StoreRequest) -> Bool {
        switch request {
        case .save, .reserveKeys: false
        default: true
        }
    }

    /// A department with an employee, stored; what was read of them is forgotten.
    private func stored(_ stack: TestStack) throws -> (department: NSManagedObjectID, person: NSManagedObjectID) {
        let ids = try stack.root.performAndWait { () throws in
            let department = stack.root.make("Department", ["name": "Looms"])
            let person = stack.root.make("Person", ["name": "Ada", "department": department])
            try stack.root.save()
            return (department.objectID, person.objectID)
        }
        stack.root.performAndWait { stack.root.reset() }
        stack.coordinator.rowCache.removeAll()
        return ids
    }

    // L10, L24
    @Test(arguments: [1, 2, 3])
    func anObjectThatCannotBeReadIsNotGone(_ levels: Int) throws {
        let stack = TestStack(), ids = try stored(stack), disk = Disk(stack, fails: Self.isReading)
        var context = stack.root
        for _ in 1..<levels { context = stack.child(of: context) }
        try context.performAndWait { () throws in
            let person = context.object(with: ids.person)
            disk.breaks()
            let error = try #require(#expect(throws: NSError.self) { try context.existingObject(with: ids.person) })
            #expect(error.code == Self.failure.code && SQLiteError.isTransient(error))
            #expect(person.isFault && !person.isDeleted && !person.hasChanges && !context.hasChanges)
            #expect(throws: NSError.self) { try person.validateForUpdate() }
            disk.mends()
            #expect(try context.existingObject(with: ids.person) === person)
            #expect(person.value(forKey: "name") as? String == "Ada" && !person.isDeleted)
            try context.save()
        }
        #expect(try stack.stored("Person", "name") == ["Ada"])
    }

    // L10, L24, E2
    @Test func usingAValueThatCannotBeReadStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack(), ids = try ReadFailureTests().stored(stack), disk = Disk(stack, fails: Self.isRows)
            disk.breaks()
            stack.root.performAndWait { _ = stack.root.object(with: ids.person).value(forKey: "name") }
        }.trap(says: "could not read the values of")
    }

    // R4, E2
    @Test func usingAToManyThatCannotBeReadStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack(), ids = try ReadFailureTests().stored(stack), disk = Disk(stack, fails: Self.isMembers)
            disk.breaks()
            stack.root.performAndWait { _ = stack.root.object(with: ids.department).objectIDs(forRelationshipNamed: "employees") }
        }.trap(says: "could not read employees of")
    }

    // R5, R6
    @Test(arguments: [Self.isRows, Self.isMembers])
    func aDeletionWhoseRulesCannotBeAppliedWaitsAndTheSaveThrows(_ fails: @escaping @Sendable (StoreRequest) -> Bool) throws {
        let stack = TestStack(), ids = try stored(stack), disk = Disk(stack, fails: fails), recorder = DiagnosticRecorder()
        stack.root.name = UUID().uuidString
        try stack.root.performAndWait { () throws in
            stack.root.delete(try stack.root.existingObject(with: ids.department))
            disk.breaks()
            stack.root.processPendingChanges()
            #expect(recorder.about(stack.root.name ?? "").map(\.kind) == [.storeReadFailed])
            let error = #expect(throws: NSError.self) { try stack.root.save() }
            #expect(error?.code == Self.failure.code && stack.root.hasChanges)
            #expect(try stack.stored("Department", "name") == ["Looms"])
            disk.mends()
            try stack.root.save()
            let person = try stack.root.existingObject(with: ids.person)
            #expect(person.value(forKey: "department") == nil && !person.hasChanges)
            #expect(try stack.stored("Department", "name").isEmpty && stack.stored("Person", "department").isEmpty)
        }
    }

    // P15, L27
    @Test func aSaveThatCannotCheckItsObjectsThrowsWhatTheStoreSays() throws {
        let stack = TestStack(), disk = Disk(stack, fails: Self.isMembers)
        try stack.root.performAndWait { () throws in
            let account = stack.root.make("Account")
            try stack.root.save()
            stack.root.delete(account)
            // Wrong for good, but that is not what keeps the save from being tried again.
            stack.root.make("Person").setValue(nil, forKey: "name")
            stack.root.processPendingChanges()
            disk.breaks()
            let error = try #require(#expect(throws: NSError.self) { try stack.root.save() })
            #expect(error.code == Self.failure.code && SQLiteError.isTransient(error))
            disk.mends()
            #expect(#expect(throws: NSError.self) { try stack.root.save() }?.code == 1570)
        }
    }

    // L13, L14
    @Test func aRefreshThatCannotReadLeavesTheObjectAsItIs() throws {
        let stack = TestStack(), ids = try stored(stack), disk = Disk(stack, fails: Self.isReading), recorder = DiagnosticRecorder()
        stack.root.name = UUID().uuidString
        try stack.root.performAndWait { () throws in
            let person = try stack.root.existingObject(with: ids.person)
            person.setValue("Grace", forKey: "name")
            stack.coordinator.rowCache.removeAll()
            disk.breaks()
            stack.root.refresh(person, mergeChanges: true)
            stack.root.refreshAllObjects()
            #expect(recorder.about(stack.root.name ?? "").map(\.kind) == [.storeReadFailed, .storeReadFailed])
            #expect(person.value(forKey: "name") as? String == "Grace" && person.isUpdated)
            disk.mends()
            try stack.root.save()
            #expect(try stack.stored("Person", "name") == ["Grace"])
        }
    }

    // M4
    @Test func aMergeThatCannotReadLosesNoUnsavedChange() throws {
        let stack = TestStack(), ids = try stored(stack), disk = Disk(stack, fails: Self.isReading)
        let mine = stack.independent()
        try mine.performAndWait { () throws in
            let person = try mine.existingObject(with: ids.person), department = try mine.existingObject(with: ids.department)
            person.setValue("Grace", forKey: "name")
            disk.breaks()
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectsKey: [ids.person, ids.department]], into: [mine])
            #expect(person.isUpdated && person.value(forKey: "name") as? String == "Grace")
            #expect(!department.isDeleted && department.isFault)
            disk.mends()
            #expect(department.value(forKey: "name") as? String == "Looms")
            try mine.save()
            #expect(try stack.stored("Person", "name") == ["Grace"])
        }
    }

    // F20
    @Test func aFetchThatCannotFollowAKeyPathThrows() throws {
        let stack = TestStack(), ids = try stored(stack), disk = Disk(stack, fails: Self.isRows)
        try stack.root.performAndWait { () throws in
            // Unsaved, so that the predicate is evaluated here, over the row of the department.
            try stack.root.existingObject(with: ids.person).setValue("Grace", forKey: "name")
            stack.coordinator.rowCache.removeAll()
            disk.breaks()
            #expect(throws: NSError.self) { try stack.root.all("Person", "department.name == 'Looms'") }
            #expect(throws: NSError.self) { try stack.root.all("Person", sort: "department.name") }
            disk.mends()
            #expect(try stack.root.all("Person", "department.name == 'Looms'").map(\.objectID) == [ids.person])
        }
    }

    // F11
    @Test func aBatchThatCannotBeReadIsReadAgain() throws {
        let stack = TestStack(), disk = Disk(stack, fails: Self.isRows)
        try stack.root.performAndWait { () throws in
            for number in 0..<4 { stack.root.make("Item", ["key": "\(number)", "a": number]) }
            try stack.root.save()
            stack.root.reset()
            stack.coordinator.rowCache.removeAll()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.fetchBatchSize = 4
            request.sortDescriptors = [NSSortDescriptor(key: "a", ascending: true)]
            let items = try stack.root.fetch(request)
            disk.breaks()
            #expect(throws: NSError.self) { try stack.root.existingObject(with: items[0].objectID) }
            #expect(items.allSatisfy { $0.isFault && !$0.isDeleted })
            disk.mends()
            #expect(items.map { $0.value(forKey: "a") as? Int } == [0, 1, 2, 3])
        }
    }

    // L10, S12
    @Test func aDamagedFileIsAnErrorAndNotAMissingObject() throws {
        let stack = try SQLiteStack()
        try stack.makeItems(3000)
        let ids = try stack.root.performAndWait { () throws in try stack.root.all("Item").map(\.objectID) }
        stack.forget()
        try stack.fixture.store.close()
        // The pages that hold one of the keys: of the rows, and of their index.
        var file = try Data(contentsOf: stack.fixture.file)
        let page = 4096
        for start in stride(from: 0, to: file.count, by: page) where file[start..<start + page].range(of: Data("k2001".utf8)) != nil {
            file.replaceSubrange(start..<start + page, with: Data(repeating: 0xA5, count: page))
        }
        try file.write(to: stack.fixture.file)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: stack.coordinator.managedObjectModel)
        let store = try stack.fixture.second()
        defer { try? store.close() }
        coordinator.add(store)
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let codes = context.performAndWait {
            ids.map { id -> Int in
                do {
                    _ = try context.existingObject(with: id)
                    return 0
                } catch {
                    return SQLiteError(in: error).map { Int($0.primaryCode) } ?? -(error as NSError).code
                }
            }
        }
        #expect(Set(codes).isSubset(of: [0, 11]) && codes.contains(11))
    }
}
