import CoreData
import Foundation
import OpenCoreDataConvenience
import Testing

struct AttributeConversionTests {
    /// What an attribute has after a value was imported, in words; "refused" if it was.
    private func outcome(_ attribute: String, _ value: Any, _ context: NSManagedObjectContext) throws -> String {
        do {
            let sample = try #require(try context.importObject(Sample.self, from: [attribute: value]))
            return sample.value(forKey: attribute).map { "\($0)" } ?? "nil"
        } catch let error as RecordError {
            #expect(error.property == attribute)
            #expect(!error.remedy.isEmpty)
            return "refused"
        }
    }

    @Test(
        arguments: [
            ("small", 32767, "32767"), ("small", 32768, "refused"), ("small", "-32768", "-32768"), ("small", 1.0, "1"), ("small", 1.5, "refused"),
            ("small", true, "refused"), ("small", "", "refused"), ("small", " 1", "refused"), ("small", "1x", "refused"),
            ("small", "0x10", "refused"),
            ("medium", 2_147_483_648, "refused"), ("medium", "1e3", "1000"), ("large", "9223372036854775807", "9223372036854775807"),
            ("large", "9223372036854775808", "refused"), ("large", UInt64.max, "refused"), ("large", 1e19, "refused"),
            ("large", Decimal(string: "12.5") ?? 0, "refused"), ("exact", 0.1, "0.1"), ("exact", "0.30", "0.3"), ("exact", 7, "7"),
            ("exact", Double.infinity, "refused"), ("exact", NSDecimalNumber(string: String(repeating: "7", count: 40)), "refused"),
            ("exact", "0." + String(repeating: "3", count: 50), "refused"), ("exact", "1e200", "refused"), ("exact", 1e-200, "refused"),
            ("exact", Decimal(1) / 3, "\(Decimal(1) / 3)"), ("double", "1e200", "1e+200"), ("double", "1e400", "refused"),
            ("double", "1e-400", "refused"),
            ("double", "0.1000000000000000055511151231257827021181583404541015625", "0.1"), ("double", "0.5", "0.5"),
            ("double", 9_007_199_254_740_993, "refused"), ("double", 9_007_199_254_740_992, "9007199254740992.0"),
            ("double", Double.nan, "refused"), ("float", 0.5, "0.5"), ("float", 1e300, "refused"), ("float", 16_777_217, "refused"),
            ("float", 0.1, "0.10000000149011612"), ("flag", true, "1"), ("flag", "yes", "1"),
            ("flag", 0, "0"), ("flag", "False", "0"), ("flag", 2, "refused"), ("flag", "maybe", "refused"), ("text", "a", "a"),
            ("text", 10_248_909_829, "10248909829"),
            ("text", 1.5, "1.5"), ("text", false, "refused"), ("text", ["a"], "refused"), ("text", NSNull(), "nil"),
            ("data", "AQI=", "2 bytes"), ("data", "?", "refused"),
            ("uuid", "E621E1F8-C36C-495A-93FC-0C247A3E6E5F", "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"),
            ("uuid", "E621", "refused"), ("uri", "https://example.com/a", "https://example.com/a"), ("uri", 1, "refused"),
            ("colour", "64,128,225", "[64, 128, 225]"),
        ] as [(String, any Sendable, String)])
    func aValueIsTakenWhole(_ attribute: String, _ value: any Sendable, _ expected: String) throws {
        try Library().using { context throws in #expect(try outcome(attribute, value, context) == expected) }
    }

    @Test func anObjectBecomesTheElementsOfAComposite() throws {
        try Library().using { context throws in
            let sample = try #require(
                try context.importObject(Sample.self, from: ["point": ["x": "0.5", "label": 7, "other": true] as [String: Any]]))
            #expect(sample.value(forKeyPath: "point.x") as? Double == 0.5 && sample.value(forKeyPath: "point.label") as? String == "7")
            #expect(try outcome("point", ["x": "much"], context) == "refused")
            #expect(try outcome("point", 5, context) == "refused")
            #expect(try outcome("point", NSNull(), context) == "nil")
        }
    }

    @Test(
        arguments: [
            ("date", "2011-07-23T22:30:40Z", 1_311_460_240.0), ("date", "2011-07-23T22:30:40.250Z", 1_311_460_240.25),
            ("date", "2011-07-24T00:30:40+02:00", 1_311_460_240), ("date", 1_388_349_428, 1_388_349_428), ("date", 0.5, 0.5),
            ("date", "23.7.2011", nil),
            ("date", "1311460240", nil), ("day", "23.7.2011", 1_311_379_200), ("day", "2011-07-23", 1_311_379_200), ("day", "2011-02-30", nil),
            ("day", "2011-07-23T22:30:40Z", nil), ("day", 60, 60), ("instant", 1_388_349_427_543, 1_388_349_427.543),
            ("instant", "1388349427543", 1_388_349_427.543), ("instant", "now", nil), ("date", true, nil),
        ] as [(String, any Sendable, Double?)])
    func aDateIsReadByTheFormatsOfItsAttribute(_ attribute: String, _ value: any Sendable, _ expected: Double?) throws {
        try Library().using { context throws in
            guard let expected else {
                #expect(try outcome(attribute, value, context) == "refused")
                return
            }
            let sample = try #require(try context.importObject(Sample.self, from: [attribute: value]))
            let date = try #require(sample.value(forKey: attribute) as? Date)
            #expect(abs(date.timeIntervalSince1970 - expected) < 0.0001)
        }
    }

    @Test(
        arguments: [
            ("small", "7"), ("large", 9_007_199_254_740_993), ("exact", "0.10"), ("exact", "12345678901234567890.5"), ("double", 0.1), ("float", 0.1),
            ("float", "16777216"), ("flag", "yes"), ("text", 1.5), ("text", ""), ("date", "2011-07-23T22:30:40.250Z"), ("instant", 1_388_349_427_543),
            ("data", "AQI="), ("uuid", "e621e1f8-c36c-495a-93fc-0c247a3e6e5f"), ("uri", "https://example.com/a"),
        ] as [(String, any Sendable)])
    func aValueOfAnyTypeFindsItsObjectAgain(_ attribute: String, _ value: any Sendable) throws {
        let library = try Library()
        try library.using { context throws in
            let sample = try Sample.findOrCreate(by: attribute, value: value, in: context)
            #expect(try Sample.findOrCreate(by: attribute, value: value, in: context) === sample)
            try context.save()
        }
        try library.using { context throws in
            let found = try Sample.findFirst(by: attribute, value: value, in: context)
            #expect(found != nil)
            #expect(try Sample.findOrCreate(by: attribute, value: value, in: context) === found)
            #expect(try Sample.count(in: context) == 1)
        }
    }

    @Test func datesAndIdentifiersThatAreThereAlreadyAreTaken() throws {
        try Library().using { context throws in
            let date = Date(timeIntervalSince1970: 1), uuid = UUID(), uri = try #require(URL(string: "urn:x"))
            let sample = try #require(
                try context.importObject(
                    Sample.self, from: ["date": date, "uuid": uuid, "uri": uri, "data": Data([1]), "exact": Decimal(1)] as [String: Any]))
            #expect(sample.date == date)
            #expect(sample.uuid == uuid)
            #expect(sample.uri == uri)
            #expect(sample.data == Data([1]))
            #expect(sample.exact == 1)
        }
    }
}
