import Foundation
import OpenCoreData
import Testing

/// To-manys are found where the file keeps them.
struct SQLiteRelationshipTests {
    private func key(_ owner: NSManagedObjectID, _ name: String) throws -> RelationshipKey {
        guard case .toMany(let number)? = owner.entity.layout.place(of: name) else { throw SQLiteShell.Failure(description: "no \(name)") }
        return RelationshipKey(owner: owner, toMany: number)
    }

    private func members(_ fixture: StoreFixture, _ owner: NSManagedObjectID, _ name: String) throws -> [NSManagedObjectID] {
        try fixture.store.relatedIDs(try key(owner, name))
    }

    // R2
    @Test func theMembersOfAOneToManyAreTheRowsThatNameTheOwner() throws {
        let fixture = try StoreFixture(StoreModels.animals())
        let ada = try fixture.insert("Person", [:]), bo = try fixture.insert("Person", [:])
        let dog = try fixture.insert("Dog", ["owner": one(ada)]), puppy = try fixture.insert("Puppy", ["owner": one(ada)])
        try fixture.insert("Animal", ["owner": one(bo)])
        let found = try members(fixture, ada, "pets")
        #expect(found == [dog, puppy])
        #expect(found.map(\.entity.name) == ["Dog", "Puppy"])
    }

    // R2, X8
    @Test func anOrderIsKeptInTheRowsOfTheMembers() throws {
        let fixture = try StoreFixture(StoreModels.relations())
        var changes = ChangeSet()
        let author = try fixture.insert("Author", [:], into: &changes)
        let books = try (0..<4).map { try fixture.insert("Book", ["title": .string("\($0)"), "author": one(author)], into: &changes) }
        changes.orders[try key(author, "books")] = [books[2], books[0], books[3], books[1]]
        try fixture.save(changes)
        #expect(try members(fixture, author, "books") == [books[2], books[0], books[3], books[1]])
        var again = ChangeSet()
        again.orders[try key(author, "books")] = [books[3], books[2], books[1], books[0]]
        try fixture.save(again)
        try fixture.reopen()
        #expect(try fixture.shell.column("SELECT ZTITLE FROM ZBOOK ORDER BY Z_FOK_AUTHOR") == ["3", "2", "1", "0"])
    }

    // R2, X8
    @Test func pairsAreWrittenOnceAndReadFromBothSides() throws {
        let fixture = try StoreFixture(StoreModels.relations())
        var changes = ChangeSet()
        let book = try fixture.insert("Book", [:], into: &changes), other = try fixture.insert("Book", [:], into: &changes)
        let tags = try (0..<3).map { try fixture.insert("Tag", ["word": .string("\($0)")], into: &changes) }
        func relate(_ book: NSManagedObjectID, _ tag: NSManagedObjectID) throws {
            changes.pairs.change(try key(book, "tags")) { $0.add(tag) }
            changes.pairs.change(try key(tag, "books")) { $0.add(book) }
        }
        try relate(book, tags[0])
        try relate(book, tags[2])
        try relate(other, tags[2])
        try fixture.save(changes)
        #expect(try fixture.shell.column("SELECT count(*) FROM Z_2TAGS") == ["3"])
        #expect(try members(fixture, book, "tags") == [tags[0], tags[2]])
        #expect(try members(fixture, tags[2], "books") == [book, other])

        var removal = ChangeSet()
        var pairs = PairChanges()
        pairs.remove(tags[0])
        removal.pairs[try key(book, "tags")] = pairs
        removal.delete(other, base: try fixture.stored(other))
        try fixture.save(removal)
        #expect(try members(fixture, book, "tags") == [tags[2]])
        #expect(try fixture.shell.rows("SELECT Z_2BOOKS, Z_3TAGS FROM Z_2TAGS") == [["\(book.key)", "\(tags[2].key)"]])
    }

    // R2, X8
    @Test func anOrderedManyToManyKeepsItsOrder() throws {
        let fixture = try StoreFixture(StoreModels.relations())
        var changes = ChangeSet()
        let book = try fixture.insert("Book", [:], into: &changes)
        let chapters = try (0..<4).map { try fixture.insert("Tag", ["word": .string("\($0)")], into: &changes) }
        var pairs = PairChanges()
        chapters.forEach { pairs.add($0) }
        changes.pairs[try key(book, "chapters")] = pairs
        changes.orders[try key(book, "chapters")] = [chapters[3], chapters[1], chapters[0], chapters[2]]
        try fixture.save(changes)
        #expect(try members(fixture, book, "chapters") == [chapters[3], chapters[1], chapters[0], chapters[2]])
        var again = ChangeSet()
        var removed = PairChanges()
        removed.remove(chapters[1])
        again.pairs[try key(book, "chapters")] = removed
        again.orders[try key(book, "chapters")] = [chapters[0], chapters[1], chapters[3]]
        try fixture.save(again)
        // An order says where members stand, not who is one: what it does not know comes last.
        #expect(try members(fixture, book, "chapters") == [chapters[0], chapters[3], chapters[2]])
        #expect(try members(fixture, chapters[0], "chapterOf") == [book])
        #expect(try members(fixture, chapters[1], "chapterOf").isEmpty)
    }

    // R11
    @Test func aToManyWithoutAnInverseIsSavedToo() throws {
        let fixture = try StoreFixture(StoreModels.relations())
        var changes = ChangeSet()
        let author = try fixture.insert("Author", [:], into: &changes), friend = try fixture.insert("Author", [:], into: &changes)
        let book = try fixture.insert("Book", [:], into: &changes)
        var seen = PairChanges(), forth = PairChanges(), back = PairChanges()
        seen.add(book)
        forth.add(friend)
        back.add(author)
        changes.pairs[try key(author, "seen")] = seen
        changes.pairs[try key(author, "friends")] = forth
        changes.pairs[try key(friend, "friends")] = back
        try fixture.save(changes)
        #expect(try members(fixture, author, "seen") == [book])
        #expect(try members(fixture, author, "friends") == [friend])
        #expect(try members(fixture, friend, "friends") == [author])
        var removal = ChangeSet()
        removal.delete(book, base: nil)
        removal.delete(friend, base: nil)
        try fixture.save(removal)
        #expect(try members(fixture, author, "seen").isEmpty)
        #expect(try fixture.shell.column("SELECT (SELECT count(*) FROM Z_1FRIENDS) + (SELECT count(*) FROM Z_1SEEN)") == ["0"])
    }
}
