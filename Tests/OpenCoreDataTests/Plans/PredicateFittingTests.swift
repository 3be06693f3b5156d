import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Constants of another type than the property that they are compared with.
@Suite struct PredicateFittingTests {
    private static let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    private static func model() -> NSManagedObjectModel {
        let thing = Company.entity("Thing"), attribute = Company.attribute
        thing.properties = [
            attribute("number", .integer64, true, nil), attribute("real", .double, true, nil), attribute("exact", .decimal, true, nil),
            attribute("flag", .boolean, true, nil), attribute("text", .string, true, nil), attribute("date", .date, true, nil),
            attribute("token", .uuid, true, nil), attribute("place", .uri, true, nil), attribute("blob", .binaryData, true, nil),
        ]
        Company.relate(thing, "parts", many: true, thing, "whole", many: false)
        return NSManagedObjectModel(entities: [thing])
    }

    /// A token below the one that is asked for, or above it: the same in every store that is compared.
    private static func otherToken(_ index: Int) -> UUID {
        UUID(uuid: (index % 2 == 0 ? 0 : 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(index)))
    }

    private static func values(_ index: Int) -> [String: Any] {
        [
            "number": [0, 1, -1, 42, 9_007_199_254_740_993][index % 5], "real": [0, 1.5, 42, -2.25][index % 4],
            "exact": Decimal(string: ["0", "1.5", "42", "0.1"][index % 4]) ?? 0, "flag": index % 2 == 0,
            "text": ["42", "1", "abc", "1.5", ""][index % 5],
            "date": Date(timeIntervalSinceReferenceDate: [0, 42, 1.5][index % 3]), "token": index % 3 == 0 ? uuid : otherToken(index),
            "place": URL(fileURLWithPath: index % 2 == 0 ? "/a" : "/b"), "blob": Data([UInt8(index)]),
        ]
    }

    /// The numbers of the things that are found; nil where the fetch is refused.
    private static func found(_ predicate: NSPredicate, _ context: NSManagedObjectContext) throws -> [Int]? {
        try context.performAndWait { () throws in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            request.predicate = predicate
            do {
                return try context.fetch(request).map { ($0.value(forKey: "blob") as? Data).map { Int($0[0]) } ?? -1 }.sorted()
            } catch let error as NSError where error.code == 134060 {
                return nil
            }
        }
    }

    private static func fill(_ context: NSManagedObjectContext, saving: Bool) throws {
        try context.performAndWait { () throws in
            var made: [NSManagedObject] = []
            for index in 0..<20 {
                let thing = context.make("Thing", values(index))
                if index >= 10 { thing.setValue(made[index - 10], forKey: "whole") }
                made.append(thing)
            }
            if saving { try context.save() }
        }
    }

    // Q13, F20
    @Test(
        arguments: [
            ("number == '42'", [3, 8, 13, 18]), ("number < '1'", [0, 2, 5, 7, 10, 12, 15, 17]),
            ("number IN {'0', '-1'}", [0, 2, 5, 7, 10, 12, 15, 17]),
            ("number == '9007199254740993'", [4, 9, 14, 19]), ("number BETWEEN {'2', '50'}", [3, 8, 13, 18]), ("'42' == number", [3, 8, 13, 18]),
            ("real == '1.5'", [1, 5, 9, 13, 17]), ("exact == '0.1'", [3, 7, 11, 15, 19]), ("text == 42", [0, 5, 10, 15]),
            ("text IN {1, 1.5}", [1, 3, 6, 8, 11, 13, 16, 18]),
            ("text BEGINSWITH 4", [0, 5, 10, 15]), ("date == 42", [1, 4, 7, 10, 13, 16, 19]),
            ("token == '01020304-0506-0708-090A-0B0C0D0E0F10'", [0, 3, 6, 9, 12, 15, 18]),
            ("flag == '1' AND number == '1'", [6, 16]), ("ANY parts.number == '42'", [3, 8]), ("whole.number == '42'", [13, 18]),
            ("SUBQUERY(parts, $p, $p.number == '42').@count == '1'", [3, 8]), ("number + 1 == '43'", [3, 8, 13, 18]),
            ("NOT (number == '42') AND number > '1'", [4, 9, 14, 19]),
        ] as [(String, [Int])])
    func aConstantOfAnotherTypeIsConverted(_ format: String, _ expected: [Int]) throws {
        let file = try SQLiteStack(Self.model()), memory = TestStack(Self.model()), unsaved = try SQLiteStack(Self.model())
        try Self.fill(file.root, saving: true)
        try Self.fill(memory.root, saving: true)
        try Self.fill(unsaved.root, saving: false)
        for context in [file.root, memory.root, unsaved.root, unsaved.child(of: unsaved.root)] {
            #expect(try Self.found(NSPredicate(format: format), context) == expected, "\(format)")
        }
    }

    // Q13, F20
    @Test(arguments: [
        "number == 'abc'", "number IN {'1', 'x'}", "number == ''", "flag == 'perhaps'", "date == 'tomorrow'", "token == 'none'", "blob == 'a'",
        "blob == 1",
        "whole == 'a'", "whole == 3", "number BEGINSWITH '4'", "number CONTAINS '4'", "number LIKE '4*'", "number IN '123'", "SELF == 'x'",
        "parts CONTAINS 3",
        "ANY parts.number == 'abc'", "SUBQUERY(parts, $p, $p.number == 'abc').@count > 0", "parts.@count == 'many'",
    ])
    func aConstantThatCannotBeComparedIsRefused(_ format: String) throws {
        let file = try SQLiteStack(Self.model()), memory = TestStack(Self.model())
        for context in [file.root, memory.root, file.child(of: file.root)] {
            let error = context.performAndWait { () -> NSError? in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
                request.predicate = NSPredicate(format: format)
                #expect(throws: NSError.self) { try context.count(for: request) }
                return #expect(throws: NSError.self) { try context.fetch(request) }
            }
            #expect(error?.code == 134060 && error?.localizedDescription.contains("does not fit Thing") == true, "\(format)")
        }
    }

    // Q13
    @Test(arguments: [1, 2, 3] as [UInt64])
    func mixedTypesAreAnsweredAlikeEverywhere(seed: UInt64) throws {
        let file = try SQLiteStack(Self.model()), memory = TestStack(Self.model()), unsaved = try SQLiteStack(Self.model())
        try Self.fill(file.root, saving: true)
        try Self.fill(memory.root, saving: true)
        try Self.fill(unsaved.root, saving: false)
        let child = unsaved.child(of: unsaved.root)
        var numbers = SeededNumbers(seed: seed), refused = 0, matched = 0
        let keys = [
            "number", "real", "exact", "flag", "text", "date", "token", "place", "blob", "whole.number", "whole.text", "ANY parts.number",
            "parts.@count",
        ]
        let constants: [Any] = [
            0, 1, 42, -1, 1.5, true, false, "42", "1", "1.5", "1e0", "abc", "", "0x10", " 1", "true", Decimal(string: "0.1") ?? 0, Decimal(42),
            Self.uuid,
            Self.uuid.uuidString, Date(timeIntervalSinceReferenceDate: 42), URL(fileURLWithPath: "/a"), "file:///a", Data([3]), "9007199254740993",
        ]
        for _ in 0..<150 {
            let key = numbers.pick(keys), sign = numbers.pick(["==", "!=", "<", ">=", "IN", "BEGINSWITH", "CONTAINS", "BETWEEN"])
            let one = numbers.pick(constants), other = numbers.pick(constants)
            let predicate = NSPredicate(format: "\(key) \(sign) %@", argumentArray: [sign == "IN" || sign == "BETWEEN" ? [one, other] : one])
            let answers = try [file.root, memory.root, unsaved.root, child].map { try Self.found(predicate, $0) }
            #expect(answers.dropFirst().allSatisfy { $0 == answers[0] }, "\(predicate): \(answers)")
            refused += answers[0] == nil ? 1 : 0
            matched += answers[0].map { $0.isEmpty ? 0 : 1 } ?? 0
        }
        #expect(refused > 15 && matched > 30)
    }
}
