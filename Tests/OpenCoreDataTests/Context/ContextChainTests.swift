import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// What a chain and its levels remember besides changes: who owns a unique key, what has become of whom, and whether anything is new.
@Suite struct ContextChainTests {
    private let make = Changes()
    private let chain = ContextChain()
    private let level: ContextLevel

    init() {
        level = ContextLevel(chain: chain)
        level.chain = chain
    }

    private func owner(_ code: String) throws -> Int64? {
        let thing = try make.id("Thing", 1)
        return level.owner(of: UniqueKey([.string(code)]), thing.entity.layout.constraints[0])?.key
    }

    private func insert(_ code: String, _ key: Int64, isTemporary: Bool = false) throws -> NSManagedObjectID {
        let id = try make.id("Thing", key, isTemporary: isTemporary)
        level.record(id, try make.insert(id, ["code": .string(code)]))
        return id
    }

    // MARK: Unique keys

    @Test func whoGoesLeavesTheKeyToAllTheOthers() throws {
        _ = try owner("q")
        for key in 1...4 as ClosedRange<Int64> { _ = try insert("q", key) }
        // One that does not own it, then the owner, one after the other.
        for (gone, next) in [(2, 1), (1, 3), (3, 4)] as [(Int64, Int64)] {
            level.replace(try make.id("Thing", gone), with: nil)
            #expect(try owner("q") == next)
        }
        level.replace(try make.id("Thing", 4), with: nil)
        #expect(try owner("q") == nil)
    }

    @Test func aKeyThatIsBeingSavedAndEditedHasOneOwner() throws {
        let thing = try insert("q", 1)
        _ = level.beginSaving()
        level.record(thing, try make.update(thing, ["a": .int64(1)], over: ["code": .string("q")]))
        #expect(try owner("q") == 1)
        level.record(thing, try make.update(thing, ["code": .string("r")], over: ["code": .string("q")]))
        #expect(try owner("q") == nil && owner("r") == 1)
    }

    @Test func whatIsSavedOwnsItsKeyInTheParent() throws {
        _ = try insert("q", 1)
        #expect(try owner("q") == 1)
        _ = level.beginSaving()
        level.didSave()
        #expect(try owner("q") == nil)
    }

    // A part of it was committed.
    @Test func whatDidNotComeBackFromAFailedSaveOwnsNothing() throws {
        _ = try insert("q", 1)
        let kept = try insert("r", 2)
        #expect(try owner("q") == 1 && owner("r") == 2)
        _ = level.beginSaving()
        level.saving = level.saving?.filter { $0 == kept }
        level.didNotSave()
        #expect(try owner("q") == nil && owner("r") == 2)
    }

    @Test func aPushIsFoundByItsKeyWhereNothingWasUnsaved() throws {
        #expect(try owner("q") == nil)
        let thing = try make.id("Thing", 1)
        var pushed = ChangeSet()
        pushed.set(thing, try make.insert(thing, ["code": .string("q")]))
        level.merge(pushed)
        #expect(try owner("q") == 1)
    }

    @Test func whoBecameAnotherHasItsKeyAsTheOther() throws {
        let lost = try insert("q", 3, isTemporary: true), other = try make.id("Thing", 1)
        #expect(try owner("q") == 3)
        chain.withLock { chain.replace([lost: other]) }
        #expect(try owner("q") == 1)
    }

    @Test func aConstraintBelongsToTheEntityThatDeclaresIt() throws {
        let thing = Company.entity("Thing"), special = Company.entity("Special"), odd = Company.entity("Odd")
        thing.properties = [Company.attribute("code", .string)]
        special.properties = [Company.attribute("number", .integer64)]
        thing.uniquenessConstraints = [["code"]]
        special.uniquenessConstraints = [["number"]]
        special.subentities = [odd]
        thing.subentities = [special]
        let stack = TestStack(NSManagedObjectModel(entities: [thing, special, odd]))
        let entities = try ["Thing", "Special", "Odd"].map { try #require(stack.coordinator.managedObjectModel.entitiesByName[$0]) }
        #expect(entities.map { $0.layout.constraints[0].declarer.name } == ["Thing", "Thing", "Thing"])
        #expect(entities[1...].map { $0.layout.constraints[1].declarer.name } == ["Special", "Special"])
    }

    // MARK: Following

    @Test func whatIsBeingSavedFollowsToo() throws {
        let lost = try make.id("Thing", 3, isTemporary: true), owner = try make.id("Thing", 1), other = try make.id("Thing", 2)
        level.record(lost, try make.update(lost, ["b": .int64(2)]))
        _ = level.beginSaving()
        level.record(lost, try make.update(lost, ["c": .int64(2)]))
        level.record(other, try make.update(other, ["b": .int64(2)]))
        chain.withLock { chain.replace([lost: owner]) }
        #expect(level.saving?.ids(.updated) == [owner] && Set(level.pending.ids(.updated)) == [owner, other])
        // Only who was called otherwise has moved.
        #expect(level.takeMoved() == [owner])
    }

    @Test func allOfManyLevelsFollow() throws {
        let levels = (0..<40).map { _ in ContextLevel(chain: ContextChain()) }
        let lost = try make.id("Thing", 3, isTemporary: true), owner = try make.id("Thing", 1)
        for level in levels {
            level.chain = chain
            level.record(lost, try make.update(lost, ["b": .int64(2)]))
        }
        chain.withLock { chain.replace([lost: owner]) }
        #expect(levels.allSatisfy { $0.pending.ids(.updated) == [owner] })
    }

    // MARK: Stamps

    @Test func theStampTellsWhateverHasHappenedSince() throws {
        let cache = TestStack().coordinator.rowCache, lost = try make.id("Thing", 3, isTemporary: true), owner = try make.id("Thing", 1)
        var stamps: Set<UInt64> = [chain.stamp(with: cache)]
        cache.removeAll()
        stamps.insert(chain.stamp(with: cache))
        // Nobody has anything unsaved that is about them.
        chain.withLock { chain.replace([lost: owner]) }
        stamps.insert(chain.stamp(with: cache))
        #expect(stamps.count == 3)
    }

    // Others may still refer to what was thrown away; where nothing was, nobody does.
    @Test func whatIsDiscardedMayBeReferredToStill() throws {
        level.discard()
        #expect(!chain.mayDangle)
        _ = try insert("q", 1, isTemporary: true)
        level.discard()
        #expect(chain.mayDangle && !level.hasChanges)
    }

    // Whatever others did meanwhile: what was deleted is looked at once more.
    @Test func deletionsThatCouldNotBeSavedHaveTheirRulesAppliedAgain() throws {
        let thing = try make.id("Thing", 1)
        level.record(thing, try make.update(thing, ["a": .int64(1)]))
        _ = level.beginSaving()
        level.didNotSave()
        #expect(level.deletionStamp == nil)
        level.record(thing, try make.deletion(thing))
        _ = level.beginSaving()
        #expect(level.deletionStamp == nil)
        level.didNotSave()
        #expect(level.deletionStamp == 0)
    }
}
