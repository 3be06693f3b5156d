import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Dictionaries: computed columns, groups, distinct results.
@Suite struct DictionaryFetchTests {
    /// Six persons in two departments and one in none, aged 10…70, stored in a file.
    private func company() throws -> SQLiteStack {
        let stack = try SQLiteStack()
        try stack.root.performAndWait { () throws in
            let looms = stack.root.make("Department", ["name": "Looms"]), mills = stack.root.make("Department", ["name": "Mills"])
            for (number, department) in [looms, mills, looms, mills, looms, mills, nil].enumerated() {
                let person = stack.root.make("Person", ["name": "p\(number % 3)", "age": (number + 1) * 10])
                person.setValue(department, forKey: "department")
            }
            try stack.root.save()
        }
        return stack
    }

    private func column(_ name: String, _ function: String, _ key: String, _ type: NSAttributeType = .undefinedAttributeType)
        -> NSExpressionDescription
    {
        let description = NSExpressionDescription()
        description.name = name
        description.expression = NSExpression(forFunction: function, arguments: [NSExpression(forKeyPath: key)])
        description.expressionResultType = type
        return description
    }

    private func fetch(
        _ stack: SQLiteStack, _ columns: [Any], by groups: [Any]? = nil, sort: String? = nil,
        _ change: (NSFetchRequest<NSDictionary>) -> Void = { _ in }
    ) throws -> [[String: String]] {
        try fetch(stack.root, columns, by: groups, sort: sort, change)
    }

    private func fetch(
        _ context: NSManagedObjectContext, _ columns: [Any], by groups: [Any]? = nil, sort: String? = nil,
        _ change: (NSFetchRequest<NSDictionary>) -> Void = { _ in }
    ) throws -> [[String: String]] {
        let request = NSFetchRequest<NSDictionary>(entityName: "Person")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = columns
        request.propertiesToGroupBy = groups
        request.sortDescriptors = sort.map { [NSSortDescriptor(key: $0, ascending: true)] }
        change(request)
        return try context.performAndWait { () throws in
            try context.fetch(request).map { found in
                Dictionary(found.map { ("\($0)", "\($1)") }) { _, last in last }
            }
        }
    }

    // F12
    @Test func aggregatesOverEverythingAreOneDictionary() throws {
        let columns = [
            column("total", "sum:", "age"), column("youngest", "min:", "age"), column("oldest", "max:", "age"), column("mean", "average:", "age"),
            column("nicks", "count:", "nick"), column("people", "count:", "name"),
        ]
        let found = try fetch(company(), columns)
        #expect(found == [["total": "280", "youngest": "10", "oldest": "70", "mean": "40.0", "nicks": "0", "people": "7"]])
        let none = try fetch(company(), columns) { $0.predicate = NSPredicate(format: "age > 1000") }
        #expect(none == [["total": "0", "nicks": "0", "people": "0"]])
    }

    // F12
    @Test func groupsAreOneDictionaryEachAndMayBeChosen() throws {
        let stack = try company()
        let columns: [Any] = ["department.name", column("total", "sum:", "age"), column("count", "count:", "age")]
        let all = try fetch(stack, columns, by: ["department.name"], sort: "total")
        #expect(
            all == [
                ["total": "70", "count": "1"], ["department.name": "Looms", "total": "90", "count": "3"],
                ["department.name": "Mills", "total": "120", "count": "3"],
            ])
        for having in ["total > 80 AND department.name != 'Mills'", "$total == 90", "sum(age) == 90", "count(name) > 2 AND min(age) == 10"] {
            let some = try fetch(stack, columns, by: ["department.name"]) { $0.havingPredicate = NSPredicate(format: having) }
            #expect(some.map { $0["department.name"] } == ["Looms"], "\(having)")
        }
        let window = try fetch(stack, columns, by: ["department.name"], sort: "total") {
            $0.fetchOffset = 1
            $0.fetchLimit = 1
        }
        #expect(window.map { $0["total"] } == ["90"])
    }

    // F12
    @Test func theStoreComputesWhatItCanInOneQueryWithoutRows() throws {
        let stack = try company()
        stack.forget()
        let columns: [Any] = ["department.name", column("total", "sum:", "age"), column("mean", "average:", "age")]
        stack.expect(selects: 1) {
            let found = try? fetch(stack, columns, by: ["department.name"], sort: "total") {
                $0.havingPredicate = NSPredicate(format: "max(age) > 50")
            }
            #expect(found?.map { $0["total"] } == ["70", "120"])
        }
        let ids = try stack.fixture.fetch("Person").map(\.id)
        #expect(ids.count == 7 && ids.allSatisfy { stack.coordinator.rowCache[$0] == nil })
    }

    // F12, Q13
    @Test(arguments: [
        "sum(age) > 80", "count(nick) == 0 AND NOT max(age) < 60", "$total > 60 OR name == nil", "min(age) IN {10, 20, 70}", "name BEGINSWITH 'p'",
    ])
    func aFileAndMemoryGiveTheSameGroups(having: String) throws {
        let stack = try company(), memory = TestStack()
        try memory.root.performAndWait { () throws in
            for number in 0..<7 { memory.root.make("Person", ["name": "p\(number % 3)", "age": (number + 1) * 10]) }
            try memory.root.save()
        }
        let columns: [Any] = [
            "name", column("total", "sum:", "age", .doubleAttributeType), column("least", "min:", "age"), column("n", "count:", "age"),
        ]
        let change: (NSFetchRequest<NSDictionary>) -> Void = {
            $0.havingPredicate = NSPredicate(format: having)
            $0.predicate = NSPredicate(format: "age != 40")
        }
        let filed = try fetch(stack.root, columns, by: ["name"], sort: "name", change)
        #expect(try filed == fetch(memory.root, columns, by: ["name"], sort: "name", change))
        #expect(!filed.isEmpty)
    }

    // F12
    @Test func equalDictionariesAreGivenOnceWhereThatIsAsked() throws {
        let stack = try company()
        #expect(try fetch(stack, ["name"], sort: "name").count == 7)
        #expect(try fetch(stack, ["name"], sort: "name") { $0.returnsDistinctResults = true } == [["name": "p0"], ["name": "p1"], ["name": "p2"]])
        let window = try fetch(stack, ["name"], sort: "name") {
            $0.returnsDistinctResults = true
            $0.fetchOffset = 1
            $0.fetchLimit = 5
        }
        #expect(window == [["name": "p1"], ["name": "p2"]])
    }

    // F12
    @Test func anExpressionIsComputedForEachObject() throws {
        let months = NSExpressionDescription()
        months.name = "months"
        months.expression = NSExpression(format: "age * 12.5")
        months.resultType = .double
        let found = try fetch(company(), ["age", months], sort: "age") { $0.fetchLimit = 2 }
        #expect(found == [["age": "10", "months": "125.0"], ["age": "20", "months": "250.0"]])
    }

    // F12, Q13
    @Test func spellingsThatDifferInBytesAreTwoGroups() throws {
        let stack = try SQLiteStack()
        try stack.root.performAndWait { () throws in
            for name in ["\u{E9}", "e\u{301}", "\u{E9}"] { stack.root.make("Person", ["name": name]) }
            try stack.root.save()
        }
        let counts = try fetch(stack, ["name", column("count", "count:", "name")], by: ["name"]).compactMap { $0["count"] }
        #expect(counts.sorted() == ["1", "2"])
    }

    // F12
    @Test func aColumnWithoutOneValueInAGroupIsRefused() throws {
        let stack = try company()
        #expect(throws: NSError.self) { try fetch(stack, ["name", column("total", "sum:", "age")]) }
        #expect(throws: NSError.self) { try fetch(stack, ["name"], by: ["department"]) }
        #expect(throws: NSError.self) { try fetch(stack, ["name"], by: ["name"]) { $0.havingPredicate = NSPredicate(format: "age > 3") } }
        #expect(throws: NSError.self) { try fetch(stack, ["name"], by: ["name"], sort: "age") }
        #expect(throws: NSError.self) { try fetch(stack, ["name"]) { $0.havingPredicate = NSPredicate(value: true) } }
    }

    // F5, E2
    @Test func aToManyColumnStopsTheProgram() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let stack = TestStack()
            try stack.root.performAndWait { () throws in
                let request = NSFetchRequest<NSDictionary>(entityName: "Person")
                request.resultType = .dictionaryResultType
                request.propertiesToFetch = ["skills"]
                _ = try stack.root.fetch(request)
            }
        }.trap(says: "Person.skills is a to-many")
    }
}
