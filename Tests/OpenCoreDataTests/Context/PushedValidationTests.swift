import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// A period: it ends after it begins.
final class SpanOfTime: NSManagedObject {
    @Managed var begin: Int64
    @Managed var end: Int64

    override func validateForInsert() throws {
        try super.validateForInsert()
        try checkOrder()
    }

    override func validateForUpdate() throws {
        try super.validateForUpdate()
        try checkOrder()
    }

    override func validateForDelete() throws {
        try super.validateForDelete()
        if managedObjectContext?.name == Self.guarded { throw Self.refusal }
    }

    private func checkOrder() throws { if end < begin { throw Self.refusal } }

    /// The name of a context in which none is deleted.
    static let guarded = "guarded"
    static let refusal = NSError(domain: "Period", code: 7)

    static func model(_ name: String, _ type: NSManagedObject.Type) -> NSManagedObjectModel {
        let entity = Company.entity(name, type)
        entity.properties = [Company.attribute("begin", .integer64, default: 0), Company.attribute("end", .integer64, default: 0)]
        return NSManagedObjectModel(entities: [entity])
    }
}

/// The same as a method that is found by a key.
final class SpanByKey: NSManagedObject {
    @Managed var begin: Int64
    @Managed var end: Int64

    override class var keyedValidators: [KeyedValidator] { [KeyedValidator("end", SpanByKey.validateEnd)] }

    func validateEnd(_ value: inout Int64?) throws { if let value, value < begin { throw SpanOfTime.refusal } }
}

/// And as a rule about one property that looks at another.
final class SpanByValue: NSManagedObject {
    override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {
        try super.validateValue(value, forKey: key)
        guard key == "end", let end = self.value(forKey: "end") as? Int, let begin = self.value(forKey: "begin") as? Int else { return }
        if end < begin { throw SpanOfTime.refusal }
    }
}

/// Has hooks, and none that validates.
final class HookedSpan: NSManagedObject {
    @Managed var begin: Int64
    override func willSave() {}
}

/// What children pushed is validated again where it is saved on, though nobody looked at it there.
@Suite struct PushedValidationTests {
    private struct Family {
        let stack: TestStack
        let main: NSManagedObjectContext
        let first: NSManagedObjectContext
        let second: NSManagedObjectContext

        init(_ model: NSManagedObjectModel) {
            stack = TestStack(model)
            main = stack.child(of: stack.root, name: "main")
            first = stack.child(of: main, name: "first")
            second = stack.child(of: main, name: "second")
            stack.root.materializesNotificationObjects = false
            main.materializesNotificationObjects = false
        }

        func holdingAll(_ body: () throws -> Void) throws { try holding(first, second, main, stack.root, do: body) }

        /// An object that is stored, and of which no context has an instance.
        func stored(_ entity: String, _ values: [String: Any]) throws -> NSManagedObjectID {
            let id = stack.root.make(entity, values).objectID
            try stack.root.save()
            return id
        }

        func set(_ value: Any?, _ key: String, _ id: NSManagedObjectID, in context: NSManagedObjectContext) throws {
            context.object(with: id).setValue(value, forKey: key)
            try context.save()
        }
    }

    /// Has each of two children change one of two properties. Each leaves them in order, and together they do not.
    private func combine(_ id: NSManagedObjectID, _ first: NSManagedObjectContext, _ second: NSManagedObjectContext) throws {
        let mine = first.object(with: id), theirs = second.object(with: id)
        #expect(mine.value(forKey: "end") as? Int == 20 && theirs.value(forKey: "begin") as? Int == 10)
        mine.setValue(15, forKey: "begin")
        theirs.setValue(12, forKey: "end")
        try first.save()
        try second.save()
    }

    // N20, L17: by the parent, which keeps everything for it to be mended.
    @Test(arguments: ["Period", "SpanByKey", "SpanByValue"]) func whatTwoChildrenMakeOfAnObjectIsValidatedByItsClass(_ kind: String) throws {
        let types: [String: NSManagedObject.Type] = ["Period": SpanOfTime.self, "SpanByKey": SpanByKey.self, "SpanByValue": SpanByValue.self]
        let family = Family(SpanOfTime.model(kind, try #require(types[kind])))
        try family.holdingAll { () throws in
            let id = try family.stored(kind, ["begin": 10, "end": 20])
            try combine(id, family.first, family.second)
            #expect(family.main.registeredObjects.isEmpty)
            let error = #expect(throws: NSError.self) { try family.main.save() }
            #expect(error?.domain == "Period" && family.main.hasChanges && !family.stack.root.hasChanges)
            #expect(family.main.registeredObjects.isEmpty)
            family.first.reset()
            family.first.object(with: id).setValue(15, forKey: "end")
            try family.first.save()
            try family.main.save()
            try family.stack.root.save()
            #expect(try family.stack.stored(kind, "begin") == [15] && family.stack.stored(kind, "end") == [15])
        }
    }

    // N20: its parents, too.
    @Test func theRootRefusesWhatIsPushedByTwoChildrenOfItsOwn() throws {
        let stack = TestStack(SpanOfTime.model("Period", SpanOfTime.self))
        stack.root.materializesNotificationObjects = false
        let children = (0..<2).map { stack.child(of: stack.root, name: "child \($0)") }
        try holding(stack.root, children[0], children[1]) { () throws in
            let id = stack.root.make("Period", ["begin": 10, "end": 20]).objectID
            try stack.root.save()
            try combine(id, children[0], children[1])
            #expect(stack.root.registeredObjects.isEmpty)
            let error = #expect(throws: NSError.self) { try stack.root.save() }
            #expect(error?.domain == "Period" && stack.root.hasChanges)
            #expect(try stack.stored("Period", "end") == [20])
        }
    }

    // N20: the class has its say at every level.
    @Test func aPushedDeletionIsValidatedByItsClass() throws {
        let stack = TestStack(SpanOfTime.model("Period", SpanOfTime.self)), child = stack.child(of: stack.root)
        stack.root.materializesNotificationObjects = false
        try holding(stack.root, child) { () throws in
            let id = stack.root.make("Period", ["begin": 10, "end": 20]).objectID
            try stack.root.save()
            stack.root.name = SpanOfTime.guarded
            child.delete(child.object(with: id))
            try child.save()
            #expect(stack.root.registeredObjects.isEmpty)
            let error = #expect(throws: NSError.self) { try stack.root.save() }
            #expect(error?.domain == "Period" && stack.root.hasChanges && stack.store.rowCount == 1)
            stack.root.name = "root"
            try stack.root.save()
            #expect(stack.store.rowCount == 0)
        }
    }

    // N20: a class that has nothing to say costs no instance.
    @Test func rowsOfClassesWithoutValidationOfTheirOwnNeedNoInstance() throws {
        #expect(SpanOfTime.validatesItself && SpanByKey.validatesItself && SpanByValue.validatesItself)
        #expect(!HookedSpan.validatesItself && !NSManagedObject.validatesItself)
    }

    // N20: one that a child pushed, and one that was imported, are told by the same rules.
    @Test func whatIsImportedIsValidatedByTheClassToo() throws {
        let stack = TestStack(SpanOfTime.model("Period", SpanOfTime.self)), child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let id = try child.makeID(for: #require(stack.coordinator.managedObjectModel.entitiesByName["Period"]))
            let row = RowSnapshot.make(id.entity.layout)
            row.update(try #require(row.layout.slot(of: "begin")), to: .int64(5))
            child.insertRow(id, row, set: SlotSet(0..<2))
            let error = #expect(throws: NSError.self) { try child.save() }
            #expect(error?.domain == "Period" && !stack.root.hasChanges)
        }
    }

    // N20, GB17: of two levels that are saved together, each is in order, and the whole is not.
    @Test func whatTwoLevelsMakeTogetherIsValidatedWhereAllAreSavedAtOnce() throws {
        let family = Family(SpanOfTime.model("Period", SpanOfTime.self))
        try family.holdingAll { () throws in
            let id = try family.stored("Period", ["begin": 10, "end": 20])
            let inFirst = family.first.object(with: id), inMain = family.main.object(with: id)
            #expect(inFirst.value(forKey: "end") as? Int == 20)
            inMain.setValue(15, forKey: "begin")
            family.main.processPendingChanges()
            inFirst.setValue(12, forKey: "end")
            let error = #expect(throws: NSError.self) { try family.first.saveToStore() }
            #expect(error?.domain == "Period")
            #expect(family.first.hasChanges && family.main.hasChanges && !family.stack.root.hasChanges)
            #expect(try family.stack.stored("Period", "begin") == [10])
            inFirst.setValue(16, forKey: "end")
            try family.first.saveToStore()
            #expect(try family.stack.stored("Period", "begin") == [15] && family.stack.stored("Period", "end") == [16])
        }
    }

    // R8, GB17: the members that two levels took away.
    @Test(arguments: [true, false]) func membersAreCountedWhereAllLevelsAreSavedAtOnce(_ isStored: Bool) throws {
        let (stack, main, worker) = Self.teams(min: 2)
        try holding(worker, main, stack.root) { () throws in
            let maker = isStored ? stack.root : main
            let team = maker.make("Team"), players = (0..<3).map { _ in maker.make("Player", ["team": team]) }
            if isStored { try stack.root.save() } else { main.processPendingChanges() }
            let theirs = worker.object(with: players[0].objectID)
            #expect(theirs.value(forKey: "team") != nil)
            theirs.setValue(nil, forKey: "team")
            worker.processPendingChanges()
            main.object(with: players[1].objectID).setValue(nil, forKey: "team")
            main.processPendingChanges()
            let error = #expect(throws: NSError.self) { try worker.saveToStore() }
            #expect(error?.code == 1580 && worker.hasChanges && main.hasChanges)
            #expect(stack.store.rowCount == (isStored ? 4 : 0))
        }
    }

    // R8: a new owner is counted wherever it goes, whoever took its members since.
    // Where all of them went, no row that is left names it.
    @Test(arguments: [1, 2]) func theMembersOfAnOwnerThatWasPushedAreCountedThoughTheyAreNewToo(_ count: Int) throws {
        let (stack, main, worker) = Self.teams(min: 2, isOptional: false)
        main.materializesNotificationObjects = false
        try holding(worker, main, stack.root) { () throws in
            let team = worker.make("Team"), players = (0..<2).map { _ in worker.make("Player", ["team": team]) }
            try worker.save()
            // What comes in between the check and the push: another context's, which is not validated together with it.
            var changes = ChangeSet()
            for player in players.prefix(count) {
                let admitted = try #require(worker.currentRows([player.objectID])[player.objectID])
                let slot = try #require(admitted.layout.slot(of: "team")), changed = admitted.copy()
                changed.update(slot, to: .null)
                changes.set(player.objectID, PendingRow(kind: .updated, row: changed, changed: SlotSet([slot]), base: admitted))
            }
            _ = try main.receive(changes, from: worker.sender)
            let error = #expect(throws: NSError.self) { try main.save() }
            #expect(error?.code == (count == 1 ? 1580 : 1570) && main.hasChanges && !stack.root.hasChanges)
        }
    }

    private static func teams(min: Int, isOptional: Bool = true) -> (TestStack, NSManagedObjectContext, NSManagedObjectContext) {
        let team = Company.entity("Team"), player = Company.entity("Player")
        Company.relate(team, "players", many: true, player, "team", many: false)
        team.relationshipsByName["players"]?.minCount = min
        team.relationshipsByName["players"]?.isOptional = isOptional
        let stack = TestStack(NSManagedObjectModel(entities: [team, player])), main = stack.child(of: stack.root, name: "main")
        return (stack, main, stack.child(of: main, name: "worker"))
    }

    // N20, R1: a one-to-one that somebody else has meanwhile, and whose other side is required.
    @Test(arguments: [true, false]) func aPartnerThatIsNeededIsNotTakenAway(_ isPushed: Bool) throws {
        let person = Company.entity("Person"), badge = Company.entity("Badge")
        person.properties = [Company.attribute("name", .string)]
        Company.relate(person, "badge", many: false, badge, "person", many: false)
        badge.relationshipsByName["person"]?.isOptional = false
        let stack = TestStack(NSManagedObjectModel(entities: [person, badge]))
        let other = isPushed ? stack.child(of: stack.root, name: "other") : stack.independent()
        let child = isPushed ? stack.child(of: stack.root, name: "child") : stack.independent(policy: .mergeByPropertyObjectTrump)
        try holding(stack.root, other, child) { () throws in
            let ada = stack.root.make("Person", ["name": "Ada"])
            try stack.root.save()
            let mine = child.object(with: ada.objectID)
            #expect(mine.value(forKey: "badge") == nil)
            other.make("Badge", ["person": other.object(with: ada.objectID)])
            try other.save()
            child.make("Badge", ["person": mine])
            let error = #expect(throws: NSError.self) { try child.save() }
            #expect(error?.code == 1570 && error?.userInfo[NSValidationKeyErrorKey] as? String == "person")
            #expect(child.hasChanges)
            if isPushed { try stack.root.save() }
            #expect(try stack.store.fetch(FetchPlan(entity: badge)).map { $0.row?["person"] } == [.objectID(ada.objectID)])
        }
    }
}
