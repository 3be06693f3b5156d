import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// What a context makes of what its parent made of its changes.
@Suite struct SaveOutcomeTests {
    private let make = Changes()

    private func outcome(_ changes: (NSManagedObjectID, PendingRow)...) -> NSManagedObjectContext.SaveOutcome {
        var set = ChangeSet()
        for (id, change) in changes { set.set(id, change) }
        return NSManagedObjectContext.SaveOutcome(changes: set)
    }

    private func received(
        _ changes: [NSManagedObjectID: PendingRow], became identities: [NSManagedObjectID: NSManagedObjectID] = [:],
        corrected: Set<NSManagedObjectID> = []
    ) -> ReceivedChanges {
        var set = ChangeSet()
        for (id, change) in changes { set.set(id, change) }
        return ReceivedChanges(changes: set, identities: identities, corrected: corrected)
    }

    // N24
    @Test func whatTheParentTookAsItWasIsSavedAsItWas() throws {
        let thing = try make.id("Thing", 1), mine = try make.insert(thing, ["a": .int64(1)])
        var outcome = outcome((thing, mine))
        outcome.take(received([thing: try make.insert(thing, ["a": .int64(2)])]))
        #expect(outcome.changes[thing]?.row === mine.row && !outcome.isSettled)
        #expect(outcome.settled.isEmpty && outcome.refreshed.isEmpty && outcome.identities.isEmpty)
    }

    // N24: the parent's values count, and whoever leads to it leads to the owner of the key.
    @Test func whatTurnedOutToBeAnotherIsTheOther() throws {
        let thing = try make.id("Thing", 1), owner = try make.id("Thing", 2), kid = try make.id("Thing", 3)
        var outcome = outcome((thing, try make.insert(thing, ["a": .int64(1)])), (kid, try make.insert(kid, ["parent": .objectID(thing)])))
        let tags = try make.toMany(thing, "tags"), tag = try make.id("Tag", 1)
        outcome.changes.pairs[tags] = PairChanges(added: [tag])
        let merged = try make.update(owner, ["a": .int64(1)], over: ["b": .int64(2)])
        outcome.take(received([owner: merged], became: [thing: owner]))
        #expect(outcome.isSettled && outcome.changes[thing] == nil && outcome.changes[owner]?.row === merged.row)
        #expect(outcome.changes[kid]?.row?["parent"] == .objectID(owner))
        #expect(try outcome.changes.pairs[make.toMany(owner, "tags")]?.added == [tag] && outcome.changes.pairs[tags] == nil)
        #expect(outcome.identities == [thing: owner] && outcome.settled == [thing, owner] && outcome.refreshed.isEmpty)
    }

    // N24
    @Test func whatTurnedOutToBeWhatTheParentLeavesAsItIsIsNoChange() throws {
        let thing = try make.id("Thing", 1), owner = try make.id("Thing", 2)
        var outcome = outcome((thing, try make.insert(thing, [:])))
        outcome.take(received([:], became: [thing: owner]))
        #expect(outcome.changes.isEmpty && outcome.identities == [thing: owner])
    }

    // N24, N25: what the parent corrected is read again; a change that it dropped is none, and a deletion of what was gone already is one.
    @Test func whatTheParentCorrectedIsReadAgain() throws {
        let kept = try make.id("Thing", 1), dropped = try make.id("Thing", 2), gone = try make.id("Thing", 3)
        var outcome = outcome(
            (kept, try make.update(kept, ["a": .int64(1)])), (dropped, try make.update(dropped, ["a": .int64(1)])), (gone, try make.deletion(gone)))
        outcome.take(received([kept: try make.update(kept, ["a": .int64(1), "b": .int64(3)])], corrected: [kept, dropped, gone]))
        #expect(outcome.isSettled && outcome.settled == [kept, dropped, gone])
        #expect(outcome.changes[kept]?.kind == .updated && outcome.changes[dropped] == nil && outcome.changes[gone]?.kind == .deleted)
        #expect(Set(outcome.refreshed) == [kept, dropped] && outcome.refreshed.count == 2)
    }

    // P10
    @Test func whatReplacesAStoredRowStartsFromIt() throws {
        let thing = try make.id("Thing", 1), stored = try make.row(thing, ["a": .int64(1), "b": .int64(2)], version: 4)
        let row = try make.row(thing, ["a": .int64(1), "b": .int64(3)])
        let update = PendingRow.replacing(stored, with: row)
        #expect(update.kind == .updated && update.base === stored && update.row?.version == 4)
        #expect(try update.changed == make.slots(thing, "b"))
        // All of it was set, where the object turns out to be another.
        let insert = PendingRow.replacing(nil, with: row)
        #expect(insert.kind == .inserted && insert.row?.version == 0 && insert.changed == SlotSet(0..<row.count))
    }

    // P9: a store may name what this save neither writes nor watches.
    @Test func aConflictOfWhatNobodyAskedAboutIsNone() throws {
        let stack = TestStack()
        try holding(stack.root) { () throws in
            let item = stack.root.make("Item", ["key": "k"])
            try stack.root.save()
            var outcome = NSManagedObjectContext.SaveOutcome(changes: ChangeSet())
            try stack.root.settle(.versions([StoreConflict.VersionConflict(id: item.objectID, stored: item.row)]), in: &outcome)
            #expect(outcome.changes.isEmpty && outcome.settled.isEmpty)
        }
    }
}
