import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

@Suite struct RelationshipTests {
    // R2
    @Test func everyKindOfRelationshipSurvivesSaveAndReload() throws {
        let stack = TestStack()
        let ids = try stack.root.performAndWait { () throws in
            let ada = Person(context: stack.root), bob = Person(context: stack.root), looms = Department(context: stack.root)
            ada.name = "Ada"
            bob.name = "Bob"
            ada.department = looms
            bob.manager = ada
            ada.badge = stack.root.make("Badge", ["number": 7])
            let skills = ["a", "b"].map { stack.root.make("Skill", ["name": $0]) }
            ada.skills = Set(skills)
            bob.skills = [skills[0]]
            try stack.root.save()
            stack.root.reset()
            stack.coordinator.rowCache.removeAll()
            return (ada.objectID, bob.objectID, skills[0].objectID)
        }
        try stack.root.performAndWait { () throws in
            let ada = try #require(stack.root.object(with: ids.0) as? Person)
            #expect(ada.department?.employees == [ada] && ada.reports.map(\.name) == ["Bob"])
            #expect(ada.badge?.value(forKey: "number") as? Int == 7)
            #expect(Set(ada.skills.compactMap { $0.value(forKey: "name") as? String }) == ["a", "b"])
            let people = stack.root.object(with: ids.2).value(forKey: "people") as? Set<NSManagedObject>
            #expect(Set((people ?? []).map(\.objectID)) == [ids.0, ids.1])
        }
    }

    // R2
    @Test func readingAToManyLeavesItsOwnerAFault() throws {
        let stack = TestStack()
        let id = try stack.root.performAndWait { () throws in
            let ada = Person(context: stack.root), bob = Person(context: stack.root)
            bob.manager = ada
            try stack.root.save()
            return ada.objectID
        }
        let child = stack.child(of: stack.root)
        child.performAndWait {
            let ada = child.object(with: id)
            #expect((ada.value(forKey: "reports") as? Set<NSManagedObject>)?.count == 1 && ada.isFault)
        }
    }

    // R3
    @Test func theTypesOfToManyValues() {
        let stack = TestStack()
        stack.root.performAndWait {
            let looms = Department(context: stack.root), list = stack.root.make("Playlist")
            let ada = Person(context: stack.root)
            looms.setValue(NSSet(array: [ada]), forKey: "employees")
            #expect(looms.value(forKey: "employees") as? Set<NSManagedObject> == [ada])
            #expect(list.value(forKey: "tracks") is NSOrderedSet)
        }
    }

    // R3
    @Test func aMutableSetWritesThrough() {
        let stack = TestStack()
        stack.root.performAndWait {
            let looms = Department(context: stack.root), ada = Person(context: stack.root), bob = Person(context: stack.root)
            let set = looms.mutableSetValue(forKey: "employees")
            set.add(ada)
            set.add(bob)
            set.remove(ada)
            #expect(set.count == 1 && set.contains(bob) && looms.employees == [bob])
            #expect(ada.department == nil && bob.department == looms)
        }
    }

    // R3
    @Test func aMutableOrderedSetWritesThrough() {
        let stack = TestStack()
        stack.root.performAndWait {
            let list = stack.root.make("Playlist"), a = stack.root.make("Track"), b = stack.root.make("Track"), c = stack.root.make("Track")
            let set = list.mutableOrderedSetValue(forKey: "tracks")
            set.add(a)
            set.add(b)
            set.insert(c, at: 0)
            #expect((list.value(forKey: "tracks") as? NSOrderedSet)?.array as? [NSManagedObject] == [c, a, b])
            set.removeObject(at: 1)
            #expect(a.value(forKey: "playlist") == nil && c.value(forKey: "playlist") as? NSManagedObject == list)
            #expect(set.count == 2)
        }
    }

    // R4
    @Test func aToManyIsLoadedByItsFirstUseAndThenKept() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let looms = Department(context: stack.root)
            for _ in 0..<3 { Person(context: stack.root).department = looms }
            try stack.root.save()
            stack.root.reset()
            stack.coordinator.rowCache.removeAll()
            let again = try #require(stack.root.object(with: looms.objectID) as? Department)
            #expect(stack.requests { _ = again.name }.map(\.kind) == ["rows(1)"])
            #expect(stack.requests { _ = again.employees }.map(\.kind) == ["relatedIDs"])
            #expect(stack.requests { _ = again.employees }.isEmpty)
            #expect(again.employees.count == 3)
        }
    }

    // R5
    @Test func nullifyWorksFromAFaultToo() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let looms = Department(context: stack.root), ada = Person(context: stack.root)
            ada.department = looms
            try stack.root.save()
            let ids = (looms.objectID, ada.objectID)
            stack.root.reset()
            stack.coordinator.rowCache.removeAll()
            let again = try #require(stack.root.object(with: ids.0) as? Department)
            #expect(again.employees.count == 1)
            stack.root.delete(stack.root.object(with: ids.1))
            stack.root.processPendingChanges()
            #expect(again.employees.isEmpty)
        }
    }

    // R5
    @Test func whatOnlyLosesAMemberIsNotRead() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let ada = Person(context: stack.root), skills = (0..<3).map { _ in stack.root.make("Skill") }
            ada.department = Department(context: stack.root)
            ada.skills = Set(skills)
            try stack.root.save()
            let id = ada.objectID
            stack.root.reset()
            stack.coordinator.rowCache.removeAll()
            let again = try stack.root.existingObject(with: id)
            stack.root.delete(again)
            #expect(stack.requests { stack.root.processPendingChanges() }.map(\.kind) == ["relatedIDs", "relatedIDs"])
            try stack.root.save()
            #expect(try stack.root.all("Skill").allSatisfy { $0.objectIDs(forRelationshipNamed: "people").isEmpty })
            #expect(try stack.root.all("Department").allSatisfy { $0.objectIDs(forRelationshipNamed: "employees").isEmpty })
        }
    }

    // R6
    @Test func cascadesCanWaitForTheSave() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            stack.root.propagatesDeletesAtEndOfEvent = false
            let top = folders(in: stack.root)
            try stack.root.save()
            stack.root.delete(top)
            stack.root.processPendingChanges()
            #expect(stack.root.deletedObjects.count == 1)
            try stack.root.save()
            #expect(stack.store.rowCount == 0)
        }
    }

    // R5
    @Test func cascadesThroughCyclesEnd() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let first = stack.root.make("Folder"), second = stack.root.make("Folder")
            first.setValue(second, forKey: "parent")
            second.setValue(first, forKey: "parent")
            try stack.root.save()
            stack.root.delete(first)
            try stack.root.save()
            #expect(stack.store.rowCount == 0)
        }
    }

    /// A folder with two children, one of which has a child.
    private func folders(in context: NSManagedObjectContext) -> NSManagedObject {
        let top = context.make("Folder"), left = context.make("Folder"), right = context.make("Folder"), deep = context.make("Folder")
        left.setValue(top, forKey: "parent")
        right.setValue(top, forKey: "parent")
        deep.setValue(left, forKey: "parent")
        return top
    }

    // GB18
    @Test func denyIsCheckedAtAChildsSaveAgainstWhatTheParentsHave() throws {
        let stack = TestStack()
        let child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let account = stack.root.make("Account")
            stack.root.make("Order", ["account": account])
            try stack.root.save()
            child.delete(child.object(with: account.objectID))
            let error = #expect(throws: NSError.self) { try child.save() }
            #expect(error?.code == 1600 && !stack.root.hasChanges)
        }
    }

    // R5
    @Test func noActionLeavesTheOtherSideAlone() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let account = stack.root.make("Account"), order = stack.root.make("Order", ["archiveAccount": account])
            try stack.root.save()
            stack.root.delete(account)
            try stack.root.save()
            #expect(!order.hasChanges && order.objectIDs(forRelationshipNamed: "archiveAccount").count == 1)
        }
    }
}
