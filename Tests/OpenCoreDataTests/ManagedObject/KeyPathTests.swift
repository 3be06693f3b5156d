import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// `value(forKeyPath:)` and `setValue(_:forKeyPath:)`.
@Suite struct KeyPathTests {
    private func use(_ body: (Department, NSManagedObjectContext) throws -> Void) throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let department = Department(context: stack.root)
            department.name = "R&D"
            for (name, age, nick) in [("Ada", 30, "x"), ("Ben", 20, nil), ("Cem", 30, "x")] as [(String, Int32, String?)] {
                let person = Person(context: stack.root)
                (person.name, person.age, person.nick, person.department) = (name, age, nick, department)
            }
            try body(department, stack.root)
        }
    }

    // R3
    @Test func aKeyPathOverAToManyGivesTheValuesOfAllMembers() throws {
        try use { (department, _) throws in
            #expect(department.value(forKeyPath: "employees.name") as? Set<String> == ["Ada", "Ben", "Cem"])
            #expect(department.value(forKeyPath: "employees.age") as? Set<Int32> == [20, 30])
            #expect(department.value(forKeyPath: "employees.nick") as? Set<String> == ["x"])
            #expect(department.value(forKeyPath: "employees.department.name") as? Set<String> == ["R&D"])
            #expect((department.value(forKeyPath: "employees") as? Set<NSManagedObject>)?.count == 3)
            #expect((department.value(forKeyPath: "employees.self") as? Set<NSManagedObject>)?.count == 3)
        }
    }

    // R3
    @Test func overAnOrderedToManyTheyAreInOrder() throws {
        try use { (_, context) throws in
            let tracks = ["b", nil, "a"].map { context.make("Track", $0.map { ["title": $0] } ?? [:]) }
            let list = context.make("Playlist", ["tracks": NSOrderedSet(array: tracks)])
            let titles = try #require(list.value(forKeyPath: "tracks.title") as? NSOrderedSet).array
            #expect(titles.map { $0 as? String } == ["b", nil, "a"] && titles[1] is NSNull)
        }
    }

    // Q5
    @Test func collectionOperatorsComputeOverTheMembers() throws {
        try use { (department, _) throws in
            #expect(department.value(forKeyPath: "employees.@count") as? Int == 3)
            #expect(department.value(forKeyPath: "employees.@sum.age") as? Int == 80)
            #expect(department.value(forKeyPath: "employees.@avg.age") as? Double == 80.0 / 3)
            #expect(department.value(forKeyPath: "employees.@min.age") as? Int == 20)
            #expect(department.value(forKeyPath: "employees.@max.name") as? String == "Cem")
            #expect((department.value(forKeyPath: "employees.@unionOfObjects.age") as? [Int32])?.sorted() == [20, 30, 30])
            #expect((department.value(forKeyPath: "employees.@distinctUnionOfObjects.age") as? [Int32])?.sorted() == [20, 30])
            #expect(department.value(forKeyPath: "employees.@unionOfObjects.nick") as? [String] == ["x", "x"])
            #expect((department.value(forKeyPath: "employees.@distinctUnionOfSets.department.employees") as? Set<NSManagedObject>)?.count == 3)
            #expect(department.value(forKeyPath: "employees.department.@count") as? Int == 1)
        }
    }

    // Q5
    @Test func operatorsOverNothing() throws {
        try use { (_, context) throws in
            let empty = Department(context: context)
            #expect(empty.value(forKeyPath: "employees.@count") as? Int == 0)
            #expect(empty.value(forKeyPath: "employees.@sum.age") as? Int == 0)
            #expect(empty.value(forKeyPath: "employees.@avg.age") == nil && empty.value(forKeyPath: "employees.@max.age") == nil)
            #expect(empty.value(forKeyPath: "employees.name") as? Set<String> == [])
            #expect(Person(context: context).value(forKeyPath: "department.employees.@count") == nil)
        }
    }

    // L26
    @Test func aValueIsSetAlongAKeyPath() throws {
        try use { (department, context) throws in
            let ada = try #require(department.employees.first { $0.name == "Ada" })
            ada.setValue("Sales", forKeyPath: "department.name")
            #expect(department.name == "Sales")
            ada.setValue(31, forKeyPath: "age")
            #expect(ada.age == 31)
            department.setValue(40, forKeyPath: "employees.age")
            #expect(department.employees.allSatisfy { $0.age == 40 })
            Person(context: context).setValue("nowhere", forKeyPath: "department.name")
        }
    }

    // L26, E2
    @Test func anUnknownKeyInAKeyPathStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            stack.root.performAndWait {
                let person = Person(context: stack.root)
                person.department = Department(context: stack.root)
                _ = person.department?.value(forKeyPath: "employees.size")
            }
        }.trap(says: "not key value coding-compliant for the key \"size\"")
    }

    // L26, E2
    @Test func aKeyOfAPlainValueStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            stack.root.performAndWait { _ = Person(context: stack.root).value(forKeyPath: "name.length") }
        }.trap(says: "a String has no value for the key \"length\"")
    }

    // L26, E2
    @Test func aKeyPathThatIsNoneStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            stack.root.performAndWait { Person(context: stack.root).setValue(1, forKeyPath: "reports.@count") }
        }.trap(says: "\"reports.@count\" is not a key path")
    }

    // L6
    @Test func committedValuesHaveTheMembersAsTheyWereSaved() throws {
        try use { (department, context) throws in
            #expect(department.committedValues(forKeys: nil).keys.sorted() == ["employees"])
            #expect(department.committedValues(forKeys: ["employees"])["employees"] as? Set<NSManagedObject> == [])
            let list = context.make("Playlist", ["tracks": NSOrderedSet(array: [context.make("Track"), context.make("Track")])])
            try context.save()
            let saved = department.employees, tracks = try #require(list.value(forKey: "tracks") as? NSOrderedSet)
            department.employees = []
            list.setValue(tracks.reversed, forKey: "tracks")
            #expect(department.committedValues(forKeys: ["employees"])["employees"] as? Set<NSManagedObject> == saved)
            #expect(list.committedValues(forKeys: nil)["tracks"] as? NSOrderedSet == tracks)
            try context.save()
            #expect(department.committedValues(forKeys: nil)["employees"] as? Set<NSManagedObject> == [])
        }
    }

    // L6
    @Test func inAChildCommittedMembersAreTheParents() throws {
        let stack = TestStack(), child = stack.child(of: stack.root)
        let id = try stack.root.performAndWait { () throws in
            let department = Department(context: stack.root)
            try stack.root.save()
            Person(context: stack.root).department = department
            return department.objectID
        }
        child.performAndWait {
            let department = child.object(with: id)
            Person(context: child).department = department as? Department
            #expect((department.committedValues(forKeys: nil)["employees"] as? Set<NSManagedObject>)?.count == 1)
            #expect((department.value(forKey: "employees") as? Set<NSManagedObject>)?.count == 2)
        }
    }
}
