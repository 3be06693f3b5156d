import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Fetches with a variable that nobody gave a value.
struct UnboundVariableTests {
    // F20, Q1
    @Test(arguments: [
        "a == $LIMIT", "NOT (a > 0 AND a == $LIMIT)", "SUBQUERY(SELF, $x, $x.a == $LIMIT).@count == 0", "$LIMIT == nil", "$LIMIT.a == 1",
    ])
    func theFetchThrowsAndNamesTheVariable(_ format: String) throws {
        let file = try SQLiteStack(), memory = TestStack(), unsaved = try SQLiteStack()
        for context in [file.root, memory.root, unsaved.root, unsaved.child(of: unsaved.root)] {
            try context.performAndWait { () throws in
                if context.parent == nil { context.make("Item", ["key": "k", "a": 1]) }
                if context === file.root || context === memory.root { try context.save() }
                let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                request.predicate = NSPredicate(format: format)
                for error in [
                    #expect(throws: NSError.self) { _ = try context.fetch(request) },
                    #expect(throws: NSError.self) { _ = try context.count(for: request) },
                ] {
                    #expect(error?.code == 134060)
                    let sentence = error?.localizedDescription ?? ""
                    #expect(sentence.contains("$LIMIT") && sentence.contains("withSubstitutionVariables") && sentence.contains("Item"), "\(sentence)")
                }
                request.predicate = NSPredicate(format: "a == $LIMIT").withSubstitutionVariables(["LIMIT": 1])
                #expect(try context.fetch(request).count == 1)
            }
        }
    }

    // Q1
    @Test func inMemoryTheErrorNamesItToo() throws {
        let predicate = NSPredicate(format: "a == $LIMIT")
        let error = #expect(throws: PredicateEvaluationError.self) { try predicate.holds(for: ["a": 1]) }
        let words = "$LIMIT has no value: give it one with withSubstitutionVariables"
        #expect(error == .unboundVariable("LIMIT") && error?.description.contains(words) == true)
        #expect(try predicate.holds(for: ["a": 1], substitutionVariables: ["LIMIT": 1]))
        #expect(throws: PredicateEvaluationError.unboundVariable("N")) { try NSExpression(format: "1 + $N").value(for: nil) }
        #expect(try NSExpression(format: "1 + $N").value(for: nil, context: ["N": 2]) as? Int64 == 3)
    }

    // F20
    @Test func groupsAndColumnsNameItToo() throws {
        let stack = try SQLiteStack()
        let column = NSExpressionDescription()
        column.name = "sum"
        column.expression = NSExpression(format: "a + $N")
        column.expressionResultType = .integer64AttributeType
        try stack.root.performAndWait { () throws in
            let request = NSFetchRequest<NSDictionary>(entityName: "Item")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [column]
            let columns = #expect(throws: NSError.self) { try stack.root.fetch(request) }
            #expect(columns?.localizedDescription.contains("$N has no value") == true)
            request.propertiesToFetch = ["key"]
            request.propertiesToGroupBy = ["key"]
            request.havingPredicate = NSPredicate(format: "$key == 'k' AND $M == 1")
            let groups = #expect(throws: NSError.self) { try stack.root.fetch(request) }
            #expect(groups?.localizedDescription.contains("$M has no value") == true)
        }
    }

    // F20, Q7
    @Test(arguments: [
        "nothing == 1", "a == 1 AND NOT nothing.more == 1", "ANY {nothing, 1} == 1", "CAST(nothing, 'NSNumber') == 1", "SELF.nothing == nil",
    ])
    func aKeyThatIsNoneIsAnErrorOfTheFetchEverywhere(_ format: String) throws {
        let file = try SQLiteStack(), memory = TestStack(), unsaved = try SQLiteStack()
        for context in [file.root, memory.root, unsaved.root] {
            try context.performAndWait { () throws in
                context.make("Item", ["key": "k", "a": 1])
                if context !== unsaved.root { try context.save() }
                let error = #expect(throws: NSError.self) { try context.all("Item", format) }
                #expect(error?.code == 134060 && error?.localizedDescription.contains("Item has no property \"nothing\"; it has a, ") == true)
            }
        }
    }
}
