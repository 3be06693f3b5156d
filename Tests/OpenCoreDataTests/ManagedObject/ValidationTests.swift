import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

@Suite struct ValidationTests {
    private static func model() -> NSManagedObjectModel {
        let entity = Company.entity("Checked"), other = Company.entity("Other")
        func bounded(_ name: String, _ type: NSAttributeDescription.AttributeType, _ range: ClosedRange<Double>) -> NSAttributeDescription {
            let attribute = Company.attribute(name, type)
            attribute.minimumValue = range.lowerBound
            attribute.maximumValue = range.upperBound
            return attribute
        }
        let pattern = Company.attribute("pattern", .string)
        pattern.regularExpression = "[a-z]+"
        entity.properties = [
            Company.attribute("required", .string, optional: false, default: "there"), bounded("number", .integer64, 1...10),
            bounded("ratio", .double, 0...1), bounded("date", .date, 100...200), bounded("text", .string, 2...4), pattern,
            Company.attribute("small", .integer16),
        ]
        Company.relate(entity, "few", many: true, other, "owner", many: false)
        Company.relate(entity, "needed", many: false, other, "back", many: false)
        entity.relationshipsByName["few"]?.minCount = 2
        entity.relationshipsByName["few"]?.maxCount = 3
        return NSManagedObjectModel(entities: [entity, other])
    }

    private func error(_ change: (NSManagedObject, NSManagedObjectContext) -> Void) throws -> NSError? {
        let stack = TestStack(Self.model())
        return stack.root.performAndWait {
            let object = stack.root.make("Checked")
            change(object, stack.root)
            do {
                try stack.root.save()
                return nil
            } catch {
                return error as NSError
            }
        }
    }

    // L29, A13
    @Test(arguments: [
        ("number", 11, 1610), ("number", 0, 1620), ("ratio", 2, 1610), ("ratio", -1, 1620), ("small", 70000, 1610), ("small", -70000, 1620),
    ])
    func numbersOutOfRange(_ key: String, _ value: Int, _ code: Int) throws {
        #expect(try error { object, _ in object.setValue(value, forKey: key) }?.code == code)
    }

    // L29
    @Test func datesAndStringsOutOfRange() throws {
        #expect(try error { object, _ in object.setValue(Date(timeIntervalSinceReferenceDate: 201), forKey: "date") }?.code == 1630)
        #expect(try error { object, _ in object.setValue(Date(timeIntervalSinceReferenceDate: 99), forKey: "date") }?.code == 1640)
        #expect(try error { object, _ in object.setValue("abcde", forKey: "text") }?.code == 1660)
        #expect(try error { object, _ in object.setValue("a", forKey: "text") }?.code == 1670)
        #expect(try error { object, _ in object.setValue("ab1", forKey: "pattern") }?.code == 1680)
    }

    // L29
    @Test func valuesWithinTheirBoundsPass() throws {
        #expect(
            try error { object, _ in
                object.setValue(10, forKey: "number")
                object.setValue(0.5, forKey: "ratio")
                object.setValue(Date(timeIntervalSinceReferenceDate: 150), forKey: "date")
                object.setValue("abc", forKey: "text")
                object.setValue("abc", forKey: "pattern")
            } == nil)
    }

    // L28
    @Test func aBadValueIsInTheError() throws {
        #expect(try error { object, _ in object.setValue(11, forKey: "number") }?.userInfo[NSValidationValueErrorKey] as? Int64 == 11)
    }

    // L27
    @Test func severalFailuresAreOneErrorWithDetails() throws {
        let error = try error { object, context in
            object.setValue(11, forKey: "number")
            object.setValue("a", forKey: "text")
            context.make("Checked").setValue(nil, forKey: "required")
        }
        #expect(error?.code == 1560)
        #expect((error?.userInfo[NSDetailedErrorsKey] as? [NSError])?.map(\.code).sorted() == [1570, 1610, 1670])
    }

    // R8
    @Test func aRelationshipIsToManyUnlessItsMaximumIsOne() {
        let relationship = NSRelationshipDescription()
        #expect(relationship.isToMany)
        relationship.maxCount = 1
        #expect(!relationship.isToMany)
        relationship.maxCount = 2
        #expect(relationship.isToMany)
    }

    // L29
    @Test func aPatternCoversTheWholeStringToItsLastLine() throws {
        #expect(try error { object, _ in object.setValue("abc\n", forKey: "pattern") }?.code == 1680)
        #expect(try error { object, _ in object.setValue("abc\nabc", forKey: "pattern") }?.code == 1680)
    }

    // L29
    @Test func lengthsAreCountedInUTF16() throws {
        #expect(try error { object, _ in object.setValue("👩‍👩‍👧", forKey: "text") }?.code == 1660)
        #expect(try error { object, _ in object.setValue("😀😀", forKey: "text") } == nil)
        #expect(try error { object, _ in object.setValue("😀", forKey: "text") } == nil)
        #expect(try error { object, _ in object.setValue("e\u{301}e\u{301}e", forKey: "text") }?.code == 1660)
    }

    // L29
    @Test func boundsOfIntegersAreExact() throws {
        func error(_ value: Int64, _ range: ClosedRange<Double>) throws -> Int? {
            let entity = Company.entity("Large"), attribute = Company.attribute("number", .integer64)
            (attribute.minimumValue, attribute.maximumValue) = (range.lowerBound, range.upperBound)
            entity.properties = [attribute]
            let stack = TestStack(NSManagedObjectModel(entities: [entity]))
            return stack.root.performAndWait {
                stack.root.make("Large", ["number": value])
                do { try stack.root.save() } catch { return (error as NSError).code }
                return nil
            }
        }
        let limit = 0x1p53
        #expect(try error(9_007_199_254_740_993, 0...limit) == 1610)
        #expect(try error(9_007_199_254_740_992, 0...limit) == nil)
        #expect(try error(-9_007_199_254_740_993, -limit...0) == 1620)
        #expect(try error(Int64.max, 0...0x1p63) == nil)
        #expect(try error(Int64.max, 0...0x1p62) == 1610)
    }

    // L29
    @Test func boundsMayBeNumbersThatAreNoReals() throws {
        func code(_ type: NSAttributeDescription.AttributeType, _ value: Any, _ bounds: (minimum: Decimal?, maximum: Decimal?)) throws -> Int? {
            let entity = Company.entity("Large"), attribute = Company.attribute("number", type)
            (attribute.minimumDecimal, attribute.maximumDecimal) = bounds
            entity.properties = [attribute]
            let stack = TestStack(NSManagedObjectModel(entities: [entity]))
            return stack.root.performAndWait {
                stack.root.make("Large", ["number": value])
                do { try stack.root.save() } catch { return (error as NSError).code }
                return nil
            }
        }
        let odd: Int64 = 9_007_199_254_740_993, bound = Decimal(odd)
        #expect(Decimal(sign: .plus, exponent: 0, significand: 9_007_199_254_740_993) == bound)
        #expect(try code(.integer64, odd, (nil, bound)) == nil && code(.integer64, odd + 1, (nil, bound)) == 1610)
        #expect(try code(.integer64, odd, (bound, nil)) == nil && code(.integer64, odd - 1, (bound, nil)) == 1620)
        let last = Decimal(Int64.max - 1)
        #expect(try code(.integer64, Int64.max, (nil, last)) == 1610 && code(.integer64, Int64.max - 1, (nil, last)) == nil)
        #expect(try code(.integer64, Int64.min, (Decimal(Int64.min) + 1, nil)) == 1620)
        let tenth = try #require(Decimal(string: "0.10000000000000000001")), short = try #require(Decimal(string: "0.1"))
        #expect(try code(.decimal, tenth, (nil, tenth)) == nil && code(.decimal, tenth + tenth, (nil, tenth)) == 1610)
        #expect(try code(.decimal, tenth, (nil, short)) == 1610)
        #expect(try code(.double, 0.5, (1, nil)) == 1620 && code(.double, 1.0, (1, nil)) == nil)
    }

    // L29
    @Test func whatIsNotANumberIsRefused() throws {
        let entity = Company.entity("Measured"),
            kinds: [(String, NSAttributeDescription.AttributeType, Any, Int)] = [
                ("real", .double, Double.nan, 1550), ("narrow", .float, Float.nan, 1550), ("exact", .decimal, Decimal.nan, 1550),
                ("time", .date, Date(timeIntervalSinceReferenceDate: .nan), 1650),
            ]
        entity.properties = kinds.map { Company.attribute($0.0, $0.1, default: $0.1 == .double ? 7.0 : nil) }
        let stack = TestStack(NSManagedObjectModel(entities: [entity]))
        for (key, _, value, code) in kinds {
            stack.root.performAndWait {
                let object = stack.root.make("Measured", [key: value])
                let error = #expect(throws: NSError.self) { try stack.root.save() }
                #expect(error?.code == code && error?.userInfo[NSValidationKeyErrorKey] as? String == key)
                #expect("\(object) \(error as Any)".contains(key))
                stack.root.delete(object)
            }
        }
    }

    // L29
    @Test func infinitiesAreStored() throws {
        let stack = try SQLiteStack()
        try stack.root.performAndWait { () throws in
            for budget in [Double.infinity, -.infinity] { Department(context: stack.root).budget = budget }
            try stack.root.save()
        }
        stack.forget()
        try stack.root.performAndWait { () throws in
            #expect(try stack.root.all("Department", sort: "budget").map { $0.value(forKey: "budget") as? Double } == [-.infinity, .infinity])
        }
    }

    // L27
    @Test func theValidatorsCanBeCalledDirectly() throws {
        let stack = TestStack(Self.model())
        stack.root.performAndWait {
            let object = stack.root.make("Checked", ["number": 11])
            #expect(throws: NSError.self) { try object.validateForInsert() }
            #expect(throws: NSError.self) { try object.validateForUpdate() }
            #expect(throws: Never.self) { try object.validateForDelete() }
        }
    }
}
