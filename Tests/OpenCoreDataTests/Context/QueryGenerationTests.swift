import Foundation
import OpenCoreDataTestSupport
import Synchronization
import Testing

@testable import OpenCoreData

/// What a context that is pinned to a state of its stores reads while others write.
@Suite(.timeLimit(.minutes(60))) struct QueryGenerationTests {
    // H5
    @Test func whatAPinnedContextFetchesCountsAndComputesStaysWhileOthersSave() throws {
        let stack = try PinnedStack()
        try stack.pin("p", "q", "r")
        try stack.theirs.performAndWait { () throws in
            let items = try stack.theirs.all("Item", sort: "key")
            items[0].setValue(10, forKey: "a")
            stack.theirs.delete(items[1])
            stack.theirs.make("Item", ["key": "s", "a": 4])
            try stack.theirs.save()
        }
        #expect(try stack.shown(stack.theirs) == ["p 10", "r 3", "s 4"])
        #expect(try stack.shown() == ["p 1", "q 2", "r 3"])
        #expect(try stack.read() == ["p 1", "q 2", "r 3"])
        try stack.mine.performAndWait { () throws in
            #expect(try stack.mine.names("Item", "key", "a == 1 OR a == 2") == ["p", "q"])
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            #expect(try stack.mine.count(for: request) == 3)
            request.predicate = NSPredicate(format: "a > 3")
            #expect(try stack.mine.count(for: request) == 0)
            let sums = NSFetchRequest<NSDictionary>(entityName: "Item")
            let sum = NSExpressionDescription()
            sum.name = "sum"
            sum.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "a")])
            sum.expressionResultType = .integer64AttributeType
            sums.resultType = .dictionaryResultType
            sums.propertiesToFetch = [sum]
            #expect(try stack.mine.fetch(sums).first?["sum"] as? Int == 6)
        }
        // Those who are not pinned were never kept from anything.
        #expect(try stack.read(stack.theirs) == ["p 10", "r 3", "s 4"])
    }

    // H5
    @Test func aContextIsPinnedAtItsFirstReadAndNotBefore() throws {
        let stack = try PinnedStack()
        try stack.theirs.performAndWait { () throws in
            stack.theirs.make("Item", ["key": "p", "a": 1])
            try stack.theirs.save()
        }
        try stack.mine.performAndWait { () throws in
            try stack.mine.setQueryGenerationFrom(.current)
            #expect(stack.mine.queryGenerationToken == .current)
        }
        try stack.set("p", to: 2)
        #expect(try stack.shown() == ["p 2"])
        #expect(stack.mine.queryGenerationToken != nil && stack.mine.queryGenerationToken != .current)
        try stack.set("p", to: 3)
        #expect(try stack.shown() == ["p 2"])
        try stack.mine.performAndWait { () throws in try stack.mine.setQueryGenerationFrom(.current) }
        #expect(try stack.shown() == ["p 3"])
    }

    /// A department with two employees and their skills, and their IDs.
    private func company(_ stack: PinnedStack) throws -> (department: NSManagedObjectID, ada: NSManagedObjectID, bob: NSManagedObjectID) {
        try stack.theirs.performAndWait { () throws in
            let department = stack.theirs.make("Department", ["name": "old"])
            let ada = stack.theirs.make("Person", ["name": "Ada", "department": department])
            let bob = stack.theirs.make("Person", ["name": "Bob", "department": department, "manager": ada])
            ada.setValue(Set([stack.theirs.make("Skill", ["name": "reading"])]), forKey: "skills")
            try stack.theirs.save()
            return (department.objectID, ada.objectID, bob.objectID)
        }
    }

    /// Others rename the department, take Ada out of it, let her forget, and delete Bob.
    private func reorganise(_ stack: PinnedStack, _ ids: (department: NSManagedObjectID, ada: NSManagedObjectID, bob: NSManagedObjectID)) throws {
        try stack.theirs.performAndWait { () throws in
            stack.theirs.object(with: ids.department).setValue("new", forKey: "name")
            let ada = stack.theirs.object(with: ids.ada)
            ada.setValue(nil, forKey: "department")
            ada.setValue(Set<NSManagedObject>(), forKey: "skills")
            stack.theirs.delete(stack.theirs.object(with: ids.bob))
            try stack.theirs.save()
        }
    }

    private func names(_ set: Any?, _ key: String = "name") -> [String] {
        (set as? Set<NSManagedObject> ?? []).compactMap { $0.value(forKey: key) as? String }.sorted()
    }

    // H5
    @Test func faultsAndRelationshipsOfAPinnedContextStayAlsoWhenTheyAreRefreshed() throws {
        let stack = try PinnedStack()
        let ids = try company(stack)
        try stack.pin()
        try reorganise(stack, ids)
        let mine = stack.mine
        try mine.performAndWait { () throws in
            let department = mine.object(with: ids.department), ada = mine.object(with: ids.ada), bob = mine.object(with: ids.bob)
            for _ in 0..<3 {
                #expect(department.value(forKey: "name") as? String == "old")
                #expect(names(department.value(forKey: "employees")) == ["Ada", "Bob"])
                #expect(names(ada.value(forKey: "skills")) == ["reading"])
                #expect(bob.value(forKey: "name") as? String == "Bob" && !bob.isDeleted)
                #expect((bob.value(forKey: "manager") as? NSManagedObject) === ada)
                #expect((ada.value(forKey: "department") as? NSManagedObject) === department)
                mine.refresh(department, mergeChanges: true)
                mine.refresh(ada, mergeChanges: false)
                mine.refresh(bob, mergeChanges: false)
            }
            #expect(try mine.existingObject(with: ids.bob) === bob)
            #expect(try mine.names("Person", "name", "department.name == 'old'") == ["Ada", "Bob"])
            try mine.setQueryGenerationFrom(nil)
            mine.refreshAllObjects()
            #expect(department.value(forKey: "name") as? String == "new" && names(department.value(forKey: "employees")).isEmpty)
            #expect(throws: NSError.self) { try mine.existingObject(with: ids.bob) }
        }
    }

    // H5
    @Test func prefetchingAndBatchesOfAPinnedContextStay() throws {
        let stack = try PinnedStack()
        let ids = try company(stack)
        try stack.pin()
        let mine = stack.mine
        let batched: [NSManagedObject] = try mine.performAndWait { () throws in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.fetchBatchSize = 1
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            return try mine.fetch(request)
        }
        try reorganise(stack, ids)
        try mine.performAndWait { () throws in
            #expect(batched.map { $0.value(forKey: "name") as? String } == ["Ada", "Bob"])
            let request = NSFetchRequest<NSManagedObject>(entityName: "Department")
            request.relationshipKeyPathsForPrefetching = ["employees.skills"]
            let found = try mine.fetch(request)
            let before = stack.files.store.statements.current.selects
            #expect(names(found.first?.value(forKey: "employees")) == ["Ada", "Bob"])
            #expect(names(batched[0].value(forKey: "skills")) == ["reading"])
            #expect(stack.files.store.statements.current.selects == before)
        }
    }

    // H5
    @Test func whatOtherCoordinatorsAndOtherProgramsWriteIsNotSeenEither() throws {
        let stack = try PinnedStack()
        try stack.pin("p", "q")
        let elsewhere = try stack.elsewhere()
        try stack.set("p", to: 20, in: elsewhere)
        _ = try stack.files.shell.rows("UPDATE ZITEM SET ZA = 30, Z_OPT = Z_OPT + 1 WHERE ZKEY = 'q'")
        #expect(try stack.shown() == ["p 1", "q 2"] && stack.read() == ["p 1", "q 2"])
        #expect(try stack.shown(stack.another()) == ["p 20", "q 30"])
        try stack.mine.performAndWait { () throws in try stack.mine.setQueryGenerationFrom(nil) }
        #expect(try stack.shown() == ["p 20", "q 30"])
    }

    // H5
    @Test func aContextWithTheTokenOfAnotherReadsTheSameState() throws {
        let stack = try PinnedStack()
        try stack.pin("p")
        try stack.set("p", to: 2)
        let other = stack.another()
        try other.performAndWait { () throws in
            try other.setQueryGenerationFrom(stack.mine.queryGenerationToken)
            #expect(other.queryGenerationToken == stack.mine.queryGenerationToken)
        }
        #expect(try stack.shown(other) == ["p 1"] && stack.read(other) == ["p 1"])
        // It keeps the state when the other one goes on.
        try stack.mine.performAndWait { () throws in try stack.mine.setQueryGenerationFrom(nil) }
        #expect(try stack.shown() == ["p 2"] && stack.read(other) == ["p 1"])
        try other.performAndWait { () throws in try other.setQueryGenerationFrom(stack.mine.queryGenerationToken) }
        #expect(other.queryGenerationToken == nil)
        #expect(try stack.read(other) == ["p 2"])
    }

    // H5, N30
    @Test func aChildOfAPinnedContextReadsItsStateUnderTheUnsavedChangesOfBoth() throws {
        let stack = try PinnedStack()
        try stack.pin("p", "q")
        let child = stack.child()
        try stack.set("p", to: 10)
        try stack.mine.performAndWait { () throws in
            try stack.mine.all("Item", "key == 'q'").first?.setValue(20, forKey: "a")
            stack.mine.processPendingChanges()
        }
        #expect(child.queryGenerationToken == nil)
        try child.performAndWait { () throws in
            child.make("Item", ["key": "r", "a": 30])
            #expect(try child.all("Item", sort: "key").map { $0.value(forKey: "a") as? Int } == [1, 20, 30])
            try child.save()
        }
        #expect(try stack.read() == ["p 1", "q 20", "r 30"])
    }

    // H5
    @Test func theFirstReadOfAChildPinsTheRoot() throws {
        let stack = try PinnedStack()
        try stack.pin("p")
        try stack.mine.performAndWait { () throws in try stack.mine.setQueryGenerationFrom(.current) }
        let child = stack.child()
        #expect(try stack.read(child) == ["p 1"])
        try stack.set("p", to: 2)
        #expect(try stack.read(child) == ["p 1"] && stack.shown() == ["p 1"])
        // Faults that the child has from the old state are read from the new one.
        let fault: NSManagedObject = try child.performAndWait { () throws in
            child.refreshAllObjects()
            return try #require(try child.all("Item").first)
        }
        try stack.mine.performAndWait { () throws in try stack.mine.setQueryGenerationFrom(.current) }
        #expect(child.performAndWait { fault.value(forKey: "a") as? Int } == 2)
    }

    // H5
    @Test func severalReadsOfSeveralThreadsSeeOneStateWhileOthersWriteAllTheTime() throws {
        let stack = try PinnedStack()
        try stack.pin("p", "q")
        let isDone = Atomic(false), writer = DispatchSemaphore(value: 0)
        let theirs = stack.theirs
        // The sum of both is always 3 in the file.
        theirs.enqueue {
            while !isDone.load(ordering: .relaxed) {
                guard let items = try? theirs.all("Item", sort: "key"), items.count == 2 else { continue }
                for (item, step) in zip(items, [1, -1]) { item.setValue((item.value(forKey: "a") as? Int ?? 0) + step, forKey: "a") }
                try? theirs.save()
            }
            writer.signal()
        }
        let children = (0..<4).map { _ in stack.child() }, wrong = Mutex<[String]>([])
        for round in 0..<20 {
            try stack.mine.performAndWait { () throws in try stack.mine.setQueryGenerationFrom(.current) }
            DispatchQueue.concurrentPerform(iterations: children.count) { number in
                let child = children[number]
                child.performAndWait {
                    do {
                        let first = try child.all("Item", "key == 'p'"), second = try child.all("Item", "key == 'q'")
                        child.refreshAllObjects()
                        let sum = (first + second).reduce(0) { $0 + ($1.value(forKey: "a") as? Int ?? 0) }
                        if sum != 3 { wrong.withLock { $0.append("round \(round): \(sum)") } }
                    } catch { wrong.withLock { $0.append("\(error)") } }
                }
            }
        }
        isDone.store(true, ordering: .relaxed)
        writer.wait()
        #expect(wrong.withLock { $0 } == [])
    }

    // H5
    @Test func anAsynchronousFetchOfAPinnedContextReadsItsState() async throws {
        let stack = try PinnedStack()
        try stack.pin("p")
        try stack.set("p", to: 2)
        let mine = stack.mine
        let values = await withCheckedContinuation { (continuation: CheckedContinuation<[Int?], Never>) in
            mine.enqueue {
                let request = NSAsynchronousFetchRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Item")) { result in
                    continuation.resume(returning: (result.finalResult ?? []).map { $0.value(forKey: "a") as? Int })
                }
                do { _ = try mine.execute(request) } catch { continuation.resume(returning: []) }
            }
        }
        #expect(values == [1])
    }

    // H5
    @Test func keysAreLookedUpInTheStateAndTheCoordinatorsCacheStaysTheNewest() throws {
        let stack = try PinnedStack()
        try stack.pin("p", "q")
        try stack.theirs.performAndWait { () throws in
            try stack.theirs.all("Item", "key == 'p'").first?.setValue("z", forKey: "key")
            try stack.theirs.save()
        }
        let entity = try stack.files.entity("Item"), mine = stack.mine
        let found = try mine.performAndWait { () throws in
            let keys = try ["p", "z"].map { key in
                try #require(entity.layout.constraints[0].key(of: try stack.files.row("Item", ["key": .string(key)])))
            }
            return try mine.find(entity, constraint: 0, keys: keys).values.map { $0.row?["key"] }
        }
        #expect(found == [.string("p")])
        for id in try mine.performAndWait({ () throws in try mine.all("Item").map(\.objectID) }) {
            let cached = stack.coordinator.rowCache[id]?["key"]
            #expect(cached == .string("z") || cached == .string("q") || cached == nil)
        }
    }
}
