import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// Merge policies that set values by themselves, over a file: what of it is written, and what is left of it where the save fails.
@Suite struct PolicyOfOnesOwnTests {
    /// Runs a block for each conflict instead of letting a kind decide.
    // Used on one thread.
    private final class Deciding: NSMergePolicy, @unchecked Sendable {
        var onVersion: ((NSMergeConflict) throws -> Void)?
        var onKey: ((NSConstraintConflict) throws -> Void)?

        override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
            guard let onVersion else { return try super.resolve(optimisticLockingConflicts: list) }
            for conflict in list { try onVersion(conflict) }
        }

        override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
            guard let onKey else { return try super.resolve(constraintConflicts: list) }
            for conflict in list { try onKey(conflict) }
        }
    }

    private let fixture: StoreFixture
    private let policy = Deciding(merge: .errorMergePolicyType)
    private let mine = NSManagedObjectContext(.privateQueueConcurrencyType)
    private let other = NSManagedObjectContext(.privateQueueConcurrencyType)
    private let coordinator: NSPersistentStoreCoordinator

    init() throws {
        let model = Company.model()
        fixture = try StoreFixture(model)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        coordinator.add(fixture.store)
        for context in [mine, other] { context.persistentStoreCoordinator = coordinator }
        mine.mergePolicy = policy
    }

    /// What the file holds of all items.
    private func stored() throws -> [[String]] { try fixture.shell.rows("SELECT ZKEY, ZA, ZB, ZC FROM ZITEM ORDER BY ZKEY") }

    /// Items that are stored, and that `mine` has read.
    private func items(_ keys: String...) throws -> [NSManagedObject] {
        let items = keys.map { mine.make("Item", ["key": $0, "a": 1, "b": 1, "c": 1]) }
        try mine.save()
        return items
    }

    private func change(_ item: NSManagedObject, _ values: [String: Any]) throws {
        let theirs = other.object(with: item.objectID)
        for (key, value) in values { theirs.setValue(value, forKey: key) }
        try other.save()
    }

    // P10
    @Test func whatAPolicySetsIsWrittenToTheFile() throws {
        try holding(mine, other) { () throws in
            let item = try items("k")[0]
            try change(item, ["a": 10, "c": 10])
            item.setValue(5, forKey: "b")
            policy.onVersion = { $0.sourceObject.setValue(7, forKey: "a") }
            try mine.save()
            #expect(try stored() == [["k", "7", "5", "1"]])
            #expect(!item.hasChanges && !mine.hasChanges)
        }
    }

    // P10: and what it leaves as it is.
    @Test func whatAPolicyLetsStandIsWrittenWhole() throws {
        try holding(mine, other) { () throws in
            let item = try items("k")[0]
            try change(item, ["a": 10, "c": 10])
            item.setValue(5, forKey: "b")
            policy.onVersion = { _ in }
            try mine.save()
            #expect(try stored() == [["k", "1", "5", "1"]])
        }
    }

    // P10, P17
    @Test func aRowThatIsGoneIsMadeAgainWithAllItsValues() throws {
        try holding(mine, other) { () throws in
            let item = try items("k")[0]
            other.delete(other.object(with: item.objectID))
            try other.save()
            item.setValue(5, forKey: "b")
            policy.onVersion = { $0.sourceObject.setValue(7, forKey: "a") }
            try mine.save()
            #expect(try stored() == [["k", "7", "5", "1"]])
        }
    }

    // P10
    @Test func whatIsDeletedStaysSoWhateverAPolicySets() throws {
        try holding(mine, other) { () throws in
            let item = try items("k")[0]
            try change(item, ["a": 10])
            mine.delete(item)
            policy.onVersion = { _ in item.setValue(7, forKey: "a") }
            try mine.save()
            #expect(try stored().isEmpty)
        }
    }

    // P10: what it changes of others is unsaved as other changes are.
    @Test func whatAPolicyChangesOfOtherObjectsIsSavedNext() throws {
        try holding(mine, other) { () throws in
            let items = try items("k", "l")
            try change(items[0], ["a": 10])
            items[0].setValue(5, forKey: "b")
            policy.onVersion = {
                items[1].setValue(8, forKey: "c")
                $0.sourceObject.setValue(7, forKey: "a")
            }
            try mine.save()
            #expect(try stored() == [["k", "7", "5", "1"], ["l", "1", "1", "1"]])
            #expect(items[1].hasChanges && mine.hasChanges && !items[0].hasChanges)
            try mine.save()
            #expect(try stored()[1] == ["l", "1", "1", "8"])
        }
    }

    // P10, P15
    @Test func whatAPolicySetIsForgottenWhereTheSaveFails() throws {
        try holding(mine, other) { () throws in
            let item = try items("k")[0]
            try change(item, ["a": 10])
            item.setValue(5, forKey: "b")
            policy.onVersion = {
                $0.sourceObject.setValue(7, forKey: "a")
                // The next attempt meets a row that the file does not take.
                _ = try fixture.shell.rows("CREATE TRIGGER refuse BEFORE UPDATE ON ZITEM BEGIN SELECT RAISE(ABORT, 'no'); END")
            }
            #expect(throws: NSError.self) { try mine.save() }
            #expect(["a", "b"].map { item.value(forKey: $0) as? Int } == [1, 5] && item.isUpdated && mine.hasChanges)
            #expect(Set(item.changedValues().keys) == ["b"])
            _ = try fixture.shell.rows("DROP TRIGGER refuse")
            policy.onVersion = { $0.sourceObject.setValue(8, forKey: "a") }
            try mine.save()
            #expect(try stored() == [["k", "8", "5", "1"]])
        }
    }

    // P10, P12
    @Test func aKeyThatAPolicyGaveIsForgottenWhereTheSaveFails() throws {
        try holding(mine, other) { () throws in
            _ = try items("k")
            let twin = mine.make("Item", ["key": "k", "a": 2])
            policy.onKey = {
                for object in $0.conflictingObjects { object.setValue("l", forKey: "key") }
                _ = try fixture.shell.rows("CREATE TRIGGER refuse BEFORE INSERT ON ZITEM BEGIN SELECT RAISE(ABORT, 'no'); END")
            }
            #expect(throws: NSError.self) { try mine.save() }
            #expect(twin.value(forKey: "key") as? String == "k" && twin.isInserted)
            _ = try fixture.shell.rows("DROP TRIGGER refuse")
            policy.onKey = { for object in $0.conflictingObjects { object.setValue("m", forKey: "key") } }
            try mine.save()
            #expect(try stored().map { $0[0] } == ["k", "m"])
        }
    }

    // P10, P12
    @Test func aStoredObjectThatAPolicyGivesAnotherKeyIsWrittenWithAllThatChanged() throws {
        try holding(mine, other) { () throws in
            let items = try items("k", "l")
            items[1].setValue("k", forKey: "key")
            items[1].setValue(9, forKey: "b")
            policy.onKey = {
                for object in $0.conflictingObjects { object.setValue("m", forKey: "key") }
                items[0].setValue(8, forKey: "c")
            }
            try mine.save()
            #expect(try stored() == [["k", "1", "1", "1"], ["m", "1", "9", "1"]])
            #expect(items[0].hasChanges && !items[1].hasChanges)
            items[1].setValue(4, forKey: "c")
            try mine.save()
            #expect(try stored() == [["k", "1", "1", "8"], ["m", "1", "9", "4"]])
        }
    }

    // P1, P10
    @Test func whatOthersSaveWhileAPolicyGivesAKeyIsAConflict() throws {
        try holding(mine, other) { () throws in
            let items = try items("k", "l")
            items[1].setValue("k", forKey: "key")
            policy.onKey = {
                for object in $0.conflictingObjects { object.setValue("m", forKey: "key") }
                try change(items[1], ["b": 9])
            }
            let error = #expect(throws: NSError.self) { try mine.save() }
            #expect(error?.code == 133020)
            #expect(try stored() == [["k", "1", "1", "1"], ["l", "1", "9", "1"]])
        }
    }

    // P9: what is watched and changed is one conflict.
    @Test func whatIsWatchedAndChangedIsAskedAboutOnce() throws {
        try holding(mine, other) { () throws in
            let item = try items("k")[0]
            mine.detectConflicts(for: item)
            item.setValue(5, forKey: "b")
            try change(item, ["a": 10])
            var asked: [NSManagedObjectID] = []
            policy.onVersion = { asked.append($0.sourceObjectID) }
            try mine.save()
            #expect(asked == [item.objectID])
        }
    }

    // P9, P10: what the policy let pass is asked about again where the save fails all the same.
    @Test func whatIsWatchedIsAskedAboutAgainWhereTheSaveFails() throws {
        try holding(mine, other) { () throws in
            let items = try items("k", "l")
            mine.detectConflicts(for: items[0])
            items[1].setValue(5, forKey: "b")
            for item in items { try change(item, ["a": 10]) }
            var asked: Set<NSManagedObjectID> = []
            policy.onVersion = {
                asked.insert($0.sourceObjectID)
                _ = try fixture.shell.rows("CREATE TRIGGER IF NOT EXISTS refuse BEFORE UPDATE ON ZITEM BEGIN SELECT RAISE(ABORT, 'no'); END")
            }
            #expect(throws: NSError.self) { try mine.save() }
            #expect(asked == Set(items.map(\.objectID)))
            _ = try fixture.shell.rows("DROP TRIGGER refuse")
            // Somebody else again: what the policy has seen is known by now.
            for item in items { try change(item, ["a": 11]) }
            asked = []
            policy.onVersion = { asked.insert($0.sourceObjectID) }
            try mine.save()
            #expect(asked == Set(items.map(\.objectID)))
        }
    }

    // P1, P10: whoever saves while the policy lets a deletion stand is a conflict of its own.
    @Test func whatOthersSaveWhileAPolicyLetsADeletionStandIsAConflict() throws {
        try holding(mine, other) { () throws in
            let item = try items("k")[0]
            try change(item, ["a": 10])
            mine.delete(item)
            var calls = 0
            policy.onVersion = { _ in
                calls += 1
                if calls == 1 { try change(item, ["b": 11]) }
            }
            try mine.save()
            #expect(calls == 2)
            #expect(try stored().isEmpty)
        }
    }

    // P10: the object goes on as any other does.
    @Test func anObjectThatAPolicySetIsSavedAgainWhenItChangesAgain() throws {
        try holding(mine, other) { () throws in
            let item = try items("k")[0]
            try change(item, ["a": 10])
            item.setValue(5, forKey: "b")
            policy.onVersion = { $0.sourceObject.setValue(7, forKey: "a") }
            try mine.save()
            item.setValue(9, forKey: "c")
            mine.refresh(item, mergeChanges: false)
            #expect(item.value(forKey: "c") as? Int == 1)
            item.setValue(8, forKey: "c")
            try mine.save()
            #expect(try stored() == [["k", "7", "5", "8"]])
            let twin = mine.make("Item", ["key": "k"])
            policy.onKey = { for object in $0.conflictingObjects { object.setValue("l", forKey: "key") } }
            try mine.save()
            twin.setValue(3, forKey: "a")
            mine.refresh(twin, mergeChanges: false)
            #expect(twin.value(forKey: "a") as? Int == 0)
            twin.setValue(4, forKey: "a")
            try mine.save()
            #expect(try stored()[1] == ["l", "4", "0", "0"])
        }
    }

    // P1, P10: what others save of the owner of a key while a policy lets two objects become one.
    @Test func whatOthersSaveOfTheOwnerOfAKeyMeanwhileIsAConflict() throws {
        try holding(mine, other) { () throws in
            let item = try items("k")[0]
            mine.make("Item", ["key": "k", "b": 5])
            let policy = Deciding(merge: .mergeByPropertyObjectTrumpMergePolicyType)
            mine.mergePolicy = policy
            var calls = 0
            policy.onKey = { _ in try change(item, ["c": 11]) }
            policy.onVersion = { _ in calls += 1 }
            try mine.save()
            #expect(calls == 1)
            #expect(try stored().count == 1)
        }
    }

    // R5: the cascade reaches what others added while the policy decided.
    @Test func aDeletionTakesAlongWhatOthersAddedMeanwhile() throws {
        try holding(mine, other) { () throws in
            let item = try items("k")[0], folder = mine.make("Folder", ["title": "old"])
            try mine.save()
            try change(item, ["a": 10])
            item.setValue(5, forKey: "b")
            mine.delete(folder)
            policy.onVersion = { _ in
                other.make("Folder", ["title": "new", "parent": other.object(with: folder.objectID)])
                try other.save()
            }
            try mine.save()
            #expect(try fixture.shell.column("SELECT COUNT(*) FROM ZFOLDER") == ["0"])
            #expect(!mine.hasChanges)
        }
    }

    // GB11: a conflict with a parent is about what is unsaved there, which is nobody else's business.
    @Test func aConflictWithAParentShowsNobodyElseItsUnsavedValues() throws {
        let child = NSManagedObjectContext(.privateQueueConcurrencyType)
        child.parent = mine
        try holding(mine, other, child) { () throws in
            let item = try items("k")[0]
            let inChild = child.object(with: item.objectID)
            inChild.setValue(5, forKey: "b")
            item.setValue(7, forKey: "b")
            mine.processPendingChanges()
            child.parentConflictPolicy = .mergeByPropertyObjectTrump
            try child.save()
            #expect(item.value(forKey: "b") as? Int == 5)
            #expect(other.object(with: item.objectID).value(forKey: "b") as? Int == 1)
        }
    }
}
