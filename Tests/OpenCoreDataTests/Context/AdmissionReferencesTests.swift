import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// References and deletions that come in from contexts which know nothing of each other: to a team from its players (who can do without), captains
/// (who need one), seats (which go with it, with their cushions), guests (who forbid that it goes), fans (of whom nothing is known) and sponsors.
@Suite struct AdmissionReferencesTests {
    private let stack: TestStack
    private let main: NSManagedObjectContext

    init() {
        let names = ["Team", "Player", "Captain", "Seat", "Cushion", "Guest", "Fan", "Sponsor"]
        let entities = Dictionary(uniqueKeysWithValues: names.map { ($0, Company.entity($0)) })
        for entity in entities.values { entity.properties = [Company.attribute("a", .integer64, default: 0)] }
        func relate(_ owner: String, _ name: String, _ member: String, _ inverse: String, _ rule: NSDeleteRule, many: Bool = false) {
            guard let owner = entities[owner], let member = entities[member] else { return }
            Company.relate(owner, name, many: true, member, inverse, many: many, ordered: many, rule: rule)
        }
        relate("Team", "players", "Player", "team", .nullifyDeleteRule)
        relate("Team", "captains", "Captain", "team", .nullifyDeleteRule)
        relate("Team", "seats", "Seat", "team", .cascadeDeleteRule)
        relate("Seat", "cushions", "Cushion", "seat", .cascadeDeleteRule)
        relate("Team", "guests", "Guest", "team", .denyDeleteRule)
        relate("Team", "fans", "Fan", "team", .noActionDeleteRule)
        relate("Team", "sponsors", "Sponsor", "teams", .nullifyDeleteRule, many: true)
        entities["Captain"]?.relationshipsByName["team"]?.isOptional = false
        stack = TestStack(NSManagedObjectModel(entities: names.compactMap { entities[$0] }))
        main = stack.child(of: stack.root, name: "main")
    }

    private func holdingAll(_ body: () throws -> Void) throws { try holding(stack.root, main, do: body) }

    /// A new object, which others have read already.
    private func made(_ entity: String, _ values: [String: Any] = [:], in context: NSManagedObjectContext? = nil) -> NSManagedObject {
        let context = context ?? stack.root, object = context.make(entity, values)
        context.processPendingChanges()
        return object
    }

    private func admitted(_ changes: ChangeSet) throws -> Admission {
        var admission = Admission(changes: changes)
        try main.chain.withLock { () throws in try main.settleReferences(&admission) }
        return admission
    }

    /// A row of an object that does not count as anybody's.
    private func row(_ id: NSManagedObjectID, _ name: String = "team", _ target: NSManagedObject, a: Int64 = 0) throws -> RowSnapshot {
        let row = RowSnapshot.make(id.layout)
        row.update(try #require(id.layout.slot(of: name)), to: .objectID(target.objectID))
        row.update(try #require(id.layout.slot(of: "a")), to: .int64(a))
        return row
    }

    private func slots(_ id: NSManagedObjectID, _ names: String...) throws -> SlotSet {
        SlotSet(try names.map { try #require(id.layout.slot(of: $0)) })
    }

    /// A change of `a`, of an object that names the team.
    private func edit(_ id: NSManagedObjectID, of team: NSManagedObject, a: Int64 = 7) throws -> PendingRow {
        PendingRow(kind: .updated, row: try row(id, "team", team, a: a), changed: try slots(id, "a"), base: try row(id, "team", team))
    }

    private func deletion(_ object: NSManagedObject) throws -> PendingRow {
        let row = try #require(main.chain.withLock { main.changeInChain(of: object.objectID)?.row } ?? object.row)
        return PendingRow(kind: .deleted, row: row, base: row)
    }

    private func pending(_ object: NSManagedObject) throws -> PendingRow {
        try #require(main.chain.withLock { main.changeInChain(of: object.objectID) })
    }

    private func key(_ object: NSManagedObject, _ name: String) throws -> RelationshipKey {
        RelationshipKey(owner: object.objectID, toMany: try #require(object.toManyNumber(name)))
    }

    // MARK: Deletions that come in

    // R5
    @Test func whatIsUnsavedAtAnyLevelLosesWhatIsDeleted() throws {
        try holdingAll {
            let team = made("Team"), player = made("Player", ["team": team])
            let seat = main.make("Seat", ["team": main.object(with: team.objectID)]), cushion = main.make("Cushion", ["seat": seat])
            main.processPendingChanges()
            var changes = ChangeSet()
            changes.set(team.objectID, try deletion(team))
            let admission = try admitted(changes), now = admission.changes
            let loser = try #require(now[player.objectID]), before = try pending(player)
            #expect(loser.kind == .updated && loser.row?["team"] == .null && loser.base === before.row)
            #expect(try loser.changed == slots(player.objectID, "team"))
            for object in [seat, cushion] {
                let gone = try #require(now[object.objectID]), known = try pending(object)
                #expect(gone.kind == .deleted && gone.row === known.row && gone.base === known.row)
            }
            #expect(now.rowCount == 4 && admission.corrected == [seat.objectID, cushion.objectID])
        }
    }

    // R5: what comes in with it and was related to it before.
    @Test func whatComesInWithADeletionLosesWhatIsDeletedToo() throws {
        try holdingAll {
            let team = made("Team"), player = made("Player"), seats = [made("Seat"), made("Seat", ["team": team], in: stack.root)]
            try stack.root.save()
            seats[1].setValue(9, forKey: "a")
            stack.root.processPendingChanges()
            var changes = ChangeSet()
            changes.set(team.objectID, PendingRow(kind: .deleted, row: team.row, base: team.row))
            for object in [player, seats[0], seats[1]] { changes.set(object.objectID, try edit(object.objectID, of: team)) }
            let admission = try admitted(changes), now = admission.changes
            let loser = try #require(now[player.objectID])
            #expect(loser.kind == .updated && loser.row?["team"] == .null && loser.row?["a"] == .int64(7))
            #expect(try loser.changed == slots(player.objectID, "a", "team") && loser.base === changes[player.objectID]?.base)
            for seat in seats { #expect(now[seat.objectID]?.kind == .deleted && now[seat.objectID]?.row === changes[seat.objectID]?.row) }
            #expect(now[seats[0].objectID]?.base === changes[seats[0].objectID]?.base)
            let known = try pending(seats[1])
            #expect(now[seats[1].objectID]?.base === known.row)
            #expect(admission.corrected == Set([player.objectID] + seats.map(\.objectID)))
        }
    }

    // R5: the nearest word about an object counts.
    @Test func whoWasTakenOutOfItMeanwhileLosesNothing() throws {
        try holdingAll {
            let team = made("Team"), other = made("Team"), players = (0..<4).map { _ in made("Player", ["team": team]) }
            // One was moved here, one comes in as moved, one is deleted here, one comes in as deleted.
            main.object(with: players[0].objectID).setValue(main.object(with: other.objectID), forKey: "team")
            main.delete(main.object(with: players[2].objectID))
            main.processPendingChanges()
            main.chain.withLock {
                // As a deletion that came in has it.
                main.level.replace(players[2].objectID, with: PendingRow(kind: .deleted, row: players[2].row, base: players[2].row))
            }
            var changes = ChangeSet()
            changes.set(team.objectID, try deletion(team))
            changes.set(players[1].objectID, PendingRow(kind: .updated, row: try row(players[1].objectID, "team", other)))
            changes.set(players[3].objectID, try deletion(players[3]))
            let admission = try admitted(changes), now = admission.changes
            #expect(now[players[0].objectID] == nil && now[players[2].objectID] == nil)
            #expect(now[players[1].objectID]?.row?["team"] == .objectID(other.objectID))
            #expect(now[players[3].objectID]?.row === changes[players[3].objectID]?.row)
            #expect(now.rowCount == 3 && admission.corrected.isEmpty)
        }
    }

    // R5
    @Test func aDeletionIsRefusedWhereSomebodyNeedsTheObject() throws {
        try holdingAll {
            let team = made("Team")
            made("Captain", ["team": team]).setValue(1, forKey: "a")
            var changes = ChangeSet()
            changes.set(team.objectID, try deletion(team))
            let error = #expect(throws: NSError.self) { _ = try admitted(changes) }
            #expect(error?.code == 1550 && error?.localizedDescription.contains("Set it to another object, or roll back") == true)
        }
    }

    // R5: that a deletion is denied is found by validation.
    @Test func whereTheRuleDeniesOrDoesNothingNothingIsDone() throws {
        try holdingAll {
            let team = made("Team")
            _ = [made("Guest", ["team": team]), made("Fan", ["team": team])]
            var changes = ChangeSet()
            changes.set(team.objectID, try deletion(team))
            #expect(try admitted(changes).changes.rowCount == 1)
        }
    }

    // MARK: References that come in

    /// A team that was deleted here.
    private func deletedTeam() throws -> NSManagedObject {
        let team = made("Team")
        try stack.root.save()
        main.delete(main.object(with: team.objectID))
        main.processPendingChanges()
        return team
    }

    private func insertion(_ object: NSManagedObject, of team: NSManagedObject, sets: Bool = true) throws -> PendingRow {
        let id = object.objectID
        return PendingRow(kind: .inserted, row: try row(id, "team", team, a: 2), changed: sets ? try slots(id, "team") : SlotSet())
    }

    // R5
    @Test(arguments: [true, false]) func aReferenceToADeletedObjectIsEmptiedWhereTheRuleNullifies(sets: Bool) throws {
        try holdingAll {
            let team = try deletedTeam(), id = NSManagedObjectID(entity: made("Player").entity, key: 77, store: .unbound, isTemporary: true)
            var changes = ChangeSet()
            changes.set(id, PendingRow(kind: .inserted, row: try row(id, "team", team, a: 2), changed: sets ? try slots(id, "team") : SlotSet()))
            let admission = try admitted(changes), player = try #require(admission.changes[id])
            #expect(player.kind == .inserted && player.row?["team"] == .null && player.row?["a"] == .int64(2) && player.base == nil)
            #expect(try player.changed == slots(id, "team") && admission.corrected == [id])
        }
    }

    // R5, N35
    @Test func aReferenceToWhatWasThrownAwayUnsavedIsEmptied() throws {
        try holdingAll {
            let team = main.make("Team"), player = made("Player")
            main.processPendingChanges()
            main.rollback()
            var changes = ChangeSet()
            changes.set(player.objectID, try insertion(player, of: team))
            #expect(try admitted(changes).changes[player.objectID]?.row?["team"] == .null)
        }
    }

    // R5: somebody else has deleted it, past this chain.
    @Test func aReferenceToWhatIsNotStoredAnyMoreIsEmptied() throws {
        let other = stack.independent()
        try holding(stack.root, main, other) { () throws in
            let team = stack.root.make("Team"), player = stack.root.make("Player")
            try stack.root.save()
            other.delete(other.object(with: team.objectID))
            try other.save()
            #expect(!main.chain.mayDangle)
            var changes = ChangeSet()
            changes.set(player.objectID, try insertion(player, of: team))
            #expect(try admitted(changes).changes[player.objectID]?.row?["team"] == .null)
        }
    }

    // R5
    @Test(arguments: ["Captain", "Seat"]) func itIsRefusedWhereTheObjectIsNeededOrWouldHaveGone(_ entity: String) throws {
        try holdingAll {
            let team = try deletedTeam(), object = made(entity)
            var changes = ChangeSet()
            changes.set(object.objectID, try insertion(object, of: team))
            let error = #expect(throws: NSError.self) { _ = try admitted(changes) }
            let words = entity == "Seat" ? "or to nil, or roll back" : "Set it to another object, or roll back"
            #expect(error?.code == 1550 && error?.localizedDescription.contains(words) == true)
            // Who is deleted refers to nothing.
            var deletion = try insertion(object, of: team)
            deletion.kind = .deleted
            changes.set(object.objectID, deletion)
            #expect(try admitted(changes).corrected.isEmpty)
            // What was not given it now is no reference that comes in.
            changes.set(object.objectID, try edit(object.objectID, of: team))
            #expect(try admitted(changes).changes[object.objectID]?.row === changes[object.objectID]?.row)
        }
    }

    // R5
    @Test(arguments: ["Guest", "Fan"]) func itStaysWhereTheRuleDeniesOrDoesNothing(_ entity: String) throws {
        try holdingAll {
            let team = try deletedTeam(), object = made(entity)
            var changes = ChangeSet()
            changes.set(object.objectID, try insertion(object, of: team))
            let admission = try admitted(changes)
            #expect(admission.changes[object.objectID]?.row === changes[object.objectID]?.row && admission.corrected.isEmpty)
        }
    }

    // MARK: Pairs that come in

    // R5: with those that stay the pairs stay, and what was taken out is taken out.
    @Test func pairsWithWhatIsDeletedAreDropped() throws {
        try holdingAll {
            let team = try deletedTeam(), others = [made("Team"), made("Team")], sponsors = [made("Sponsor"), made("Sponsor")]
            var changes = ChangeSet()
            changes.pairs[try key(sponsors[0], "teams")] = PairChanges(added: [team.objectID, others[0].objectID])
            changes.pairs[try key(sponsors[1], "teams")] = PairChanges(added: [team.objectID], removed: [others[1].objectID])
            changes.pairs[try key(others[0], "sponsors")] = PairChanges(added: [sponsors[0].objectID])
            changes.pairs[try key(team, "sponsors")] = PairChanges(added: Set(sponsors.map(\.objectID)))
            changes.orders[try key(team, "sponsors")] = sponsors.map(\.objectID)
            changes.orders[try key(others[0], "sponsors")] = sponsors.map(\.objectID)
            let now = try admitted(changes).changes
            #expect(try now.pairs[key(sponsors[0], "teams")]?.added == [others[0].objectID])
            #expect(try now.pairs[key(sponsors[1], "teams")]?.added == [] && now.pairs[key(sponsors[1], "teams")]?.removed == [others[1].objectID])
            #expect(try now.pairs[key(others[0], "sponsors")]?.added == [sponsors[0].objectID])
            #expect(try now.pairs[key(team, "sponsors")] == nil && now.pairs.all.count == 3)
            #expect(try now.orders.keys.map(\.owner) == [others[0].objectID] && now.orders[key(others[0], "sponsors")]?.count == 2)
        }
    }

    // MARK: What a context notices of it

    // R5: somebody relates an object to one that is being deleted just now: after its rules were applied, before it is gone.
    @Test func whatIsRelatedToADeletedObjectDuringItsSaveFollowsTheRule() throws {
        let workers = [stack.child(of: main, name: "worker 0"), stack.child(of: main, name: "worker 1")]
        try holding(stack.root, main, workers[0], workers[1]) { () throws in
            let team = main.make("Team"), player = main.make("Player"), seat = main.make("Seat"), cushion = main.make("Cushion", ["seat": seat])
            try main.save()
            try stack.root.save()
            workers[0].delete(workers[0].object(with: team.objectID))
            workers[0].processPendingChanges()
            let there = workers[1].object(with: team.objectID)
            for member in [player, seat] { workers[1].object(with: member.objectID).setValue(there, forKey: "team") }
            workers[1].processPendingChanges()
            let token = NotificationCenter.default.addObserver(forName: .NSManagedObjectContextWillSave, object: workers[0], queue: nil) { _ in
                do { try workers[1].save() } catch { Issue.record(error) }
            }
            defer { NotificationCenter.default.removeObserver(token) }
            try workers[0].save()
            #expect(main.object(with: player.objectID).value(forKey: "team") == nil)
            #expect(main.deletedObjects.map(\.objectID).contains(seat.objectID))
            // What was not unsaved anywhere goes when the rules are applied to it.
            try main.save()
            #expect(stack.root.deletedObjects.map(\.objectID).contains(cushion.objectID))
            try stack.root.save()
            #expect(stack.store.rowCount == 1)
        }
    }
}
