import CoreData
import Foundation
import Testing

@Suite struct FaultingAndRefreshTests {
    // L13, A6
    @Test func refreshingWithoutMergingDropsChangesAndTransients() throws {
        let stack = try Stack(), root = stack.root
        try root.performAndWait { () throws in
            let ada = root.make("Person", ["name": "Ada", "note": "transient"])
            try root.save()
            #expect(ada.string("note") == "transient")
            ada.setValue("Ida", forKey: "name")
            root.refresh(ada, mergeChanges: false)
            #expect(ada.isFault && !root.hasChanges)
            #expect(ada.string("name") == "Ada" && ada.string("note") == nil)
        }
    }

    // L13
    @Test func refreshingWithMergingKeepsChangesAndTransients() throws {
        let stack = try Stack(), root = stack.root, other = stack.beside()
        let (ada, id) = try stack.saved("Person", ["name": "Ada"])
        try other.performAndWait { () throws in
            other.object(with: id).setValue(99, forKey: "age")
            try other.save()
        }
        try root.performAndWait { () throws in
            ada.setValue("Ida", forKey: "name")
            ada.setValue("transient", forKey: "note")
            root.refresh(ada, mergeChanges: true)
            #expect(ada.string("name") == "Ida" && ada.number("age") == 99 && ada.string("note") == "transient")
            #expect(ada.changedValues()["name"] as? String == "Ida" && ada.changedValues()["age"] == nil)
            try root.save()
        }
        #expect(try stack.strings("Person", "name") == ["Ida"])
        #expect(try stack.numbers("Person", "age") == [99])
    }

    // N15
    @Test func aFetchNeverOverwritesTheValuesOfRealisedObjects() throws {
        let stack = try Stack(), root = stack.root, other = stack.beside()
        let (ada, id) = try stack.saved("Person", ["name": "Ada"])
        try other.performAndWait { () throws in
            other.object(with: id).setValue("Ida", forKey: "name")
            try other.save()
        }
        try root.performAndWait { () throws in
            #expect(try root.all("Person") == [ada])
            #expect(ada.string("name") == "Ada")
            ada.setValue("Edna", forKey: "name")
            _ = try root.all("Person")
            #expect(ada.string("name") == "Edna")
        }
    }

    // L22
    @Test func resetForgetsObjectsAndChanges() throws {
        let stack = try Stack(), root = stack.root
        try root.performAndWait { () throws in
            let ada = root.make("Person")
            try root.save()
            ada.setValue("Ida", forKey: "name")
            root.reset()
            #expect(!root.hasChanges && root.registeredObjects.isEmpty && ada.managedObjectContext == nil)
            #expect(try root.names("Person") == ["nobody"])
        }
    }

    @Test func anObjectByItsIDIsAFaultUntilAValueIsUsed() throws {
        try Stack.inFile { stack in
            let other = stack.beside()
            let id = try stack.saved("Person", ["name": "Ada"]).id
            try other.performAndWait { () throws in
                #expect(other.registeredObject(for: id) == nil)
                let ada = other.object(with: id)
                #expect(ada.isFault && other.registeredObject(for: id) === ada)
                #expect(ada.string("name") == "Ada" && !ada.isFault && !ada.hasChanges)
                other.refresh(ada, mergeChanges: false)
                #expect(ada.isFault)
                #expect(try other.existingObject(with: id) === ada && !ada.isFault)
            }
        }
    }
}
