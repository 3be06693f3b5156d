import OpenCoreData
import OpenCoreDataTestSupport
import Synchronization
import Testing

/// What a program is told of its mistakes, and what it goes on with. In processes of their own: who handles misuses does so for the whole process.
@Suite struct CoreDataMisuseTests {
    private static func handling(_ body: (TestStack) throws -> Void) throws -> [CoreDataMisuse] {
        let seen = Told()
        CoreDataMisuse.handle { seen.add($0) }
        defer { CoreDataMisuse.handle(with: nil) }
        let stack = TestStack()
        try stack.root.performAndWait { try body(stack) }
        return seen.all
    }

    @Test func withAHandlerAnUnknownKeyReadsNothingAndSetsNothing() async {
        await #expect(processExitsWith: .success) {
            let told = try Self.handling { stack in
                let ada = stack.root.make("Person", ["name": "Ada"])
                #expect(ada.value(forKey: "shoe") == nil && ada.primitiveValue(forKey: "shoe") == nil)
                ada.setValue(1, forKey: "shoe")
                ada.setPrimitiveValue(1, forKey: "shoe")
                #expect(ada.value(forKeyPath: "..") == nil && ada.value(forKeyPath: "name.@sum") == nil)
                ada.setValue(1, forKeyPath: "a..b")
                #expect(ada.value(forKey: "name") as? String == "Ada")
                try stack.root.save()
            }
            #expect(
                told.map(\.kind) == [.unknownKey, .unknownKey, .unknownKey, .unknownKey, .malformedKeyPath, .malformedKeyPath, .malformedKeyPath])
            #expect(told.allSatisfy { $0.isSurvivable && !$0.message.isEmpty })
        }
    }

    @Test func withAHandlerAValueOfTheWrongTypeLeavesTheOldOne() async {
        await #expect(processExitsWith: .success) {
            let told = try Self.handling { stack in
                let ada = stack.root.make("Person", ["name": "Ada", "age": 36]), looms = stack.root.make("Department")
                ada.setValue(looms, forKey: "department")
                ada.setValue("old", forKey: "age")
                ada.setValue(1e30, forKey: "age")
                ada.setPrimitiveValue("old", forKey: "age")
                ada.setValue("Looms", forKey: "department")
                looms.setValue("everybody", forKey: "employees")
                #expect(ada.value(forKey: "age") as? Int == 36 && ada.value(forKey: "department") as? NSManagedObject == looms)
                #expect((looms.value(forKey: "employees") as? Set<NSManagedObject>) == [ada])
            }
            #expect(told.map(\.kind) == Array(repeating: .wrongType, count: 5))
        }
    }

    @Test func withAHandlerObjectsOfTwoContextsAreNotRelated() async {
        await #expect(processExitsWith: .success) {
            let told = try Self.handling { stack in
                let other = stack.child(of: stack.root)
                let ada = stack.root.make("Person"), looms = stack.root.make("Department")
                other.performAndWait {
                    let mills = other.make("Department"), bob = other.make("Person")
                    ada.setValue(mills, forKey: "department")
                    ada.setValue(looms, forKey: "department")
                    ada.setValue(mills, forKey: "department")
                    looms.mutableSetValue(forKey: "employees").add(bob)
                    stack.root.delete(mills)
                    stack.root.insert(bob)
                    #expect(mills.managedObjectContext === other && !mills.isDeleted && bob.managedObjectContext === other)
                }
                #expect(ada.value(forKey: "department") as? NSManagedObject == looms)
                #expect((looms.value(forKey: "employees") as? Set<NSManagedObject>) == [ada])
            }
            #expect(told.map(\.kind) == Array(repeating: .otherContext, count: 5))
        }
    }

    @Test func withAHandlerOneForeignMemberLeavesTheOthersAsTheyWere() async {
        await #expect(processExitsWith: .success) {
            let told = try Self.handling { stack in
                let other = stack.child(of: stack.root)
                let ada = stack.root.make("Person"), bob = stack.root.make("Person"), looms = stack.root.make("Department")
                looms.setValue(Set([bob]), forKey: "employees")
                let list = stack.root.make("Playlist"), track = stack.root.make("Track")
                list.setValue(NSOrderedSet(object: track), forKey: "tracks")
                other.performAndWait {
                    looms.setValue(Set([ada, other.make("Person")]), forKey: "employees")
                    list.mutableOrderedSetValue(forKey: "tracks").replaceObject(at: 0, with: other.make("Track"))
                }
                #expect((looms.value(forKey: "employees") as? Set<NSManagedObject>) == [bob] && ada.value(forKey: "department") == nil)
                #expect((list.value(forKey: "tracks") as? NSOrderedSet)?.array as? [NSManagedObject] == [track])
            }
            #expect(told.map(\.kind) == Array(repeating: .otherContext, count: 2))
        }
    }

    @Test func withAHandlerAFetchThatMakesNoSenseThrows() async {
        await #expect(processExitsWith: .success) {
            let told = try Self.handling { stack in
                func refuses(_ change: (NSFetchRequest<NSDictionary>) -> Void) {
                    let request = NSFetchRequest<NSDictionary>(entityName: "Person")
                    request.resultType = .dictionaryResultType
                    change(request)
                    let error = #expect(throws: (any Error).self) { try stack.root.fetch(request) } as NSError?
                    #expect(error?.code == 134060)
                }
                refuses { $0.propertiesToFetch = ["shoe"] }
                refuses { $0.propertiesToFetch = ["skills"] }
                refuses { $0.propertiesToFetch = [7] }
                refuses {
                    $0.resultType = .managedObjectResultType
                    $0.relationshipKeyPathsForPrefetching = ["shoes"]
                }
                refuses { $0.predicate = NSPredicate(format: "name ==") }
                refuses { $0.predicate = NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate(format: "AND")) }
                #expect(!NSPredicate(format: "name ==").evaluate(with: stack.root.make("Person")))
                #expect(NSExpression(format: "1 +").expressionValue(with: nil, context: nil) == nil)
                // An entity that the model lacks is no matter of the handler's.
                #expect(throws: (any Error).self) { try stack.root.fetch(NSFetchRequest<NSManagedObject>(entityName: "Shoe")) }
            }
            #expect(told.count == 10 && told.prefix(4).map(\.kind) == [.unknownKey, .wrongType, .wrongType, .unknownKey])
            #expect(told.dropFirst(4).allSatisfy { $0.kind == .malformedPredicate })
        }
    }

    @Test func validatingAnUnknownKeyThrows() async {
        await #expect(processExitsWith: .success) {
            let told = try Self.handling { stack in
                let ada = stack.root.make("Person")
                var value: AnyObject? = nil
                let error = #expect(throws: (any Error).self) { try ada.validateValue(&value, forKey: "shoe") } as NSError?
                #expect(error?.code == 1550)
            }
            #expect(told.map(\.kind) == [.unknownKey])
        }
    }

    @Test func whatNobodyCanGoOnFromIsToldBeforeTheProgramStops() async {
        await #expect(processExitsWith: .exitCode(7)) {
            CoreDataMisuse.handle { if $0.kind == .unknownEntity && !$0.isSurvivable { exit(7) } }
            let stack = TestStack()
            stack.root.performAndWait { _ = stack.root.make("Shoe") }
        }
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            CoreDataMisuse.handle { _ in }
            let stack = TestStack()
            stack.root.performAndWait { _ = stack.root.make("Shoe") }
        }.trap(says: "no entity named \"Shoe\"")
    }

    @Test func withoutAHandlerAnUnknownKeyStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            stack.root.performAndWait { stack.root.make("Person").setValue(1, forKey: "shoe") }
        }.trap(says: "not key value coding-compliant for the key \"shoe\"")
    }
}

private final class Told: Sendable {
    private let seen = Mutex<[CoreDataMisuse]>([])
    func add(_ misuse: CoreDataMisuse) { seen.withLock { $0.append(misuse) } }
    var all: [CoreDataMisuse] { seen.withLock { $0 } }
}
