import Foundation
import OpenCoreDataTestSupport
import Synchronization
import Testing

@testable import OpenCoreData

/// Large pushes into a context of the main queue, which is told of them over several turns.
// The contexts are used on their queues, and the recorders guard what they keep.
@Suite final class PushedObjectsTests: @unchecked Sendable {
    private let stack = TestStack()
    private let main: NSManagedObjectContext
    private let changes: NotificationRecorder
    private let saves: NotificationRecorder

    init() {
        main = stack.child(of: stack.root, .mainQueueConcurrencyType, name: "main")
        main.objectsInATurn = 3
        changes = NotificationRecorder(main, .NSManagedObjectContextObjectsDidChange)
        saves = NotificationRecorder(main, .NSManagedObjectContextDidSave, .NSManagedObjectContextDidSaveObjectIDs)
    }

    /// A child makes that many people and saves.
    private func push(_ count: Int, prefix: String = "P") throws {
        let child = stack.child(of: main)
        try child.performAndWait {
            for number in 0..<count { child.make("Person", ["name": "\(prefix)\(number)"]) }
            try child.save()
        }
    }

    private func failure(_ body: () throws -> Void) -> String? {
        do { try body() } catch { return "\(error)" }
        return nil
    }

    /// Runs `push` while the main queue is busy, and then `between` on the main queue, between the turns that the push takes.
    private func pushing(_ count: Int, between: @escaping @Sendable () -> Void) throws {
        try whileBusy(main) {
            try push(count)
            DispatchQueue.main.async(execute: between)
        }
    }

    /// When the main queue has done everything that was asked of it, the freeing of objects included.
    private func settle() {
        while main.performAndWait({ main.pushedObjects != nil && !main.hasChanges }) {}
        for _ in 0..<50 { DispatchQueue.main.sync {} }
    }

    private func inserted(_ notification: Notification?) -> Set<NSManagedObject> {
        notification?.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject> ?? []
    }

    // N25, GB29
    @Test func theMainQueueServesOthersBetweenTheTurnsOfALargePush() throws {
        let told = Mutex<[Int]>([])
        try pushing(20) { [changes] in told.withLock { $0.append(changes.count) } }
        main.performAndWait {}
        #expect(told.withLock { $0 } == [0] && changes.count == 1)
        #expect(changes.objects(NSInsertedObjectsKey).count == 20)
        #expect(changes.threads.count == 1)
    }

    // N25
    @Test func aPushThatFitsIntoOneTurnTakesOne() throws {
        let told = Mutex<[Int]>([])
        try pushing(3) { [changes] in told.withLock { $0.append(changes.count) } }
        main.performAndWait {}
        #expect(told.withLock { $0 } == [1])
    }

    // N25, C5: what was handed to the context after the push runs after it was told of, in its order.
    @Test(arguments: 10..<30) func blocksOfTheContextWaitUntilALargePushIsTold(_ count: Int) throws {
        let told = Mutex<[Int]>([])
        try whileBusy(main) {
            try push(count)
            for number in 0..<6 {
                let block = { @Sendable [changes] in told.withLock { $0.append(number * 10 + changes.count) } }
                if number % 2 == 0 { main.enqueue(block) } else { main.queue.async(block) }
            }
        }
        main.performAndWait { told.withLock { $0.append(60 + changes.count) } }
        #expect(told.withLock { $0 } == [1, 11, 21, 31, 41, 51, 61])
    }

    // N25, C5: what was there before a block of the context runs is told of before it.
    @Test func aBlockThatFindsALargePushRunsAfterItWasTold() throws {
        let told = Mutex<[Int]>([]), goOn = DispatchSemaphore(value: 0)
        DispatchQueue.main.async { goOn.wait() }
        main.enqueue { [changes] in told.withLock { $0.append(changes.count) } }
        try push(20)
        goOn.signal()
        main.performAndWait {}
        #expect(told.withLock { $0 } == [1] && changes.count == 1)
    }

    // N4, C5: what a block did is there for children at its end, whatever is still to be told.
    @Test func childrenSeeWhatABlockDidWhileALargePushIsToldBehindIt() throws {
        let names = Mutex<[String]>([]), isMade = DispatchSemaphore(value: 0), goOn = DispatchSemaphore(value: 0),
            isRead = DispatchSemaphore(value: 0)
        let child = stack.child(of: main)
        main.enqueue { [main] in
            main.make("Person", ["name": "own"])
            isMade.signal()
            goOn.wait()
        }
        isMade.wait()
        try push(20)
        let read = { @Sendable in
            _ = self.failure { try elsewhere { child.performAndWait { names.withLock { $0 = (try? child.names("Person")) ?? [] } } } }
            isRead.signal()
        }
        DispatchQueue.main.async(execute: read)
        goOn.signal()
        isRead.wait()
        main.performAndWait {}
        #expect(names.withLock { $0.contains("own") } && changes.count == 1)
    }

    // N25, C5
    @Test func whatComesInTurnsBehindOthersKeepsItsPlace() throws {
        let told = Mutex<[String]>([]), failures = Mutex<[String]>([]), main = self.main, changes = self.changes
        let isHandedIn = DispatchSemaphore(value: 0)
        @Sendable func note(_ name: String) { main.enqueue { told.withLock { $0.append("\(name) after \(changes.count)") } } }
        try pushing(20) {
            note("first")
            self.failure { try elsewhere { try self.push(20, prefix: "Q") } }.map { failure in failures.withLock { $0.append(failure) } }
            note("second")
            note("third")
            isHandedIn.signal()
        }
        isHandedIn.wait()
        main.performAndWait { told.withLock { $0.append("last") } }
        #expect(failures.withLock { $0 } == [])
        // The first block finds the second push, which has come while it waited.
        #expect(told.withLock { $0 } == ["first after 2", "second after 2", "third after 2", "last"])
    }

    // C4, C5
    @Test func aThreadThatComesBetweenTheTurnsWaitsInLine() throws {
        let order = Mutex<[String]>([]), isBetween = DispatchSemaphore(value: 0), main = self.main
        try pushing(20) {
            let waiting = main.queue.pending.load(ordering: .relaxed)
            isBetween.signal()
            // The thread has come as far as to the queue.
            while main.queue.pending.load(ordering: .relaxed) == waiting { sched_yield() }
            main.enqueue { order.withLock { $0.append("block") } }
        }
        isBetween.wait()
        main.performAndWait { order.withLock { $0.append("told of \(changes.count)") } }
        main.performAndWait {}
        #expect(order.withLock { Set($0) } == ["told of 1", "block"])
        #expect(main.queue.pending.load(ordering: .relaxed) == 0)
    }

    // C12
    @available(*, deprecated, message: "Tests tryLock(), which is deprecated.")
    @Test func aContextThatIsToldInTurnsIsNotFree() throws {
        let isFree = Mutex<Bool?>(nil), isBetween = DispatchSemaphore(value: 0), goOn = DispatchSemaphore(value: 0)
        try pushing(20) {
            isBetween.signal()
            goOn.wait()
        }
        isBetween.wait()
        try elsewhere { isFree.withLock { $0 = main.tryLock() } }
        goOn.signal()
        main.performAndWait {}
        #expect(isFree.withLock { $0 } == false && changes.count == 1)
    }

    // N25, T7
    @Test func theSaveTellsOfTheSameObjectsAndThenNobodyKeepsThem() throws {
        try push(20)
        let child = stack.child(of: main)
        try main.performAndWait { () throws in
            #expect(main.registeredObjects.count == 20 && main.insertedObjects.count == 20)
            try main.save()
            #expect(main.registeredObjects.allSatisfy { !$0.hasChanges })
        }
        let told = Set(inserted(changes.notifications.first).map(ObjectIdentifier.init))
        #expect(told == Set(inserted(saves.notifications.first).map(ObjectIdentifier.init)) && told.count == 20)
        #expect(saves.names == ["DidSave", "DidSaveObjectIDs"])
        #expect(saves.ids(.insertedObjectIDs) == Set(inserted(saves.notifications.first).map(\.objectID)))
        changes.forget()
        saves.forget()
        settle()
        #expect(main.performAndWait { main.registeredObjects.isEmpty && main.pushedObjects == nil && !main.hasChanges })
        #expect(try child.performAndWait { try child.names("Person").count } == 20)
    }

    // N25, L17: hooks and validation of the objects that the context has run as for any others.
    @Test func whatIsChangedBeforeTheSaveIsSavedAndToldWithTheRest() throws {
        try push(20)
        try main.performAndWait { () throws in
            let one = try #require(try main.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).first)
            one.setValue("changed", forKey: "name")
            let other = main.make("Person", ["name": "other"])
            try main.save()
            #expect(inserted(saves.notifications.first).isSuperset(of: [one, other]))
            #expect(!one.hasChanges && !other.hasChanges)
        }
        #expect(inserted(saves.notifications.first).count == 21)
        try stack.root.performAndWait { try stack.root.save() }
        #expect(Set(try stack.stored("Person", "name")).isSuperset(of: ["changed", "other"]))
        saves.forget()
        changes.forget()
        settle()
        #expect(main.performAndWait { main.registeredObjects.isEmpty })
    }

    // N20, N25: a value that breaks a rule of the class or the model is found at the save, too, where it came after the push.
    @Test func whatBreaksARuleAfterALargePushIsRefused() throws {
        try push(20)
        main.performAndWait {
            let one = main.registeredObjects.first
            one?.setValue(nil, forKey: "name")
            #expect(throws: CocoaError.self) { try main.save() }
            #expect(main.insertedObjects.count == 20 && saves.count == 0)
            one?.setValue("named", forKey: "name")
            #expect(throws: Never.self) { try main.save() }
        }
        #expect(inserted(saves.notifications.first).count == 20)
    }

    // N25: who saves on the main queue without waiting for its turn tells of everything at once.
    @Test func aSaveBetweenTheTurnsTellsOfTheWholePush() throws {
        let main = self.main
        let failure = Mutex<String?>(nil)
        try pushing(20) {
            // On the main thread, so on the context's queue.
            main.performAndWait { failure.withLock { $0 = self.failure { try main.save() } } }
        }
        settle()
        #expect(failure.withLock { $0 } == nil)
        #expect(changes.count == 1 && inserted(changes.notifications.first).count == 20)
        #expect(saves.count == 2 && inserted(saves.notifications.first).count == 20)
        #expect(!main.hasPublishedChanges)
    }

    // N25
    @Test func whatIsChangedBetweenTheTurnsIsToldWithThePush() throws {
        let main = self.main
        try pushing(20) {
            main.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
                let people = (try? main.fetch(request)) ?? []
                people.first { $0.value(forKey: "name") as? String == "P0" }.map(main.delete)
                main.make("Person", ["name": "between"])
            }
        }
        main.performAndWait {}
        main.performAndWait {
            let names = changes.notifications.flatMap { inserted($0).map { $0.value(forKey: "name") as? String ?? "" } }
            #expect(names.count == Set(names).count && names.contains("between") && !names.contains("P0"))
            #expect(names.count == 20)
        }
    }

    // N19, N25
    @Test func whatAChildDeletesBetweenTheTurnsIsNotToldAsNew() throws {
        let failure = Mutex<String?>(nil), child = stack.child(of: main)
        let delete = { @Sendable in
            try child.performAndWait { () throws in
                for person in try child.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).prefix(5) { child.delete(person) }
                try child.save()
            }
        }
        try pushing(20) { failure.withLock { $0 = self.failure { try elsewhere(delete) } } }
        main.performAndWait {}
        main.performAndWait {
            let told = inserted(changes.notifications.first)
            #expect(told.count == 15 && told.allSatisfy { $0.isInserted && $0.value(forKey: "name") != nil })
        }
        #expect(failure.withLock { $0 } == nil && changes.count == 1)
    }

    // N19, N25: who asks before all objects are made is not told of what is gone, either.
    @Test func whatAChildDeletedIsNotToldAsNewWhereChangesAreProcessedAtOnce() throws {
        let failure = Mutex<String?>(nil), child = stack.child(of: main), main = self.main
        let delete = { @Sendable in
            try child.performAndWait { () throws in
                for person in try child.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).prefix(15) { child.delete(person) }
                try child.save()
            }
        }
        try pushing(20) {
            failure.withLock { $0 = self.failure { try elsewhere(delete) } }
            main.performAndWait { main.processPendingChanges() }
        }
        main.performAndWait {}
        main.performAndWait {
            let told = changes.notifications.map(inserted)
            #expect(told.map(\.count) == [5] && told.allSatisfy { $0.allSatisfy { $0.value(forKey: "name") != nil } })
        }
        #expect(failure.withLock { $0 } == nil)
    }

    // N20: what was set here before a push of the same row is validated with it.
    @Test func whatBrokeARuleBeforeALargePushIsRefused() throws {
        let id = try main.performAndWait { () throws in
            let ada = main.make("Person", ["name": "Ada"])
            try main.save()
            return ada.objectID
        }
        settle()
        let child = stack.child(of: main)
        let ada = child.performAndWait {
            let ada = child.object(with: id)
            _ = ada.value(forKey: "name")
            return ada
        }
        main.performAndWait { main.object(with: id).setValue(nil, forKey: "name") }
        try child.performAndWait {
            ada.setValue(36, forKey: "age")
            for number in 0..<20 { child.make("Person", ["name": "\(number)"]) }
            try child.save()
        }
        main.performAndWait {}
        main.performAndWait { _ = #expect(throws: CocoaError.self) { try main.save() } }
    }

    // C5: nobody keeps a context whose blocks have waited in line.
    @Test func aContextIsFreedAfterItsBlocksHaveWaited() throws {
        weak var freed: NSManagedObjectContext?
        do {
            let other = stack.child(of: stack.root, .mainQueueConcurrencyType)
            other.objectsInATurn = 3
            freed = other
            let child = stack.child(of: other)
            try whileBusy(other) {
                try child.performAndWait {
                    for number in 0..<20 { child.make("Person", ["name": "\(number)"]) }
                    try child.save()
                }
                for _ in 0..<3 { other.enqueue {} }
            }
            try other.performAndWait { try other.save() }
        }
        for _ in 0..<50 { DispatchQueue.main.sync {} }
        #expect(freed == nil)
    }

    // L21, T8
    @Test(arguments: [false, true]) func whatIsThrownAwayBetweenTheTurnsIsNotTold(_ resets: Bool) throws {
        let main = self.main
        try pushing(20) { main.performAndWait { resets ? main.reset() : main.rollback() } }
        main.performAndWait {}
        main.performAndWait {
            #expect(changes.notifications.allSatisfy { inserted($0).isEmpty })
            #expect(main.registeredObjects.isEmpty && main.pushedObjects == nil && !main.hasChanges)
        }
    }

    // N25
    @Test func aSecondPushBetweenTheTurnsIsToldAsWell() throws {
        let failure = Mutex<String?>(nil)
        try pushing(20) { failure.withLock { $0 = self.failure { try elsewhere { try self.push(10, prefix: "Q") } } } }
        main.performAndWait {}
        main.performAndWait {}
        #expect(failure.withLock { $0 } == nil && changes.notifications.map { inserted($0).count } == [20, 10])
        try main.performAndWait { try main.save() }
        #expect(inserted(saves.notifications.first).count == 30)
    }

    // N25: a push that only changes what is there.
    @Test func updatesOfALargePushAreToldAndSaved() throws {
        try push(20)
        try main.performAndWait { try main.save() }
        settle()
        changes.forget()
        saves.forget()
        let child = stack.child(of: main)
        try child.performAndWait {
            for person in try child.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) { person.setValue("new", forKey: "name") }
            try child.save()
        }
        try main.performAndWait { () throws in
            #expect(changes.objects(NSUpdatedObjectsKey).count == 20)
            #expect(changes.objects(NSUpdatedObjectsKey).allSatisfy { $0.isUpdated && $0.value(forKey: "name") as? String == "new" })
            try main.save()
            let saved = saves.notifications.first?.userInfo?[NSUpdatedObjectsKey] as? Set<NSManagedObject>
            #expect(saved?.count == 20 && saved?.allSatisfy { !$0.hasChanges } == true)
        }
        #expect(saves.ids(.updatedObjectIDs).count == 20)
    }

    // N8, N25
    @Test func aSaveThatIsRefusedLeavesALargePushUnsaved() throws {
        let top = stack.independent(.mainQueueConcurrencyType)
        top.objectsInATurn = 3
        let child = stack.child(of: top)
        try child.performAndWait {
            for number in 0..<20 { child.make("Person", ["name": "\(number)"]) }
            try child.save()
        }
        stack.failSaves(with: [CocoaError(.persistentStoreSave)])
        let recorder = NotificationRecorder(top, .NSManagedObjectContextDidSave)
        try top.performAndWait { () throws in
            #expect(throws: CocoaError.self) { try top.save() }
            #expect(top.insertedObjects.count == 20 && recorder.count == 0)
            try top.save()
            #expect(inserted(recorder.notifications.first).count == 20 && top.insertedObjects.isEmpty)
        }
        #expect(try stack.stored("Person", "name").count == 20)
    }

    // N20
    @Test func aClassThatValidatesItselfIsAskedAboutALargePushToo() throws {
        let stack = TestStack(CountedSpan.model())
        let main = stack.child(of: stack.root, .mainQueueConcurrencyType), child = stack.child(of: main)
        main.objectsInATurn = 3
        try child.performAndWait {
            for _ in 0..<20 { child.make("CountedSpan") }
            try child.save()
        }
        let before = CountedSpan.validations.withLock { $0 }
        try main.performAndWait { try main.save() }
        #expect(CountedSpan.validations.withLock { $0 } - before == 20)
    }

    // N24, P12: what the parent makes of some of the objects is theirs.
    @Test func objectsOfALargePushThatTurnOutToBeOthersAreToldAsOfASmallOne() throws {
        func outcome(objectsInATurn: Int) throws -> [String] {
            let stack = TestStack()
            stack.root.mergePolicy = .mergeByPropertyObjectTrump
            let main = stack.child(of: stack.root, .mainQueueConcurrencyType), child = stack.child(of: main)
            main.objectsInATurn = objectsInATurn
            let recorder = NotificationRecorder(main, .NSManagedObjectContextDidSave)
            try child.performAndWait {
                for number in 0..<20 { child.make("Department", ["name": "new \(number)", "code": "\(number)"]) }
                try child.save()
            }
            main.performAndWait {}
            try stack.root.performAndWait { () throws in
                for number in 5..<8 { stack.root.make("Department", ["name": "there", "code": "\(number)", "budget": 7.0]) }
                stack.root.processPendingChanges()
            }
            return try main.performAndWait { () throws in
                try main.save()
                var lines: [String] = []
                for key in [NSInsertedObjectsKey, NSUpdatedObjectsKey] {
                    for object in recorder.objects(key) {
                        let values =
                            "\(object.value(forKey: "name") ?? "") \(object.value(forKey: "code") ?? "") \(object.value(forKey: "budget") ?? "")"
                        lines.append("\(key) \(values) \(object.hasChanges)")
                    }
                }
                return lines.sorted() + ["unsaved: \(main.registeredObjects.count(where: \.hasChanges))"]
            }
        }
        #expect(try outcome(objectsInATurn: 3) == outcome(objectsInATurn: 1000))
    }

    // GB29: who follows by ID hears of the same.
    @Test func whoFollowsByIDHearsOfALargePush() throws {
        let listener = ListenerByID()
        listener.follow(main)
        try push(20)
        main.performAndWait {}
        #expect(listener.heard.map(\.inserted.count) == [20])
        #expect(listener.heard.first?.inserted == Set(changes.objects(NSInsertedObjectsKey).map(\.objectID)))
    }
}

/// Counts how often objects of its class are validated.
final class CountedSpan: NSManagedObject {
    static let validations = Mutex(0)

    override func validateForInsert() throws {
        try super.validateForInsert()
        Self.validations.withLock { $0 += 1 }
    }

    static func model() -> NSManagedObjectModel {
        let entity = NSEntityDescription()
        entity.name = "CountedSpan"
        entity.setManagedObjectClass(CountedSpan.self)
        entity.properties = [NSAttributeDescription(name: "begin", type: .integer64)]
        return NSManagedObjectModel(entities: [entity])
    }
}
