import Foundation
import OpenCoreDataTestSupport
import Synchronization
import Testing

@testable import OpenCoreData

/// What a context has published, as its children and its parent find it.
@Suite struct ContextLevelTests {
    private let make = Changes()
    private let chain = ContextChain()
    private let level: ContextLevel

    init() { level = ContextLevel(chain: chain) }

    /// What was thrown away.
    private final class Recorder: PushRecorder {
        let forgotten = Mutex<[(ClosedRange<UInt64>, Set<NSManagedObjectID>?)]>([])

        func inTurn<T>(_ body: () throws -> T) rethrows -> T { try body() }
        func unrecorded(_ ids: Set<NSManagedObjectID>) -> Set<NSManagedObjectID> { [] }
        func write(_ changes: ChangeSet, needing rows: [NSManagedObjectID: RowSnapshot]) throws -> UInt64 { 0 }
        func willCommit(_ turn: PushTurn) {}
        func didCommit(through entry: UInt64) {}
        func turned(_ turn: PushTurn) {}
        func forget(_ entries: ClosedRange<UInt64>, only ids: Set<NSManagedObjectID>?) { forgotten.withLock { $0.append((entries, ids)) } }
    }

    // MARK: One row

    @Test func twoChangesOfARowAreOne() throws {
        let id = try make.id("Thing", 1)
        func composed(_ earlier: PendingRow?, _ later: PendingRow, isSaving: Bool = false) -> PendingRow? {
            PendingRow.compose(earlier, later, isSaving: isSaving)
        }
        let insert = try make.insert(id, ["code": .string("q"), "a": .int64(1)])
        let update = try make.update(id, ["a": .int64(2)], over: ["c": .int64(9)], version: 3), deletion = try make.deletion(id, ["a": .int64(2)])
        let second = try make.update(id, ["b": .int64(3)], over: ["a": .int64(2)], version: 5)

        #expect(composed(nil, update)?.row === update.row)
        #expect(composed(insert, deletion) == nil && composed(insert, deletion, isSaving: true)?.kind == .deleted)
        let inserted = try #require(composed(insert, update))
        #expect(inserted.kind == .inserted && inserted.base == nil && inserted.row === update.row)
        #expect(try inserted.changed == make.slots(id, "code", "a"))
        let updated = try #require(composed(update, second))
        #expect(updated.kind == .updated && updated.row === second.row && updated.base?.version == 3)
        #expect(try updated.changed == make.slots(id, "a", "b"))
        let deleted = try #require(composed(update, deletion))
        #expect(deleted.kind == .deleted && deleted.base?.version == 3 && deleted.row === deletion.row)
        #expect(composed(update, PendingRow(kind: .deleted, row: nil))?.row === update.row)
        #expect(composed(PendingRow(kind: .updated, row: nil), deletion)?.base === deletion.base)
        let again = try #require(composed(deletion, insert))
        #expect(again.kind == .updated && again.base === deletion.base && again.changed == SlotSet(0..<id.layout.count))
        #expect(composed(deletion, update)?.kind == .deleted)
    }

    @Test func whatIsNotedOfARowIsWhatTheLevelSays() throws {
        let id = try make.id("Thing", 1)
        let before = level.changeCount
        #expect(!level.hasChanges && level.change(of: id) == nil)
        #expect(level.record(id, try make.insert(id, ["a": .int64(1)])))
        #expect(level.hasChanges && level.change(of: id)?.kind == .inserted && level.changeCount > before && !chain.mayDangle)
        #expect(level.record(id, try make.deletion(id)) == false)
        #expect(!level.hasChanges && chain.mayDangle)
    }

    // MARK: A save

    @Test func whatIsBeingSavedIsSaidUntilItIsSaved() throws {
        let id = try make.id("Thing", 1), other = try make.id("Thing", 2)
        level.record(id, try make.insert(id, ["a": .int64(1)]))
        let saving = level.beginSaving()
        #expect(saving.ids(.inserted) == [id] && level.pending.isEmpty && level.hasChanges && level.change(of: id)?.kind == .inserted)
        // An insert that is being written cannot simply be forgotten.
        #expect(level.record(id, try make.deletion(id)))
        level.record(other, try make.insert(other, [:]))
        level.didSave()
        #expect(level.saving == nil && level.pending.ids(.deleted) == [id] && level.pending.ids(.inserted) == [other])
    }

    @Test func whatCameDuringAFailedSaveLiesOnTopOfIt() throws {
        let id = try make.id("Thing", 1), tag = try make.id("Tag", 1), key = try make.toMany(id, "tags")
        level.record(id, try make.update(id, ["a": .int64(1), "b": .int64(1)]))
        level.pending.pairs.change(key) { $0.add(tag) }
        level.didNotSave()
        #expect(level.pending.ids(.updated) == [id])
        _ = level.beginSaving()
        level.record(id, try make.update(id, ["a": .int64(2)], over: ["b": .int64(1)]))
        level.pending.pairs.change(key) { $0.remove(tag) }
        level.didNotSave()
        let change = try #require(level.pending[id])
        #expect(level.saving == nil && change.row?["a"] == .int64(2) && change.row?["b"] == .int64(1))
        #expect(try change.changed == make.slots(id, "a", "b"))
        #expect(level.pending.pairs[key]?.removed == [tag] && level.pending.pairs[key]?.added == [])
    }

    @Test func whatTurnsOutToBeAnotherDuringAFailedSaveIsSaidOfTheOther() throws {
        let lost = try make.id("Thing", 2, isTemporary: true), owner = try make.id("Thing", 1)
        level.record(lost, try make.update(lost, ["b": .int64(2)]))
        _ = level.beginSaving()
        chain.withLock { chain.replace([lost: owner]) }
        #expect(chain.hasReplacements && chain.replacementCount == 1)
        level.didNotSave()
        #expect(level.pending.ids(.updated) == [owner])
    }

    // MARK: Following

    @Test func everyLevelFollowsAndTellsOnceWhatMoved() throws {
        let lost = try make.id("Thing", 3, isTemporary: true), gone = try make.id("Thing", 4, isTemporary: true), owner = try make.id("Thing", 1)
        let child = ContextLevel(chain: ContextChain())
        child.chain = chain
        level.chain = chain
        child.record(lost, try make.update(lost, ["b": .int64(2)]))
        level.record(gone, try make.insert(gone, ["c": .int64(2)]))
        child.inbox = [child.pending]
        let stamp = chain.stamp(with: nil)
        chain.withLock { chain.replace([:]) }
        #expect(!chain.hasReplacements && chain.stamp(with: nil) == stamp)
        chain.withLock { chain.replace([lost: owner, gone: owner]) }
        #expect(chain.stamp(with: nil) != stamp)
        #expect(child.pending.ids(.updated) == [owner] && child.inbox[0].ids(.updated) == [owner])
        #expect(child.hasMoved(owner) && !child.hasMoved(lost))
        #expect(child.takeMoved() == [owner] && child.takeMoved().isEmpty)
        // What is new is said of the other, too; there is nothing to lay over anything.
        #expect(level.pending[owner] != nil && !level.hasMoved(owner))
    }

    // MARK: To-manys

    @Test func pairsOfAnObjectThatNeverWasAreForgotten() throws {
        for atOthers in [false, true] {
            let level = ContextLevel(chain: chain), thing = try make.id("Thing", 1), tag = try make.id("Tag", 1), second = try make.id("Thing", 2)
            let mine = try make.toMany(thing, "tags"), theirs = try make.toMany(tag, "things")
            level.pending.pairs.change(mine) { $0.add(tag) }
            level.pending.pairs.change(theirs) { $0.add(thing) }
            level.pending.pairs.change(theirs) { $0.add(second) }
            level.pending.orders[mine] = [tag]
            level.forgetRelationships(of: thing, at: atOthers)
            #expect(level.pending.pairs[mine] == nil && level.pending.orders.isEmpty)
            #expect(level.pending.pairs[theirs]?.added == (atOthers ? [second] : [thing, second]))
            level.forgetRelationships(of: second, at: atOthers)
            level.pending.pairs.change(try make.toMany(second, "tags")) { $0.add(tag) }
            level.forgetRelationships(of: second, at: atOthers)
            #expect((level.pending.pairs[theirs] == nil) == atOthers)
        }
    }

    @Test func pairsThatAreTakenBackAreTakenBackOnBothSides() throws {
        let thing = try make.id("Thing", 1), second = try make.id("Thing", 2), tags = try (1...2).map { try make.id("Tag", Int64($0)) }
        let mine = try make.toMany(thing, "tags")
        level.pending.pairs.change(mine) { $0.add(tags[0]) }
        level.pending.pairs.change(mine) { $0.remove(tags[1]) }
        level.pending.pairs.change(try make.toMany(tags[0], "things")) { $0.add(thing) }
        level.pending.pairs.change(try make.toMany(tags[1], "things")) { $0.remove(thing) }
        level.pending.pairs.change(try make.toMany(tags[1], "things")) { $0.add(second) }
        level.pending.orders[mine] = [tags[0]]
        level.withdrawRelationships(of: thing)
        #expect(level.pending.orders.isEmpty && level.pending.pairs.all.count == 1)
        #expect(try level.pending.pairs[make.toMany(tags[1], "things")]?.added == [second])
        #expect(try level.pending.pairs[make.toMany(tags[1], "things")]?.removed == [])
    }

    @Test func aPairThatIsForgottenLeavesNothing() throws {
        let tag = try make.id("Tag", 1), key = try make.toMany(try make.id("Thing", 1), "tags")
        level.pending.pairs.change(key) { $0.add(tag) }
        level.pending.pairs.change(key) { $0.forget(tag) }
        #expect(level.pending.pairs.isEmpty && !level.hasChanges)
    }

    // MARK: Pushes

    @Test func aPushLiesOnTopOfWhatIsThere() throws {
        let thing = try make.id("Thing", 1), tag = try make.id("Tag", 1), shelf = try make.id("Shelf", 1)
        let tags = try make.toMany(thing, "tags"), things = try make.toMany(shelf, "things")
        level.record(thing, try make.update(thing, ["a": .int64(1)]))
        level.pending.pairs.change(tags) { $0.add(tag) }
        level.pending.orders[things] = []
        var pushed = ChangeSet()
        pushed.set(thing, try make.update(thing, ["b": .int64(2)]))
        pushed.pairs[tags] = PairChanges(removed: [tag])
        pushed.orders[things] = [thing]
        level.merge(pushed)
        #expect(try level.pending[thing]?.changed == make.slots(thing, "a", "b"))
        #expect(level.pending.pairs[tags]?.removed == [tag] && level.pending.orders[things] == [thing])
    }

    @Test func aPushThatTakesAnInsertAwayTakesItOutOfAllToManys() throws {
        let thing = try make.id("Thing", 1, isTemporary: true), kept = try make.id("Thing", 2), tag = try make.id("Tag", 1)
        let shelf = try make.id("Shelf", 1)
        level.record(thing, try make.insert(thing, [:]))
        level.pending.pairs.change(try make.toMany(thing, "tags")) { $0.add(tag) }
        level.pending.pairs.change(try make.toMany(tag, "things")) { $0.add(thing) }
        level.pending.pairs.change(try make.toMany(tag, "things")) { $0.add(kept) }
        level.pending.orders[try make.toMany(shelf, "things")] = [thing, kept]
        var pushed = ChangeSet()
        pushed.set(thing, try make.deletion(thing))
        level.merge(pushed)
        #expect(level.pending[thing] == nil)
        #expect(try level.pending.pairs[make.toMany(thing, "tags")] == nil)
        #expect(try level.pending.pairs[make.toMany(tag, "things")]?.added == [kept])
        #expect(try level.pending.orders[make.toMany(shelf, "things")] == [kept])
    }

    @Test func deletionsThatArePushedMayLeaveReferencesBehind() throws {
        let thing = try make.id("Thing", 1)
        var pushed = ChangeSet()
        pushed.set(thing, try make.update(thing, [:]))
        ContextLevel(chain: chain).merge(pushed)
        #expect(!chain.mayDangle)
        pushed.set(thing, try make.deletion(thing))
        level.merge(pushed)
        #expect(chain.mayDangle && level.pending.ids(.deleted) == [thing])
        for change in [nil, try make.deletion(thing)] {
            let other = ContextChain()
            let level = ContextLevel(chain: other)
            level.replace(thing, with: try make.update(thing, [:]))
            #expect(!other.mayDangle)
            level.replace(thing, with: change)
            #expect(other.mayDangle)
        }
    }

    @Test func entriesOfTheJournalAreForgottenWithWhatTheyBrought() throws {
        let thing = try make.id("Thing", 1, isTemporary: true), recorder = Recorder()
        level.pushRecorder = recorder
        var pushed = ChangeSet()
        pushed.set(thing, try make.insert(thing, [:]))
        pushed.journaled = 4...5
        level.merge(pushed)
        #expect(level.pending.journaled == 4...5)
        pushed.journaled = 7...7
        level.merge(pushed)
        #expect(level.pending.journaled == 4...7)
        level.forgetPushes(of: [])
        level.forgetPushes(of: [thing])
        #expect(recorder.forgotten.withLock { $0.map(\.0) } == [4...7] && recorder.forgotten.withLock { $0.first?.1 } == [thing])
        var gone = ChangeSet()
        gone.set(thing, try make.deletion(thing))
        gone.journaled = 8...8
        level.merge(gone)
        #expect(level.pending.isEmpty && level.pending.journaled == nil)
        #expect(recorder.forgotten.withLock { $0.last?.0 } == 4...8 && recorder.forgotten.withLock { $0.last?.1 == nil })
        level.merge(pushed)
        level.inbox = [pushed]
        level.discard()
        #expect(!level.hasChanges && level.inbox.isEmpty && chain.mayDangle && recorder.forgotten.withLock { $0.last?.0 } == 7...7)
        level.discard()
        #expect(recorder.forgotten.withLock { $0.count } == 3)
    }

    // MARK: Unique keys

    private func owner(_ code: String) throws -> Int64? {
        let thing = try make.id("Thing", 1)
        return level.owner(of: UniqueKey([.string(code)]), thing.entity.layout.constraints[0])?.key
    }

    @Test func ofSeveralWithOneKeyTheFirstOwnsItUntilItGoes() throws {
        #expect(try owner("q") == nil)
        for (key, first) in [(3, 3), (1, 1), (2, 1)] as [(Int64, Int64)] {
            let id = try make.id("Thing", key)
            level.record(id, try make.insert(id, ["code": .string("q")]))
            #expect(try owner("q") == first && owner("r") == nil)
        }
        let first = try make.id("Thing", 1)
        level.record(first, try make.update(first, ["code": .string("r")]))
        #expect(try owner("q") == 2 && owner("r") == 1)
        level.record(try make.id("Thing", 2), try make.deletion(try make.id("Thing", 2), ["code": .string("q")]))
        #expect(try owner("q") == 3)
        level.replace(try make.id("Thing", 3), with: nil)
        #expect(try owner("q") == nil && owner("r") == 1)
        level.discard()
        #expect(try owner("r") == nil)
    }

    @Test func aKeyIsOwnedInWhatIsBeingSavedAndByObjectsOfSubentities() throws {
        let special = try make.id("Special", 1025)
        level.record(special, try make.insert(special, ["code": .string("q")]))
        #expect(try owner("q") == 1025)
        _ = level.beginSaving()
        #expect(try owner("q") == 1025)
        level.record(special, try make.update(special, ["code": .string("r")]))
        #expect(try owner("q") == nil && owner("r") == 1025)
        level.didSave()
        let other = try make.id("Thing", 1)
        level.record(other, try make.insert(other, ["code": .string("q")]))
        #expect(try owner("q") == 1)
        _ = level.beginSaving()
        level.didNotSave()
        #expect(try owner("q") == 1 && owner("r") == 1025)
    }

    @Test func theKeyOfADeletedObjectIsNobodys() throws {
        let thing = try make.id("Thing", 1)
        level.record(thing, try make.update(thing, ["a": .int64(1)], over: ["code": .string("q")]))
        #expect(try owner("q") == 1)
        level.record(thing, try make.deletion(thing, ["code": .string("q")]))
        #expect(try owner("q") == nil)
    }
}
