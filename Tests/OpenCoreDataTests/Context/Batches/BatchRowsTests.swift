import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Shops of which each has something else, by their numbers.
private struct NumberedShop {
    let values: [String: Any]

    init(_ number: Int) {
        var values: [String: Any] = ["number": number]
        // Texts that lie in the string itself, ones that do not, and ones that are longer than what is bound at once.
        if number % 3 != 0 { values["name"] = "shop \(number)" + String(repeating: " and more", count: number % 50 == 0 ? 600 : number % 5) }
        if number % 4 == 1 { values["stars"] = number % 100 }
        if number % 2 == 0 { values["revenue"] = Double(number) / 4 }
        if number % 7 == 0 { values["opened"] = Date(timeIntervalSinceReferenceDate: Double(number)) }
        if number % 6 == 0 { values["isOpen"] = number % 12 == 0 }
        if number % 11 == 0 { values["token"] = UUID(uuidString: "00000000-0000-0000-0000-\(String(format: "%012d", number))") }
        if number % 13 == 0 { values["site"] = URL(string: "https://example.org/\(number)") }
        if number % 17 == 0 { values["stars"] = NSNull() }
        self.values = values
    }

    static let names = ["number", "name", "stars", "revenue", "opened", "isOpen", "token", "site"]

    /// What a row of it is read as: what was given, and default values besides.
    var words: [String] {
        Self.names.map { name in
            switch values[name] {
            case is NSNull: "nil"
            case let value?: "\(value)"
            case nil: name == "stars" ? "3" : "nil"
            }
        }
    }

    static func words(_ object: NSManagedObject) -> [String] {
        names.map { name in
            switch object.value(forKey: name) {
            case let value as NSNumber where name == "isOpen": "\(value.boolValue)"
            case let value as NSNumber where name == "revenue": "\(value.doubleValue)"
            case let value?: "\(value)"
            case nil: "nil"
            }
        }
    }
}

/// What has a key, and properties of a class.
final class Badge: NSManagedObject {
    @Managed var code: String?
    @Managed var owner: String?
    @Managed var level: Int64

    static func model() -> NSManagedObjectModel {
        let badge = Company.entity("Badge", Badge.self)
        badge.properties = [Company.attribute("code", .string), Company.attribute("owner", .string), Company.attribute("level", .integer64)]
        badge.uniquenessConstraints = [["code"]]
        return NSManagedObjectModel(entities: [badge])
    }
}

/// Rows are written several at a time, and those that were written are filled again.
@Suite struct BatchRowsTests {
    enum Way: CaseIterable { case objects, dictionaries, handler }

    private func request(_ way: Way, _ count: Int) -> NSBatchInsertRequest {
        var number = 0
        switch way {
        case .objects:
            return NSBatchInsertRequest(entityName: "Shop") { (object: NSManagedObject) in
                if number == count { return true }
                for (key, value) in NumberedShop(number).values { object.setValue(value is NSNull ? nil : value, forKey: key) }
                number += 1
                return false
            }
        case .dictionaries: return NSBatchInsertRequest(entityName: "Shop", objects: (0..<count).map { NumberedShop($0).values })
        case .handler:
            return NSBatchInsertRequest(entityName: "Shop") { (row: NSMutableDictionary) in
                if number == count { return true }
                for (key, value) in NumberedShop(number).values { row[key] = value }
                number += 1
                return false
            }
        }
    }

    private func check(_ world: BatchWorld, _ count: Int) throws {
        let context = world.fresh(), fetch = NSFetchRequest<NSManagedObject>(entityName: "Shop")
        fetch.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        try context.performAndWait { () throws in
            let shops = try context.fetch(fetch)
            try #require(shops.count == count)
            for (number, shop) in shops.enumerated() {
                try #require(NumberedShop.words(shop) == NumberedShop(number).words, "shop \(number) of \(count)")
            }
        }
    }

    // B1
    @Test(arguments: Way.allCases, [1, 7, 8, 9, 16, 100]) func aRowHasWhatItWasGivenAndDefaultsBesides(_ way: Way, _ count: Int) throws {
        for policy in [NSMergePolicy.error, .mergeByPropertyObjectTrump] {
            let world = try BatchWorld(.file)
            try world.execute(request(way, count), policy: policy)
            try check(world, count)
            #expect(try SQLiteStoreVerification.verify(try #require(world.store.url)).isSound)
        }
    }

    // B1: more than are made before the first is written
    @Test(arguments: [Way.objects, .dictionaries]) func aRowThatIsFilledAgainHasNothingOfTheOneBefore(_ way: Way) throws {
        let world = try BatchWorld(.file)
        try world.execute(request(way, 25_003))
        try check(world, 25_003)
        #expect(try SQLiteStoreVerification.verify(try #require(world.store.url)).isSound)
    }

    // B1: what a class's own properties set is what was given, also of rows that meet another
    @Test(arguments: [NSMergePolicy.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite, .error])
    func aRowAmongManyMeetsTheOneThatHasItsKey(_ policy: NSMergePolicy) throws {
        let world = try BatchWorld(.file, Badge.model())
        try world.save { $0.make("Badge", ["code": "13", "owner": "before", "level": 5]) }
        var number = 0
        let request = NSBatchInsertRequest(entityName: "Badge") { (object: NSManagedObject) in
            guard number < 30, let badge = object as? Badge else { return true }
            badge.code = "\(number)"
            badge.owner = "owner \(number)"
            number += 1
            return false
        }
        if policy === NSMergePolicy.error {
            #expect(errorCode { try world.execute(request, policy: policy) } == 133_021)
            let context = world.fresh()
            #expect(try context.performAndWait { try context.count(for: NSFetchRequest<Badge>(entityName: "Badge")) } == 1)
            return
        }
        try world.execute(request, policy: policy)
        let context = world.fresh()
        try context.performAndWait { () throws in
            let badges = try context.fetch(NSFetchRequest<Badge>(entityName: "Badge"))
            let found = Dictionary(uniqueKeysWithValues: badges.map { ($0.code ?? "", "\($0.owner ?? "nil") \($0.level)") })
            var wanted = Dictionary(uniqueKeysWithValues: (0..<30).map { ("\($0)", "owner \($0) 0") })
            if policy === NSMergePolicy.mergeByPropertyObjectTrump { wanted["13"] = "owner 13 5" }
            if policy === NSMergePolicy.mergeByPropertyStoreTrump { wanted["13"] = "before 5" }
            #expect(found == wanted)
        }
    }
}
