import CoreData
import Foundation
import Testing

@Suite struct FetchingTests {
    /// Five items stored (a = 1…5) in a file, and the queue of the context that has them.
    private func items(_ body: (NSManagedObjectContext, [NSManagedObject]) throws -> Void) throws {
        try Stack.inFile { stack in
            let root = stack.root
            try root.performAndWait { () throws in
                let items = (1...5).map { root.make("Item", ["key": "k\($0)", "a": $0]) }
                try root.save()
                try body(root, items)
            }
        }
    }

    private func request(_ format: String? = nil) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = [NSSortDescriptor(key: "a", ascending: true)]
        return request
    }

    private func numbers(_ objects: [NSManagedObject]) -> [Int] { objects.compactMap { $0.number("a") } }

    // F2
    @Test func pendingChangesCountInBothDirections() throws {
        try items { (root, items) throws in
            items[0].setValue(50, forKey: "a")
            items[4].setValue(0, forKey: "a")
            root.delete(items[3])
            root.make("Item", ["a": 40])
            #expect(try numbers(root.fetch(request("a >= 3"))) == [3, 40, 50])
            #expect(try numbers(root.fetch(request("a < 3"))) == [0, 2])
        }
    }

    @Test func limitAndOffsetCutAWindowFromWhatIsStored() throws {
        try items { (root, _) throws in
            let request = request("a != 2")
            (request.fetchOffset, request.fetchLimit) = (1, 2)
            #expect(try numbers(root.fetch(request)) == [3, 4])
            (request.fetchOffset, request.fetchLimit) = (3, 2)
            #expect(try numbers(root.fetch(request)) == [5])
        }
    }

    // F7
    @Test func severalSortKeysOverToOnesAndNilFirst() throws {
        let stack = try Stack(), root = stack.root
        try root.performAndWait { () throws in
            let alpha = root.make("Department", ["name": "Alpha"]), beta = root.make("Department", ["name": "Beta"])
            let people: [(String, NSManagedObject, String?)] = [("b", beta, nil), ("C", alpha, "x"), ("a", alpha, nil), ("B", beta, "y")]
            for (name, department, nick) in people {
                root.make("Person", ["name": name, "department": department]).setValue(nick, forKey: "nick")
            }
            func names(_ keys: NSSortDescriptor...) throws -> [String] {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
                request.sortDescriptors = keys
                return try root.fetch(request).compactMap { $0.string("name") }
            }
            for _ in 0..<2 {
                // Unsaved first, then stored.
                #expect(
                    try names(NSSortDescriptor(key: "department.name", ascending: false), NSSortDescriptor(key: "name", ascending: true))
                        == ["B", "b", "C", "a"])
                #expect(
                    try names(NSSortDescriptor(key: "nick", ascending: true), NSSortDescriptor(key: "name", ascending: true)) == ["a", "b", "C", "B"])
                #expect(try names(NSSortDescriptor(key: "name", ascending: true)) == ["B", "C", "a", "b"])
                try root.save()
            }
        }
    }

    // Q7, Q13
    @Test func predicatesOverRelationshipsMeanTheSameForStoredAndPendingObjects() throws {
        let stack = try Stack(), root = stack.root
        try root.performAndWait { () throws in
            let looms = root.make("Department", ["name": "Looms"]), skill = root.make("Skill", ["name": "weaving"])
            root.make("Person", ["name": "Ada", "department": looms, "skills": Set([skill])])
            let bob = root.make("Person", ["name": "Bob"])
            func names(_ predicate: NSPredicate) throws -> [String] {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
                request.predicate = predicate
                return try root.fetch(request).compactMap { $0.string("name") }
            }
            for _ in 0..<2 {
                #expect(try names(NSPredicate(format: "department.name == 'Looms'")) == ["Ada"])
                #expect(try names(NSPredicate(format: "department == %@", looms)) == ["Ada"])
                #expect(try names(NSPredicate(format: "department == nil")) == ["Bob"])
                #expect(try names(NSPredicate(format: "ANY skills.name == 'weaving'")) == ["Ada"])
                #expect(try names(NSPredicate(format: "SELF == %@", bob)) == ["Bob"])
                try root.save()
            }
        }
    }

    @Test func dictionariesAreGroupedAndSummedByTheStore() throws {
        try Stack.inFile { stack in
            let root = stack.root
            try root.performAndWait { () throws in
                for (name, age) in [("a", 10), ("b", 20), ("a", 30)] { root.make("Person", ["name": name, "age": age]) }
                try root.save()
                let total = NSExpressionDescription()
                total.name = "total"
                total.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "age")])
                total.expressionResultType = .integer64AttributeType
                let request = NSFetchRequest<NSDictionary>(entityName: "Person")
                request.resultType = .dictionaryResultType
                request.propertiesToFetch = ["name", total]
                request.propertiesToGroupBy = ["name"]
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                let found = try root.fetch(request)
                #expect(found.map { $0["name"] as? String } == ["a", "b"])
                #expect(found.map { $0["total"] as? Int } == [40, 20])
            }
        }
    }
}
