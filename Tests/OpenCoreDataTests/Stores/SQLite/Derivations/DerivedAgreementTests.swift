import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Whatever is saved, and whatever batch requests do: a derived value is what its expression gives of what is there.
@Suite struct DerivedAgreementTests {
    // A8
    @Test(arguments: 0..<16) func aDerivedValueIsWhatItsExpressionGives(seed: UInt64) throws {
        let world = try BatchWorld(.file, DerivedLibrary.model()), other = world.fresh()
        other.automaticallyMergesChangesFromParent = true
        var numbers = SeededNumbers(seed: seed &* 7919 &+ 11)
        let context = world.context
        // Both keep their objects.
        var mine: [NSManagedObject] = [], theirs: [NSManagedObject] = []
        for step in 0..<30 {
            let label = "seed \(seed), step \(step)"
            if numbers.next(6) == 0 {
                try Self.executeAny(in: world, &numbers)
                // Batch requests go past what is remembered.
                world.coordinator.rowCache.removeAll()
                try context.performAndWait { () throws in context.refreshAllObjects() }
                try other.performAndWait { () throws in other.refreshAllObjects() }
            } else {
                try context.performAndWait { () throws in
                    for _ in 0...numbers.next(5) { try Self.changeAnything(in: context, &numbers) }
                    try context.save()
                }
            }
            let there = try Self.ids(in: world.fresh())
            try context.performAndWait { () throws in
                mine = mine.filter { there.contains($0.objectID) }
                for object in mine {
                    #expect(DerivedLibrary.faults(of: object).isEmpty, "\(label), where it was saved: \(DerivedLibrary.faults(of: object))")
                }
                mine = try Self.everything(in: context)
            }
            try other.performAndWait { () throws in
                theirs = theirs.filter { there.contains($0.objectID) }
                for object in theirs {
                    #expect(DerivedLibrary.faults(of: object).isEmpty, "\(label), where it was merged: \(DerivedLibrary.faults(of: object))")
                }
                theirs = try Self.everything(in: other)
            }
            let fresh = world.fresh()
            try fresh.performAndWait { () throws in
                for object in try Self.everything(in: fresh) {
                    #expect(DerivedLibrary.faults(of: object).isEmpty, "\(label): \(DerivedLibrary.faults(of: object))")
                }
            }
        }
        let verified = try SQLiteStoreVerification.verify(try #require(world.store.url))
        #expect(verified.isSound, "seed \(seed): \(verified)")
        #expect(!mine.isEmpty)
    }

    private static func everything(in context: NSManagedObjectContext) throws -> [NSManagedObject] {
        try ["Country", "Author", "Book", "Tag"].flatMap { try context.all($0) }
    }

    private static func ids(in context: NSManagedObjectContext) throws -> Set<NSManagedObjectID> {
        try context.performAndWait { Set(try everything(in: context).map(\.objectID)) }
    }

    private static let words = ["Ärger", "STRASSE", "", "b", "Ærø", "x'y"]

    private static func changeAnything(in context: NSManagedObjectContext, _ numbers: inout SeededNumbers) throws {
        func any(_ entity: String, _ numbers: inout SeededNumbers) throws -> NSManagedObject? {
            let all = try context.all(entity, sort: entity == "Book" ? "title" : "name")
            return all.isEmpty || numbers.next(8) == 0 ? nil : all[numbers.next(all.count)]
        }
        let word: String? = numbers.next(5) == 0 ? nil : words[numbers.next(words.count)]
        switch numbers.next(12) {
        case 0:
            let country: NSManagedObject = context.make("Country")
            country.setValue(word, forKey: "name")
        case 1, 2:
            let author: NSManagedObject = context.make("Author")
            author.setValue(word, forKey: "name")
            author.setValue(try any("Country", &numbers), forKey: "country")
            author.setValue(try any("Author", &numbers), forKey: "mentor")
        case 3, 4, 5:
            let book: NSManagedObject = context.make(numbers.next(3) == 0 ? "Novel" : "Book")
            book.setValue(word, forKey: "title")
            book.setValue(try any("Author", &numbers), forKey: "author")
            if numbers.next(4) > 0 { book.setValue(Int64(numbers.next(900)), forKey: "pages") }
            if numbers.next(4) > 0 { book.setValue(NSDecimalNumber(string: "\(numbers.next(90)).5"), forKey: "price") }
            if book.entity.name == "Novel" { book.setValue(word, forKey: "hero") }
            // What is set is nothing.
            book.setValue("set", forKey: "key")
        case 6:
            let tag: NSManagedObject = context.make("Tag")
            tag.setValue(word, forKey: "name")
        case 7:
            guard let book = try any("Book", &numbers), let tag = try any("Tag", &numbers) else { return }
            var tags = book.value(forKey: "tags") as? Set<NSManagedObject> ?? []
            if tags.remove(tag) == nil { tags.insert(tag) }
            book.setValue(tags, forKey: "tags")
        case 8:
            guard let author = try any("Author", &numbers), let friend = try any("Author", &numbers) else { return }
            var friends = author.value(forKey: "friends") as? Set<NSManagedObject> ?? []
            if friends.remove(friend) == nil { friends.insert(friend) }
            author.setValue(friends, forKey: "friends")
        case 9:
            guard let gone = try any(["Country", "Author", "Book", "Tag"][numbers.next(4)], &numbers), numbers.next(2) == 0 else { return }
            context.delete(gone)
        default:
            guard let changed = try any(["Country", "Author", "Book", "Tag"][numbers.next(4)], &numbers) else { return }
            switch (changed.entity.name, numbers.next(3)) {
            case ("Author", 1): changed.setValue(try any("Country", &numbers), forKey: "country")
            case ("Author", 2): changed.setValue(try any("Author", &numbers), forKey: "mentor")
            case ("Book", 1), ("Novel", 1): changed.setValue(try any("Author", &numbers), forKey: "author")
            case ("Book", 2), ("Novel", 2): changed.setValue(Int64(numbers.next(900)), forKey: "pages")
            default: changed.setValue(word, forKey: changed.entity.attributesByName["title"] == nil ? "name" : "title")
            }
        }
    }

    private static func executeAny(in world: BatchWorld, _ numbers: inout SeededNumbers) throws {
        let word = words[numbers.next(words.count)], pages = Int64(numbers.next(900))
        let fresh = world.fresh(), author = try fresh.performAndWait { try fresh.all("Author", sort: "name").last?.objectID }
        switch numbers.next(5) {
        case 0: try world.execute(batchUpdate("Book", "pages < \(pages)", ["title": word]))
        case 1: try world.execute(batchUpdate("Author", nil, ["name": word]))
        case 2: try world.execute(batchUpdate("Book", "pages > \(pages)", ["author": author as Any? ?? NSNull(), "pages": pages]))
        case 3:
            let (entity, which) = [("Book", "pages > \(pages)"), ("Tag", "name == \"\(word)\""), ("Author", "name == \"\(word)\"")][numbers.next(3)]
            try world.execute(batchDelete(entity, which))
        default:
            let rows: [[String: Any]] = (0..<3).map { ["title": "\(word)\($0)", "pages": pages, "author": author as Any? ?? NSNull()] }
            try world.insert("Book", rows)
        }
    }
}

extension SeededNumbers {
    /// A number below a bound.
    fileprivate mutating func next(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
}
