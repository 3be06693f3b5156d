import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// The same batch requests do the same by SQL and row by row, in memory and in files that are written as a whole; and the history tells what they did.
@Suite struct BatchAgreementTests {
    // B1, B2, B4, B5, B7, S1
    @Test(arguments: 0..<24) func aFileAndMemoryDoTheSame(seed: UInt64) throws {
        var requests = RandomBatches(seed: seed)
        let file = try BatchWorld(.file), memory = try BatchWorld([.memory, .xml, .binary][Int(seed % 3)])
        let start = requests.graph()
        for world in [file, memory] { try world.save { context in RandomBatches.make(start, in: context) } }
        var before = try file.dump(), rowsBefore = try file.dump(byKeys: true)
        #expect(try before == memory.dump())
        for step in 0..<20 {
            let request = requests.next()
            let label = "seed \(seed), step \(step): \(request)"
            let token = file.coordinator.currentPersistentHistoryToken(fromStores: nil)
            let outcome = try request.outcome(in: file), same = try request.outcome(in: memory)
            #expect(outcome == same || outcome.isError && same.isError, "\(label)")
            let after = try file.dump(), other = try memory.dump()
            if memory.store.type != NSInMemoryStoreType { #expect(try BatchWorld(reading: memory).dump() == other, "\(label)") }
            for name in Set(after.keys).union(other.keys).sorted() { #expect(after[name] == other[name], "\(label): \(name)") }
            #expect(outcome.error == nil || after == before, "\(label): it failed and changed something")
            let rows = try file.dump(byKeys: true)
            try checkHistory(of: file, since: token, before: rowsBefore, after: rows, label)
            if after != other { return }
            before = after
            rowsBefore = rows
        }
        let url = try #require(file.store.url)
        let verified = try SQLiteStoreVerification.verify(url)
        #expect(verified.isSound, "seed \(seed): \(verified)")
    }

    /// Every object that came, went or changed is in the history, and nothing else came or went.
    private func checkHistory(
        of world: BatchWorld, since token: NSPersistentHistoryToken?, before: [String: [String: String]], after: [String: [String: String]],
        _ label: String
    ) throws {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
        let transactions = try #require(try world.execute(request, as: NSPersistentHistoryResult.self).result as? [NSPersistentHistoryTransaction])
        let changes = transactions.flatMap { $0.changes ?? [] }
        #expect(transactions.count <= 1, "\(label)")
        #expect(Set(changes.map(\.changedObjectID)).count == changes.count, "\(label): an object has two changes")
        func name(_ change: NSPersistentHistoryChange) -> String { "\(change.changedObjectID.entity.name ?? "") \(change.changedObjectID.key)" }
        func names(_ type: NSPersistentHistoryChangeType) -> Set<String> { Set(changes.filter { $0.changeType == type }.map(name)) }
        let inserted = Set(after.keys).subtracting(before.keys), deleted = Set(before.keys).subtracting(after.keys)
        #expect(names(.insert) == inserted, "\(label)")
        #expect(names(.delete) == deleted, "\(label)")
        var updated: [String: Set<String>] = [:]
        for change in changes where change.changeType == .update {
            updated[name(change)] = Set(change.updatedProperties?.map(\.name) ?? [])
        }
        for (name, line) in after {
            guard let old = before[name] else { continue }
            for (property, value) in line where value != old[property] {
                // Who is a member of a one-to-many is said by the members; a reference that leads nowhere is as it was.
                if Self.inverses.contains(property) || value.contains("?") { continue }
                #expect(updated[name]?.contains(property) == true, "\(label): \(name).\(property), which the history does not tell of")
            }
        }
        if before == after { #expect(inserted.isEmpty && deleted.isEmpty, "\(label)") }
    }

    private static let inverses: Set = ["items", "licences", "loans", "archive", "shelves", "branches"]
}

/// Random requests over `Shops`, the same for the same seed.
private struct RandomBatches {
    private var numbers: SeededNumbers
    private var nextNumber = 1000

    init(seed: UInt64) { numbers = SeededNumbers(seed: seed &* 7919 &+ 1) }

    // MARK: The start

    struct Graph {
        var objects: [(entity: String, values: [String: Any])] = []
        var links: [(from: Int, name: String, to: [Int])] = []
    }

    mutating func graph() -> Graph {
        var graph = Graph()
        var places: [String: [Int]] = [:]
        func add(_ entity: String, _ values: [String: Any]) {
            places[entity, default: []].append(graph.objects.count)
            graph.objects.append((entity, values.merging(["number": graph.objects.count]) { $1 }))
        }
        for index in 0..<8 {
            add("Shop", ["name": "s\(index)", "stars": numbers.pick([1, 2, 3]), "revenue": Double(index) / 2, "isOpen": numbers.chance(50)])
        }
        for index in 0..<24 {
            let entity = numbers.pick(["Item", "Book", "Toy"])
            var values: [String: Any] = [
                "key": "k\(index)", "count": numbers.pick([0, 1, 2, 3]), "price": NSDecimalNumber(string: numbers.pick(["0.1", "2.5", "7"])),
            ]
            if entity == "Toy" { values.merge(["label": "l\(index % 3)", "age": index]) { $1 } }
            add(entity, values)
        }
        for entity in ["Tag", "Owner", "Licence", "Loan", "Shelf"] { for _ in 0..<5 { add(entity, [:]) } }
        func some(_ entities: [String], _ share: Int) -> [Int] { entities.flatMap { places[$0] ?? [] }.filter { _ in numbers.chance(share) } }
        func one(_ entities: [String], _ share: Int) -> [Int] {
            numbers.chance(share) ? [numbers.pick(entities.flatMap { places[$0] ?? [] })] : []
        }
        for item in some(["Item", "Book", "Toy"], 100) {
            graph.links.append((item, "shop", one(["Shop"], 60)))
            graph.links.append((item, "supplier", one(["Shop"], 30)))
            graph.links.append((item, "tags", some(["Tag"], 25)))
        }
        for shop in some(["Shop"], 100) {
            // A tree: to those that come later.
            graph.links.append((shop, "branches", (places["Shop"] ?? []).filter { $0 > shop && numbers.chance(15) }))
            graph.links.append((shop, "shelves", some(["Shelf"], 40).shuffled(using: &numbers)))
        }
        for (shop, owner) in zip(places["Shop"] ?? [], places["Owner"] ?? []) where numbers.chance(60) {
            graph.links.append((shop, "owner", [owner]))
        }
        for licence in places["Licence"] ?? [] { graph.links.append((licence, "owner", one(["Owner"], 100))) }
        for loan in places["Loan"] ?? [] {
            graph.links.append((loan, "shop", one(["Shop"], 60)))
            graph.links.append((loan, "archiveShop", one(["Shop"], 60)))
        }
        for shelf in places["Shelf"] ?? [] { graph.links.append((shelf, "books", some(["Book"], 30))) }
        return graph
    }

    static func make(_ graph: Graph, in context: NSManagedObjectContext) {
        let objects = graph.objects.map { context.make($0.entity, $0.values) }
        for link in graph.links where !link.to.isEmpty {
            let object = objects[link.from], targets = link.to.map { objects[$0] }
            guard let relationship = object.entity.relationshipsByName[link.name] else { continue }
            let value: Any =
                !relationship.isToMany
                ? targets[0] : relationship.isOrdered ? NSOrderedSet(array: targets) as Any : Set<NSManagedObject>(targets) as Any
            object.setValue(value, forKey: link.name)
        }
    }

    // MARK: Requests

    enum Request: CustomStringConvertible {
        case insert(String, [[String: Any]], NSMergePolicy)
        case update(String, String, [String: Any], subentities: Bool)
        case delete(String, String, sort: String?, offset: Int, limit: Int)
        case deleteIDs(String, String)

        var description: String {
            switch self {
            case .insert(let entity, let rows, let policy): "insert \(entity) \(rows) by \(policy.mergeType)"
            case .update(let entity, let format, let values, let subentities):
                "update \(entity) where \(format) to \(values), subentities \(subentities)"
            case .delete(let entity, let format, let sort, let offset, let limit):
                "delete \(entity) where \(format) by \(sort ?? "nothing"), \(limit) after \(offset)"
            case .deleteIDs(let entity, let format): "delete IDs of \(entity) where \(format)"
            }
        }
    }

    private static let conditions: [String: [String]] = [
        "Shop": [
            "TRUEPREDICATE", "stars > 1", "name IN {'s1', 's4'}", "items.@count > 2", "owner != nil", "ANY items.count == 0", "parent == nil",
            "isOpen == YES",
        ],
        "Item": [
            "TRUEPREDICATE", "count < 2", "price > 1", "shop == nil", "shop.stars == 2", "key ENDSWITH '3'", "tags.@count == 0",
            "supplier.name == 's2'",
        ],
        "Book": ["TRUEPREDICATE", "count < 2", "shelves.@count > 0"], "Toy": ["TRUEPREDICATE", "label == 'l1'", "age < 12"],
        "Tag": ["TRUEPREDICATE", "items.@count > 3"], "Owner": ["shop == nil", "licences.@count == 0", "TRUEPREDICATE", "number % 2 == 0"],
        "Licence": ["owner.shop == nil", "TRUEPREDICATE"], "Loan": ["shop == nil", "TRUEPREDICATE"],
        "Shelf": ["shop.stars > 1", "books.@count == 0"],
    ]

    mutating func next() -> Request {
        switch Int.random(in: 0..<10, using: &numbers) {
        case 0..<4: insertion()
        case 4..<7: updating()
        default: deletion()
        }
    }

    private mutating func condition(_ entity: String) -> String {
        let first = numbers.pick(Self.conditions[entity] ?? ["TRUEPREDICATE"])
        if first == "TRUEPREDICATE" { return numbers.chance(20) ? first : "number % \(numbers.pick([2, 3, 5])) == 1" }
        return first.replacingOccurrences(of: "number % 2", with: "modulus:by:(number, 2)")
    }

    private mutating func insertion() -> Request {
        let entity = numbers.pick(["Shop", "Item", "Book", "Toy", "Toy", "Tag"])
        let rows = (0..<Int.random(in: 0...6, using: &numbers)).map { _ -> [String: Any] in
            nextNumber += 1
            var row: [String: Any] = ["number": nextNumber]
            switch entity {
            case "Shop":
                if numbers.chance(90) { row["name"] = "s\(Int.random(in: 0..<14, using: &numbers))" }
                if numbers.chance(50) { row["stars"] = numbers.pick([0, 5, 1, numbers.chance(5) ? 70_000 : 4]) }
                if numbers.chance(30) { row["opened"] = Date(timeIntervalSinceReferenceDate: 5) }
            case "Tag": break
            default:
                if numbers.chance(90) { row["key"] = "k\(Int.random(in: 0..<40, using: &numbers))" }
                if numbers.chance(50) { row["price"] = numbers.chance(95) ? NSDecimalNumber(string: "12.25") : "dear" }
                if numbers.chance(30) { row["weight"] = 0.1 }
                if numbers.chance(30) { row["count"] = NSNull() }
                if entity == "Toy" && numbers.chance(70) {
                    row["label"] = numbers.pick(["l0", "l1"])
                    row["age"] = Int.random(in: 0..<30, using: &numbers)
                }
            }
            return row
        }
        let policies: [NSMergePolicy] = [.error, .error, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite, .rollback]
        return .insert(entity, rows, numbers.pick(policies))
    }

    private mutating func updating() -> Request {
        let entity = numbers.pick(["Shop", "Shop", "Item", "Item", "Book", "Toy", "Loan"])
        func expression(_ format: String) -> NSExpression { NSExpression(format: format) }
        let choices: [(String, Any)]
        switch entity {
        case "Shop":
            choices = [
                ("stars", 4), ("stars", expression("stars + 1")), ("stars", expression("stars * 20000")), ("revenue", expression("revenue / 2")),
                ("revenue", expression("items.@sum.count")), ("isOpen", expression("stars")), ("opened", NSNull()),
                ("site", URL(fileURLWithPath: "/x")),
                ("name", expression("uppercase:(name)")), ("name", "same"), ("stars", "many"), ("name", expression("stars")), ("token", UUID()),
                ("opened", Date(timeIntervalSinceReferenceDate: 9)),
            ]
        case "Loan": choices = [("shop", NSNull()), ("archiveShop", NSNull()), ("number", expression("number + 100000"))]
        default:
            choices = [
                ("count", 7), ("count", expression("count + 1")), ("count", expression("tags.@count")), ("price", expression("price + 1")),
                ("price", expression("price * price")), ("weight", expression("count / 3")), ("weight", 0.1), ("key", expression("lowercase:(key)")),
                ("shop", NSNull()), ("supplier", NSNull()), ("count", expression("shop.stars")), ("key", NSNull()),
                ("price", NSDecimalNumber(string: "3.25")),
                ("count", expression("TERNARY(count > 1, 0, 5)")),
            ]
        }
        var values: [String: Any] = [:]
        for _ in 0..<numbers.pick([1, 1, 2, 3]) {
            let choice = numbers.pick(choices)
            values[choice.0] = choice.1
        }
        return .update(entity, condition(entity), values, subentities: numbers.chance(80))
    }

    private mutating func deletion() -> Request {
        let entity = numbers.pick(["Shop", "Item", "Book", "Toy", "Tag", "Owner", "Licence", "Loan", "Shelf"])
        if numbers.chance(25) { return .deleteIDs(entity, condition(entity)) }
        let isWindowed = numbers.chance(60)
        return .delete(
            entity, condition(entity), sort: isWindowed ? "number" : nil, offset: isWindowed ? Int.random(in: 0...2, using: &numbers) : 0,
            limit: isWindowed ? Int.random(in: 1...3, using: &numbers) : 0)
    }
}

/// What a request did, in the words of numbers.
private struct Outcome: Equatable {
    var error: Int?
    var count: Int?
    var names: [String] = []

    /// Which of several faults is met first depends on how far rows are read ahead.
    var isError: Bool { error.map { [133_021, 134_060, 1570].contains($0) } ?? false }
}

extension RandomBatches.Request {
    fileprivate func outcome(in world: BatchWorld) throws -> Outcome {
        do {
            switch self {
            case .insert(let entity, let rows, let policy):
                let request = NSBatchInsertRequest(entityName: entity, objects: rows)
                request.resultType = .objectIDs
                let ids = try #require(try world.execute(request, as: NSBatchInsertResult.self, policy: policy).result as? [NSManagedObjectID])
                return Outcome(count: ids.count, names: try world.numbers(ids).sorted())
            case .update(let entity, let format, let values, let subentities):
                let request = NSBatchUpdateRequest(entityName: entity)
                request.predicate = NSPredicate(format: Self.spelled(format))
                request.propertiesToUpdate = values
                request.includesSubentities = subentities
                request.resultType = .updatedObjectIDsResultType
                let ids = try #require(try world.execute(request, as: NSBatchUpdateResult.self).result as? [NSManagedObjectID])
                return Outcome(count: ids.count, names: try world.numbers(ids).sorted())
            case .delete(let entity, let format, let sort, let offset, let limit):
                let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
                fetch.predicate = NSPredicate(format: Self.spelled(format))
                fetch.sortDescriptors = sort.map { [NSSortDescriptor(key: $0, ascending: true)] }
                fetch.fetchOffset = offset
                fetch.fetchLimit = limit
                return try deleting(NSBatchDeleteRequest(fetchRequest: fetch), in: world)
            case .deleteIDs(let entity, let format):
                let context = world.fresh()
                let ids = try context.performAndWait { () throws in try context.all(entity, Self.spelled(format)).map(\.objectID) }
                return try deleting(NSBatchDeleteRequest(objectIDs: ids), in: world)
            }
        } catch let error as NSError where error.domain == NSCocoaErrorDomain {
            return Outcome(error: error.code)
        }
    }

    private func deleting(_ request: NSBatchDeleteRequest, in world: BatchWorld) throws -> Outcome {
        request.resultType = .resultTypeObjectIDs
        let ids = try #require(try world.execute(request, as: NSBatchDeleteResult.self).result as? [NSManagedObjectID])
        #expect(try world.store.rows(for: ids).isEmpty)
        return Outcome(count: ids.count, names: ids.map { $0.entity.name ?? "" }.sorted())
    }

    /// `number % n` as predicates say it.
    private static func spelled(_ format: String) -> String {
        guard let range = format.range(of: "number % ") else { return format }
        let rest = format[range.upperBound...]
        return "modulus:by:(number, \(rest.prefix(1)))\(rest.dropFirst())"
    }
}
