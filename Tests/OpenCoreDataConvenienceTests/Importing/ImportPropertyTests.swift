import CoreData
import Foundation
import OpenCoreDataConvenience
import Testing

/// Random batches, imported in one go, one by one, and into plain dictionaries.
struct ImportPropertyTests {
    @Test(arguments: 1...25)
    func aBatchInOneGoIsTheSameAsOneByOneAndAsPlainDictionaries(_ seed: UInt64) throws {
        var random = Random(seed)
        let together = try Library(), apart = try Library()
        var world = World()
        let first = together.container.newBackgroundContext(), second = apart.container.newBackgroundContext()
        for step in 0..<12 {
            let isAuthors = random.isTrue(in: 2)
            let records = (0..<random.below(12)).map { _ in isAuthors ? random.author(depth: 2) : random.book(depth: 2) }
            if random.isTrue(in: 4) {
                try refuse(records, isAuthors, first, &random)
                continue
            }
            try first.performAndWait {
                if isAuthors { try first.importObjects(Author.self, from: records) } else { try first.importObjects(Book.self, from: records) }
            }
            try second.performAndWait {
                for record in records {
                    if isAuthors { try second.importObject(Author.self, from: record) } else { try second.importObject(Book.self, from: record) }
                }
            }
            records.forEach { if isAuthors { world.author($0) } else { world.book($0) } }
            if random.isTrue(in: 3) { try [first, second].forEach { context in try context.performAndWait { try context.save() } } }
            #expect(try first.performAndWait { try World(first) } == world, "seed \(seed), step \(step), in one go")
            #expect(try second.performAndWait { try World(second) } == world, "seed \(seed), step \(step), one by one")
        }
    }

    /// With one record among them that is wrong.
    private func refuse(_ records: [[String: Any]], _ isAuthors: Bool, _ context: NSManagedObjectContext, _ random: inout Random) throws {
        var records = records
        records.insert(
            isAuthors ? ["id": 1, "books": [["isbn": "1", "title": ["no text"]]]] : ["author": ["id": 0.5]], at: random.below(records.count + 1))
        try context.performAndWait {
            let before = try ContextState(context)
            let error = #expect(throws: RecordError.self) {
                if isAuthors { try context.importObjects(Author.self, from: records) } else { try context.importObjects(Book.self, from: records) }
            }
            #expect(error?.place?.hasSuffix(isAuthors ? ".books[0].title" : ".author.id") == true)
            #expect(try ContextState(context) == before)
        }
    }
}

/// What there is, as plain values.
private struct World: Equatable {
    struct Person: Equatable {
        var name: String?
        var age: Int?
        var note: String?
        var publisher: String?
    }

    struct Volume: Equatable {
        var title: String?
        var author: Int?
        var tags: Set<String> = []
    }

    var authors: [Int: Person] = [:]
    var books: [String: Volume] = [:]
    var publishers: [String: String?] = [:]
    var tags: Set<String> = []

    init() {}

    init(_ context: NSManagedObjectContext) throws {
        for author in try Author.findAll(in: context) {
            let age = (author.value(forKey: "age") as? NSNumber)?.intValue
            authors[Int(author.id)] = Person(name: author.name, age: age, note: author.note, publisher: author.publisher?.code)
        }
        for book in try Book.findAll(in: context) {
            books[book.isbn ?? ""] = Volume(title: book.title, author: book.author.map { Int($0.id) }, tags: Set(book.tags.compactMap(\.name)))
        }
        for publisher in try Publisher.findAll(in: context) { publishers[publisher.code ?? ""] = .some(publisher.country) }
        tags = Set(try Tag.findAll(in: context).compactMap(\.name))
        let counts = try [Author.count(in: context), Book.count(in: context), Publisher.count(in: context), Tag.count(in: context)]
        #expect(counts == [authors.count, books.count, publishers.count, tags.count], "an object is there twice")
    }

    /// A record or a key; gives the key.
    @discardableResult
    mutating func author(_ given: Any) -> Int {
        guard let record = given as? [String: Any] else {
            let id = given as? Int ?? -1
            if authors[id] == nil { authors[id] = Person(note: "none") }
            return id
        }
        let id = record["id"] as? Int ?? -1
        var person = authors[id] ?? Person()
        if let name = record["name"] { person.name = name as? String }
        if let age = record["age"] { person.age = age as? Int }
        person.note = record["note"] as? String ?? "none"
        authors[id] = person
        if let list = record["books"] {
            let isbns = (list as? [Any] ?? []).map { book($0) }
            for isbn in books.keys where books[isbn]?.author == id && !isbns.contains(isbn) { books[isbn]?.author = nil }
            for isbn in isbns { books[isbn]?.author = id }
        }
        if let given = record["publishedBy"] {
            let code = publisher(given)
            authors[id]?.publisher = code
        }
        return id
    }

    @discardableResult
    mutating func book(_ given: Any) -> String {
        guard let record = given as? [String: Any] else {
            let isbn = given as? String ?? ""
            if books[isbn] == nil { books[isbn] = Volume() }
            return isbn
        }
        let isbn = record["isbn"] as? String ?? ""
        var volume = books[isbn] ?? Volume()
        if let title = record["title"] { volume.title = title as? String }
        books[isbn] = volume
        if let given = record["author"] {
            let id = given is NSNull ? nil : author(given)
            books[isbn]?.author = id
        }
        if let list = record["tags"] {
            let names = Set(list as? [String] ?? [])
            tags.formUnion(names)
            books[isbn]?.tags = names
        }
        return isbn
    }

    private mutating func publisher(_ given: Any) -> String? {
        if given is NSNull { return nil }
        guard let record = given as? [String: Any] else {
            let code = given as? String ?? ""
            if publishers[code] == nil { publishers[code] = .some(nil) }
            return code
        }
        let code = record["code"] as? String ?? ""
        publishers[code] = .some(record["country"].map { $0 as? String } ?? publishers[code].flatMap(\.self))
        return code
    }
}

/// Records by chance, the same for the same seed. Their keys are few, so that they meet.
private struct Random {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    mutating func below(_ limit: Int) -> Int { limit == 0 ? 0 : Int(next() % UInt64(limit)) }
    mutating func isTrue(in count: Int) -> Bool { below(count) == 0 }

    private mutating func add(_ key: String, _ record: inout [String: Any], _ value: (inout Random) -> Any) {
        switch below(4) {
        case 0: break
        case 1: record[key] = NSNull()
        default: record[key] = value(&self)
        }
    }

    mutating func author(depth: Int) -> [String: Any] {
        var record: [String: Any] = ["id": below(6)]
        add("name", &record) { ["Ada", "Grace", "Alan"][$0.below(3)] }
        add("age", &record) { $0.below(99) }
        if isTrue(in: 3) { record["note"] = "note \(below(3))" }
        add("books", &record) { random in
            (0..<random.below(4)).map { _ in random.isTrue(in: 2) || depth == 0 ? "\(random.below(6))" as Any : random.book(depth: depth - 1) }
        }
        add("publishedBy", &record) { random in
            let code = ["T", "U", "V"][random.below(3)]
            return random.isTrue(in: 2) ? code : ["code": code, "country": ["GB", "GR"][random.below(2)]]
        }
        return record
    }

    mutating func book(depth: Int) -> [String: Any] {
        var record: [String: Any] = ["isbn": "\(below(6))"]
        add("title", &record) { "title \($0.below(9))" }
        add("tags", &record) { random in (0..<random.below(3)).map { _ in ["x", "y", "z"][random.below(3)] } }
        add("author", &record) { random in random.isTrue(in: 2) || depth == 0 ? random.below(6) as Any : random.author(depth: depth - 1) }
        return record
    }
}
