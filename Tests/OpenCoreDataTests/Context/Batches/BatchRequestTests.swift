import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// What batch requests ask for and tell, in every store that answers them.
@Suite struct BatchRequestTests {
    /// Shops by name and stars, in the order of their names.
    private func shops(_ world: BatchWorld) throws -> [String] {
        try world.dump().values.filter { $0["stars"] != nil }.map { "\($0["name"] ?? "") \($0["stars"] ?? "")" }.sorted()
    }

    // MARK: Inserting

    // B1
    @Test(arguments: BatchWorld.Kind.allCases) func rowsComeAsDictionariesFromAHandlerOrOutOfAnObject(_ kind: BatchWorld.Kind) throws {
        let world = try BatchWorld(kind)
        let entity = try #require(world.coordinator.managedObjectModel.entitiesByName["Shop"])
        try world.execute(NSBatchInsertRequest(entityName: "Shop", objects: [["name": "a", "stars": 1, "number": 1], ["name": "b", "number": 2]]))
        try world.execute(NSBatchInsertRequest(entity: entity, objects: [["name": "c", "stars": NSNull(), "number": 3]]))
        var count = 3
        try world.execute(
            NSBatchInsertRequest(entityName: "Shop") { (row: NSMutableDictionary) in
                #expect(row.count == 0)
                count += 1
                if count > 5 { return true }
                row["name"] = "from a handler \(count)"
                row["number"] = count
                return false
            })
        count = 5
        try world.execute(
            NSBatchInsertRequest(entity: entity) { (object: NSManagedObject) in
                #expect(object.value(forKey: "name") == nil && object.value(forKey: "stars") as? Int == 3 && object.managedObjectContext == nil)
                count += 1
                if count > 7 { return true }
                object.setValue("from an object \(count)", forKey: "name")
                object.setValue(count, forKey: "number")
                if count == 7 { object.setValue(0, forKey: "stars") }
                return false
            })
        #expect(
            try shops(world) == [
                "a 1", "b 3", "c nil", "from a handler 4 3", "from a handler 5 3", "from an object 6 3", "from an object 7 0",
            ])
    }

    // B1
    @Test func aRequestTellsWhatItWasMadeOf() throws {
        let entity = try #require(Shops.model().entitiesByName["Shop"])
        let rows = NSBatchInsertRequest(entityName: "Shop", objects: [["name": "a"]])
        #expect(rows.entityName == "Shop" && rows.entity == nil && rows.objectsToInsert?.count == 1 && rows.dictionaryHandler == nil)
        #expect(rows.resultType == .statusOnly && rows.requestType == .batchInsertRequestType)
        rows.managedObjectHandler = { _ in true }
        #expect(rows.objectsToInsert == nil && rows.managedObjectHandler != nil)
        let handler = NSBatchInsertRequest(entity: entity) { (_: NSMutableDictionary) in true }
        #expect(handler.entity === entity && handler.entityName == "Shop" && handler.dictionaryHandler != nil && handler.objectsToInsert == nil)
        let update = NSBatchUpdateRequest(entity: entity)
        #expect(update.entityName == "Shop" && update.includesSubentities && update.resultType == .statusOnlyResultType && update.predicate == nil)
        #expect(update.requestType == .batchUpdateRequestType)
        let deletion = batchDelete("Shop", "stars == 1")
        #expect(deletion.fetchRequest.entityName == "Shop" && deletion.fetchRequest.predicate == NSPredicate(format: "stars == 1"))
        #expect(deletion.resultType == .resultTypeStatusOnly && deletion.requestType == .batchDeleteRequestType)
    }

    // B2
    @Test(arguments: BatchWorld.Kind.allCases) func aResultIsAStatusTheIDsOrACount(_ kind: BatchWorld.Kind) throws {
        let world = try BatchWorld(kind)
        func insert(_ type: NSBatchInsertRequestResultType, _ names: String...) throws -> Any? {
            let request = NSBatchInsertRequest(entityName: "Shop", objects: names.map { ["name": $0, "number": names.count] })
            request.resultType = type
            let result = try world.execute(request, as: NSBatchInsertResult.self)
            #expect(result.resultType == type)
            return result.result
        }
        #expect(try insert(.statusOnly, "a") as? Bool == true)
        #expect(try insert(.count, "b", "c") as? Int == 2)
        let made = try #require(try insert(.objectIDs, "d", "e", "f") as? [NSManagedObjectID])
        #expect(made.count == 3 && made.allSatisfy { !$0.isTemporaryID && $0.persistentStore === world.store })
        let context = world.fresh()
        try context.performAndWait { () throws in
            let names = try made.map { try context.existingObject(with: $0).value(forKey: "name") as? String }
            #expect(names == ["d", "e", "f"])
        }
        let update = batchUpdate("Shop", "name > 'c'", ["stars": 1])
        #expect(try world.execute(update, as: NSBatchUpdateResult.self).result as? Bool == true)
        update.resultType = .updatedObjectsCountResultType
        #expect(try world.execute(update, as: NSBatchUpdateResult.self).result as? Int == 3)
        update.resultType = .updatedObjectIDsResultType
        #expect(try world.execute(update, as: NSBatchUpdateResult.self).result as? [NSManagedObjectID] == made)
        let deletion = batchDelete("Shop", "name IN {'a', 'b'}")
        deletion.resultType = .resultTypeCount
        #expect(try world.execute(deletion, as: NSBatchDeleteResult.self).result as? Int == 2)
        let rest = NSBatchDeleteRequest(objectIDs: made)
        rest.resultType = .resultTypeObjectIDs
        #expect(try world.execute(rest, as: NSBatchDeleteResult.self).result as? [NSManagedObjectID] == made)
        #expect(try world.execute(rest, as: NSBatchDeleteResult.self).result as? [NSManagedObjectID] == [])
        #expect(try world.execute(NSBatchDeleteRequest(objectIDs: []), as: NSBatchDeleteResult.self).result as? Bool == true)
        #expect(try shops(world) == ["c 3"])
    }

    // B3
    @Test(arguments: BatchWorld.Kind.allCases) func theyGoPastContextsAndPastValidation(_ kind: BatchWorld.Kind) throws {
        let model = Shops.model()
        let stars = try #require(model.entitiesByName["Shop"]?.attributesByName["stars"])
        stars.maximumValue = 5
        stars.isOptional = false
        let world = try BatchWorld(kind, model)
        try world.insert("Shop", [["name": "a", "stars": 9, "number": 1], ["name": "b", "stars": NSNull(), "number": 2]])
        let context = world.context, recorder = NotificationRecorder(context, .NSManagedObjectContextDidSave, .NSManagedObjectContextObjectsDidChange)
        try context.performAndWait { () throws in
            let shop = try #require(try context.all("Shop", "name == 'a'").first)
            #expect(shop.value(forKey: "stars") as? Int == 9)
            try context.execute(batchUpdate("Shop", nil, ["stars": 100]))
            #expect(recorder.count == 0 && !context.hasChanges)
            // Stale until it is merged.
            #expect(shop.value(forKey: "stars") as? Int == 9)
            let other = world.fresh()
            try other.performAndWait { () throws in #expect(try other.all("Shop", "stars == 100").count == 2) }
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectsKey: [shop.objectID]], into: [context])
            #expect(shop.value(forKey: "stars") as? Int == 100)
            try context.execute(batchDelete("Shop"))
            #expect(!shop.isDeleted)
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: [shop.objectID]], into: [context])
            #expect(shop.isDeleted)
            #expect(try context.all("Shop").isEmpty)
        }
    }

    // B3
    @Test(arguments: BatchWorld.Kind.allCases) func unsavedChangesStandAndMeetAConflictWhenTheyAreSaved(_ kind: BatchWorld.Kind) throws {
        let world = try BatchWorld(kind)
        try world.insert("Shop", [["name": "a", "number": 1]])
        let context = world.context
        try context.performAndWait { () throws in
            let shop = try #require(try context.all("Shop").first)
            shop.setValue(1, forKey: "stars")
            let unsaved = context.make("Shop", ["name": "unsaved", "number": 7])
            let request = batchUpdate("Shop", nil, ["stars": 2])
            request.resultType = .updatedObjectIDsResultType
            #expect((try context.execute(request) as? NSBatchUpdateResult)?.result as? [NSManagedObjectID] == [shop.objectID])
            #expect(shop.value(forKey: "stars") as? Int == 1)
            #expect(errorCode { try context.save() } == 133_020)
            context.mergePolicy = .mergeByPropertyObjectTrump
            try context.save()
            #expect(errorCode { try context.execute(NSBatchDeleteRequest(objectIDs: [context.make("Shop").objectID])) } == 134_060)
            #expect(!unsaved.objectID.isTemporaryID)
            context.rollback()
        }
        #expect(try shops(world) == ["a 1", "unsaved 3"])
    }

    // B3: what somebody calls inserted may have been there before
    @Test(arguments: BatchWorld.Kind.allCases) func idsOfAnUpsertCanBeMergedAsInserted(_ kind: BatchWorld.Kind) throws {
        let world = try BatchWorld(kind)
        try world.insert("Shop", [["name": "a", "stars": 1, "number": 1]])
        let context = world.context
        context.mergePolicy = .mergeByPropertyObjectTrump
        try context.performAndWait { () throws in
            let shop = try #require(try context.all("Shop").first)
            #expect(shop.value(forKey: "stars") as? Int == 1)
            let request = NSBatchInsertRequest(entityName: "Shop", objects: [["name": "a", "stars": 5], ["name": "b", "number": 2]])
            request.resultType = .objectIDs
            let ids = try #require((try context.execute(request) as? NSBatchInsertResult)?.result as? [NSManagedObjectID])
            #expect(ids.first == shop.objectID && ids.count == 2)
            NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSInsertedObjectsKey: ids], into: [context])
            #expect(shop.value(forKey: "stars") as? Int == 5 && shop.value(forKey: "number") as? Int == 1)
        }
    }

    // B4
    @Test(arguments: BatchWorld.Kind.allCases) func theMergePolicySettlesKeysThatAreTaken(_ kind: BatchWorld.Kind) throws {
        func outcome(_ policy: NSMergePolicy) throws -> [String: String] {
            let world = try BatchWorld(kind)
            try world.save { $0.make("Shop", ["name": "a", "stars": 1, "revenue": 2.5, "number": 1]) }
            try world.insert("Shop", [["name": "a", "stars": 5], ["name": "b", "number": 2], ["name": "b", "revenue": 1.5]], policy: policy)
            return try world.dump().mapValues { "\($0["name"] ?? "") \($0["stars"] ?? "") \($0["revenue"] ?? "")" }
        }
        #expect(errorCode { _ = try outcome(.error) } == 133_021)
        #expect(try outcome(.mergeByPropertyObjectTrump) == ["Shop 1": "a 5 2.5", "Shop 2": "b 3 1.5"])
        #expect(try outcome(.mergeByPropertyStoreTrump) == ["Shop 1": "a 1 2.5", "Shop 2": "b 3 nil"])
        #expect(try outcome(.rollback) == ["Shop 1": "a 1 2.5", "Shop 2": "b 3 nil"])
        // All of it is that of the new one, its number too.
        let world = try BatchWorld(kind)
        try world.save { $0.make("Shop", ["name": "a", "stars": 1, "revenue": 2.5, "number": 1]) }
        try world.insert("Shop", [["name": "a", "stars": 5]], policy: .overwrite)
        let line = try #require(try world.dump()["Shop nil"])
        #expect(line["stars"] == "5" && line["revenue"] == "nil" && line["name"] == "a")
    }

    // B4
    @Test(arguments: BatchWorld.Kind.allCases) func aKeyThatIsTakenIsToldAndNothingIsWritten(_ kind: BatchWorld.Kind) throws {
        let world = try BatchWorld(kind)
        try world.insert("Item", [["key": "a", "number": 1]])
        func insert(_ entity: String, _ policy: NSMergePolicy = .error) throws {
            try world.insert(entity, [["key": "z", "number": 2], ["key": "a", "number": 3]], policy: policy)
        }
        let error = #expect(throws: NSError.self) { try insert("Item") }
        #expect(error?.code == 133_021 && error?.localizedDescription.contains("same key") == true)
        // The key is that of an object of another entity of the tree, which can't take these values over.
        let other = #expect(throws: NSError.self) { try insert("Toy", .mergeByPropertyObjectTrump) }
        #expect(other?.code == 133_021 && other?.localizedDescription.contains("another entity") == true)
        #expect(try world.dump().count == 1)
    }

    // B1
    @Test(arguments: BatchWorld.Kind.allCases) func aToOneIsSetToAnObjectThatIsThere(_ kind: BatchWorld.Kind) throws {
        let world = try BatchWorld(kind)
        try world.save { context in for number in 0..<2 { context.make("Shop", ["name": "s\(number)", "number": number]) } }
        let context = world.context
        try context.performAndWait { () throws in
            let shops = try context.all("Shop", sort: "name"), ids = shops.map(\.objectID)
            try context.execute(
                NSBatchInsertRequest(
                    entityName: "Item", objects: [["number": 10, "shop": ids[0]], ["number": 11, "shop": shops[1], "supplier": ids[1]]]))
            var done = false
            try context.execute(
                NSBatchInsertRequest(entityName: "Item") { (object: NSManagedObject) in
                    if done { return true }
                    done = true
                    object.setValue(12, forKey: "number")
                    return false
                })
            try context.execute(batchUpdate("Item", "number == 12", ["shop": ids[0], "supplier": shops[0]]))
            try context.execute(NSBatchDeleteRequest(objectIDs: [ids[1]]))
            #expect(errorCode { try context.execute(batchUpdate("Item", nil, ["shop": ids[1]])) } == 133_000)
            #expect(errorCode { try context.execute(NSBatchInsertRequest(entityName: "Item", objects: [["supplier": ids[1]]])) } == 133_000)
            #expect(errorCode { try context.execute(batchUpdate("Item", nil, ["shop": context.make("Shop")])) } == 134_060)
            #expect(errorCode { try context.execute(batchUpdate("Item", nil, ["shop": "s0"])) } == 134_060)
            #expect(errorCode { try context.execute(batchUpdate("Item", nil, ["shop": try #require(context.all("Item").first)])) } == 134_060)
            context.reset()
        }
        let dump = try world.dump()
        #expect(dump["Shop 0"]?["items"] == "Item 10, Item 12" && dump["Item 12"]?["supplier"] == "Shop 0" && dump["Item 11"] == nil)
    }

    // B1
    @Test(arguments: BatchWorld.Kind.allCases) func whatIsNoValueOfARowIsRefusedInASentence(_ kind: BatchWorld.Kind) throws {
        let model = Shops.model()
        let note = StoreModels.attribute("note", .string)
        note.isTransient = true
        model.entitiesByName["Shop"]?.properties.append(note)
        let world = try BatchWorld(kind, model)
        try world.insert("Shop", [["name": "a", "number": 1]])
        func words(_ values: [String: Any]) -> [String] {
            let inserting = #expect(throws: NSError.self) { try world.insert("Shop", [values]) }
            let updating = #expect(throws: NSError.self) { try world.execute(batchUpdate("Shop", nil, values)) }
            #expect(inserting?.code == 134_060 && updating?.code == 134_060)
            return [inserting, updating].map { $0?.localizedDescription ?? "" }
        }
        for sentence in words(["nam": "a"]) { #expect(sentence.contains("Shop has no property \"nam\"") && sentence.contains("revenue")) }
        for sentence in words(["items": []]) { #expect(sentence.contains("Shop.items: it is a to-many")) }
        for sentence in words(["note": "x"]) { #expect(sentence.contains("Shop.note: it is transient")) }
        for sentence in words(["owner": NSNull()]) { #expect(sentence.contains("Shop.owner: its inverse is a to-one")) }
        for sentence in words(["stars": "many"]) { #expect(sentence.contains("many is no value of Shop.stars, which is Integer 16")) }
        for sentence in words(["stars": 70_000]) { #expect(sentence.contains("70000 is no value of Shop.stars")) }
        for sentence in words(["revenue": Double.nan]) { #expect(sentence.contains("is no value of Shop.revenue")) }
        func refused(_ request: NSPersistentStoreRequest) -> String {
            let error = #expect(throws: NSError.self) { try world.execute(request) }
            #expect(error?.code == 134_060)
            return error?.localizedDescription ?? ""
        }
        #expect(refused(NSBatchUpdateRequest(entityName: "Shop")).contains("needs propertiesToUpdate"))
        #expect(refused(NSBatchUpdateRequest(entityName: "Shed")).contains("no entity named \"Shed\""))
        #expect(refused(NSBatchInsertRequest(entityName: "Shed", objects: [])).contains("no entity named \"Shed\""))
        #expect(refused(batchDelete("Shed")).contains("no entity named \"Shed\""))
        #expect(refused(batchUpdate("Shop", nil, [1: 2])).contains("by name or by NSPropertyDescription"))
        #expect(refused(batchUpdate("Shop", nil, ["stars": NSExpression(format: "stores + 1")])).contains("\"stores\""))
        #expect(
            refused(batchUpdate("Shop", nil, ["stars": NSExpression(format: "name")])).contains("a is no value of Shop.stars, which is Integer 16"))
        #expect(refused(batchUpdate("Item", nil, ["shop": NSExpression(format: "supplier")])).contains("a relationship is set to an object"))
        #expect(try shops(world) == ["a 3"])
    }

    // B1
    @Test(arguments: BatchWorld.Kind.allCases) func anExpressionIsComputedFromTheObjectAsItWasBefore(_ kind: BatchWorld.Kind) throws {
        let world = try BatchWorld(kind)
        try world.save { context in
            let shop = context.make("Shop", ["name": "a", "stars": 2, "revenue": 10.0, "number": 1])
            context.make("Book", ["key": "b", "count": 4, "price": NSDecimalNumber(string: "0.1"), "number": 2, "shop": shop])
            context.make("Item", ["key": "i", "count": 6, "price": NSDecimalNumber(string: "2"), "number": 3])
        }
        let entity = try #require(world.coordinator.managedObjectModel.entitiesByName["Shop"])
        let stars = try #require(entity.propertiesByName["stars"])
        try world.execute(batchUpdate("Shop", nil, [stars: NSExpression(format: "stars * 2"), "revenue": NSExpression(format: "revenue / stars")]))
        let items = batchUpdate(
            "Item", nil, ["count": NSExpression(format: "shop.stars"), "price": NSExpression(format: "price + price"), "key": "k"])
        items.includesSubentities = false
        try world.execute(items)
        let books = batchUpdate("Book", nil, ["count": NSExpression(format: "shop.stars + count"), "title": NSExpression(format: "uppercase:(key)")])
        try world.execute(books)
        let dump = try world.dump()
        #expect(dump["Shop 1"]?["stars"] == "4" && dump["Shop 1"]?["revenue"] == "5.0")
        #expect(dump["Item 3"]?["count"] == "nil" && dump["Item 3"]?["price"] == "4" && dump["Item 3"]?["key"] == "k")
        #expect(dump["Book 2"]?["count"] == "8" && dump["Book 2"]?["title"] == "B" && dump["Book 2"]?["price"] == "0.1")
    }

    // B1, P11
    @Test(arguments: BatchWorld.Kind.allCases) func rowsMayExchangeTheirKeys(_ kind: BatchWorld.Kind) throws {
        let world = try BatchWorld(kind)
        try world.save { context in
            for index in 0..<4 { context.make("Toy", ["key": "k\(index)", "label": "l", "age": index, "number": index]) }
        }
        try world.execute(batchUpdate("Toy", nil, ["age": NSExpression(format: "age + 1")]))
        try world.execute(batchUpdate("Toy", nil, ["age": NSExpression(format: "4 - age")]))
        #expect(try world.dump().sorted { $0.key < $1.key }.map { $0.value["age"] } == ["3", "2", "1", "0"])
        let error = #expect(throws: NSError.self) { try world.execute(batchUpdate("Toy", nil, ["age": 1])) }
        #expect(error?.code == 133_021)
        #expect(try world.dump().sorted { $0.key < $1.key }.map { $0.value["age"] } == ["3", "2", "1", "0"])
    }

    // MARK: Deleting

    // B5, R5
    @Test(arguments: BatchWorld.Kind.allCases) func theRulesOfTheModelHoldInTheStore(_ kind: BatchWorld.Kind) throws {
        let world = try BatchWorld(kind)
        try world.save { context in
            let shop = context.make("Shop", ["name": "s", "number": 1]), branch = context.make("Shop", ["name": "b", "number": 2, "parent": shop])
            let owner = context.make("Owner", ["number": 3, "shop": shop])
            let item = context.make("Item", ["key": "i", "number": 4, "shop": branch]),
                other = context.make("Item", ["key": "o", "number": 5, "supplier": shop])
            context.make("Tag", ["number": 6, "items": Set([item, other])])
            context.make("Loan", ["number": 7, "shop": shop, "archiveShop": shop])
            context.make("Licence", ["number": 8, "owner": owner])
        }
        let request = batchDelete("Shop", "name == 's'")
        request.resultType = .resultTypeCount
        // The shop, its branch, and what the branch has.
        #expect(try world.execute(request, as: NSBatchDeleteResult.self).result as? Int == 3)
        let dump = try world.dump()
        #expect(dump.keys.sorted() == ["Item 5", "Licence 8", "Loan 7", "Owner 3", "Tag 6"])
        #expect(dump["Owner 3"]?["shop"] == "" && dump["Item 5"]?["supplier"] == "" && dump["Tag 6"]?["items"] == "Item 5")
        // Deny counts as nullify; no action leaves what leads to it alone.
        #expect(dump["Loan 7"]?["shop"] == "" && dump["Loan 7"]?["archiveShop"] == "?")
        let error = #expect(throws: NSError.self) { try world.execute(batchDelete("Owner")) }
        #expect(error?.code == 1570 && error?.localizedDescription.contains("Licence.owner") == true)
        #expect(try world.dump() == dump)
        // With what must lead to it, it goes.
        let context = world.context
        try context.performAndWait { () throws in
            _ = try context.execute(NSBatchDeleteRequest(objectIDs: (context.all("Owner") + context.all("Licence")).map(\.objectID)))
        }
        #expect(try world.dump().keys.sorted() == ["Item 5", "Loan 7", "Tag 6"])
    }
}
