import GRDB
import Testing

@testable import OpenCoreData

/// Indexes over some of the objects, and what their elements may be.
@Suite struct FetchIndexTests {
    private static func task(_ change: (NSEntityDescription) -> Void) -> NSEntityDescription {
        let owner = NSRelationshipDescription(name: "owner", destination: NSEntityDescription(), toMany: false)
        let task = StoreModels.entity(
            "Task",
            [
                StoreModels.attribute("name", .string), StoreModels.attribute("isDone", .boolean), StoreModels.attribute("rank", .integer32),
                StoreModels.attribute("due", .date), StoreModels.attribute("price", .decimal), owner,
            ])
        owner.destinationEntity = task
        change(task)
        return task
    }

    private static func index(_ entity: NSEntityDescription, _ property: String, _ format: String?, _ arguments: [Any?] = []) throws {
        let found = try #require(entity.propertiesByName[property])
        let index = NSFetchIndexDescription(name: "some", elements: [NSFetchIndexElementDescription(property: found, collationType: .binary)])
        index.partialIndexPredicate = try format.map { try NSPredicate.parse($0, arguments: arguments) }
        entity.indexes = [index]
    }

    private static func sql(_ file: SQLiteShell) throws -> String? {
        try file.column("SELECT sql FROM sqlite_master WHERE name = 'Z_Task_some'").first
    }

    /// How SQLite carries out a fetch.
    private static func plan(_ fixture: StoreFixture, _ format: String, _ arguments: [Any?] = []) throws -> String {
        let entity = try fixture.entity("Task")
        var plan = FetchPlan(entity: entity)
        plan.predicate = try NSPredicate.parse(format, arguments: arguments).node.frozen().fitted(to: entity)
        let query = try SQLTranslator(schema: fixture.store.schema, identity: fixture.store.identity).query(plan) { "\($0).Z_PK" }
        let values = query.parameters.map { parameter -> (any DatabaseValueConvertible)? in
            switch parameter {
            case .null: nil
            case .integer(let value): value
            case .double(let value): value
            case .text(let value): value
            case .blob(let value): value
            }
        }
        return try fixture.store.pool.read { database in
            try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN \(query.sql)", arguments: StatementArguments(values)).map { $0["detail"] as String }
                .joined(separator: "; ")
        }
    }

    // X4
    @Test func aPartialIndexHoldsSomeAndServesFetchesOfThem() throws {
        let task = Self.task { try? Self.index($0, "name", "isDone == NO AND rank > 3") }
        let fixture = try StoreFixture(NSManagedObjectModel(entities: [task]))
        #expect(
            try Self.sql(fixture.shell)
                == "CREATE INDEX \"Z_Task_some\" ON \"ZTASK\" (\"ZNAME\" COLLATE BINARY ASC) WHERE (\"ZISDONE\" IS 0) AND (\"ZRANK\" > 3)")
        #expect(try Self.plan(fixture, "name == 'a' AND isDone == NO AND rank > 3").contains("USING INDEX Z_Task_some"))
        #expect(try Self.plan(fixture, "name == %@ AND isDone == %@ AND rank > %@", ["a", false, 3]).contains("USING INDEX Z_Task_some"))
        #expect(try !Self.plan(fixture, "name == 'a' AND isDone == YES AND rank > 3").contains("Z_Task_some"))
        #expect(try !Self.plan(fixture, "name == 'a'").contains("Z_Task_some"))
    }

    // X4
    @Test(arguments: [
        ("name != nil", "NOT (\"ZNAME\" IS NULL)"), ("name BEGINSWITH \"?1 o'clock\"", "(\"ZNAME\" >= '?1 o''clock' AND \"ZNAME\" < '?1 o''clocl')"),
        ("rank IN {1, 2}", "(\"ZRANK\" IS 1) OR (\"ZRANK\" IS 2)"), ("NOT isDone == YES", "NOT (\"ZISDONE\" IS 1)"),
        ("owner == nil", "\"ZOWNER\" IS NULL"), ("due > CAST(1.5, \"NSDate\")", "\"ZDUE\" > 1.5"),
    ])
    func aConditionIsPutAsAFetchPutsIt(_ format: String, _ condition: String) throws {
        let task = Self.task { try? Self.index($0, "rank", format) }
        let fixture = try StoreFixture(NSManagedObjectModel(entities: [task]))
        let sql = try Self.sql(fixture.shell) ?? ""
        #expect(sql.hasSuffix(" WHERE \(condition)"), "\(sql)")
    }

    // X4: an index changes no answer, so that one that holds more is as good.
    @Test(arguments: [
        "name == $NAME", "name ==[c] 'a'", "owner.name == 'a'", "price > 1.5", "TRUEPREDICATE", "rank IN {1, 2, 3, 4, 5, 6, 7, 8, 9}", "colour == 1",
    ])
    func whatAnIndexCannotSayIsLeftOut(_ format: String) throws {
        let task = Self.task { try? Self.index($0, "rank", format) }
        #expect(task.indexes[0].partialIndexPredicate != nil)
        let fixture = try StoreFixture(NSManagedObjectModel(entities: [task]))
        #expect(try Self.sql(fixture.shell) == "CREATE INDEX \"Z_Task_some\" ON \"ZTASK\" (\"ZRANK\" COLLATE BINARY ASC)")
    }

    // X4, G2
    @Test func anIndexThatIsChangedLaterIsMadeAnew() throws {
        func task(_ format: String?, _ more: [NSAttributeDescription] = []) -> NSEntityDescription {
            Self.task {
                $0.properties += more
                try? Self.index($0, "rank", format)
            }
        }
        let fixture = try MigrationFixture()
        try fixture.open([task(nil)]) { context in
            context.make("Task", ["rank": 1, "isDone": true], ["rank": 2, "isDone": false])
            try context.save()
        }
        for (format, end) in [("isDone == NO", " WHERE \"ZISDONE\" IS 0"), ("isDone == YES", " WHERE \"ZISDONE\" IS 1")] {
            try fixture.open([task(format)])
            #expect(try Self.sql(fixture.shell)?.hasSuffix(end) == true)
        }
        // What the condition names goes, and so does the condition.
        let without = task(nil)
        without.properties.removeAll { $0.name == "isDone" }
        try Self.index(without, "rank", "isDone == YES")
        try fixture.open([without])
        #expect(try Self.sql(fixture.shell)?.hasSuffix("ASC)") == true)
        #expect(try fixture.shell.column("SELECT rank FROM Task ORDER BY rank") == ["1", "2"])
        #expect(try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: fixture.file).entities[0].indexes.map(\.name) == ["some"])
    }

    // X4
    @Test func anObjectThatComesIntoAnIndexOrLeavesItIsFoundAsWithoutIt() throws {
        let fixture = try MigrationFixture(), task = Self.task { try? Self.index($0, "name", "isDone == NO AND rank > 3") }
        try fixture.open([task]) { context in
            func names() throws -> [String] {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Task")
                request.predicate = try NSPredicate.parse("isDone == NO AND rank > 3")
                request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
                return try context.fetch(request).compactMap { $0.value(forKey: "name") as? String }
            }
            let made = context.make(
                "Task", ["name": "a", "isDone": false, "rank": 4], ["name": "b", "isDone": false, "rank": 3],
                ["name": "c", "isDone": true, "rank": 5],
                ["name": "d", "rank": 9])
            try context.save()
            #expect(try names() == ["a"])
            made[0].setValue(true, forKey: "isDone")
            made[1].setValue(8, forKey: "rank")
            made[3].setValue(false, forKey: "isDone")
            try context.save()
            #expect(try names() == ["b", "d"])
        }
    }

    // X4
    @Test func theFileKnowsThePredicate() throws {
        let fixture = try MigrationFixture(), task = Self.task { try? Self.index($0, "rank", "isDone == NO") }
        try fixture.open([task])
        let kept = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: fixture.file).entities[0].indexes[0]
        #expect(kept.partialIndexPredicate?.node == task.indexes[0].partialIndexPredicate?.node && kept.elements.map(\.propertyName) == ["rank"])
    }

    // A4, X4
    @Test func anElementMayBeAKeyPathOfAnExpression() throws {
        let key = NSExpressionDescription(), sum = NSExpressionDescription()
        key.expression = NSExpression(forKeyPath: "rank")
        sum.expression = NSExpression(format: "rank + 1")
        let elements = [sum, key].map { NSFetchIndexElementDescription(property: $0, collationType: .rTree) }
        elements[1].isAscending = false
        let task = Self.task { $0.indexes = [NSFetchIndexDescription(name: "some", elements: elements)] }
        let fixture = try StoreFixture(NSManagedObjectModel(entities: [task]))
        #expect(try Self.sql(fixture.shell) == "CREATE INDEX \"Z_Task_some\" ON \"ZTASK\" (\"ZRANK\" COLLATE BINARY DESC)")
        #expect(elements.allSatisfy { $0.indexDescription === task.indexes[0] } && task.indexes[0].entity === task)
    }
}
