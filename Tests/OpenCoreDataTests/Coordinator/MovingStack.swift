import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// A coordinator with one store of any type in a directory of its own, filled with every kind of value and relationship.
final class MovingStack {
    let directory: URL
    let coordinator: NSPersistentStoreCoordinator
    let root: NSManagedObjectContext

    static func model() -> NSManagedObjectModel {
        NSManagedObjectModel(entities: [StoreModels.relations(), StoreModels.everything(), StoreModels.animals()].flatMap(\.entities))
    }

    init(_ type: String, model: NSManagedObjectModel = model(), options: [AnyHashable: Any]? = nil) throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("moving-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: directory.appendingPathComponent("old.sqlite"), options: options)
        root = NSManagedObjectContext(.privateQueueConcurrencyType)
        root.persistentStoreCoordinator = coordinator
    }

    deinit {
        for store in coordinator.persistentStores { try? coordinator.remove(store) }
        try? FileManager.default.removeItem(at: directory)
    }

    var store: NSPersistentStore { coordinator.persistentStores[0] }
    func place(_ name: String = "new.sqlite") -> URL { directory.appendingPathComponent(name) }
    var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()) ?? [] }

    /// Another context beside `root`.
    func context() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Objects of every kind, some of which were saved several times and some deleted.
    func fill() throws {
        try root.performAndWait { () throws in
            root.make("Thing", Self.values)
            root.make("Thing")
            let authors = (0..<3).map { root.make("Author", ["name": "author \($0)"]) }
            let books = (0..<6).map { root.make("Book", ["title": "book \($0)", "author": authors[$0 % 2]]) }
            let tags = (0..<4).map { root.make("Tag", ["word": "tag \($0)"]) }
            let puppy = root.make("Puppy", ["name": "Rex", "weeks": 7]), animal = root.make("Animal", ["name": "Tom"])
            let person = root.make("Person", ["name": "Ada", "age": 36, "favourite": puppy])
            puppy.setValue(person, forKey: "owner")
            animal.setValue(person, forKey: "owner")
            try root.save()
            authors[0].setValue(NSOrderedSet(array: [books[4], books[0], books[2]]), forKey: "books")
            authors[0].setValue(Set([authors[1], authors[2]]), forKey: "friends")
            authors[2].setValue(Set([books[1]]), forKey: "seen")
            books[0].setValue(Set([tags[0], tags[3]]), forKey: "tags")
            books[1].setValue(NSOrderedSet(array: [tags[2], tags[0], tags[1]]), forKey: "chapters")
            try root.save()
            for number in 0..<3 {
                person.setValue(40 + number, forKey: "age")
                try root.save()
            }
            root.delete(books[5])
            root.delete(tags[3])
            try root.save()
        }
    }

    private static var values: [String: Any] {
        [
            "small": -5, "medium": 7, "large": Int64.max, "flag": true, "real": 0.1, "short": Float(0.5), "money": Decimal(string: "12.34") ?? 0,
            "text": "naïve ☃", "when": Date(timeIntervalSinceReferenceDate: -1.5), "bytes": Data([0, 255]), "uuid": UUID(),
            "link": URL(string: "https://example.org/a?b=c") as Any, "list": ["a", "b"] as [AnyHashable],
        ]
    }

    /// All that a store holds, in words.
    static func dump(_ store: NSPersistentStore) throws -> [String] {
        var lines: [String] = []
        func name(_ id: NSManagedObjectID) -> String { "\(id.entity.name ?? "?").\(id.key)" }
        try store.forEachPart { part in
            for fetched in part.rows {
                let row = try #require(fetched.row)
                let values = (0..<row.count).map { slot in row[slot].objectID.map { "→" + name($0) } ?? "\(row[slot].plain ?? "–")" }
                lines.append("\(name(fetched.id)) v\(row.version): \(values)")
            }
            for (key, members) in part.pairs { lines.append("\(name(key.owner)).\(key.relationship.name): \(members.map(name).sorted())") }
            for (key, members) in part.orders { lines.append("\(name(key.owner)).\(key.relationship.name) in order: \(members.map(name))") }
        }
        return lines.sorted()
    }

    /// What a file holds for somebody who opens it anew.
    func dump(file: URL) throws -> [String] {
        let other = NSPersistentStoreCoordinator(managedObjectModel: coordinator.managedObjectModel)
        let store = try other.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: file)
        defer { try? other.remove(store) }
        return try Self.dump(store)
    }
}
