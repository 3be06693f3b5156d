import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// The code of a program that hands out the rows of a batch insert: what it may set, and what it may not do meanwhile.
@Suite struct BatchHandlerTests {
    /// Inserts one row by an object that is set up by `body`.
    private func insert(_ entity: String, in world: BatchWorld, _ body: @escaping (NSManagedObject) -> Void) throws {
        var isDone = false
        try world.execute(
            NSBatchInsertRequest(entityName: entity) { (object: NSManagedObject) in
                if isDone { return true }
                isDone = true
                body(object)
                return false
            })
    }

    // B1
    @Test(arguments: BatchWorld.Kind.allCases) func anObjectThatFillsRowsTakesToOnes(_ kind: BatchWorld.Kind) throws {
        let world = try BatchWorld(kind), context = world.context
        try world.save { $0.make("Shop", ["name": "s", "number": 1]) }
        try context.performAndWait { () throws in
            let shop = try #require(try context.all("Shop").first), unsaved = context.make("Shop")
            try insert("Item", in: world) { object in
                object.setValue(2, forKey: "number")
                object.setValue(shop, forKey: "shop")
                object.setPrimitiveValue(shop, forKey: "supplier")
                object.setPrimitiveValue("k", forKey: "key")
            }
            #expect(errorCode { try insert("Item", in: world) { $0.setValue(unsaved, forKey: "shop") } } == 134_060)
            #expect(errorCode { try insert("Item", in: world) { $0.setPrimitiveValue(unsaved, forKey: "supplier") } } == 134_060)
            context.rollback()
        }
        let item = try #require(try world.dump()["Item 2"])
        #expect(item["shop"] == "Shop 1" && item["supplier"] == "Shop 1" && item["key"] == "k")
    }

    // B1
    @Test(arguments: BatchWorld.Kind.allCases) func whatIsNoValueOfARowIsRefusedOfAnObjectToo(_ kind: BatchWorld.Kind) throws {
        let world = try BatchWorld(kind), context = world.context
        func refused(_ entity: String, _ body: @escaping (NSManagedObject) -> Void) -> String {
            let error = #expect(throws: NSError.self) { try insert(entity, in: world, body) }
            #expect(error?.code == 134_060)
            return error?.localizedDescription ?? ""
        }
        #expect(refused("Shop") { $0.setValue(70_000, forKey: "stars") }.contains("70000 is no value of Shop.stars"))
        #expect(refused("Shop") { $0.setPrimitiveValue(70_000, forKey: "stars") }.contains("70000 is no value of Shop.stars"))
        #expect(refused("Shop") { $0.setValue(Double.nan, forKey: "revenue") }.contains("is no value of Shop.revenue"))
        context.performAndWait {
            let item = context.make("Item"), owner = context.make("Owner")
            #expect(refused("Shop") { $0.setValue(Set([item]), forKey: "items") }.contains("Shop.items: it is a to-many"))
            #expect(refused("Shop") { $0.setValue(owner, forKey: "owner") }.contains("Shop.owner: its inverse is a to-one"))
        }
        #expect(try world.dump().isEmpty)
    }

    // B1: a handler runs while the store waits for it, before the transaction begins and in it
    @Test(arguments: BatchWorld.Kind.allCases) func aHandlerReadsButDoesNotWrite(_ kind: BatchWorld.Kind) throws {
        let world = try BatchWorld(kind), other = world.fresh()
        try world.insert("Shop", [["name": "a", "number": 1]])
        var number = 0, codes: [Int] = [], found = 0
        let request = NSBatchInsertRequest(entityName: "Tag") { (row: NSMutableDictionary) in
            number += 1
            if number == 1 || number == 30_000 {
                other.performAndWait {
                    found += (try? other.all("Shop").count) ?? 0
                    other.make("Shop", ["name": "b"])
                    codes.append(errorCode { try other.save() })
                    codes.append(errorCode { try other.execute(NSBatchInsertRequest(entityName: "Shop", objects: [["name": "c"]])) })
                    codes.append(errorCode { try world.coordinator.remove(world.store) })
                    if kind == .file {
                        codes.append(errorCode { try other.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: .distantFuture)) })
                    }
                    other.rollback()
                }
            }
            row["number"] = number
            return number > 30_000
        }
        try world.execute(request)
        #expect(Set(codes) == [134_030] && codes.count == (kind == .file ? 8 : 6) && found == 2)
        try world.insert("Shop", [["name": "c", "number": 3]])
        let context = world.fresh()
        try context.performAndWait { () throws in
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Tag")) == 30_000)
            #expect(try context.names("Shop") == ["a", "c"])
        }
    }

    // B1: what waits for the handler is lent to the main thread with the queue
    @Test(arguments: BatchWorld.Kind.allCases) func aHandlerDoesNotWriteByTheMainQueueEither(_ kind: BatchWorld.Kind) async throws {
        let world = try BatchWorld(kind)
        let main = NSManagedObjectContext(.mainQueueConcurrencyType)
        main.persistentStoreCoordinator = world.coordinator
        let context = world.fresh()
        let codes = try await context.perform {
            var number = 0, codes: [Int] = []
            try context.execute(
                NSBatchInsertRequest(entityName: "Tag") { (row: NSMutableDictionary) in
                    number += 1
                    if number == 1 || number == 30_000 {
                        main.performAndWait {
                            main.make("Shop", ["name": "b"])
                            codes.append(errorCode { try main.save() })
                            main.rollback()
                        }
                    }
                    row["number"] = number
                    return number > 30_000
                })
            return codes
        }
        #expect(codes == [134_030, 134_030])
        try await main.perform {
            main.make("Shop", ["name": "b", "number": 1])
            try main.save()
        }
        #expect(try world.dump()["Shop 1"] != nil)
    }

    // B1
    @Test func theObjectThatFilledRowsIsAnObjectOfItsOwnAfterwards() throws {
        let world = try BatchWorld(.memory), context = world.context
        try context.performAndWait { () throws in
            var kept: NSManagedObject?, number = 0
            try context.execute(
                NSBatchInsertRequest(entityName: "Shop") { (object: NSManagedObject) in
                    number += 1
                    kept = object
                    object.setValue(number, forKey: "number")
                    return number > 2
                })
            let object = try #require(kept)
            context.insert(object)
            object.setValue(9, forKey: "number")
            try context.save()
            object.setValue(10, forKey: "number")
            try context.save()
        }
        #expect(try world.dump().keys.sorted() == ["Shop 1", "Shop 10", "Shop 2"])
    }

    // B1, S12: the one that writes ends before the one that hands out
    @Test(arguments: ["key", "target", "other entity"]) func aRowThatCannotBeWrittenEndsItWhileMoreAreHandedOut(_ fault: String) throws {
        let world = try BatchWorld(.file)
        try world.save { context in
            context.make("Book", ["key": "taken", "number": 1])
            context.make("Shop", ["name": "gone", "number": 2])
        }
        let context = world.context
        let gone = try context.performAndWait { () throws in try #require(try context.all("Shop").first).objectID }
        try world.execute(NSBatchDeleteRequest(objectIDs: [gone]))
        for place in [1, 5_000, 20_400, 21_500, 22_600, 26_000] {
            var number = 0
            let request = NSBatchInsertRequest(entityName: "Item") { (row: NSMutableDictionary) in
                number += 1
                if number > 40_000 { return true }
                row["number"] = number
                row["key"] = number == place && fault != "target" ? "taken" : "k\(number)"
                if number == place && fault == "target" { row["supplier"] = gone }
                return false
            }
            let code = errorCode { try world.execute(request, policy: fault == "other entity" ? .mergeByPropertyObjectTrump : .error) }
            #expect(code == (fault == "target" ? 133_000 : 133_021))
            #expect(number <= place + 25_000, "it went on handing out rows")
        }
        #expect(try world.dump().count == 1)
    }
}
