import CoreData
import Foundation
import Testing

@Suite struct ResultsControllerTests {
    /// Writes down what it is told, in words: `insert - 0.1`.
    private final class Delegate: NSObject, NSFetchedResultsControllerDelegate {
        private(set) var calls: [String] = []

        func take() -> [String] {
            defer { calls = [] }
            return calls
        }

        private func text(_ type: NSFetchedResultsChangeType) -> String {
            switch type {
            case .insert: "insert"
            case .delete: "delete"
            case .move: "move"
            default: "update"
            }
        }

        private func text(_ path: IndexPath?) -> String { path.map { "\($0[0]).\($0[1])" } ?? "-" }

        func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { calls.append("will") }

        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange sectionInfo: any NSFetchedResultsSectionInfo,
            atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
        ) {
            calls.append("section \(text(type)) \(sectionIndex)")
        }

        func controller(
            _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any, at indexPath: IndexPath?,
            for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
        ) {
            calls.append("\(text(type)) \(text(indexPath)) \(text(newIndexPath))")
        }

        func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { calls.append("did") }
    }

    private func persons(
        _ context: NSManagedObjectContext, _ format: String? = nil, sort: [String] = ["name"], sections: String? = nil
    ) -> NSFetchedResultsController<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = sort.map { NSSortDescriptor(key: $0, ascending: true) }
        return NSFetchedResultsController(fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections, cacheName: nil)
    }

    private func names(_ controller: NSFetchedResultsController<NSManagedObject>) -> [String] {
        (controller.fetchedObjects ?? []).compactMap { $0.string("name") }
    }

    // V1
    @Test func objectsAndIndexPathsAreEachOthers() throws {
        let stack = try Stack(), root = stack.root
        try root.performAndWait { () throws in
            for (name, nick) in [("Ada", "b"), ("Bob", "a"), ("Cid", "b"), ("Dan", "c")] { root.make("Person", ["name": name, "nick": nick]) }
            let controller = persons(root, sort: ["nick", "name"], sections: "nick")
            try controller.performFetch()
            #expect(names(controller) == ["Bob", "Ada", "Cid", "Dan"])
            #expect(controller.sections?.map(\.name) == ["a", "b", "c"] && controller.sections?.map(\.numberOfObjects) == [1, 2, 1])
            for object in controller.fetchedObjects ?? [] {
                let path = try #require(controller.indexPath(forObject: object))
                #expect(controller.object(at: path) === object)
                #expect((controller.sections?[path[0]].objects?[path[1]] as? NSManagedObject) === object)
            }
            #expect(controller.object(at: IndexPath(indexes: [1, 1])).string("name") == "Cid")
            #expect(controller.indexPath(forObject: root.make("Department")) == nil)
        }
    }

    /// A stack with these persons saved, by name and first letter, and a controller and its delegate that has heard nothing yet.
    private func use(
        _ saved: String..., format: String? = nil, sections: String? = nil,
        body: (NSManagedObjectContext, NSFetchedResultsController<NSManagedObject>, Delegate) throws -> Void
    ) throws {
        let stack = try Stack(), root = stack.root, delegate = Delegate()
        try root.performAndWait { () throws in
            for name in saved { root.make("Person", ["name": name, "nick": String(name.prefix(1))]) }
            try root.save()
            let controller = persons(root, format, sort: ["nick", "name"], sections: sections)
            controller.delegate = delegate
            try controller.performFetch()
            try body(root, controller, delegate)
        }
    }

    // V3
    @Test func enteringAndLeavingByThePredicateIsInsertAndDelete() throws {
        try use("a1", "a2", format: "age < 30") { root, controller, delegate in
            let first = try #require(controller.fetchedObjects?.first)
            first.setValue(50, forKey: "age")
            root.processPendingChanges()
            #expect(delegate.take() == ["will", "delete 0.0 -", "did"] && names(controller) == ["a2"])
            first.setValue(20, forKey: "age")
            root.processPendingChanges()
            #expect(delegate.take() == ["will", "insert - 0.0", "did"] && names(controller) == ["a1", "a2"])
        }
    }

    // V3
    @Test func unrelatedChangesAreNotReported() throws {
        try use("a1", format: "age < 30") { root, controller, delegate in
            root.make("Department", ["name": "new"])
            root.make("Person", ["name": "old", "age": 80])
            root.processPendingChanges()
            try root.save()
            #expect(delegate.take().isEmpty && names(controller) == ["a1"])
        }
    }

    @Test func aNewSectionIsReportedBeforeWhatIsInIt() throws {
        try use("a1", "c1", sections: "nick") { root, controller, delegate in
            root.make("Person", ["name": "b1", "nick": "b"])
            root.processPendingChanges()
            #expect(delegate.take() == ["will", "section insert 1", "insert - 1.0", "did"])
            #expect(controller.sections?.map(\.name) == ["a", "b", "c"])
            root.delete(controller.object(at: IndexPath(indexes: [2, 0])))
            root.processPendingChanges()
            #expect(delegate.take() == ["will", "section delete 2", "delete 2.0 -", "did"])
            #expect(names(controller) == ["a1", "b1"])
        }
    }
}
