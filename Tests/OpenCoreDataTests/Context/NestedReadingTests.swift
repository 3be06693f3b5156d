import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

@Suite struct NestedReadingTests {
    // N16, GB2, GB3
    @Test(.timeLimit(.minutes(60))) func aChildReadsAndSavesWhileItsParentsQueueIsBusy() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        let id = try stack.root.performAndWait { () throws -> NSManagedObjectID in
            let ada = stack.root.make("Person", ["name": "Ada"])
            try stack.root.save()
            return ada.objectID
        }
        try whileBusy(stack.root) {
            try child.performAndWait { () throws in
                child.object(with: id).setValue("Ida", forKey: "name")
                child.make("Person", ["name": "Bob"])
                #expect(try child.names("Person") == ["Bob", "Ida"])
                try child.save()
                #expect(!child.hasChanges)
            }
        }
    }

    // N17
    @Test func aFaultTakesItsValuesFromTheNearestLevelThatHasThem() throws {
        let stack = TestStack()
        let middle = stack.child(of: stack.root, name: "middle"), worker = stack.child(of: middle, name: "worker")
        try holding(stack.root, middle, worker) { () throws in
            let ada = stack.root.make("Person", ["name": "Ada"]), bob = stack.root.make("Person", ["name": "Bob"])
            try stack.root.save()
            middle.object(with: ada.objectID).setValue("Ada of the middle", forKey: "name")
            middle.processPendingChanges()
            bob.setValue("Bob of the root", forKey: "name")
            stack.root.processPendingChanges()
            let requests = stack.requests {
                #expect(worker.object(with: ada.objectID).value(forKey: "name") as? String == "Ada of the middle")
                #expect(worker.object(with: bob.objectID).value(forKey: "name") as? String == "Bob of the root")
            }
            #expect(requests.isEmpty)
        }
    }

    // N31
    @Test func aChildRetainsItsParentAndReportsTheRootsCoordinator() {
        let stack = TestStack()
        let child: NSManagedObjectContext
        weak var observed: NSManagedObjectContext?
        do {
            let middle = stack.child(of: stack.root)
            child = stack.child(of: middle)
            observed = middle
        }
        #expect(observed != nil && child.parent === observed)
        #expect(child.persistentStoreCoordinator === stack.coordinator)
        #expect(stack.root.parent == nil)
    }

    // N32
    @Test func anIDOfAnotherStackResolvesToNothing() throws {
        let model = Company.model()
        let stack = TestStack(model), other = TestStack(model)
        let (temporary, permanent) = try other.root.performAndWait { () throws in
            let saved = other.root.make("Person")
            try other.root.save()
            return (other.root.make("Person").objectID, saved.objectID)
        }
        stack.root.performAndWait {
            for id in [temporary, permanent] {
                let error = #expect(throws: NSError.self) { try stack.root.existingObject(with: id) }
                #expect(error?.code == 133000)
            }
        }
    }

    // W5
    @Test func theThreeDesignsOfAStackAreExpressible() throws {
        for design in 1...3 {
            let stack = TestStack(root: design == 2 ? .privateQueueConcurrencyType : .mainQueueConcurrencyType)
            let worker: NSManagedObjectContext
            var chain: [NSManagedObjectContext]
            switch design {
            case 1:
                worker = stack.child(of: stack.root)
                chain = [worker, stack.root]
            case 2:
                let main = stack.child(of: stack.root, .mainQueueConcurrencyType)
                worker = stack.child(of: main)
                chain = [worker, main, stack.root]
            default:
                worker = stack.independent()
                chain = [worker]
            }
            worker.performAndWait { _ = worker.make("Person", ["name": "Ada"]) }
            for context in chain { try context.performAndWait { try context.save() } }
            chain = []
            #expect(try stack.stored("Person", "name") == ["Ada"], "design \(design)")
            #expect(try stack.root.performAndWait { try stack.root.names("Person") } == ["Ada"], "design \(design)")
        }
    }

    // N14, F2: by what others are called now, also where the order of the store is another.
    @Test func aFetchSortedByWhatIsUnsavedOfOthersIsInThatOrder() throws {
        let stack = TestStack()
        let main = stack.child(of: stack.root, name: "main"), worker = stack.child(of: main, name: "worker")
        try holding(stack.root, main, worker) { () throws in
            let departments = ["A", "B", "C"].map { stack.root.make("Department", ["name": $0]) }
            for (number, department) in departments.enumerated() { stack.root.make("Person", ["name": "\(number)", "department": department]) }
            try stack.root.save()
            main.object(with: departments[0].objectID).setValue("Z", forKey: "name")
            main.make("Person", ["name": "new", "department": main.object(with: departments[1].objectID)])
            main.processPendingChanges()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.sortDescriptors = [NSSortDescriptor(key: "department.name", ascending: true), NSSortDescriptor(key: "name", ascending: true)]
            #expect(try worker.fetch(request).compactMap { $0.value(forKey: "name") as? String } == ["1", "new", "2", "0"])
        }
    }

    // E4: what could not be read of others, to judge an unsaved object by, is an error and not an object that is left out.
    @Test func aFetchThatCannotJudgeWhatIsUnsavedThrows() throws {
        let stack = TestStack()
        let main = stack.child(of: stack.root, name: "main"), worker = stack.child(of: main, name: "worker")
        try holding(stack.root, main, worker) { () throws in
            let manager = stack.root.make("Person", ["department": stack.root.make("Department", ["name": "A"])])
            try stack.root.save()
            main.make("Person", ["name": "new", "manager": main.object(with: manager.objectID)])
            main.processPendingChanges()
            stack.coordinator.rowCache.removeAll()
            stack.store.observe { if case .rows = $0 { throw CocoaError(.fileReadUnknown) } }
            #expect(throws: CocoaError.self) { try worker.all("Person", "manager.department.name == 'A'") }
            stack.store.observe(nil)
            #expect(try worker.all("Person", "manager.department.name == 'A'").count == 1)
        }
    }
}
