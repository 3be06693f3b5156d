import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// To-ones without an inverse: nobody who deletes an object knows who leads to it.
@Suite struct ReferenceWithoutInverseTests {
    enum Kind: CaseIterable { case memory, file }

    /// A root context, its main context and a worker, on a store of either kind.
    private final class Stack {
        let root: NSManagedObjectContext
        let main: NSManagedObjectContext
        let worker: NSManagedObjectContext
        let coordinator: NSPersistentStoreCoordinator
        private let fixture: StoreFixture?

        init(_ kind: Kind, isOptional: Bool = true) throws {
            let owner = Company.entity("Owner"), special = Company.entity("Special"), pet = Company.entity("Pet")
            owner.properties = [
                Company.attribute("name", .string), NSRelationshipDescription(name: "pet", destination: pet, toMany: false),
            ]
            owner.relationshipsByName["pet"]?.isOptional = isOptional
            owner.subentities = [special]
            pet.properties = [Company.attribute("name", .string)]
            let model = NSManagedObjectModel(entities: [owner, special, pet])
            coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            fixture = kind == .file ? try StoreFixture(model) : nil
            coordinator.add(fixture?.store ?? InMemoryStore(entities: model.entities))
            root = NSManagedObjectContext(.privateQueueConcurrencyType)
            root.persistentStoreCoordinator = coordinator
            main = NSManagedObjectContext(.privateQueueConcurrencyType)
            main.parent = root
            worker = NSManagedObjectContext(.privateQueueConcurrencyType)
            worker.parent = main
        }

        func holdingAll(_ body: () throws -> Void) throws { try holding(worker, main, root, do: body) }

        func saveAll() throws {
            try main.save()
            try root.save()
        }

        /// What the store holds, past all contexts.
        func pets(of entity: String) throws -> [AttributeValue] {
            let description = try #require(coordinator.managedObjectModel.entitiesByName[entity])
            let store = try #require(coordinator.persistentStores.first)
            return try store.fetch(FetchPlan(entity: description)).compactMap { $0.row?["pet"] }
        }
    }

    // R5: where the reference is stored, and where it is saved no further than to the parent.
    @Test(arguments: Kind.allCases, [true, false]) func aLaterDeletionEmptiesTheReference(_ kind: Kind, _ isStored: Bool) throws {
        let stack = try Stack(kind)
        try stack.holdingAll { () throws in
            let pet = stack.main.make("Pet")
            try stack.saveAll()
            let owners = ["Owner", "Special"].map { stack.main.make($0, ["name": "Ada", "pet": pet]) }
            if isStored { try stack.saveAll() } else { stack.main.processPendingChanges() }
            stack.worker.delete(stack.worker.object(with: pet.objectID))
            try stack.worker.save()
            try stack.saveAll()
            #expect(try stack.pets(of: "Owner") == [.null, .null])
            // A context that had read it before sees it when it reads again.
            if isStored { stack.main.refreshAllObjects() }
            #expect(owners.allSatisfy { $0.value(forKey: "pet") == nil && $0.value(forKey: "name") as? String == "Ada" && !$0.hasChanges })
            // And can be saved again.
            owners[0].setValue(stack.main.make("Pet"), forKey: "pet")
            try stack.saveAll()
            #expect(try stack.pets(of: "Owner").count { $0.objectID != nil } == 1)
        }
    }

    // R5
    @Test(arguments: Kind.allCases) func aLaterReferenceIsRefused(_ kind: Kind) throws {
        let stack = try Stack(kind)
        try stack.holdingAll { () throws in
            let pet = stack.main.make("Pet")
            try stack.saveAll()
            stack.worker.make("Owner", ["pet": stack.worker.object(with: pet.objectID)])
            stack.main.delete(pet)
            try stack.main.save()
            let error = #expect(throws: NSError.self) { try stack.worker.save() }
            #expect(error?.code == 1550 && error?.userInfo[NSValidationKeyErrorKey] as? String == "pet")
            stack.worker.rollback()
            try stack.saveAll()
            #expect(try stack.pets(of: "Owner").isEmpty)
        }
    }

    // R5: what is needed is not deleted, wherever who needs it is.
    @Test(arguments: Kind.allCases, [true, false]) func aDeletionOfWhatIsNeededIsRefused(_ kind: Kind, _ isStored: Bool) throws {
        let stack = try Stack(kind, isOptional: false)
        try stack.holdingAll { () throws in
            let pet = stack.main.make("Pet")
            try stack.saveAll()
            stack.main.make("Owner", ["pet": pet])
            if isStored { try stack.saveAll() } else { stack.main.processPendingChanges() }
            stack.worker.delete(stack.worker.object(with: pet.objectID))
            let error = #expect(throws: NSError.self) {
                try stack.worker.save()
                try stack.saveAll()
            }
            #expect(error?.code == 1550)
            // Nothing unsaved in the main context is in the way of anything where the worker is refused.
            #expect(isStored || stack.worker.hasChanges && !stack.root.hasChanges)
            for context in [stack.worker, stack.root] { context.rollback() }
            try stack.saveAll()
            #expect(try stack.pets(of: "Owner") == [.objectID(pet.objectID)])
        }
    }
}
