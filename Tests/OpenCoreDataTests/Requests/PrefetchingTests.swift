import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// `relationshipKeyPathsForPrefetching`: one more query a relationship, and none afterwards.
@Suite struct PrefetchingTests {
    /// Forty persons in four departments; each has a badge, two of five skills, and one of the first four as manager.
    private func company() throws -> SQLiteStack {
        let stack = try SQLiteStack()
        let root = stack.root
        try root.performAndWait { () throws in
            let departments = (0..<4).map { root.make("Department", ["name": "d\($0)"]) }
            let skills = (0..<5).map { root.make("Skill", ["name": "s\($0)"]) }
            var people: [NSManagedObject] = []
            for number in 0..<40 {
                let person = root.make(number % 2 == 0 ? "Person" : "Engineer", ["name": String(format: "p%02d", number), "age": number])
                person.setValue(departments[number % 4], forKey: "department")
                person.setValue(root.make("Badge", ["number": number]), forKey: "badge")
                person.setValue(Set([skills[number % 5], skills[(number + 1) % 5]]), forKey: "skills")
                if number >= 4 { person.setValue(people[number % 4], forKey: "manager") }
                people.append(person)
            }
            try root.save()
        }
        stack.forget()
        return stack
    }

    private func fetch(_ context: NSManagedObjectContext, _ entity: String = "Person", _ paths: String..., batch: Int = 0) throws -> [NSManagedObject]
    {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        request.relationshipKeyPathsForPrefetching = paths
        request.fetchBatchSize = batch
        return try context.fetch(request)
    }

    private func names(_ objects: Any?) -> Set<String> {
        Set((objects as? Set<NSManagedObject> ?? []).compactMap { $0.value(forKey: "name") as? String })
    }

    // F10
    @Test func theTargetsOfAToOneComeInOneQuery() throws {
        let stack = try company()
        try stack.root.performAndWait { () throws in
            var people: [NSManagedObject] = []
            try stack.expect(selects: 3) { people = try fetch(stack.root, "Person", "department", "badge") }
            let reads = stack.selects {
                for (number, person) in people.enumerated() {
                    #expect(person.value(forKeyPath: "department.name") as? String == "d\(number % 4)")
                    #expect(person.value(forKeyPath: "badge.number") as? Int == number)
                }
            }
            #expect(reads == 0)
        }
    }

    // F10
    @Test func theMembersOfAllOwnersComeInOneQuery() throws {
        let stack = try company()
        try stack.root.performAndWait { () throws in
            var departments: [NSManagedObject] = [], people: [NSManagedObject] = []
            try stack.expect(selects: 2) { departments = try fetch(stack.root, "Department", "employees") }
            stack.expect(selects: 0) {
                for (number, department) in departments.enumerated() {
                    let wanted = (0..<40).filter { $0 % 4 == number }.map { String(format: "p%02d", $0) }
                    #expect(names(department.value(forKey: "employees")) == Set(wanted))
                }
            }
            stack.forget()
            // Many-to-many, from owners of two entities.
            try stack.expect(selects: 2) { people = try fetch(stack.root, "Person", "skills") }
            stack.expect(selects: 0) {
                for (number, person) in people.enumerated() {
                    #expect(names(person.value(forKey: "skills")) == ["s\(number % 5)", "s\((number + 1) % 5)"])
                }
            }
        }
    }

    // F10
    @Test func aPathOverSeveralRelationshipsIsOneQueryEach() throws {
        let stack = try company()
        try stack.root.performAndWait { () throws in
            var people: [NSManagedObject] = []
            let queries = try stack.selects { people = try fetch(stack.root, "Person", "department.employees.badge", "department.employees.skills") }
            // Persons, departments, employees, badges, skills; the employees are the persons that are here already.
            #expect(queries == 5)
            stack.expect(selects: 0) {
                for person in people {
                    guard let department = person.value(forKey: "department") as? Department else { continue }
                    #expect(department.employees.count == 10)
                    for colleague in department.employees {
                        #expect(colleague.badge?.value(forKey: "number") as? Int == Int(colleague.age))
                        #expect(colleague.skills.count == 2)
                        #expect(names(Set(colleague.skills)).count == 2)
                    }
                }
            }
        }
    }

    // F10
    @Test func anOrderedToManyComesInItsOrder() throws {
        let stack = try SQLiteStack()
        try stack.root.performAndWait { () throws in
            for list in 0..<3 {
                let playlist = stack.root.make("Playlist", ["title": "l\(list)"])
                let tracks = (0..<6).map { stack.root.make("Track", ["title": "t\(list)\(($0 * 5) % 6)"]) }
                playlist.setValue(NSOrderedSet(array: tracks), forKey: "tracks")
            }
            try stack.root.save()
        }
        stack.forget()
        try stack.root.performAndWait { () throws in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Playlist")
            request.relationshipKeyPathsForPrefetching = ["tracks"]
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            let lists = try stack.root.fetch(request)
            stack.expect(selects: 0) {
                for (number, list) in lists.enumerated() {
                    let titles = (list.value(forKey: "tracks") as? NSOrderedSet)?.array.compactMap {
                        ($0 as? NSManagedObject)?.value(forKey: "title")
                    }
                    #expect(titles as? [String] == [0, 5, 4, 3, 2, 1].map { "t\(number)\($0)" })
                }
            }
        }
    }

    // N28, GB20
    @Test(arguments: 1..<4) func inAChildUnsavedChangesOfEveryLevelLieOverWhatIsPrefetched(depth: Int) throws {
        let stack = try company()
        var contexts = [stack.root]
        for _ in 0..<depth { contexts.append(stack.child(of: contexts[contexts.count - 1])) }
        // Each level moves one person to d0, deletes one of d0, adds one there, and takes a skill from p03.
        for (level, context) in contexts.enumerated() {
            try context.performAndWait { () throws in
                let target = try #require(try context.all("Department", "name == 'd0'").first)
                try context.all("Person", "name == '\(String(format: "p%02d", level * 4 + 1))'").first?.setValue(target, forKey: "department")
                try context.all("Person", "name == 'p\(20 + level * 4)'").forEach { context.delete($0) }
                context.make("Person", ["name": "new\(level)"]).setValue(target, forKey: "department")
                if level == 1 { try context.all("Person", "name == 'p03'").first?.setValue(Set<NSManagedObject>(), forKey: "skills") }
                context.processPendingChanges()
            }
        }
        let deepest = stack.child(of: contexts[depth])
        stack.coordinator.rowCache.removeAll()
        try deepest.performAndWait { () throws in
            var departments: [NSManagedObject] = []
            try stack.expect(selects: 3) { departments = try fetch(deepest, "Department", "employees.skills") }
            try #require(departments.count == 4)
            var wanted = Set((0..<40).filter { $0 % 4 == 0 }.map { String(format: "p%02d", $0) })
            for level in 0...depth {
                wanted.insert(String(format: "p%02d", level * 4 + 1))
                wanted.insert("new\(level)")
                wanted.remove("p\(20 + level * 4)")
            }
            stack.expect(selects: 0) {
                #expect(names(departments[0].value(forKey: "employees")) == wanted)
                for person in departments[3].value(forKey: "employees") as? Set<Person> ?? [] {
                    #expect(person.skills.isEmpty == (person.name == "p03"))
                }
            }
        }
    }

    // F10, R4
    @Test func whatChangesBetweenPrefetchAndUseIsSeen() throws {
        let stack = try company()
        try stack.root.performAndWait { () throws in
            let people = try fetch(stack.root, "Person", "department.employees")
            let first = try #require(people[0] as? Person), second = try #require(people[1] as? Person)
            second.department = first.department
            #expect(first.department?.employees.contains(second) == true)
            stack.forget()
            // Committed in between by another context.
            let again = try fetch(stack.root, "Person", "department.employees")
            let other = NSManagedObjectContext(.privateQueueConcurrencyType)
            other.persistentStoreCoordinator = stack.coordinator
            try other.performAndWait { () throws in
                let person = try #require(try other.all("Person", "name == 'p02'").first)
                person.setValue(try other.all("Department", "name == 'd0'").first, forKey: "department")
                try other.save()
            }
            #expect(names(again[0].value(forKeyPath: "department.employees")).contains("p02"))
        }
    }

    // F10, F11
    @Test func aBatchPrefetchesForItself() throws {
        let stack = try company()
        try stack.root.performAndWait { () throws in
            var people: [NSManagedObject] = []
            try stack.expect(selects: 1) { people = try fetch(stack.root, "Person", "badge", batch: 10) }
            stack.expect(selects: 2) { _ = people[0].value(forKey: "name") }
            stack.expect(selects: 0) { #expect(people[9].value(forKeyPath: "badge.number") as? Int == 9) }
            stack.expect(selects: 2) { #expect(people[10].value(forKeyPath: "badge.number") as? Int == 10) }
        }
    }

    // F10
    @Test func aStoreInMemoryIsAskedOnceARelationshipToo() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let departments = (0..<3).map { stack.root.make("Department", ["name": "d\($0)"]) }
            for number in 0..<9 { stack.root.make("Person", ["name": "p\(number)"]).setValue(departments[number % 3], forKey: "department") }
            try stack.root.save()
            stack.root.reset()
            stack.coordinator.rowCache.removeAll()
            let requests = try stack.requests {
                for department in try fetch(stack.root, "Department", "employees") {
                    #expect(names(department.value(forKey: "employees")).count == 3)
                }
            }
            #expect(requests.map(\.kind) == ["fetch", "related(3)"])
        }
    }

    // E2, F10
    @Test func prefetchingWhatIsNoRelationshipStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            try stack.root.performAndWait { () throws in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
                request.relationshipKeyPathsForPrefetching = ["name"]
                _ = try stack.root.fetch(request)
            }
        }.trap(says: "Person.name can't be prefetched")
    }
}
