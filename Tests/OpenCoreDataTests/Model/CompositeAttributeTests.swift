import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// Composite attributes in a model.
// A9
@Suite struct CompositeAttributeTests {
    @Test func elementsCountInTheVersionHash() throws {
        let hash = Quakes.entity().versionHash
        #expect(Quakes.entity().versionHash == hash)
        #expect(Quakes.entity(Quakes.magnitude(isOptional: false)).versionHash != hash)
        let other = Quakes.magnitude()
        other.elements[0].type = .float
        #expect(Quakes.entity(other).versionHash != hash)
        let indexed = Quakes.entity()
        let richter = try #require((indexed.attributesByName["magnitude"] as? NSCompositeAttributeDescription)?.elements[0])
        indexed.indexes = [NSFetchIndexDescription(name: "byRichter", elements: [NSFetchIndexElementDescription(property: richter)])]
        let copy = try #require(indexed.copy() as? NSEntityDescription)
        #expect(copy.versionHash == hash)
        let copied = try #require(copy.attributesByName["magnitude"] as? NSCompositeAttributeDescription)
        #expect(copy.indexes[0].elements[0].property === copied.elements[0])
        #expect(copied.elements.map(\.name) == ["richter", "scale", "felt"] && copied.attributeType == .compositeAttributeType)
    }

    @Test func elementsInUseCannotBeChanged() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let magnitude = Quakes.magnitude(), model = NSManagedObjectModel(entities: [Quakes.entity(magnitude)])
            _ = NSPersistentStoreCoordinator(managedObjectModel: model)
            magnitude.elements[0].name = "mercalli"
        }.trap(says: "can't change property Quake.magnitude")
    }

    @Test(
        arguments: [
            ([], "has no elements"), ([Quakes.attribute("a.b", .string)], "a dot leads into a composite"),
            ([Quakes.attribute("a", .string), Quakes.attribute("a", .double)], "two elements named a"),
            ([Quakes.attribute("a", .undefined)], "the element a without a type"),
        ] as [([NSAttributeDescription], String)])
    func elementsThatMakeNoSenseAreRefused(elements: [NSAttributeDescription], words: String) throws {
        let model = NSManagedObjectModel(entities: [Quakes.entity(Quakes.composite("magnitude", elements))])
        #expect(ModelComplaint(about: model)?.message.contains(words) == true)
    }

    @Test func aDefaultThatIsNoneOfItAndAnElementOfTwoAreRefused() throws {
        func complaint(_ change: (NSCompositeAttributeDescription) -> Void) -> String {
            let magnitude = Quakes.magnitude()
            change(magnitude)
            return ModelComplaint(about: NSManagedObjectModel(entities: [Quakes.entity(magnitude)]))?.message ?? ""
        }
        #expect(complaint { _ in } == "")
        #expect(complaint { $0.defaultValue = 5 }.contains("has a default value that is no dictionary"))
        #expect(complaint { $0.defaultValue = ["rihcter": 5] }.contains("has a default value for rihcter, which is no element of it"))
        #expect(complaint { $0.defaultValue = ["richter": 5.0] } == "")
        var other: NSCompositeAttributeDescription?
        #expect(complaint { other = Quakes.composite("other", [$0.elements[0]]) }.contains("is one of another composite"))
        #expect(other?.elements.count == 1)
        #expect(complaint { $0.elements += [$0] }.contains("is an element of itself"))
    }

    @Test func whatIsIndexedAsOneIsIndexedByElement() {
        let magnitude = Quakes.magnitude()
        magnitude.isIndexed = true
        #expect(magnitude.leaves.allSatisfy { $0.isIndexed } && magnitude.leaves.count == 4)
    }

    @Test func aUniqueKeyLeavesElementsInMemoryOut() {
        let magnitude = Quakes.magnitude(), quake = Quakes.entity(magnitude)
        magnitude.elements[0].isTransient = true
        quake.uniquenessConstraints = [["magnitude"]]
        #expect(quake.constraintNames == [["magnitude.scale", "magnitude.felt.reports", "magnitude.felt.since"]])
        #expect(ModelComplaint(about: NSManagedObjectModel(entities: [quake])) == nil)
    }

    @Test func aStoreOfAProgramsOwnRefusesIt() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel(entities: [Quakes.entity()]))
        NSPersistentStoreCoordinator.registerStoreClass(ComposedStore.self, forStoreType: "ComposedStore")
        defer { NSPersistentStoreCoordinator.registerStoreClass(nil, forStoreType: "ComposedStore") }
        let error = try #require(
            #expect(throws: NSError.self) {
                try coordinator.addPersistentStore(ofType: "ComposedStore", configurationName: nil, at: nil, options: nil)
            })
        #expect(error.code == 134_020 && error.localizedDescription.contains("Quake.magnitude is a composite attribute"))
    }
}

// Never opened.
final class ComposedStore: NSAtomicStore, @unchecked Sendable {}
