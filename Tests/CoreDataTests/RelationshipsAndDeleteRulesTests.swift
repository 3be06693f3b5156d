import CoreData
import Foundation
import Testing

@Suite struct RelationshipsAndDeleteRulesTests {
    // R1
    @Test func settingEitherSideSetsTheOther() throws {
        let stack = try Stack(), root = stack.root
        root.performAndWait {
            let looms = root.make("Department"), ada = root.make("Person"), bob = root.make("Person")
            ada.setValue(looms, forKey: "department")
            #expect(looms.many("employees") == [ada])
            looms.setValue(Set([bob]), forKey: "employees")
            #expect(ada.one("department") == nil && bob.one("department") == looms)
        }
    }

    // R1
    @Test func movingAnObjectBetweenOwnersUpdatesThreeObjects() throws {
        let stack = try Stack(), root = stack.root
        try root.performAndWait { () throws in
            let old = root.make("Department"), new = root.make("Department"), ada = root.make("Person", ["department": old])
            try root.save()
            ada.setValue(new, forKey: "department")
            root.processPendingChanges()
            #expect(old.many("employees").isEmpty && new.many("employees") == [ada])
            #expect(root.updatedObjects == [old, new, ada])
        }
    }

    // R2
    @Test func oneToOneLetsGoOfThePreviousPartners() throws {
        let stack = try Stack(), root = stack.root
        root.performAndWait {
            let ada = root.make("Person"), bob = root.make("Person"), first = root.make("Badge"), second = root.make("Badge")
            ada.setValue(first, forKey: "badge")
            bob.setValue(second, forKey: "badge")
            bob.setValue(first, forKey: "badge")
            #expect(ada.one("badge") == nil && first.one("person") == bob)
            #expect(second.one("person") == nil)
        }
    }

    // R2
    @Test func anOrderedToManyKeepsItsOrderThroughSaveAndReload() throws {
        let stack = try Stack(), root = stack.root
        try root.performAndWait { () throws in
            let list = root.make("Playlist"), tracks = ["c", "a", "d", "b"].map { root.make("Track", ["title": $0]) }
            list.setValue(NSOrderedSet(array: tracks), forKey: "tracks")
            try root.save()
            let id = list.objectID
            func titles() -> [String] { root.object(with: id).ordered("tracks").compactMap { $0.string("title") } }
            root.reset()
            #expect(titles() == ["c", "a", "d", "b"])
            let again = root.object(with: id), order = again.ordered("tracks")
            again.setValue(NSOrderedSet(array: [order[3], order[0], order[1]]), forKey: "tracks")
            try root.save()
            root.reset()
            #expect(titles() == ["b", "c", "a"])
        }
    }

    // R5
    @Test func nullifyTakesTheDeletedObjectFromTheOtherSide() throws {
        let stack = try Stack(), root = stack.root
        try root.performAndWait { () throws in
            let looms = root.make("Department"), skill = root.make("Skill")
            let ada = root.make("Person", ["department": looms, "skills": Set([skill])])
            try root.save()
            root.delete(looms)
            root.processPendingChanges()
            #expect(ada.one("department") == nil && ada.isUpdated)
            root.delete(ada)
            try root.save()
            #expect(skill.many("people").isEmpty)
            #expect(try root.all("Department").isEmpty)
            #expect(try root.all("Person").isEmpty)
            #expect(try root.all("Skill") == [skill])
        }
    }

    // R5, R6
    @Test func cascadeDeletesTheTargetsAtTheEndOfTheEvent() throws {
        let stack = try Stack(), root = stack.root
        try root.performAndWait { () throws in
            let top = root.make("Folder"), left = root.make("Folder", ["parent": top])
            root.make("Folder", ["parent": top])
            root.make("Folder", ["parent": left])
            try root.save()
            root.delete(top)
            #expect(top.isDeleted && !left.isDeleted)
            root.processPendingChanges()
            #expect(left.isDeleted && root.deletedObjects.count == 4)
            try root.save()
            #expect(try root.all("Folder").isEmpty)
        }
    }

    // R5, R7
    @Test func denyFailsTheSaveUnlessTheOthersAreDeletedToo() throws {
        let stack = try Stack(), root = stack.root
        let (account, order) = try root.performAndWait { () throws in
            let account = root.make("Account", ["title": "kept"]), order = root.make("Order", ["account": account])
            try root.save()
            root.delete(account)
            #expect(root.refusal() == 1600)
            return (account, order)
        }
        #expect(try stack.strings("Account", "title") == ["kept"])
        try root.performAndWait { () throws in
            #expect(account.isDeleted)
            root.delete(order)
            try root.save()
        }
        #expect(try stack.strings("Account", "title").isEmpty)
    }
}
