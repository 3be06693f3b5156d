import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// What batch requests leave of orders and of unique keys, in a file and in memory.
@Suite struct BatchOrderTests {
    /// Shops with shelves, which have a code of their own.
    private func world(_ kind: BatchWorld.Kind) throws -> BatchWorld {
        let model = Shops.model(), shelf = try #require(model.entitiesByName["Shelf"])
        shelf.properties.append(StoreModels.attribute("code", .string))
        shelf.uniquenessConstraints = [["code"]]
        let world = try BatchWorld(kind, model)
        try world.save { context in
            let shelves = (0..<3).map { context.make("Shelf", ["number": $0, "code": "c\($0)"]) }
            // Not in the order of their keys.
            context.make("Shop", ["name": "a", "number": 9, "shelves": NSOrderedSet(array: [shelves[2], shelves[0], shelves[1]])])
            context.make("Shop", ["name": "b", "number": 8, "shelves": NSOrderedSet(array: [context.make("Shelf", ["number": 5, "code": "c5"])])])
        }
        return world
    }

    private func orders(_ world: BatchWorld) throws -> [String] {
        let dump = try world.dump()
        if let file = world.store.url, world.store.type == NSSQLiteStoreType { #expect(try SQLiteStoreVerification.verify(file).isSound) }
        return ["Shop 9", "Shop 8"].map { dump[$0]?["shelves"] ?? "" }
    }

    private func shop(_ name: String, in world: BatchWorld) throws -> NSManagedObjectID {
        let context = world.fresh()
        return try context.performAndWait { () throws in try #require(try context.all("Shop", "name == '\(name)'").first).objectID }
    }

    // B1
    @Test(arguments: BatchWorld.Kind.allCases) func whatLosesItsOwnerLosesItsPlaceAmongTheMembers(_ kind: BatchWorld.Kind) throws {
        let world = try world(kind)
        try world.execute(batchUpdate("Shelf", nil, ["shop": try shop("a", in: world)]))
        // Those that were its own stand where they stood.
        #expect(try orders(world) == ["Shelf 2, Shelf 0, Shelf 1, Shelf 5", ""])
        try world.execute(batchUpdate("Shelf", "number < 2", ["shop": try shop("b", in: world)]))
        #expect(try orders(world) == ["Shelf 2, Shelf 5", "Shelf 0, Shelf 1"])
    }

    // B4
    @Test(arguments: BatchWorld.Kind.allCases) func anUpsertThatMovesARowPutsItLast(_ kind: BatchWorld.Kind) throws {
        let world = try world(kind), a = try shop("a", in: world), b = try shop("b", in: world)
        try world.insert(
            "Shelf", [["code": "c2", "shop": b], ["code": "c0", "shop": a], ["code": "c7", "number": 7, "shop": a]],
            policy: .mergeByPropertyObjectTrump)
        #expect(try orders(world) == ["Shelf 0, Shelf 1, Shelf 7", "Shelf 5, Shelf 2"])
    }

    // P11, B1
    @Test(arguments: BatchWorld.Kind.allCases) func whoKeepsItsOwnerKeepsItsPlaceWhileKeysAreExchanged(_ kind: BatchWorld.Kind) throws {
        let model = Shops.model(), shelf = try #require(model.entitiesByName["Shelf"])
        shelf.uniquenessConstraints = [["shop", "number"]]
        let world = try BatchWorld(kind, model)
        try world.save { context in
            let shelves = (0..<3).map { context.make("Shelf", ["number": $0]) }
            context.make("Shop", ["name": "a", "number": 9, "shelves": NSOrderedSet(array: [shelves[2], shelves[0], shelves[1]])])
            context.make("Shop", ["name": "b", "number": 8])
        }
        try world.execute(batchUpdate("Shelf", nil, ["shop": try shop("a", in: world), "number": NSExpression(format: "number + 1")]))
        #expect(try orders(world) == ["Shelf 3, Shelf 1, Shelf 2", ""])
    }

    /// Books and toys with keys that share attributes, and one that only toys have.
    private func keyed(_ kind: BatchWorld.Kind, _ constraints: [String: [[String]]]) throws -> BatchWorld {
        let model = Shops.model()
        for (name, entity) in model.entitiesByName where ["Item", "Toy", "Book"].contains(name) {
            entity.uniquenessConstraints = constraints[name] ?? []
        }
        let world = try BatchWorld(kind, model)
        try world.save { context in
            for index in 0..<5 { context.make("Toy", ["key": "k", "label": "l", "age": index, "number": index, "count": index]) }
        }
        return world
    }

    // P11
    @Test(arguments: BatchWorld.Kind.allCases) func rowsExchangeKeysThatShareAnAttribute(_ kind: BatchWorld.Kind) throws {
        let world = try keyed(kind, ["Toy": [["label", "age"], ["key", "age"]]])
        try world.execute(batchUpdate("Toy", nil, ["age": NSExpression(format: "age + 1")]))
        _ = try orders(world)
        #expect(try world.dump().sorted { $0.key < $1.key }.map { $0.value["age"] } == ["1", "2", "3", "4", "5"])
    }

    // P11
    @Test(arguments: BatchWorld.Kind.allCases) func rowsExchangeKeysThatASubentityDeclares(_ kind: BatchWorld.Kind) throws {
        let world = try keyed(kind, ["Toy": [["count"]]])
        try world.execute(batchUpdate("Item", nil, ["count": NSExpression(format: "count + 1")]))
        _ = try orders(world)
        #expect(try world.dump().sorted { $0.key < $1.key }.map { $0.value["count"] } == ["1", "2", "3", "4", "5"])
        let error = #expect(throws: NSError.self) { try world.execute(batchUpdate("Item", nil, ["count": 1])) }
        #expect(error?.code == 133_021 && error?.localizedDescription.contains("count") == true)
    }

    // B4
    @Test(arguments: BatchWorld.Kind.allCases) func aKeyThatARowBeforeGaveUpIsFree(_ kind: BatchWorld.Kind) throws {
        let model = Shops.model()
        model.entitiesByName["Item"]?.uniquenessConstraints = [["key"], ["count"]]
        let other = try BatchWorld(kind, model)
        try other.insert(
            "Item", [["key": "1", "count": 1, "number": 1], ["key": "1", "count": 2, "number": 2], ["key": "3", "count": 1, "number": 3]],
            policy: .mergeByPropertyObjectTrump)
        #expect(try other.dump().values.map { "\($0["key"] ?? "") \($0["count"] ?? "")" }.sorted() == ["1 2", "3 1"])
    }
}
