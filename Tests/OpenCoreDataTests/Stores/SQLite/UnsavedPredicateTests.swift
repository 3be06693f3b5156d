import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import TestTraits
import Testing

/// A store, and a context in which much of it is changed, deleted and new.
private final class UnsavedWorld {
    let stack: SQLiteStack
    private(set) var owners: [NSManagedObject] = [], pets: [NSManagedObject] = []
    private let stored = NSManagedObjectContext(.privateQueueConcurrencyType)
    private var tags: [NSManagedObject] = []
    private var numbers: SeededNumbers

    init(seed: UInt64) throws {
        stack = try SQLiteStack(StorePredicateTests.model())
        numbers = SeededNumbers(seed: seed)
        let context = stack.root
        stored.persistentStoreCoordinator = stack.coordinator
        try context.performAndWait { () throws in
            tags = (0..<12).map { _ in context.make("Tag", ["word": text() ?? NSNull()]) }
            for _ in 0..<26 { owners.append(change(context.make("Owner"))) }
            for _ in 0..<40 { pets.append(change(context.make("Pet"))) }
            relate()
            try context.save()
            for object in owners + pets where numbers.chance(40) { change(object) }
            for _ in 0..<5 { context.delete(owners.remove(at: Int.random(in: 0..<owners.count, using: &numbers))) }
            for _ in 0..<7 { delete(pets.remove(at: Int.random(in: 0..<pets.count, using: &numbers))) }
            for _ in 0..<9 { owners.append(change(context.make("Owner"))) }
            for _ in 0..<12 { pets.append(change(context.make("Pet"))) }
            relate()
            // Now the delete rules have been followed.
            context.processPendingChanges()
        }
    }

    /// Of which it holds: of what is changed as it is, of anything else as it is stored, with whatever is reached from it.
    func expected(_ predicate: PredicateNode) throws -> Set<NSManagedObjectID> {
        var found: Set<NSManagedObjectID> = []
        for owner in owners {
            let isTrue =
                try owner.hasChanges
                ? predicate.evaluate(owner) : stored.performAndWait { try predicate.evaluate(stored.object(with: owner.objectID)) }
            if isTrue { found.insert(owner.objectID) }
        }
        return found
    }

    /// Deletes a pet that nobody has seen any more: no rule speaks of a relationship without an inverse.
    private func delete(_ pet: NSManagedObject) {
        for owner in owners {
            guard let seen = owner.value(forKey: "seen") as? Set<NSManagedObject>, seen.contains(pet) else { continue }
            owner.setValue(seen.subtracting([pet]), forKey: "seen")
        }
        stack.root.delete(pet)
    }

    @discardableResult
    private func change(_ object: NSManagedObject) -> NSManagedObject {
        for (name, property) in object.entity.attributesByName.sorted(by: { $0.key < $1.key }) {
            object.setValue(numbers.chance(15) ? nil : value(property.attributeType), forKey: name)
        }
        return object
    }

    private func text() -> String? { numbers.chance(15) ? nil : numbers.pick(RandomStorePredicates.strings) }

    private func value(_ type: NSAttributeType) -> Any? {
        switch type {
        case .integer32AttributeType: Int.random(in: -3...5, using: &numbers)
        case .doubleAttributeType: Double(Int.random(in: -8...12, using: &numbers)) / 4
        case .booleanAttributeType: numbers.chance(50)
        case .decimalAttributeType: Decimal(string: numbers.pick(RandomStorePredicates.decimals))
        case .dateAttributeType: Date(timeIntervalSinceReferenceDate: numbers.pick(RandomStorePredicates.dates))
        case .UUIDAttributeType: StorePredicateTests.uuid(Int.random(in: 0..<6, using: &numbers))
        case .binaryDataAttributeType: Data(numbers.pick([[], [0], [0, 1], [255]]))
        default: text()
        }
    }

    private func relate() {
        for owner in owners {
            if numbers.chance(60) { owner.setValue(numbers.chance(80) ? numbers.pick(owners) : nil, forKey: "boss") }
            if numbers.chance(50) { owner.setValue(Set(pets.filter { _ in numbers.chance(4) }), forKey: "seen") }
        }
        for pet in pets {
            if numbers.chance(60) { pet.setValue(numbers.chance(85) ? numbers.pick(Array(owners.prefix(20))) : nil, forKey: "owner") }
            if numbers.chance(50) { pet.setValue(Set(tags.filter { _ in numbers.chance(15) }), forKey: "tags") }
        }
    }
}

/// The same predicate finds in a store and over it, in unsaved changes, what it holds of in memory.
struct UnsavedPredicateTests {
    // Q13
    @Test(.longComputation, arguments: 1...12 as ClosedRange<UInt64>)
    func aContextWithUnsavedChangesFindsWhatMemoryFinds(seed: UInt64) throws { try Self.check(seed, predicates: 700) }

    fileprivate static func check(_ seed: UInt64, predicates count: Int) throws {
        let world = try UnsavedWorld(seed: seed), context = world.stack.root
        try context.performAndWait { () throws in
            var random = RandomStorePredicates(
                numbers: SeededNumbers(seed: seed &* 104_729), owners: world.owners.map(\.objectID), pets: world.pets.map(\.objectID))
            let request = NSFetchRequest<NSManagedObjectID>(entityName: "Owner")
            request.resultType = .managedObjectIDResultType
            let entity = try #require(world.stack.coordinator.managedObjectModel.entitiesByName["Owner"])
            var refusals = 0, misfits = 0, matches = 0
            for _ in 0..<count {
                let predicate = random.predicate()
                request.predicate = NSPredicate.make(predicate)
                do {
                    // Constants as a fetch takes them: a number compared with a text is one.
                    let expected = try world.expected(predicate.fitted(to: entity))
                    let found = try context.fetch(request)
                    #expect(found.count == expected.count && Set(found) == expected, "\(predicate.canonicalFormat)")
                    matches += found.isEmpty || found.count == world.owners.count ? 0 : 1
                } catch let error as NSError where error.localizedDescription.contains("can't translate") {
                    refusals += 1
                } catch let error as NSError where error.localizedDescription.contains("does not fit") {
                    misfits += 1
                }
            }
            #expect(refusals < count / 20 && misfits < count / 2 && matches > count / 10, "\(refusals) \(misfits) \(matches)")
        }
    }
}

/// The same, with many more predicates: `make stress`.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["CISTERN_STRESS"] == "1", "runs under make stress"))
struct UnsavedPredicateStress {
    @Test(arguments: 101...112 as ClosedRange<UInt64>)
    func aContextFindsWhatMemoryFindsOfFiftyThousandPredicates(seed: UInt64) throws { try UnsavedPredicateTests.check(seed, predicates: 4_200) }
}
