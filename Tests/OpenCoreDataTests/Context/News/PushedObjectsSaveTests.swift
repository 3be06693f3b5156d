import Foundation
import OpenCoreDataTestSupport
import Synchronization
import Testing

@testable import OpenCoreData

/// Saves of what was pushed in a large push.
// Unchecked: as the fixture.
@Suite final class PushedObjectsSaveTests: PushedObjectsFixture, @unchecked Sendable {
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

    // N20, N25: the notification of the save is about the objects of the push; no others are made for it, and their class is asked about each.
    @Test func theSaveMakesNoObjectAnew() throws {
        let stack = TestStack(CountedSpan.model())
        let main = stack.child(of: stack.root, .mainQueueConcurrencyType), child = stack.child(of: main)
        main.objectsInATurn = 3
        stack.root.performAndWait { stack.root.materializesNotificationObjects = false }
        let before = CountedSpan.counts.withLock { $0 }
        func made() -> Int { CountedSpan.counts.withLock { $0.made } - before.made }
        try child.performAndWait {
            for _ in 0..<20 { child.make("CountedSpan") }
            try child.save()
        }
        main.performAndWait {}
        #expect(made() == 40)
        try main.performAndWait { try main.save() }
        #expect(made() == 40)
        let after = CountedSpan.counts.withLock { $0 }
        #expect(after.validated - before.validated == 40)
        // Those of the child, and all that main keeps.
        #expect(after.willSave - before.willSave == 40 && after.didSave - before.didSave == 40)
    }
}

/// Counts what happens to objects of its class.
final class CountedSpan: NSManagedObject {
    struct Counts {
        var made = 0
        var validated = 0
        var willSave = 0
        var didSave = 0
    }

    static let counts = Mutex(Counts())

    override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        super.init(entity: entity, insertInto: context)
        Self.counts.withLock { $0.made += 1 }
    }

    override func validateForInsert() throws {
        try super.validateForInsert()
        Self.counts.withLock { $0.validated += 1 }
    }

    override func willSave() {
        super.willSave()
        Self.counts.withLock { $0.willSave += 1 }
    }

    override func didSave() {
        super.didSave()
        Self.counts.withLock { $0.didSave += 1 }
    }

    static func model() -> NSManagedObjectModel {
        let entity = NSEntityDescription()
        entity.name = "CountedSpan"
        entity.setManagedObjectClass(CountedSpan.self)
        entity.properties = [NSAttributeDescription(name: "begin", type: .integer64)]
        return NSManagedObjectModel(entities: [entity])
    }
}
