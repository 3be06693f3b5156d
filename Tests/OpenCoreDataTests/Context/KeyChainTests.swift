import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Objects that share keys with each other and with a row of the store: one key each, so that they turn out to be one only together.
@Suite struct KeyChainTests {
    private static func model() -> NSManagedObjectModel {
        let city = Company.entity("City"), person = Company.entity("Person")
        city.properties = [Company.attribute("code", .string), Company.attribute("number", .integer64), Company.attribute("name", .string)]
        city.uniquenessConstraints = [["code"], ["number"]]
        Company.relate(city, "people", many: true, person, "home", many: false)
        return NSManagedObjectModel(entities: [city, person])
    }

    // P11, P13: whichever of the two keys is compared first.
    @Test(arguments: [("number", "code"), ("code", "number")])
    func whatBecameAnObjectOfTheSaveGoesWithItToTheStoredRow(_ storedKey: String, _ ownKey: String) throws {
        let stack = try SQLiteStack(Self.model()), root = stack.root, keys: [String: Any] = ["code": "x", "number": 1]
        root.mergePolicy = .mergeByPropertyObjectTrump
        let (stored, person) = try root.performAndWait { () throws in
            let stored = root.make("City", [storedKey: keys[storedKey] as Any, "name": "stored"])
            try root.save()
            root.make("City", keys.merging(["name": "first"]) { $1 })
            let second = root.make("City", [ownKey: keys[ownKey] as Any, "name": "second"])
            let person = root.make("Person", ["home": second])
            try root.save()
            #expect(try root.all("City") == [stored])
            return (stored.objectID, person.objectID)
        }
        let row = try #require(try stack.fixture.stored(stored))
        #expect(row["code"] == .string("x") && row["number"] == .int64(1) && row["name"] == .string("first"))
        #expect(try stack.fixture.stored(person)?["home"] == one(stored))
        stack.forget()
        try root.performAndWait { () throws in
            #expect((try root.existingObject(with: person).value(forKey: "home") as? NSManagedObject)?.value(forKey: "name") as? String == "first")
        }
    }

    // N24, P13
    @Test func whatAPushChangesOfTheOwnerOfAKeyStaysBesideTheTwinThatItBrings() throws {
        let stack = TestStack()
        stack.root.mergePolicy = .mergeByPropertyObjectTrump
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let looms = stack.root.make("Department", ["code": "L", "name": "Looms", "budget": 1.0])
            stack.root.processPendingChanges()
            child.object(with: looms.objectID).setValue(5.0, forKey: "budget")
            child.make("Department", ["code": "L", "name": "Looms again"])
            try child.save()
            #expect(looms.value(forKey: "name") as? String == "Looms again" && looms.value(forKey: "budget") as? Double == 5)
            try stack.root.save()
            #expect(try stack.stored("Department", "budget") == [5.0] && stack.stored("Department", "name") == ["Looms again"])
        }
    }

    // P11, P13: the root's save decided that somebody else has the key, while a new object of that key was brought here.
    @Test func whatIsNewOfAnObjectThatHasLostItsKeyGoesToWhoHasIt() throws {
        let stack = TestStack(Keyed.model()), main = stack.child(of: stack.root), first = stack.child(of: main), second = stack.child(of: main)
        stack.root.mergePolicy = .mergeByPropertyObjectTrump
        try holding(stack.root, main, first, second) { () throws in
            let mine = main.make("Thing", ["code": "p"])
            try main.save()
            try stack.root.save()
            let other = stack.independent()
            let owner = try other.performAndWait { () throws in
                let owner = other.make("Thing", ["code": "r", "a": 12])
                try other.save()
                return owner.objectID
            }
            first.object(with: mine.objectID).setValue("r", forKey: "code")
            first.object(with: mine.objectID).setValue(212, forKey: "b")
            try first.save()
            try main.save()
            second.make("Thing", ["code": "r", "a": 263, "c": 264])
            try second.save()
            try stack.root.save()
            try main.save()
            try stack.root.save()
            let rows = try stack.store.rows(for: [owner, mine.objectID]), kept = rows[mine.objectID], theirs = rows[owner]
            #expect(theirs?["a"] == .int64(263) && theirs?["b"] == .int64(212) && theirs?["c"] == .int64(264))
            #expect(kept?["code"] == .string("p") && kept?["a"] == .int64(0) && kept?["b"] == .int64(0) && kept?["c"] == .int64(0))
        }
    }

    // N24: who has a key is what the level says, not what a worker has read of it.
    @Test func aKeyThatWasTakenBackMeanwhileBelongsToNobodyWhoHasReadIt() throws {
        let stack = TestStack(), main = stack.child(of: stack.root), other = stack.independent()
        let first = stack.child(of: main), second = stack.child(of: main)
        stack.root.mergePolicy = .mergeByPropertyObjectTrump
        try holding(stack.root, main, first, second, other) { () throws in
            let item = stack.root.make("Item", ["key": "own"])
            try stack.root.save()
            first.object(with: item.objectID).setValue("taken", forKey: "key")
            try first.save()
            let mine = second.object(with: item.objectID)
            #expect(mine.value(forKey: "key") as? String == "taken")
            mine.setValue(1, forKey: "a")
            try main.save()
            other.make("Item", ["key": "taken"])
            try other.save()
            try stack.root.save()
            #expect(Set(try stack.stored("Item", "key")) == ["own", "taken"])
            second.make("Item", ["key": "taken", "b": 2])
            for context in [second, main, stack.root] { try context.save() }
            let found = stack.independent()
            try found.performAndWait {
                let items = try found.all("Item").map {
                    "\($0.value(forKey: "key") ?? "") \($0.value(forKey: "a") ?? "") \($0.value(forKey: "b") ?? "")"
                }
                #expect(items.sorted() == ["own 1 0", "taken 0 2"])
            }
        }
    }
}
