import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Where members of an ordered to-many stand after a push.
@Suite struct OrderPushTests {
    private func codes(_ shelf: NSManagedObject) -> [String?] {
        let members = shelf.value(forKey: "things") as? NSOrderedSet
        return (members?.array as? [NSManagedObject] ?? []).map { $0.value(forKey: "code") as? String }
    }

    /// Runs `body` in a child with a shelf and what there is of things by code, and saves the child.
    @discardableResult
    private func child(of main: NSManagedObjectContext, _ body: (NSManagedObject, [String: NSManagedObject]) -> Void) throws -> [String?] {
        let child = NSManagedObjectContext(.privateQueueConcurrencyType)
        child.parent = main
        return try child.performAndWait {
            let shelf = try #require(try child.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shelf")).first)
            let things = try child.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing"))
            body(shelf, Dictionary(uniqueKeysWithValues: things.map { ($0.value(forKey: "code") as? String ?? "", $0) }))
            let shown = codes(shelf)
            try child.save()
            return shown
        }
    }

    // R2, N24
    @Test func whoBecomesAMemberByAPushStandsWhereItsSenderShowsIt() throws {
        let stack = TestStack(Keyed.model()), main = stack.child(of: stack.root)
        try main.performAndWait {
            for (entity, code) in [("Shelf", "a"), ("Thing", "p"), ("Thing", "q")] {
                NSEntityDescription.insertNewObject(forEntityName: entity, into: main).setValue(code, forKey: "code")
            }
            try main.save()
            try stack.root.performAndWait { try stack.root.save() }
            try child(of: main) { shelf, things in
                shelf.setValue(NSOrderedSet(array: ["p", "q"].compactMap { things[$0] }), forKey: "things")
            }
            try child(of: main) { _, things in things["p"]?.setValue(nil, forKey: "shelf") }
            let shown = try child(of: main) { shelf, things in
                things["p"]?.setValue(shelf, forKey: "shelf")
                // The order that this has set is given up, the member stays.
                shelf.managedObjectContext?.refresh(shelf, mergeChanges: false)
            }
            main.refreshAllObjects()
            let shelf = try #require(try main.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shelf")).first)
            #expect(shown == ["q", "p"])
            #expect(codes(shelf) == shown)
        }
    }
}
