import CoreData
import Testing

/// Counts how often results have changed.
private final class Counting: NSObject, NSFetchedResultsControllerDelegate {
    private(set) var calls = 0

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) { calls += 1 }
}

/// Keeps what it is given under keys of its own.
final class Answering: NSManagedObject {
    private var others: [String: Any] = [:]

    override func value(forUndefinedKey key: String) -> Any? { others[key] }
    override func setValue(_ value: Any?, forUndefinedKey key: String) { others[key] = value }

    static func model() -> NSManagedObjectModel {
        let entity = NSEntityDescription(), model = NSManagedObjectModel()
        entity.name = "Answering"
        entity.managedObjectClassName = NSStringFromClass(Answering.self)
        model.entities = [entity]
        return model
    }
}

/// What suites that ran on Apple's framework expect.
@Suite struct ExpectedByOthersTests {
    /// Owners of one required to-many whose count has no lower bound.
    private static func owners() -> NSManagedObjectModel {
        let owner = NSEntityDescription(), thing = NSEntityDescription()
        let things = NSRelationshipDescription(), back = NSRelationshipDescription()
        owner.name = "Owner"
        thing.name = "Thing"
        things.name = "things"
        things.destinationEntity = thing
        things.isOptional = false
        things.minCount = 0
        things.maxCount = 0
        back.name = "owner"
        back.destinationEntity = owner
        back.minCount = 0
        back.maxCount = 1
        things.inverseRelationship = back
        back.inverseRelationship = things
        owner.properties = [things]
        thing.properties = [back]
        let model = NSManagedObjectModel()
        model.entities = [owner, thing]
        return model
    }

    @Test func anEmptyRequiredToManyWithoutALowerBoundIsValid() throws {
        let stack = try Stack(Self.owners())
        try stack.root.performAndWait { () throws in
            stack.root.make("Owner")
            #expect(stack.root.refusal() == nil)
        }
    }

    @Test func aFaultLeftBehindByAResetReadsNothing() throws {
        let stack = try Stack(), beside = stack.beside()
        let id = try stack.saved("Person", ["name": "Ada"]).id
        beside.performAndWait {
            let ada = beside.object(with: id)
            beside.reset()
            #expect(ada.isFault && ada.managedObjectContext == nil)
            #expect(ada.value(forKey: "name") == nil)
            #expect((ada.value(forKey: "reports") as? Set<NSManagedObject>)?.isEmpty ?? true)
            #expect(ada.isFault)
        }
    }

    @Test func anObjectMayAnswerKeysThatItsEntityDoesNotHave() throws {
        let stack = try Stack(Answering.model())
        stack.root.performAndWait {
            let object = NSEntityDescription.insertNewObject(forEntityName: "Answering", into: stack.root)
            object.setValue(7, forKey: "nowhere")
            #expect(object.value(forKey: "nowhere") as? Int == 7 && object.value(forKey: "elsewhere") == nil)
        }
    }

    @Test func anErrorOfASaveIsAskedByItsMembers() throws {
        let stack = try Stack()
        stack.root.performAndWait {
            let person = stack.root.make("Person")
            person.setValue(nil, forKey: "name")
            do {
                try stack.root.save()
                Issue.record("a person without a name was saved")
            } catch CocoaError.validationMissingMandatoryProperty {
            } catch {
                Issue.record(error)
            }
            do { try stack.root.save() } catch let error as CocoaError {
                #expect(error.validationKey == "name" && error.validationObject as? NSManagedObject === person && error.validationValue == nil)
            } catch {
                Issue.record(error)
            }
        }
    }

    @Test func historyIsSearchedByTokenAndByChangedEntity() throws {
        try Stack.withFile { file in
            let stack = try Stack(at: file, history: true), root = stack.root
            try root.performAndWait { () throws in
                root.make("Person", ["name": "Ada"])
                try root.save()
                root.make("Department")
                root.make("Person", ["name": "Bob"])
                try root.save()
                func transactions(_ request: NSPersistentHistoryChangeRequest) throws -> [NSPersistentHistoryTransaction] {
                    let result = try root.execute(request) as? NSPersistentHistoryResult
                    return result?.result as? [NSPersistentHistoryTransaction] ?? []
                }
                let first = try #require(try transactions(.fetchHistory(after: nil as NSPersistentHistoryToken?)).first)
                let byToken = try #require(NSPersistentHistoryTransaction.fetchRequest)
                byToken.predicate = NSPredicate(format: "token == %@", first.token)
                #expect(try transactions(.fetchHistory(withFetch: byToken)).map(\.transactionNumber) == [first.transactionNumber])
                let byEntity = try #require(NSPersistentHistoryChange.fetchRequest)
                let department = try #require(NSEntityDescription.entity(forEntityName: "Department", in: root))
                byEntity.predicate = NSPredicate(format: "changedEntity == %@", department)
                let found = try transactions(.fetchHistory(withFetch: byEntity))
                #expect(found.flatMap { $0.changes ?? [] }.map(\.changedObjectID.entity.name) == ["Department"])
            }
            try stack.close()
        }
    }

    @Test func whatAChildPushedIsRegisteredByItsID() throws {
        let stack = try Stack(), root = stack.root, child = stack.child(of: root)
        let id = try child.performAndWait { () throws in
            let ada = child.make("Person", ["name": "Ada"])
            try child.obtainPermanentIDs(for: [ada])
            try child.save()
            return ada.objectID
        }
        root.performAndWait { #expect(root.registeredObject(for: id) != nil) }
    }

    @Test func aControllerNeedsNoSortDescriptor() throws {
        let stack = try Stack(), root = stack.root
        _ = try stack.saved("Person", ["name": "Ada"])
        try root.performAndWait { () throws in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.sortDescriptors = []
            let controller = NSFetchedResultsController(fetchRequest: request, managedObjectContext: root, sectionNameKeyPath: nil, cacheName: nil)
            try controller.performFetch()
            #expect(controller.fetchedObjects?.count == 1)
        }
    }

    @Test func setOperationsOfExpressionsGiveSets() {
        let one = NSExpression(forConstantValue: Set([1, 2])), two = NSExpression(forConstantValue: Set([2, 3]))
        func value(_ expression: NSExpression) -> Set<AnyHashable>? { expression.expressionValue(with: nil, context: nil) as? Set<AnyHashable> }
        #expect(value(NSExpression(forUnionSet: one, with: two)) == [1, 2, 3])
        #expect(value(NSExpression(forIntersectSet: one, with: two)) == [2])
        #expect(value(NSExpression(forMinusSet: one, with: two)) == [1])
    }

    @Test func aVariableMayStandForAnExpression() throws {
        let stack = try Stack(), root = stack.root
        _ = try stack.saved("Person", ["name": "Ada", "nick": "Ada"])
        _ = try stack.saved("Person", ["name": "Bob", "nick": "B"])
        let template = NSPredicate(format: "name == $OTHER")
        let bound = template.withSubstitutionVariables(["OTHER": NSExpression(forKeyPath: "nick")])
        let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
        request.predicate = bound
        try root.performAndWait { () throws in
            let found = try root.fetch(request)
            #expect(found.map { $0.string("name") } == ["Ada"])
            let ada = try #require(found.first)
            #expect(template.evaluate(with: ada, substitutionVariables: ["OTHER": NSExpression(forKeyPath: "nick")]))
            #expect(!template.evaluate(with: ada, substitutionVariables: ["OTHER": NSExpression(forConstantValue: "nick")]))
        }
    }

    @Test func theLengthOfAStringIsAKeyOfIt() throws {
        let stack = try Stack(), root = stack.root
        _ = try stack.saved("Person", ["name": "Ada"])
        _ = try stack.saved("Person", ["name": "Lovelace"])
        try root.performAndWait { () throws in
            #expect(try root.names("Person", "name.length > 3") == ["Lovelace"])
            #expect(try root.names("Person", "manager.name.length > 3") == [])
            let lovelace = try #require(try root.all("Person", "name == 'Lovelace'").first)
            #expect(NSPredicate(format: "name.length == 8").evaluate(with: lovelace))
        }
        try Stack.inFile { stack in
            _ = try stack.saved("Person", ["name": "Ada"])
            _ = try stack.saved("Person", ["name": "Lovelace"])
            try stack.root.performAndWait { () throws in
                #expect(try stack.root.names("Person", "name.length > 3") == ["Lovelace"])
            }
        }
    }

    @Test func aControllerTellsItsDelegateOfObjectsThatWereRefreshed() throws {
        let stack = try Stack(), root = stack.root
        _ = try stack.saved("Person", ["name": "Ada"])
        try root.performAndWait { () throws in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let controller = NSFetchedResultsController(fetchRequest: request, managedObjectContext: root, sectionNameKeyPath: nil, cacheName: nil)
            let delegate = Counting()
            controller.delegate = delegate
            try controller.performFetch()
            let objects = controller.fetchedObjects
            root.refreshAllObjects()
            #expect(delegate.calls == 1 && objects?.count == 1)
        }
    }
}
