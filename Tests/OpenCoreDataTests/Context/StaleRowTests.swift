import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// Saves of a context whose rows are older than what is stored.
@Suite struct StaleRowTests {
    // P1, H5
    @Test(arguments: [false, true]) func aSaveThatWritesNoRowLeavesTheNewerOneToTheOthers(isPinned: Bool) throws {
        let stack = try PinnedStack()
        let (person, skill) = try stack.theirs.performAndWait { () throws in
            let made = (stack.theirs.make("Person", ["name": "old"]), stack.theirs.make("Skill"))
            try stack.theirs.save()
            return (made.0.objectID, made.1.objectID)
        }
        try stack.mine.performAndWait { () throws in
            if isPinned { try stack.mine.setQueryGenerationFrom(.current) }
            let mine = try stack.mine.existingObject(with: person)
            #expect(mine.value(forKey: "name") as? String == "old")
            try stack.theirs.performAndWait { () throws in
                try stack.theirs.existingObject(with: person).setValue("new", forKey: "name")
                try stack.theirs.save()
            }
            // The person's row does not change by it.
            mine.mutableSetValue(forKey: "skills").add(stack.mine.object(with: skill))
            try stack.mine.save()
        }
        let other = stack.another()
        try other.performAndWait { () throws in
            let seen = try other.existingObject(with: person)
            #expect(seen.value(forKey: "name") as? String == "new")
            #expect((seen.value(forKey: "skills") as? Set<NSManagedObject>)?.count == 1)
        }
    }

    // H5, N23
    @Test func aChildOfAPinnedContextPushesOverWhatItsParentSavedLongBefore() throws {
        let stack = try PinnedStack()
        try stack.pin("p", "q")
        let child = stack.child()
        try child.performAndWait { () throws in
            let item = try #require(try child.all("Item", "key == 'p'").first)
            #expect(item.value(forKey: "a") as? Int == 1)
            try stack.set("p", to: 7, in: stack.mine)
            try stack.set("q", to: 8, in: stack.mine)
            item.setValue(3, forKey: "b")
            try child.save()
        }
        try stack.mine.performAndWait { try stack.mine.save() }
        #expect(try stack.shown(stack.another()) == ["p 7", "q 8"])
        #expect(try stack.files.shell.column("SELECT ZB FROM ZITEM WHERE ZKEY = 'p'") == ["3"])
    }

    // H5
    @Test func aContextThatIsPinnedToNothingReadsTooOldRowsAgain() throws {
        let stack = try PinnedStack()
        try stack.pin("p")
        let file = stack.files.file
        try stack.coordinator.remove(try #require(stack.coordinator.persistentStores.first))
        _ = try stack.files.shell.rows("PRAGMA journal_mode = DELETE")
        try stack.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: file, options: [NSReadOnlyPersistentStoreOption: true])
        let context = stack.another()
        try context.performAndWait { () throws in
            try context.setQueryGenerationFrom(.current)
            context.stalenessInterval = 0
            let item = try #require(try context.all("Item").first)
            #expect(item.value(forKey: "a") as? Int == 1)
            _ = try stack.files.shell.rows("UPDATE ZITEM SET ZA = 2, Z_OPT = Z_OPT + 1")
            context.refresh(item, mergeChanges: true)
            #expect(item.value(forKey: "a") as? Int == 2)
        }
    }
}
