import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// How many members a to-many may have, checked of owners that have no instance.
@Suite struct MemberCountsTests {
    // R8: all that are too small are told, in the order in which they were made.
    @Test func everyToManyThatIsTooSmallIsTold() throws {
        let team = Company.entity("Team"), player = Company.entity("Player")
        Company.relate(team, "players", many: true, player, "team", many: false)
        team.relationshipsByName["players"]?.minCount = 2
        let stack = TestStack(NSManagedObjectModel(entities: [team, player])), child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let teams = (0..<8).map { _ in stack.root.make("Team") }
            let players = teams.map { team in (0..<2).map { _ in stack.root.make("Player", ["team": team]) } }
            try stack.root.save()
            for player in players.map(\.[0].objectID) {
                let row = try #require(try child.currentRows([player])[player]), slot = try #require(row.layout.slot(of: "team")),
                    changed = row.copy()
                changed.update(slot, to: .null)
                child.updateRow(player, to: changed, changed: SlotSet([slot]), base: row)
            }
            let error = #expect(throws: NSError.self) { try child.save() }
            #expect(error?.code == 1560)
            let found = try #require(error?.userInfo[NSDetailedErrorsKey] as? [NSError])
            #expect(found.map(\.code) == Array(repeating: 1580, count: 8))
            #expect(found.map { ($0.userInfo[NSAffectedObjectsErrorKey] as? [Any])?.first as? NSManagedObjectID } == teams.map(\.objectID))
        }
    }

    // R8: the members of a many-to-many are told by pairs.
    @Test func pairsAreCounted() throws {
        let person = Company.entity("Person"), skill = Company.entity("Skill")
        Company.relate(person, "skills", many: true, skill, "people", many: true)
        person.relationshipsByName["skills"]?.minCount = 2
        let stack = TestStack(NSManagedObjectModel(entities: [person, skill])), child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let skills = (0..<3).map { _ in stack.root.make("Skill") }, person = stack.root.make("Person", ["skills": Set(skills)])
            try stack.root.save()
            let key = RelationshipKey(owner: person.objectID, toMany: 0), all = try child.members(of: key)
            child.setMembers(of: key, from: all, to: Array(all.dropLast()))
            try child.save()
            child.setMembers(of: key, from: Array(all.dropLast()), to: [all[0]])
            let error = #expect(throws: NSError.self) { try child.save() }
            #expect(error?.code == 1580)
        }
    }

    // R8: a member that is deleted is one less, and who is deleted needs none.
    @Test func whoIsDeletedIsNoMemberAndNeedsNone() throws {
        let team = Company.entity("Team"), player = Company.entity("Player")
        Company.relate(team, "players", many: true, player, "team", many: false)
        team.relationshipsByName["players"]?.minCount = 2
        team.relationshipsByName["players"]?.isOptional = false
        let stack = TestStack(NSManagedObjectModel(entities: [team, player])), child = stack.child(of: stack.root)
        try holding(stack.root, child) { () throws in
            let team = stack.root.make("Team"), players = (0..<2).map { _ in stack.root.make("Player", ["team": team]) }
            try stack.root.save()
            child.delete(child.object(with: players[0].objectID))
            let error = #expect(throws: NSError.self) { try child.save() }
            #expect(error?.code == 1580)
            child.rollback()
            child.delete(child.object(with: team.objectID))
            try child.save()
            try stack.root.save()
            #expect(stack.store.rowCount == 2)
        }
    }

    // R8: what a merge policy leaves of an object that met its key may be too little for another one.
    @Test(arguments: [true, false])
    func membersAreCountedAfterAMergePolicyHadItsSay(_ throughLevels: Bool) throws {
        let node = Company.entity("Node")
        node.properties = [Company.attribute("code", .string)]
        node.uniquenessConstraints = [["code"]]
        Company.relate(node, "kids", many: true, node, "parent", many: false)
        node.relationshipsByName["kids"]?.minCount = 2
        let stack = TestStack(NSManagedObjectModel(entities: [node])), other = stack.independent(), child = stack.child(of: stack.root)
        stack.root.mergePolicy = .rollback
        try holding(stack.root, other, child) { () throws in
            other.make("Node", ["code": "taken"])
            try other.save()
            let context = throughLevels ? child : stack.root, head = context.make("Node", ["code": "head"])
            for code in ["taken", "free"] { context.make("Node", ["code": code, "parent": head]) }
            let error = #expect(throws: NSError.self) { throughLevels ? try child.saveToStore() : try stack.root.save() }
            #expect(error?.code == 1580 && error?.userInfo[NSValidationKeyErrorKey] as? String == "kids")
            #expect(context.insertedObjects.count == 3 && head.objectIDs(forRelationshipNamed: "kids").count == 2)
            #expect(stack.store.rowCount == 1)
            context.make("Node", ["code": "third", "parent": head])
            throughLevels ? try child.saveToStore() : try stack.root.save()
            #expect(try stack.stored("Node", "code").count == 4)
        }
    }

    // R8: an owner that is new and is left without any of its members has too few.
    @Test func aNewOwnerWhoseMembersAPolicyLetGoIsCounted() throws {
        let node = Company.entity("Node")
        node.properties = [Company.attribute("name", .string)]
        Company.relate(node, "kids", many: true, node, "parent", many: false)
        node.relationshipsByName["kids"]?.minCount = 1
        node.relationshipsByName["kids"]?.isOptional = false
        let stack = TestStack(NSManagedObjectModel(entities: [node])), other = stack.independent()
        try holding(stack.root, other) { () throws in
            // A ring, so that everybody has somebody.
            let kid = other.make("Node")
            kid.setValue(kid, forKey: "parent")
            try other.save()
            let mine = stack.root.object(with: kid.objectID), head = stack.root.make("Node", ["name": "head"])
            mine.setValue(head, forKey: "parent")
            head.setValue(mine, forKey: "parent")
            kid.setValue("changed", forKey: "name")
            try other.save()
            stack.root.mergePolicy = .rollback
            let error = #expect(throws: NSError.self) { try stack.root.save() }
            #expect([1570, 1580].contains(error?.code) && error?.userInfo[NSValidationKeyErrorKey] as? String == "kids")
            #expect(stack.store.rowCount == 1)
        }
    }

    // R8: two that turn out to be one on the way through the levels are counted together.
    @Test func membersOfTwoThatAreOneAreCountedTogetherThroughAllLevels() throws {
        let node = Company.entity("Node"), tag = Company.entity("Tag")
        node.properties = [Company.attribute("code", .string)]
        node.uniquenessConstraints = [["code"]]
        Company.relate(node, "tags", many: true, tag, "nodes", many: true)
        node.relationshipsByName["tags"]?.maxCount = 3
        let stack = TestStack(NSManagedObjectModel(entities: [node, tag])), main = stack.child(of: stack.root), child = stack.child(of: main)
        stack.root.mergePolicy = .mergeByPropertyObjectTrump
        try holding(stack.root, main, child) { () throws in
            main.make("Node", ["code": "one", "tags": Set((0..<2).map { _ in main.make("Tag") })])
            main.processPendingChanges()
            child.make("Node", ["code": "one", "tags": Set((0..<2).map { _ in child.make("Tag") })])
            let error = #expect(throws: NSError.self) { try child.saveToStore() }
            #expect(error?.code == 1590 && error?.userInfo[NSValidationKeyErrorKey] as? String == "tags")
            #expect(stack.store.rowCount == 0)
        }
    }

    // N20, R8: towards a parent the members were counted as the child knew them, and are counted anew where the parent saves.
    @Test func whatAPolicyTowardsAParentLeavesIsCountedWhereTheParentSaves() throws {
        let node = Company.entity("Node")
        Company.relate(node, "kids", many: true, node, "parent", many: false)
        node.relationshipsByName["kids"]?.minCount = 2
        let stack = TestStack(NSManagedObjectModel(entities: [node])), child = stack.child(of: stack.root)
        child.parentConflictPolicy = .rollback
        try holding(stack.root, child) { () throws in
            let head = stack.root.make("Node"), kids = (0..<2).map { _ in stack.root.make("Node", ["parent": head]) }
            let spare = stack.root.make("Node"), elsewhere = stack.root.make("Node"),
                others = (0..<2).map { _ in stack.root.make("Node", ["parent": elsewhere]) }
            try stack.root.save()
            #expect(child.object(with: head.objectID).objectIDs(forRelationshipNamed: "kids").count == 2)
            child.object(with: kids[0].objectID).setValue(nil, forKey: "parent")
            child.object(with: spare.objectID).setValue(child.object(with: head.objectID), forKey: "parent")
            spare.setValue(elsewhere, forKey: "parent")
            stack.root.processPendingChanges()
            try child.save()
            #expect(spare.value(forKey: "parent") as? NSManagedObject == elsewhere && others.count == 2)
            let error = #expect(throws: NSError.self) { try stack.root.save() }
            #expect(error?.code == 1580 && error?.userInfo[NSValidationKeyErrorKey] as? String == "kids")
        }
    }

    // R8: the members of two objects that turn out to be one are counted together.
    @Test func membersOfTwoThatAreOneAreCountedTogether() throws {
        let node = Company.entity("Node"), tag = Company.entity("Tag")
        node.properties = [Company.attribute("code", .string)]
        node.uniquenessConstraints = [["code"]]
        Company.relate(node, "tags", many: true, tag, "nodes", many: true)
        node.relationshipsByName["tags"]?.maxCount = 3
        let stack = TestStack(NSManagedObjectModel(entities: [node, tag])), other = stack.independent()
        stack.root.mergePolicy = .mergeByPropertyObjectTrump
        try holding(stack.root, other) { () throws in
            other.make("Node", ["code": "one", "tags": Set((0..<2).map { _ in other.make("Tag") })])
            try other.save()
            let twin = stack.root.make("Node", ["code": "one"]), tags = (0..<2).map { _ in stack.root.make("Tag", ["nodes": Set([twin])]) }
            let error = #expect(throws: NSError.self) { try stack.root.save() }
            #expect(error?.code == 1590)
            #expect(stack.store.rowCount == 3)
            stack.root.delete(tags[0])
            try stack.root.save()
            #expect(twin.objectIDs(forRelationshipNamed: "tags").count == 3)
        }
    }

    // R8: each of two children adds one, and there is room for one.
    @Test(arguments: [true, false]) func aToManyThatTwoChildrenFillIsTooLarge(_ isOneToMany: Bool) throws {
        let team = Company.entity("Team"), player = Company.entity("Player")
        Company.relate(team, "players", many: true, player, isOneToMany ? "team" : "teams", many: !isOneToMany)
        team.relationshipsByName["players"]?.maxCount = 2
        let stack = TestStack(NSManagedObjectModel(entities: [team, player]))
        let children = (0..<2).map { stack.child(of: stack.root, name: "child \($0)") }
        try holding(stack.root, children[0], children[1]) { () throws in
            let team = stack.root.make("Team").objectID, players = (0..<3).map { _ in stack.root.make("Player").objectID }
            try stack.root.save()
            func join(_ player: NSManagedObjectID, in context: NSManagedObjectContext) throws {
                if isOneToMany {
                    let row = try #require(try context.currentRows([player])[player]), slot = try #require(row.layout.slot(of: "team")),
                        changed = row.copy()
                    changed.update(slot, to: .objectID(team))
                    context.updateRow(player, to: changed, changed: SlotSet([slot]), base: row)
                } else {
                    let key = RelationshipKey(owner: team, toMany: 0), members = try context.members(of: key)
                    context.setMembers(of: key, from: members, to: members + [player])
                }
            }
            try join(players[0], in: children[0])
            try join(players[1], in: children[0])
            try join(players[2], in: children[1])
            try children[0].save()
            #expect(stack.root.registeredObjects.isEmpty)
            let error = #expect(throws: NSError.self) { try children[1].save() }
            #expect(error?.code == 1590 && error?.userInfo[NSValidationKeyErrorKey] as? String == "players")
            #expect((error?.userInfo[NSAffectedObjectsErrorKey] as? [Any])?.first as? NSManagedObjectID == team)
            children[1].rollback()
            try stack.root.save()
            #expect(try stack.root.members(of: RelationshipKey(owner: team, toMany: 0)).count == 2)
        }
    }
}
