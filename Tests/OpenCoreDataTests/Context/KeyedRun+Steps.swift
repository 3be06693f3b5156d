import Foundation
import OpenCoreData
import OpenCoreDataTestSupport

/// What contexts, and others beside them, do at random.
extension KeyedRun {
    func step(_ random: inout SeededRandom) throws {
        // Mostly workers.
        let worker = 2 + random.next(upTo: 3), isWorkers = random.next(upTo: 4) > 0, isMains = random.next(upTo: 5) > 0
        // What is done elsewhere than in workers is in no journal.
        let level = isWorkers || stack.world.isJournaled ? worker : isMains ? 1 : 0
        if level == 0 { hasRootActed = true }
        switch random.next(upTo: 24) {
        case 0...4: try save(level)
        case 5: try save(1)
        case 6: try save(0)
        case 7: try failToSave(random.next(upTo: 2))
        case 8, 9, 10, 11: makeThing(level, &random)
        case 12: makeOther(level, &random)
        case 13: try find(level)
        case 14, 15: setValue(level, &random)
        case 16: try foreigner(&random)
        case 17 where isWild, 18 where isWild: delete(level, &random)
        case 19 where isWild: random.next(upTo: 3) > 0 ? refresh(level, &random) : rollback(random.next(upTo: 3))
        default: try relate(level, &random)
        }
        stack.contexts[level].processPendingChanges()
        // What is changed counts as somebody who has its key.
        for object in stack.contexts[level].updatedObjects { if let number = number(of: object, at: level) { values.set(number, [:], at: level) } }
    }

    /// A few saved objects of every entity, known to every level: what all sequences start from where values are not compared.
    func populate() throws {
        for (place, name) in ["Thing", "Special", "Thing", "Shelf", "Shelf", "Spot", "Box", "Tag", "Tag", "Tag", "Tag", "Badge", "Badge"].enumerated()
        {
            let object = stack.root.make(name)
            for key in Keyed.keys[name == "Special" ? "Thing" : name] ?? [] { object.setValue("\(name) \(place)", forKey: key) }
            held[0].append((object, -place))
        }
        try stack.root.save()
        for level in 1..<stack.contexts.count where !(level == 1 && stack.world.isJournaled) { try find(level) }
        history = []
    }

    private func makeThing(_ level: Int, _ random: inout SeededRandom) {
        let number = number(), code = Keyed.codes[random.next(upTo: Keyed.codes.count)]
        let thing = stack.contexts[level].make(random.next(upTo: 4) == 0 && isWild ? "Special" : "Thing", ["code": code])
        var set: KeyedValues.Values = [:]
        for name in Keyed.numbers where random.next(upTo: 2) == 0 { set[name] = self.number() }
        for (name, value) in set { thing.setValue(value, forKey: name) }
        held[level].append((thing, number))
        values.make(number, key: "Thing \(code)", set, at: level)
        history.append("\(level): \(number) is a new \(code) with \(set.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })")
    }

    private func makeOther(_ level: Int, _ random: inout SeededRandom) {
        let number = number(), name = ["Spot", "Shelf", "Tag", "Box", "Badge", "Note"][random.next(upTo: 6)]
        let object = stack.contexts[level].make(name, ["a": number])
        let codes = ["k", "l"]
        for key in Keyed.keys[name] ?? [] { object.setValue(codes[random.next(upTo: 2)], forKey: key) }
        held[level].append((object, number))
        if let key = Keyed.key(object) { values.make(number, key: key, ["a": number], at: level) } else if name == "Box" { values.makeBox(number) }
        history.append("\(level): \(number) is a new \(Keyed.key(object) ?? name)")
    }

    /// Looks at all there is and holds it.
    func find(_ level: Int) throws {
        history.append("\(level): finds everything")
        for entity in Keyed.entities {
            for object in try stack.contexts[level].all(entity) where !held[level].contains(where: { $0.object === object }) {
                held[level].append((object, number(of: object, at: level) ?? 0))
            }
        }
    }

    /// The number of whoever made an object: found by the object, its ID or, after a crash, its key.
    private func number(of object: NSManagedObject, at level: Int) -> Int? {
        held[level].first { $0.object === object }?.number ?? held.joined().first { $0.object.objectID == object.objectID }?.number
            ?? Keyed.key(object).flatMap { values.number(storedAs: $0) } ?? (object.entity.name == "Box" ? object.value(forKey: "a") as? Int : nil)
    }

    private func living(_ level: Int, _ entity: String? = nil) -> [(object: NSManagedObject, number: Int)] {
        held[level].filter { object, _ in
            let name = object.entity.superentity?.name ?? object.entity.name
            return object.managedObjectContext != nil && !object.isDeleted && (entity == nil || name == entity)
        }
    }

    private func setValue(_ level: Int, _ random: inout SeededRandom) {
        let entity = random.next(upTo: 3) > 0 ? "Thing" : random.element(Keyed.entities) ?? "Thing"
        guard let (thing, number) = random.element(living(level, entity)), let name = random.element(Keyed.numbers(of: entity)) else { return }
        // The number in a box is what it is told by.
        if !isWild && entity == "Box" { return }
        let value = self.number()
        thing.setValue(value, forKey: name)
        if isWild && entity == "Thing" && random.next(upTo: 8) == 0 {
            let code = random.element(Keyed.codes)
            thing.setValue(code, forKey: "code")
            history.append("\(level): \(number) has the code \(code ?? "?") now")
        }
        values.set(number, [name: value], at: level)
        history.append("\(level): \(number) has \(name) = \(value) now")
    }

    private func relate(_ level: Int, _ random: inout SeededRandom) throws {
        guard let (thing, number) = random.element(living(level, "Thing")) else { return }
        switch random.next(upTo: 8) {
        case 0, 1:
            // Where values are compared nothing is done that changes another thing, too.
            let names = ["shelf": "Shelf", "spot": "Spot", "box": "Box"].merging(isWild ? ["badge": "Badge", "parent": "Thing"] : [:]) { $1 }
            let targets = names.sorted { $0.key < $1.key }
            let (name, entity) = targets[random.next(upTo: targets.count)]
            let target = random.next(upTo: 4) == 0 ? nil : random.element(living(level, entity))
            // What is the same already is not set.
            if thing.value(forKey: name) as? NSManagedObject !== target?.object { values.set(number, [name: target?.number ?? 0], at: level) }
            thing.setValue(target?.object, forKey: name)
            if name == "parent", let (other, _) = random.element(living(level, "Thing")) { other.setValue(target?.object, forKey: name) }
            history.append("\(level): \(number).\(name) is \(target.map { "\($0.number)" } ?? "nothing")")
        case 2, 3, 4:
            guard let (shelf, place) = random.element(living(level, "Shelf")) else { return }
            let order = shelf.mutableOrderedSetValue(forKey: "things")
            let isThere = order.contains(thing)
            // What is the case already, once other things have turned out to be this one, is not set.
            stack.contexts[level].processPendingChanges()
            if order.contains(thing) == isThere { values.set(number, ["shelf": isThere ? 0 : place], at: level) }
            if isThere { order.remove(thing) } else { order.insert(thing, at: random.next(upTo: order.count + 1)) }
            history.append("\(level): the order of shelf \(place) gets or loses \(number)")
        case 5:
            guard let (shelf, place) = random.element(living(level, "Shelf")) else { return }
            let things = (shelf.value(forKey: "things") as? NSOrderedSet)?.array ?? []
            shelf.setValue(Array(things.reversed()).compactMap { $0 as? NSManagedObject }, forKey: "things")
            history.append("\(level): the order of shelf \(place) is turned round")
        default:
            guard let (tag, place) = random.element(living(level, "Tag")) else { return }
            let tags = thing.mutableOrderedSetValue(forKey: "tags")
            let isThere = tags.contains(tag)
            if !isWild && !isThere && tags.count == Keyed.counts["tags"]?.upperBound { return }
            stack.contexts[level].processPendingChanges()
            if tags.contains(tag) == isThere { values.tag(number, with: place, !isThere, at: level) }
            if isThere { tags.remove(tag) } else { tags.insert(tag, at: 0) }
            history.append("\(level): \(number) gets or loses tag \(place)")
        }
    }

    private func delete(_ level: Int, _ random: inout SeededRandom) {
        guard let (object, number) = random.element(living(level)) else { return }
        history.append("\(level): deletes \(number)")
        stack.contexts[level].delete(object)
    }

    private func refresh(_ level: Int, _ random: inout SeededRandom) {
        guard let (object, number) = random.element(living(level)), !object.isInserted else { return }
        history.append("\(level): refreshes \(number)")
        stack.contexts[level].refresh(object, mergeChanges: random.next(upTo: 2) == 0)
    }

    func rollback(_ level: Int) {
        history.append("rollback \(level)")
        if level == 0 { hasRootActed = true }
        at(level) { $0.rollback() }
    }

    /// Another context writes an object of a key that the store does not have.
    private func foreigner(_ random: inout SeededRandom) throws {
        let code = Keyed.codes[random.next(upTo: Keyed.codes.count)], number = number()
        if !isWild && values.number(storedAs: "Thing \(code)") != nil { return }
        let other = stack.independent()
        let written = other.performAndWait { () -> KeyedTransition.Name? in
            let thing = other.make("Thing", ["code": code, "a": number])
            return (try? other.save()).map { KeyedTransition.Name(thing.objectID) }
        }
        let isSaved = written != nil
        if let written { foreign.insert(written) }
        history.append("somebody else writes \(number), a \(code)\(isSaved ? "" : ", and is refused")")
        if isSaved { values.store(number, key: "Thing \(code)", ["a": number]) }
    }
}
