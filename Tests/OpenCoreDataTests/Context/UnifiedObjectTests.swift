import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// New objects whose unique key another object has: they become one, and nothing that was set is lost.
@Suite struct UnifiedObjectTests {
    private func upserting() -> (TestStack, main: NSManagedObjectContext, workers: [NSManagedObjectContext]) {
        let stack = TestStack()
        stack.root.mergePolicy = .mergeByPropertyObjectTrump
        let main = stack.child(of: stack.root, name: "main")
        return (stack, main, (0..<2).map { stack.child(of: main, name: "worker \($0)") })
    }

    // P13, N24
    @Test func whatWasSetReachesTheStoredRowThroughEveryLevel() throws {
        let (stack, main, workers) = upserting()
        try holding(stack.root, main, workers[0], workers[1]) { () throws in
            let stored = stack.root.make("Item", ["key": "k", "a": 1, "b": 1, "c": 1])
            try stack.root.save()
            stack.coordinator.rowCache.removeAll()
            workers[0].make("Item", ["key": "k", "a": 2])
            try workers[0].save()
            workers[1].make("Item", ["key": "k", "b": 3])
            try workers[1].save()
            #expect(main.insertedObjects.count == 1)
            try main.save()
            try stack.root.save()
            #expect(stack.store.rowCount == 1)
            let row = try stack.store.rows(for: [stored.objectID])[stored.objectID]
            #expect(row?["a"] == .int64(2) && row?["b"] == .int64(3) && row?["c"] == .int64(1))
        }
    }

    // P11: the first stays, and takes what it has not.
    @Test func newObjectsOfOneSaveWithOneKeyAreOneAlready() throws {
        let (stack, main, workers) = upserting()
        try holding(stack.root, main, workers[0]) { () throws in
            let first = workers[0].make("Item", ["key": "k", "a": 1]), second = workers[0].make("Item", ["key": "k", "a": 2, "b": 2])
            try workers[0].save()
            #expect(try main.all("Item").map { $0.value(forKey: "b") as? Int } == [2])
            #expect(first.value(forKey: "a") as? Int == 1 && first.value(forKey: "b") as? Int == 2)
            #expect(try workers[0].all("Item") == [first] && second.managedObjectContext == nil)
        }
    }

    // N24, L11
    @Test func aWorkerThatGoesOnAfterItsSaveGoesOnWithTheObjectThatHasTheKey() throws {
        let (stack, main, workers) = upserting()
        try holding(stack.root, main, workers[0], workers[1]) { () throws in
            let owner = workers[0].make("Item", ["key": "k", "a": 1])
            try workers[0].save()
            let item = workers[1].make("Item", ["key": "k", "b": 2]), kept = item.objectID
            try workers[1].save()
            #expect(item.objectID == owner.objectID && item.value(forKey: "a") as? Int == 1)
            item.setValue(3, forKey: "c")
            try workers[1].save()
            #expect(try main.all("Item").count == 1)
            try main.save()
            try stack.root.save()
            #expect(try stack.stored("Item", "c") == [3] && stack.stored("Item", "b") == [2])
            // N9: the ID that was kept from before leads there.
            #expect(main.object(with: kept).objectID == owner.objectID)
            #expect(try workers[0].existingObject(with: kept) === owner && kept.uriRepresentation() == owner.objectID.uriRepresentation())
        }
    }

    // N24: a worker that holds an instance of each.
    @Test(arguments: [false, true])
    func whatIsDoneToAnInstanceThatGaveWayIsDoneToTheOneThatStays(isFault: Bool) throws {
        let (stack, main, workers) = upserting()
        let other = stack.independent()
        try holding(stack.root, main, workers[0], other) { () throws in
            let item = workers[0].make("Item", ["key": "k", "a": 1])
            try workers[0].save()
            try main.save()
            let stored = other.make("Item", ["key": "k", "b": 5])
            try other.save()
            let staying = try #require(try workers[0].existingObject(with: stored.objectID) as NSManagedObject?)
            if isFault { workers[0].refresh(item, mergeChanges: false) }
            try stack.root.save()
            item.setValue(7, forKey: "c")
            #expect(item.value(forKey: "c") as? Int == 7)
            workers[0].processPendingChanges()
            #expect(staying.value(forKey: "c") as? Int == 7 && staying.hasChanges && item.value(forKey: "b") as? Int == 5)
            item.setValue(8, forKey: "b")
            #expect(staying.changedValues()["b"] as? Int == 8)
            try workers[0].save()
            try main.save()
            try stack.root.save()
            let row = try stack.store.rows(for: [stored.objectID])[stored.objectID]
            #expect(row?["a"] == .int64(1) && row?["b"] == .int64(8) && row?["c"] == .int64(7))
        }
    }

    // N24: one edit was made before it was known, one after.
    @Test func whatWasSetOnEitherOfTwoThatAreOneIsKept() throws {
        let (stack, main, workers) = upserting()
        let other = stack.independent()
        try holding(stack.root, main, workers[0], other) { () throws in
            let item = workers[0].make("Item", ["key": "k", "a": 1])
            try workers[0].save()
            try main.save()
            let stored = other.make("Item", ["key": "k", "b": 5])
            try other.save()
            let staying = try #require(try workers[0].existingObject(with: stored.objectID) as NSManagedObject?)
            item.setValue(7, forKey: "c")
            workers[0].processPendingChanges()
            try stack.root.save()
            staying.setValue(9, forKey: "b")
            workers[0].processPendingChanges()
            #expect(staying.value(forKey: "c") as? Int == 7)
            try workers[0].save()
            try main.save()
            try stack.root.save()
            let row = try stack.store.rows(for: [stored.objectID])[stored.objectID]
            #expect(row?["a"] == .int64(1) && row?["b"] == .int64(9) && row?["c"] == .int64(7))
        }
    }

    // N24
    @Test(arguments: [1, 2]) func whatATwinWasRelatedToFindsTheOwner(_ count: Int) throws {
        let stack = try KeyedStack(Keyed.model(), policy: .mergeByPropertyStoreTrump, world: .memory)
        let worker = stack.contexts[2], reader = stack.reader(of: 1)
        try holding(stack.root, stack.main, worker, reader) { () throws in
            let owner = stack.root.make("Thing", ["code": "r", "b": 2])
            stack.root.processPendingChanges()
            let twins = (0..<count).map { _ in worker.make("Thing", ["code": "r"]) }, tag = worker.make("Tag", ["code": "l"])
            twins.last?.mutableOrderedSetValue(forKey: "tags").add(tag)
            try worker.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            request.predicate = NSPredicate(format: "ANY tags == %@", tag)
            #expect(try reader.fetch(request).map(\.objectID) == [owner.objectID])
        }
    }

    // P11, P13: the key of a stored object is its own, whatever else of it is saved beside the one that is given it, too.
    @Test(arguments: [KeyedStack.World.memory, .file])
    func whoHasAKeyKeepsItWhereAnotherStoredObjectIsGivenIt(_ world: KeyedStack.World) throws {
        for policy in [NSMergePolicy.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump] {
            let stack = try KeyedStack(Keyed.model(), policy: policy, world: world), root = stack.root
            try root.performAndWait { () throws in
                let other = root.make("Thing", ["code": "old"]), owner = root.make("Thing", ["code": "q"])
                let badge = root.make("Badge", ["thing": other])
                try root.save()
                other.setValue("q", forKey: "code")
                other.setValue(3, forKey: "c")
                owner.setValue("p", forKey: "code")
                owner.setValue("q", forKey: "code")
                owner.setValue(badge, forKey: "badge")
                try root.save()
                #expect(owner.value(forKey: "code") as? String == "q" && other.value(forKey: "code") as? String == "old")
                #expect(owner.value(forKey: "badge") as? NSManagedObject == badge && other.value(forKey: "badge") == nil)
                #expect(owner.value(forKey: "c") as? Int == (policy === NSMergePolicy.mergeByPropertyObjectTrump ? 3 : 0))
            }
        }
    }

    // N24, P13: an object of a subentity turns out to be one of its superentity, whose row nobody has in memory.
    @Test func whatIsUnsavedOfASubentitysObjectGoesToTheObjectOfItsSuperentity() throws {
        let stack = TestStack(Keyed.model()), main = stack.child(of: stack.root), reader = stack.child(of: main), other = stack.independent()
        stack.root.mergePolicy = .mergeByPropertyStoreTrump
        try holding(stack.root, main, reader, other) { () throws in
            let special = main.make("Special", ["code": "s"]), tag = main.make("Tag", ["code": "l"])
            try main.save()
            special.mutableOrderedSetValue(forKey: "tags").add(tag)
            special.setValue(7, forKey: "c")
            main.processPendingChanges()
            let stored = other.make("Thing", ["code": "s", "a": 1])
            try other.save()
            try stack.root.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            request.predicate = NSPredicate(format: "ANY tags == %@", tag)
            #expect(try reader.fetch(request).map(\.objectID) == [stored.objectID])
            try main.save()
            try stack.root.save()
            let row = try stack.store.rows(for: [stored.objectID])[stored.objectID]
            #expect(row?["a"] == .int64(1) && row?["c"] == .int64(7))
            #expect(try reader.fetch(request).map(\.objectID) == [stored.objectID])
        }
    }

    // N24, R2: whoever edits a to-many does not take out who is in it by another name.
    @Test func twoMembersThatAreOneStayAMember() throws {
        let stack = TestStack(Keyed.model()), main = stack.child(of: stack.root), worker = stack.child(of: main), other = stack.independent()
        stack.root.mergePolicy = .mergeByPropertyObjectTrump
        try holding(stack.root, main, worker, other) { () throws in
            let shelf = main.make("Shelf", ["code": "l"]), twin = main.make("Thing", ["code": "p"]), more = main.make("Thing", ["code": "q"])
            try main.save()
            let stored = other.make("Thing", ["code": "p", "a": 1])
            try other.save()
            twin.setValue(shelf, forKey: "shelf")
            main.processPendingChanges()
            let order = worker.object(with: shelf.objectID).mutableOrderedSetValue(forKey: "things")
            order.add(worker.object(with: stored.objectID))
            try stack.root.save()
            order.add(worker.object(with: more.objectID))
            try worker.save()
            try main.save()
            try stack.root.save()
            let rows = try stack.store.rows(for: [stored.objectID, more.objectID])
            #expect(rows[stored.objectID]?["shelf"] == .objectID(shelf.objectID) && rows[more.objectID]?["shelf"] == .objectID(shelf.objectID))
        }
    }

    // N24, P13: the root finds it at its save, when the worker has long gone on.
    @Test func whatTheRootUnifiesAllLevelsFollow() throws {
        let (stack, main, workers) = upserting()
        let other = stack.independent()
        try holding(stack.root, main, workers[0], other) { () throws in
            let item = workers[0].make("Item", ["key": "k", "a": 1])
            try workers[0].save()
            let inMain = main.object(with: item.objectID)
            try main.save()
            let stored = other.make("Item", ["key": "k", "b": 5])
            try other.save()
            item.setValue(7, forKey: "c")
            try stack.root.save()
            try workers[0].save()
            try main.save()
            try stack.root.save()
            #expect(item.objectID == stored.objectID && inMain.objectID == stored.objectID)
            #expect(stack.store.rowCount == 1)
            let row = try stack.store.rows(for: [stored.objectID])[stored.objectID]
            #expect(row?["a"] == .int64(1) && row?["b"] == .int64(5) && row?["c"] == .int64(7))
        }
    }

    // P13: an object that others know keeps its identity; what was changed of it goes to the owner of the key.
    @Test func aStoredObjectThatIsGivenTheKeyOfAnotherKeepsItsOwn() throws {
        let (stack, main, workers) = upserting()
        try holding(stack.root, main, workers[0], workers[1]) { () throws in
            let stored = workers[0].make("Item", ["key": "old", "a": 1])
            try workers[0].save()
            try main.save()
            try stack.root.save()
            workers[1].make("Item", ["key": "new", "b": 2])
            try workers[1].save()
            stored.setValue("new", forKey: "key")
            stored.setValue(3, forKey: "c")
            try workers[0].save()
            #expect(stored.value(forKey: "key") as? String == "old" && !stored.hasChanges)
            try main.save()
            try stack.root.save()
            #expect(try Set(stack.stored("Item", "key")) == ["old", "new"] && Set(stack.stored("Item", "c")) == [0, 3])
        }
    }

    // P17, P13: the row was deleted, and its key given to another one.
    @Test func aRowThatIsMadeAgainBringsWhatWasChangedToTheNewOwnerOfItsKey() throws {
        let stack = TestStack(), other = stack.independent()
        stack.root.mergePolicy = .mergeByPropertyObjectTrump
        try holding(stack.root, other) { () throws in
            let item = stack.root.make("Item", ["key": "k", "a": 1, "b": 1])
            try stack.root.save()
            other.delete(other.object(with: item.objectID))
            try other.save()
            let owner = other.make("Item", ["key": "k", "b": 5, "c": 6])
            try other.save()
            item.setValue(7, forKey: "a")
            try stack.root.save()
            let row = try stack.store.rows(for: [owner.objectID])[owner.objectID]
            #expect(stack.store.rowCount == 1 && row?["a"] == .int64(7) && row?["b"] == .int64(5) && row?["c"] == .int64(6))
        }
    }

    // N35, N23: what the parent threw away is not changed behind its back.
    @Test func anEditOfWhatTheParentThrewAwayIsRefusedAtOnce() throws {
        for policy in [NSMergePolicy.error, .mergeByPropertyObjectTrump, .rollback] {
            let stack = TestStack(), child = stack.child(of: stack.root)
            stack.root.mergePolicy = policy
            try holding(stack.root, child) { () throws in
                let item = child.make("Item", ["key": "k", "a": 1])
                try child.save()
                stack.root.rollback()
                item.setValue(2, forKey: "b")
                if policy === NSMergePolicy.error {
                    let error = #expect(throws: NSError.self) { try child.save() }
                    #expect(error?.code == 133020 && child.hasChanges)
                    return
                }
                try child.save()
                try stack.root.save()
                #expect(stack.store.rowCount == (policy === NSMergePolicy.rollback ? 0 : 1))
            }
        }
    }

    // L13: of to-manys, too.
    @Test func refreshingWithoutMergingDropsChangesOfToManys() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let ada = stack.root.make("Person"), skill = stack.root.make("Skill"), list = stack.root.make("Playlist")
            let tracks = [stack.root.make("Track"), stack.root.make("Track")]
            list.setValue(tracks, forKey: "tracks")
            try stack.root.save()
            ada.setValue(Set([skill]), forKey: "skills")
            list.setValue([tracks[1], tracks[0]], forKey: "tracks")
            stack.root.refresh(ada, mergeChanges: false)
            stack.root.refresh(list, mergeChanges: false)
            #expect((ada.value(forKey: "skills") as? Set<NSManagedObject>)?.isEmpty == true)
            #expect((skill.value(forKey: "people") as? Set<NSManagedObject>)?.isEmpty == true)
            #expect((list.value(forKey: "tracks") as? NSOrderedSet)?.array as? [NSManagedObject] == tracks)
        }
    }

    // R8, N20: of rows without an instance, too.
    @Test(arguments: [true, false])
    func membersAreCountedWhereWorkersTakeThem(_ usesInstances: Bool) throws {
        let team = Company.entity("Team"), player = Company.entity("Player")
        Company.relate(team, "players", many: true, player, "team", many: false)
        team.relationshipsByName["players"]?.minCount = 2
        let stack = TestStack(NSManagedObjectModel(entities: [team, player]))
        let main = stack.child(of: stack.root), workers = [stack.child(of: main), stack.child(of: main)]
        try holding(stack.root, main, workers[0], workers[1]) { () throws in
            let team = stack.root.make("Team"), players = (0..<3).map { _ in stack.root.make("Player", ["team": team]) }
            try stack.root.save()
            func take(_ player: NSManagedObject, in worker: NSManagedObjectContext) throws {
                if usesInstances { return worker.object(with: player.objectID).setValue(nil, forKey: "team") }
                let row = try #require(try worker.currentRows([player.objectID])[player.objectID]), slot = try #require(row.layout.slot(of: "team"))
                let changed = row.copy()
                changed.update(slot, to: .null)
                worker.updateRow(player.objectID, to: changed, changed: SlotSet([slot]), base: row)
            }
            for (worker, player) in zip(workers, players) { try take(player, in: worker) }
            try workers[0].save()
            let error = #expect(throws: NSError.self) { try workers[1].save() }
            #expect(error?.code == 1580 && workers[1].hasChanges)
            try main.save()
        }
    }

    // P13: what the owner of the key lets go of for what came over shows it.
    @Test func whoIsLetGoOfForAPartnerThatCameOverKnows() throws {
        let stack = TestStack(Keyed.model()), other = stack.independent()
        stack.root.mergePolicy = .mergeByPropertyObjectTrump
        try holding(stack.root, other) { () throws in
            let owner = other.make("Thing", ["code": "k", "badge": other.make("Badge")])
            try other.save()
            let before = try #require(try stack.root.all("Badge").first)
            #expect((before.value(forKey: "thing") as? NSManagedObject)?.objectID == owner.objectID)
            before.setValue(7, forKey: "a")
            let badge = stack.root.make("Badge")
            stack.root.make("Thing", ["code": "k", "badge": badge])
            try stack.root.save()
            #expect(before.value(forKey: "thing") == nil)
            #expect((badge.value(forKey: "thing") as? NSManagedObject)?.objectID == owner.objectID)
            #expect(try stack.store.rows(for: [before.objectID])[before.objectID]?["thing"] == .null)
            #expect(!stack.root.hasChanges)
        }
    }

    // P13: the owner shows what is stored, also where the twin brings nothing over.
    @Test func theOwnerOfTheKeyIsReadAgainWhereItsValuesStay() throws {
        let stack = TestStack(), other = stack.independent()
        stack.root.mergePolicy = .mergeByPropertyStoreTrump
        try holding(stack.root, other) { () throws in
            let owner = stack.root.make("Item", ["key": "k", "a": 1, "b": 1, "c": 1])
            try stack.root.save()
            other.object(with: owner.objectID).setValue(9, forKey: "a")
            try other.save()
            #expect(owner.value(forKey: "a") as? Int == 1)
            stack.root.make("Item", ["key": "k", "a": 5, "b": 5, "c": 5])
            try stack.root.save()
            #expect(owner.value(forKey: "a") as? Int == 9 && stack.store.rowCount == 1)
        }
    }

    // P13: of several keys that one object meets, that of the first constraint says which one it is.
    @Test func theFirstConstraintDecidesWhichOneANewObjectIs() throws {
        let city = Company.entity("City")
        city.properties = [Company.attribute("code", .string), Company.attribute("number", .integer64), Company.attribute("name", .string)]
        city.uniquenessConstraints = [["code"], ["number"]]
        let sight = Company.entity("Sight")
        Company.relate(city, "sights", many: true, sight, "city", many: false)
        let stack = TestStack(NSManagedObjectModel(entities: [city, sight])), other = stack.independent()
        stack.root.mergePolicy = .mergeByPropertyStoreTrump
        try holding(stack.root, other) { () throws in
            let byCode = other.make("City", ["code": "a", "number": 1]), byNumber = other.make("City", ["code": "b", "number": 2])
            try other.save()
            let sight = stack.root.make("Sight", ["city": stack.root.make("City", ["code": "a", "number": 2])])
            try stack.root.save()
            #expect((sight.value(forKey: "city") as? NSManagedObject)?.objectID == byCode.objectID)
            #expect(try Set(stack.stored("City", "number")) == [1, 2] && !byNumber.isDeleted)
        }
    }

    // P13: also where it is a stored object that is given the key.
    @Test func theOwnerOfAKeyThatAStoredObjectIsGivenIsReadAgain() throws {
        let stack = TestStack(), other = stack.independent()
        stack.root.mergePolicy = .mergeByPropertyStoreTrump
        try holding(stack.root, other) { () throws in
            let owner = stack.root.make("Item", ["key": "k", "a": 1]), item = stack.root.make("Item", ["key": "l", "a": 2])
            try stack.root.save()
            other.object(with: owner.objectID).setValue(9, forKey: "a")
            try other.save()
            #expect(owner.value(forKey: "a") as? Int == 1)
            item.setValue("k", forKey: "key")
            try stack.root.save()
            #expect(owner.value(forKey: "a") as? Int == 9 && item.value(forKey: "key") as? String == "l")
        }
    }
}
