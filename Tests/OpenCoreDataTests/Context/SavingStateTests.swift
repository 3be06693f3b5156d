import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// An object that counts how it is validated and saved, and trims its name when it is validated.
final class ValidatedObject: NSManagedObject {
    @Managed var name: String?
    @Managed var number: Int64
    var validations = 0
    var saves: [String] = []
    var onValidation: (() -> Void)?

    override func willSave() { saves.append("willSave") }
    override func didSave() { saves.append("didSave") }

    override func validateForUpdate() throws {
        validations += 1
        if let trimmed = name?.trimmingCharacters(in: .whitespaces), trimmed != name { name = trimmed }
        onValidation?()
        try super.validateForUpdate()
    }

    /// Entities Validated, of this class, and Team, which is none without members.
    static func model() -> NSManagedObjectModel {
        let entity = Company.entity("Validated", ValidatedObject.self)
        let team = Company.entity("Team")
        let member = Company.entity("Member")
        entity.properties = [
            Company.attribute("name", .string), Company.attribute("number", .integer64, default: 0),
        ]
        Company.relate(entity, "links", many: true, entity, "linked", many: true)
        Company.relate(team, "members", many: true, member, "team", many: false)
        team.relationshipsByName["members"]?.minCount = 1
        team.relationshipsByName["members"]?.isOptional = false
        return NSManagedObjectModel(entities: [entity, team, member])
    }
}

/// Who is asked before a save, what is told of it and in which order, and what is left after it.
@Suite struct SavingStateTests {
    private let stack = TestStack(ValidatedObject.model())
    private let child: NSManagedObjectContext
    private var root: NSManagedObjectContext { stack.root }

    init() { child = stack.child(of: stack.root) }

    private func stored(_ name: String = "one") throws -> ValidatedObject {
        try root.performAndWait { [root] in
            let object = try #require(root.make("Validated", ["name": name]) as? ValidatedObject)
            try root.save()
            (object.saves, object.validations) = ([], 0)
            return object
        }
    }

    private func push(_ id: NSManagedObjectID, _ value: Any, _ key: String) throws {
        try child.performAndWait { [child] in
            child.object(with: id).setValue(value, forKey: key)
            try child.save()
        }
    }

    // MARK: Hooks

    @Test func changedObjectsAreAskedOnceAndOthersAreNot() throws {
        let object = try stored()
        let other = try stored("two")
        try root.performAndWait { [root] in
            root.retainsRegisteredObjects = true
            object.number = 1
            try root.save()
            #expect(object.saves == ["willSave", "didSave"] && object.validations == 1)
            #expect(other.saves.isEmpty && other.validations == 0)
        }
    }

    @Test func objectsOfPushesThatWaitAreAskedToo() throws {
        let object = try stored()
        try afterPushing(into: root, { try push(object.objectID, 1, "number") }) { [root] in
            try root.save()
            #expect(object.saves == ["willSave", "didSave"] && object.validations == 1)
        }
    }

    @Test func objectsOfPushesThatNobodyHeldAreAskedToo() throws {
        let id = try stored().objectID
        try holding(child, root) {
            root.reset()
            try push(id, 1, "number")
            let object = try #require(try root.existingObject(with: id) as? ValidatedObject)
            try root.save()
            #expect(
                object.saves == ["willSave", "didSave"] && object.validations == 1 && !object.hasChanges
                    && object.number == 1)
        }
    }

    // MARK: Changes that validation makes

    @Test func whatValidationChangedIsUndoneByItself() throws {
        let object = try stored()
        try root.performAndWait { [root] in
            let manager = UndoManager()
            root.undoManager = manager
            object.name = " two "
            try root.save()
            #expect(object.name == "two")
            manager.undo()
            #expect(object.name == " two ")
            manager.undo()
            #expect(object.name == "one")
        }
    }

    // A second validation comes where a child pushes during the first.
    @Test(arguments: [false, true]) func membersThatValidationAddedAreUndoneLikeOthers(
        inSecondValidation: Bool
    ) throws {
        let object = try stored()
        let other = try stored("two")
        try root.performAndWait { [root] in
            let key = RelationshipKey(
                owner: object.objectID, toMany: try #require(object.toManyNumber("links")))
            root.undoManager = UndoManager()
            object.onValidation = {
                if inSecondValidation && object.validations == 1 {
                    do { try elsewhere { try push(other.objectID, 5, "number") } } catch {
                        Issue.record(error)
                    }
                } else {
                    object.onValidation = nil
                    object.mutableSetValue(forKey: "links").add(object)
                }
            }
            object.number = 1
            try root.save()
            #expect(try stack.store.relatedIDs(key) == [object.objectID])
            root.undo()
            #expect(
                object.isUpdated && object.objectIDs(forRelationshipNamed: "links").isEmpty
                    && object.number == 1)
            try root.save()
            #expect(try stack.store.relatedIDs(key).isEmpty)
        }
    }

    @Test func aNewRowWithoutAnObjectIsCheckedForItsMembers() throws {
        try root.performAndWait { [root] in
            let id = root.makeID(
                for: try #require(stack.coordinator.managedObjectModel.entitiesByName["Team"]))
            root.insertRow(id, RowSnapshot.defaults(id.layout), set: SlotSet())
            let error = #expect(throws: NSError.self) { try root.save() }
            #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "members")
        }
    }

    // MARK: Pushes while it is validated

    @Test func whatIsPushedWhileASaveIsValidatedIsToldBeforeItIsSaved() throws {
        let object = try stored()
        let other = try stored("two")
        try root.performAndWait { [root] in
            let recorder = NotificationRecorder(
                root, .NSManagedObjectContextObjectsDidChange, .NSManagedObjectContextDidSave)
            object.onValidation = {
                object.onValidation = nil
                do { try elsewhere { try push(other.objectID, 5, "number") } } catch { Issue.record(error) }
            }
            object.number = 1
            try root.save()
            #expect(recorder.names == ["ObjectsDidChange", "ObjectsDidChange", "DidSave"])
            #expect(
                other.number == 5 && other.validations == 1 && object.validations == 2 && !root.hasChanges)
            #expect(try Set(stack.stored("Validated", "number")) == [1, 5])
        }
    }

    // MARK: What is left

    @Test func anObjectThatWasSavedHasNothingUnsavedAndIsKeptByItsUsersOnly() throws {
        try root.performAndWait { [root] in
            let watch = WeakReferences()
            var object: ValidatedObject? = try #require(
                root.make("Validated", ["name": "one"]) as? ValidatedObject)
            watch.add(try #require(object))
            try root.save()
            object?.number = 1
            object?.mutableSetValue(forKey: "links").add(try #require(object))
            try root.save()
            #expect(
                object?.changedValues().isEmpty == true && object?.hasPersistentChangedValues == false
                    && object?.hasChanges == false)
            #expect(object?.committedValues(forKeys: ["number"])["number"] as? Int == 1)
            // What is changed next is written to a row of its own.
            let id = try #require(object?.objectID)
            object?.number = 2
            #expect(stack.coordinator.rowCache[id]?["number"] == .int64(1))
            try root.save()
            object = nil
            #expect(watch.living == 0 && root.registeredObjects.isEmpty)
        }
    }

    @Test func aDeletedObjectLeavesTheContext() throws {
        let object = try stored()
        try root.performAndWait { [root] in
            root.delete(object)
            try root.save()
            #expect(
                object.managedObjectContext == nil && object.saves == ["willSave", "didSave"]
                    && root.registeredObjects.isEmpty)
        }
    }

    @Test func whatAnotherDeletedLeavesWithASaveThatHasNothingToWrite() throws {
        let object = try stored()
        try root.performAndWait { [root] in
            root.mergeChanges(
                fromContextDidSave: Notification(
                    name: .NSManagedObjectContextDidSave, userInfo: [NSDeletedObjectsKey: [object.objectID]]))
            #expect(object.managedObjectContext === root)
            try root.save()
            #expect(object.managedObjectContext == nil && root.registeredObjects.isEmpty)
        }
    }

    @Test func contextsThatFollowTheirParentHearOfItsSave() throws {
        let object = try stored()
        let other = stack.independent()
        let listener = ListenerByID()
        try holding(other, child, root) {
            let here = try child.existingObject(with: object.objectID)
            #expect(here.value(forKey: "number") as? Int == 0)
            listener.follow(root)
            root.mergePolicy = .mergeByPropertyObjectTrump
            other.object(with: object.objectID).setValue("theirs", forKey: "name")
            try other.save()
            object.number = 3
            try root.save()
            #expect(object.name == "theirs" && listener.heard.last?.refreshed == [object.objectID])
        }
    }

    @Test func whatAPolicyDropsIsReadAgain() throws {
        let object = try stored()
        let other = stack.independent()
        try holding(other, root) {
            root.mergePolicy = .rollback
            other.object(with: object.objectID).setValue(7, forKey: "number")
            try other.save()
            object.number = 3
            try root.save()
            #expect(
                object.isFault && !object.hasChanges && object.number == 7
                    && root.registeredObjects == [object])
        }
    }

    @Test func permanentIDsAreGivenOnce() throws {
        try root.performAndWait { [root] in
            let object = root.make("Validated")
            #expect(object.objectID.isTemporaryID)
            try root.obtainPermanentIDs(for: [object])
            let id = object.objectID.uriRepresentation()
            #expect(!object.objectID.isTemporaryID)
            try root.save()
            try root.obtainPermanentIDs(for: [object])
            #expect(object.objectID.uriRepresentation() == id)
        }
    }

    // L17: the object of a row that was imported, held by nobody but the one who looked at it.
    @Test func anObjectOfARowThatWasImportedIsToldOfItsSave() throws {
        let id = root.makeID(for: try #require(root.persistentStoreCoordinator?.managedObjectModel.entitiesByName["Validated"]))
        try root.performAndWait { [root] in
            root.insertRow(id, RowSnapshot.defaults(id.layout), set: SlotSet())
            let object = try #require(try root.existingObject(with: id) as? ValidatedObject)
            try root.save()
            #expect(object.saves == ["willSave", "didSave"])
        }
    }
}
