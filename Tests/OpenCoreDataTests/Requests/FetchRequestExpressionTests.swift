import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Expressions whose value is what another request finds.
@Suite struct FetchRequestExpressionTests {
    /// Four persons of 10 to 40 years, the odd ones in Looms, the even ones in Mills, stored in a file.
    private func company() throws -> SQLiteStack {
        let stack = try SQLiteStack()
        try stack.root.performAndWait { () throws in
            let looms = stack.root.make("Department", ["name": "Looms"]), mills = stack.root.make("Department", ["name": "Mills"])
            for (number, department) in [looms, mills, looms, mills].enumerated() {
                stack.root.make("Person", ["name": "p\(number)", "age": (number + 1) * 10]).setValue(department, forKey: "department")
            }
            try stack.root.save()
        }
        return stack
    }

    private func request(_ entity: String, _ format: String? = nil) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = format.map { NSPredicate(format: $0) }
        return request
    }

    private func expression(
        _ request: Any, in context: NSManagedObjectContext, countOnly: Bool = false
    ) -> NSExpression {
        NSFetchRequestExpression.expression(
            forFetch: NSExpression(forConstantValue: request), context: NSExpression(forConstantValue: context), countOnly: countOnly)
    }

    private func persons(_ predicate: NSPredicate) -> NSFetchRequest<NSManagedObject> {
        let persons = request("Person")
        persons.predicate = predicate
        persons.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
        return persons
    }

    private func comparison(_ key: String, _ type: NSComparisonPredicate.Operator, _ value: NSExpression) -> NSPredicate {
        NSComparisonPredicate(leftExpression: NSExpression(forKeyPath: key), rightExpression: value, type: type)
    }

    private func ages(_ context: NSManagedObjectContext, _ predicate: NSPredicate) throws -> [Int] {
        try context.fetch(persons(predicate)).compactMap { $0.value(forKey: "age") as? Int }
    }

    // F12
    @Test func aFetchHoldsItsObjectsAgainstWhatAnotherFindsInTheFileInMemoryAndOverWhatIsUnsaved() throws {
        let stack = try company(), child = NSManagedObjectContext(.privateQueue)
        child.parent = stack.root
        for context in [stack.root, child] {
            try context.performAndWait { () throws in
                let within = comparison("department", .in, expression(request("Department", "name == 'Looms'"), in: context))
                #expect(try ages(context, within) == [10, 30])
                #expect(try context.fetch(request("Person")).count { within.evaluate(with: $0) } == 2)
                for department in try context.fetch(request("Department", "name == 'Mills'")) { department.setValue("Looms", forKey: "name") }
                #expect(try ages(context, within) == [10, 20, 30, 40])
                context.rollback()
                #expect(try context.count(for: persons(within)) == 2)
            }
        }
    }

    @Test func aCountIsANumberToCompareWithToFetchAndToSet() throws {
        let stack = try company()
        try stack.root.performAndWait { () throws in
            let two = expression(request("Person", "age < 25"), in: stack.root, countOnly: true)
            let byCount = NSComparisonPredicate(
                leftExpression: NSExpression(format: "age / 10"), rightExpression: two, type: .lessThanOrEqualTo)
            #expect(try ages(stack.root, byCount) == [10, 20])
            let column = NSExpressionDescription()
            column.name = "young"
            column.expression = two
            column.expressionResultType = .integer64AttributeType
            let table = NSFetchRequest<NSDictionary>(entityName: "Person")
            table.resultType = .dictionaryResultType
            table.propertiesToFetch = ["age", column]
            #expect(try stack.root.fetch(table).map { $0["young"] as? Int } == [2, 2, 2, 2])
            let update = NSBatchUpdateRequest(entityName: "Person")
            update.propertiesToUpdate = ["age": two]
            try stack.root.execute(update)
            stack.root.reset()
            #expect(try ages(stack.root, NSPredicate(value: true)) == [2, 2, 2, 2])
        }
    }

    @Test func aFetchCarriesItOutOnce() throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            for number in 0..<5 { stack.root.make("Item", ["a": number]) }
            try stack.root.save()
            let asked = Counter(), inner = request("Item")
            inner.predicate = NSPredicate { _, _ in
                asked.value += 1
                return true
            }
            #expect(try stack.root.count(for: whole(comparison("self", .in, expression(inner, in: stack.root)), "Item")) == 5)
            #expect(asked.value == 5)
        }
    }

    private final class Counter {
        var value = 0
    }

    private func whole(_ predicate: NSPredicate, _ entity: String) -> NSFetchRequest<NSManagedObject> {
        let request = request(entity)
        request.predicate = predicate
        return request
    }

    @Test func theContextOfAnotherFileIsUsedOnItsOwnQueue() throws {
        let here = try company(), there = try company()
        try there.root.performAndWait { () throws in
            for person in try there.root.fetch(request("Person", "age > 20")) { there.root.delete(person) }
        }
        try here.root.performAndWait { () throws in
            let count = expression(request("Person"), in: there.root, countOnly: true)
            #expect(count.expressionValue(with: nil, context: nil) as? Int64 == 2)
            // Of another queue's objects nothing but their identity is known.
            let found = expression(request("Person"), in: there.root).expressionValue(with: nil, context: nil) as? [NSManagedObjectID]
            #expect(found?.count == 2)
            #expect(try ages(here.root, comparison("department", .in, expression(request("Department"), in: there.root))) == [])
        }
    }

    @Test func requestAndContextMayBeVariables() throws {
        let stack = try company()
        let open = NSFetchRequestExpression.expression(
            forFetch: NSExpression(forVariable: "request"), context: NSExpression(forVariable: "context"), countOnly: true)
        try stack.root.performAndWait { () throws in
            let values = NSMutableDictionary(dictionary: ["request": request("Person", "age > 15"), "context": stack.root])
            #expect(try open.value(for: nil, context: values) as? Int64 == 3)
            let predicate = comparison("age", .greaterThan, open)
            #expect(throws: PredicateEvaluationError.unboundVariable("request")) { try open.value(for: nil) }
            let error = try #require(throws: NSError.self) { try ages(stack.root, predicate) }
            #expect(error.code == 134060 && error.localizedDescription.contains("$request"))
            let bound = predicate.withSubstitutionVariables(["request": request("Person", "age > 15"), "context": stack.root])
            #expect(try ages(stack.root, bound) == [10, 20, 30, 40])
        }
    }

    @Test func aKeyOfWhatIsFoundIsRefused() throws {
        let stack = try company()
        try stack.root.performAndWait { () throws in
            let names = NSExpression(format: "%@.name", expression(request("Department"), in: stack.root))
            let error = try #require(throws: NSError.self) { try ages(stack.root, comparison("name", .in, names)) }
            #expect(error.code == 134060 && error.localizedDescription.contains("name"))
        }
    }

    @Test func itsPartsCanBeRead() throws {
        let stack = try company(), persons = request("Person")
        let made = try #require(expression(persons, in: stack.root, countOnly: true) as? NSFetchRequestExpression)
        #expect(made.requestExpression.constantValue as? NSFetchRequest<NSManagedObject> === persons)
        #expect(made.contextExpression.constantValue as? NSManagedObjectContext === stack.root)
        #expect(made.isCountOnlyRequest && made.expressionType == NSFetchRequestExpressionType && NSFetchRequestExpressionType.rawValue == 50)
        #expect(made.description.hasPrefix("FETCH("))
        let predicate = try #require(comparison("age", .lessThan, made) as? NSComparisonPredicate)
        let read = try #require(predicate.rightExpression as? NSFetchRequestExpression)
        #expect(read == made && read.isCountOnlyRequest)
        #expect(try !(#require(expression(persons, in: stack.root) as? NSFetchRequestExpression).isCountOnlyRequest))
    }

    @Test func whatTheFetchWithinSaysIsTheErrorOfTheFetch() throws {
        let stack = try company()
        try stack.root.performAndWait { () throws in
            let unknown = comparison("department", .in, expression(request("Nothing"), in: stack.root))
            let error = try #require(throws: NSError.self) { try ages(stack.root, unknown) }
            #expect(error.code == 134060 && error.localizedDescription.contains("Nothing"))
            let none = comparison("department", .in, expression(5, in: stack.root))
            let refusal = try #require(throws: NSError.self) { try ages(stack.root, none) }
            #expect(refusal.code == 134060 && refusal.localizedDescription.contains("NSFetchRequest"))
            #expect(throws: PredicateEvaluationError.self) { try expression(5, in: stack.root).value(for: nil) }
        }
    }
}
