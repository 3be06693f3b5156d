import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// An object with an accessor of its own, written as for Apple's platforms, and a note of what it was told.
class CustomObject: NSManagedObject {
    var flags: [NSSnapshotEventType] = []

    var name: String? {
        get {
            willAccessValue(forKey: "name")
            defer { didAccessValue(forKey: "name") }
            return primitiveValue(forKey: "name") as? String
        }
        set {
            willChangeValue(forKey: "name")
            setPrimitiveValue(newValue?.uppercased(), forKey: "name")
            didChangeValue(forKey: "name")
        }
    }

    override func value(forKey key: String) -> Any? { key == "name" ? name : super.value(forKey: key) }

    override func setValue(_ value: Any?, forKey key: String) {
        if key == "name" { name = value as? String } else { super.setValue(value, forKey: key) }
    }

    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
        super.awake(fromSnapshotEvents: flags)
        self.flags.append(flags)
        setValue("after \(name ?? "nil")", forKey: "derived")
    }
}

final class DirtiedObject: CustomObject {
    override class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { false }
}

@Suite struct ObjectEventsTests {
    private func model(_ type: NSManagedObject.Type = CustomObject.self) -> NSManagedObjectModel {
        let custom = Company.entity("Custom", type)
        custom.properties = [
            Company.attribute("name", .string), Company.attribute("key", .string), Company.attribute("age", .integer64, default: 1),
            Company.transient("derived", .string),
        ]
        custom.uniquenessConstraints = [["key"]]
        return NSManagedObjectModel(entities: [custom])
    }

    /// A saved object named ADA.
    private func withCustom(
        _ type: NSManagedObject.Type = CustomObject.self, _ body: (TestStack, NSManagedObjectContext, CustomObject) throws -> Void
    ) throws {
        let stack = TestStack(model(type))
        try stack.root.performAndWait { () throws in
            let object = try #require(stack.root.make("Custom", ["name": "Ada"]) as? CustomObject)
            try stack.root.save()
            try body(stack, stack.root, object)
        }
    }

    // L7
    @Test func theValuesFromBeforeTheEventAreKnownUntilItIsPosted() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let ada = Person(context: stack.root), looms = Department(context: stack.root)
            ada.department = looms
            try stack.root.save()
            _ = looms.employees
            ada.name = "Ada"
            ada.name = "Ida"
            ada.note = "transient"
            ada.department = nil
            ada.age = 18
            #expect(ada.changedValuesForCurrentEvent().keys.sorted() == ["department", "name"])
            #expect(ada.changedValuesForCurrentEvent()["name"] as? String == "nobody")
            #expect(ada.changedValuesForCurrentEvent()["department"] as? Department == looms)
            #expect(looms.changedValuesForCurrentEvent()["employees"] as? Set<Person> == [ada])
            stack.root.processPendingChanges()
            #expect(ada.changedValuesForCurrentEvent().isEmpty && looms.changedValuesForCurrentEvent().isEmpty)
            #expect(ada.changedValues().keys.sorted() == ["department", "name", "note"])
            ada.nick = "I"
            #expect(ada.changedValuesForCurrentEvent()["nick"] is NSNull && ada.changedValuesForCurrentEvent().count == 1)
        }
    }

    // L7
    @Test func ofANewObjectTheValuesFromBeforeAreItsDefaults() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let ada = Person(context: stack.root)
            ada.name = "Ada"
            _ = try stack.root.all("Person")
            ada.age = 30
            #expect(ada.changedValuesForCurrentEvent()["name"] as? String == "nobody")
            #expect(ada.changedValuesForCurrentEvent()["age"] as? Int == 18)
        }
    }

    // L7
    @Test func inTheNotificationTheValuesFromBeforeAreGoneWithTheEvent() throws {
        try withCustom { (_, context, ada) throws in
            ada.setValue(2, forKey: "age")
            context.rollback()
            #expect(ada.changedValuesForCurrentEvent().isEmpty)
        }
    }

    // L25
    @Test func accessorsOfOnesOwnRealiseFaultsAndNoteChanges() throws {
        try withCustom { (stack, context, ada) throws in
            context.refresh(ada, mergeChanges: false)
            #expect(ada.isFault)
            ada.willAccessValue(forKey: nil)
            #expect(!ada.isFault)
            context.refresh(ada, mergeChanges: false)
            ada.name = "Ida"
            #expect(ada.isUpdated && ada.changedValues()["name"] as? String == "IDA" && ada.name == "IDA")
            #expect(ada.changedValuesForCurrentEvent()["name"] as? String == "ADA")
            try context.save()
            #expect(try stack.stored("Custom", "name") == ["IDA"])
        }
    }

    // L25, U2
    @Test func undoTakesBackWhatAnAccessorOfOnesOwnChanged() throws {
        try withCustom { (_, context, ada) throws in
            context.undoManager = UndoManager()
            ada.name = "Ida"
            context.undo()
            #expect(ada.name == "ADA" && !context.hasChanges)
        }
    }

    // L9
    @Test func aPrimitiveValueOfANewObjectIsSavedEvenIfItWasLookedAtBefore() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let ada = Person(context: stack.root)
            #expect(try stack.root.names("Person") == ["nobody"])
            ada.setPrimitiveValue("Ada", forKey: "name")
            try stack.root.save()
            #expect(try stack.stored("Person", "name") == ["Ada"])
        }
    }

    // L26
    @Test func keyValueCodingAndPredicatesGoThroughAnOverriddenAccessor() throws {
        try withCustom { (_, context, ada) throws in
            ada.setValue("Ida", forKey: "name")
            #expect(ada.value(forKey: "name") as? String == "IDA" && ada.value(forKeyPath: "name") as? String == "IDA")
            #expect(ada.primitiveValue(forKey: "name") as? String == "IDA")
            #expect(NSPredicate(format: "name == 'IDA'").evaluate(with: ada))
        }
    }

    // L31
    @Test func anObjectIsToldByWhatItsValuesCameBack() throws {
        try withCustom { (stack, context, ada) throws in
            context.undoManager = UndoManager()
            func told(_ body: () throws -> Void) rethrows -> [NSSnapshotEventType] {
                ada.flags = []
                try body()
                return ada.flags
            }
            ada.setValue(2, forKey: "age")
            #expect(told { context.undo() } == [.undoUpdate])
            #expect(ada.value(forKey: "derived") as? String == "after ADA" && !ada.hasChanges)
            #expect(told { context.redo() } == [.undoUpdate])
            #expect(told { context.refresh(ada, mergeChanges: true) } == [.refresh])
            #expect(told { context.rollback() } == [.rollback])
            context.delete(ada)
            #expect(told { context.undo() } == [.undoDeletion])
            #expect(told { context.refresh(ada, mergeChanges: false) }.isEmpty)
            let ida = try #require(context.make("Custom") as? CustomObject)
            context.undo()
            #expect(ida.flags == [.undoInsertion])
        }
    }

    // L31, P5
    @Test func anObjectIsToldWhenAMergePolicyDecidedOnItsValues() throws {
        try withCustom { (stack, context, ada) throws in
            let other = stack.independent()
            try other.performAndWait { () throws in
                other.object(with: ada.objectID).setValue(5, forKey: "age")
                try other.save()
            }
            context.mergePolicy = .mergeByPropertyObjectTrump
            ada.name = "Ida"
            ada.flags = []
            try context.save()
            #expect(ada.flags == [.mergePolicy] && ada.value(forKey: "age") as? Int == 5 && ada.name == "IDA")
            ada.name = "Eve"
            ada.flags = []
            try context.save()
            #expect(ada.flags.isEmpty)
        }
    }

    // L31
    @Test func theFlagsHaveApplesRawValues() {
        let flags: [NSSnapshotEventType] = [.undoInsertion, .undoDeletion, .undoUpdate, .rollback, .refresh, .mergePolicy]
        #expect(flags.map(\.rawValue) == [2, 4, 8, 16, 32, 64])
    }

    // L33, E2
    @Test func aFaultWithoutAContextStopsTheProgramWhenItIsRead() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            let id = stack.root.performAndWait {
                let ada = Person(context: stack.root)
                try? stack.root.save()
                return ada.objectID
            }
            var context: NSManagedObjectContext? = stack.child(of: stack.root)
            let ada = context?.performAndWait { context?.object(with: id) }
            context = nil
            _ = ada?.value(forKey: "name")
        }.trap(says: "is a fault whose context is gone")
    }

    // L33
    @Test func aRealisedObjectWithoutAContextCanStillBeRead() throws {
        let stack = TestStack()
        stack.root.performAndWait {
            let ada = Person(context: stack.root)
            stack.root.reset()
            #expect(ada.managedObjectContext == nil && ada.name == "nobody")
        }
    }

    // L34
    @Test func announcedChangesOfUnmodeledPropertiesLeaveTheObjectCleanByDefault() throws {
        try withCustom { (_, context, ada) throws in
            ada.willChangeValue(forKey: "nothing in the model")
            ada.didChangeValue(forKey: "nothing in the model")
            #expect(!ada.hasChanges && !context.hasChanges)
        }
        try withCustom(DirtiedObject.self) { (_, context, ada) throws in
            ada.willChangeValue(forKey: "nothing in the model")
            ada.didChangeValue(forKey: "nothing in the model")
            #expect(ada.hasChanges && context.hasChanges && !ada.hasPersistentChangedValues)
        }
    }
}
