import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Regular expressions that break out, that are none, and that take for ever.
struct HostilePatternTests {
    // Q3
    @Test(
        arguments: [
            ("a|b", ["a", "b"], ["ab", "ax", "xb", ""]), ("a|ab", ["a", "ab"], ["abc"]), ("(?x) a b # a comment", ["ab"], ["abc", "xab"]),
            ("(?x) a # \n b", ["ab"], ["a", "abx"]), ("\\Qa.b", ["a.b"], ["axb", "a.b)", "a.b)\\z"]), ("\\Qa|b\\E|c", ["a|b", "c"], ["a", "cc"]),
            ("(?i)a", ["a", "A"], ["aa"]), ("^a$", ["a"], ["a\n", "\na"]), ("(?m)^a$", ["a"], ["a\nb", "b\na"]), (".*", ["", "a"], ["a\nb"]),
            ("(?s).*", ["", "a\nb"], []), ("(a)\\1", ["aa"], ["a", "aaa"]), ("", [""], ["a"]), ("a\\", [], ["a"]), ("#a", ["#a"], ["a"]),
            ("(?=ab)a", [], ["a", "ab"]), ("a*?", ["", "aaa"], ["b", "aab"]), ("a\\Z", ["a"], ["a\n", "ab"]),
        ] as [(String, [String], [String])])
    func aPatternCoversTheWholeStringWhateverIsInIt(_ pattern: String, _ covered: [String], _ others: [String]) throws {
        let predicate = NSComparisonPredicate(
            leftExpression: .expressionForEvaluatedObject(), rightExpression: NSExpression(forConstantValue: pattern), type: .matches)
        if pattern != "a\\" {
            for text in covered { #expect(predicate.evaluate(with: text), "\(pattern) \(text)") }
            for text in others { #expect(!predicate.evaluate(with: text), "\(pattern) \(text)") }
        }
        let stack = try SQLiteStack()
        try stack.root.performAndWait { () throws in
            for text in covered + others { stack.root.make("Item", ["key": text]) }
            try stack.root.save()
            stack.root.reset()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.predicate = NSComparisonPredicate(
                leftExpression: NSExpression(forKeyPath: "key"), rightExpression: NSExpression(forConstantValue: pattern), type: .matches)
            guard pattern != "a\\" else { return }
            #expect(Set(try stack.root.fetch(request).map { $0.value(forKey: "key") as? String ?? "nil" }) == Set(covered))
        }
    }

    // Q3
    @Test(arguments: ["a)|(b", "a)", "(a", "*a", "[a", "(?<n>a", "a\\", "a{2,1}", "\\Q\\E)"])
    func whatIsNoPatternIsAnErrorOfTheFetch(_ pattern: String) throws {
        let file = try SQLiteStack(), memory = TestStack(), unsaved = try SQLiteStack()
        for context in [file.root, memory.root, unsaved.root] {
            try context.performAndWait { () throws in
                context.make("Item", ["key": "a"])
                if context !== unsaved.root { try context.save() }
                let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                request.predicate = NSComparisonPredicate(
                    leftExpression: NSExpression(forKeyPath: "key"), rightExpression: NSExpression(forConstantValue: pattern), type: .matches)
                let error = #expect(throws: NSError.self) { try context.fetch(request) }
                #expect(error?.localizedDescription.contains(pattern) == true)
            }
        }
    }

    // Q3
    @Test func aPatternThatTakesForEverEndsTheFetchAndTheStoreGoesOn() throws {
        let file = try SQLiteStack(), memory = TestStack(), unsaved = try SQLiteStack()
        for context in [file.root, memory.root, unsaved.root, file.child(of: file.root)] {
            try context.performAndWait { () throws in
                if context.parent == nil { context.make("Item", ["key": String(repeating: "a", count: 40) + "b", "a": 1]) }
                if context !== unsaved.root, context.parent == nil { try context.save() }
                let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                request.predicate = NSPredicate(format: "key MATCHES '(a+)+$'")
                for _ in 0..<2 {
                    let error = #expect(throws: NSError.self) { try context.fetch(request) }
                    #expect(error?.localizedDescription.contains("(a+)+$") == true, "\(error as Any)")
                    #expect(throws: NSError.self) { try context.count(for: request) }
                }
                #expect(try context.all("Item", "a == 1").count == 1)
                #expect(try context.all("Item", "key MATCHES 'a+b'").count == 1)
                context.make("Item", ["key": "after"])
                try context.save()
            }
        }
    }
}
