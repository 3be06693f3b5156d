import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// What objects are when a save or a refresh is over.
@Suite struct SavedStateTests {
    private let stack = TestStack()

    // What was imported as a row and fetched is an object that nobody holds.
    @Test(arguments: [true, false]) func anObjectOfARowThatWasImportedIsCleanAfterTheSave(isThrough: Bool) throws {
        let worker = stack.child(of: stack.root)
        try holding(worker, stack.root) {
            let id = worker.makeID(for: try #require(stack.coordinator.managedObjectModel.entitiesByName["Item"]))
            worker.insertRow(id, RowSnapshot.defaults(id.layout), set: SlotSet())
            let here = try worker.existingObject(with: id)
            #expect(here.isInserted)
            if isThrough { try worker.saveToStore() } else { try worker.save() }
            #expect(!here.hasChanges && !here.isInserted)
        }
    }

    // As after a save of each level.
    @Test(arguments: [true, false]) func whatWasNewInAParentAndIsDeletedByAChildLeavesTheParent(isThrough: Bool) throws {
        let main = stack.child(of: stack.root), worker = stack.child(of: main)
        try holding(worker, main, stack.root) {
            let item = main.make("Item", ["key": "k"])
            main.processPendingChanges()
            worker.delete(worker.object(with: item.objectID))
            if isThrough {
                try worker.saveToStore()
            } else {
                try worker.save()
                try main.save()
            }
            #expect(!item.isInserted && item.managedObjectContext == nil && main.registeredObjects.isEmpty)
        }
    }

    @Test func whatARefreshTookBackIsNotTheStartOfTheNextEvent() throws {
        let other = stack.independent()
        try holding(stack.root, other) {
            let item = stack.root.make("Item", ["key": "k", "a": 0])
            try stack.root.save()
            item.setValue(1, forKey: "a")
            stack.root.refresh(item, mergeChanges: false)
            stack.root.processPendingChanges()
            other.object(with: item.objectID).setValue(7, forKey: "a")
            try other.save()
            stack.root.refresh(item, mergeChanges: true)
            stack.root.processPendingChanges()
            #expect(item.value(forKey: "a") as? Int == 7)
            item.setValue(9, forKey: "a")
            #expect(item.changedValuesForCurrentEvent()["a"] as? Int == 7)
        }
    }
}
