import CoreData
import Foundation
import OpenCoreDataConvenience
import Testing

struct ImportingTests {
    @Test func aRecordFillsAttributesByPathsAndNames() throws {
        try Library().using { context throws in
            let author = try #require(
                try context.importObject(
                    Author.self,
                    from: [
                        "id": 7, "name": "Ada", "age": "36", "rating": 4.5, "balance": "12.30", "born": "10.12.1815",
                        "address": ["city": "London", "street": "12 St James's Square"], "town": "elsewhere", "unknown": true,
                    ] as [String: Any]))
            #expect(author.id == 7)
            #expect(author.name == "Ada")
            #expect(author.age == 36)
            #expect(author.rating == 4.5)
            #expect(author.balance == Decimal(string: "12.3"))
            #expect(author.born == Date(timeIntervalSince1970: -4_861_728_000))
            #expect(author.city == "London")
            #expect(author.note == "none")
        }
    }

    @Test func theFirstPathThatExistsCountsAlsoIfItIsNull() throws {
        try Library().using { context throws in
            let records: [[String: Any]] = [
                ["id": 1, "town": "Rome"], ["id": 2, "address": ["city": NSNull()], "town": "Rome"], ["id": 3, "address": NSNull(), "town": "Rome"],
                ["id": 4, "address": [String: Any]()], ["id": 5, "city": "Rome"],
            ]
            let authors = try context.importObjects(Author.self, from: records)
            #expect(authors.map(\.city) == ["Rome", nil, "Rome", nil, nil])
        }
    }

    @Test func whatIsAbsentStaysAndNullEmpties() throws {
        try Library().using { context throws in
            let full: [String: Any] = [
                "id": 1, "name": "Ada", "age": 36, "note": "first", "books": [["isbn": "1"]], "publishedBy": ["code": "T"],
            ]
            let author = try #require(try context.importObject(Author.self, from: full))
            try context.importObject(Author.self, from: ["id": 1, "note": "second"])
            #expect(author.name == "Ada")
            #expect(author.age == 36)
            #expect(author.books.count == 1)
            #expect(author.publisher?.code == "T")
            #expect(author.note == "second")
            let null = NSNull()
            try context.importObject(Author.self, from: ["id": 1, "name": null, "age": null, "books": null, "publishedBy": null, "note": null])
            #expect(author.name == nil)
            #expect(author.value(forKey: "age") == nil)
            #expect(author.books.isEmpty)
            #expect(author.publisher == nil)
            #expect(author.note == nil)
        }
    }

    @Test func theDefaultIsTakenWhereTheModelSaysSo() throws {
        try Library().using { context throws in
            let author = try #require(try context.importObject(Author.self, from: ["id": 1, "note": "something"]))
            try context.importObject(Author.self, from: ["id": 1])
            #expect(author.note == "none")
        }
    }

    @Test func relationshipsTakeKeysAndEmbeddedRecords() throws {
        try Library().using { context throws in
            let author = try #require(
                try context.importObject(
                    Author.self,
                    from: [
                        "id": 1, "publishedBy": "T",
                        "books": [["isbn": "1", "title": "Notes", "tags": ["maths", ["name": "machines"], "maths"]] as [String: Any], "2"],
                    ] as [String: Any]))
            #expect(author.publisher?.code == "T")
            #expect(Set(author.books.map(\.isbn)) == ["1", "2"])
            let notes = try #require(try Book.findFirst(by: "isbn", value: "1", in: context))
            #expect(notes.author === author)
            #expect(Set(notes.tags.map(\.name)) == ["maths", "machines"])
            #expect(try Tag.count(in: context) == 2)
            try context.importObject(Author.self, from: ["id": 1, "publishedBy": ["code": "T", "country": "GB"], "books": ["2", ["isbn": "3"]]])
            #expect(try Publisher.findAll(in: context).map(\.country) == ["GB"])
            #expect(Set(author.books.map(\.isbn)) == ["2", "3"])
            #expect(notes.author == nil)
        }
    }

    @Test func anOrderedRelationshipHasTheOrderOfTheList() throws {
        try Library().using { context throws in
            let headings = ["c", "a", "b"]
            let book = try #require(try context.importObject(Book.self, from: ["isbn": "1", "chapters": headings.map { ["heading": $0] }]))
            #expect(book.chapters.map(\.heading) == headings)
        }
    }

    @Test func recordsWithoutAKeyAreNewObjects() throws {
        try Library().using { context throws in
            try context.importObjects(Chapter.self, from: [["heading": "a"], ["heading": "a"]])
            try context.importObjects(Author.self, from: [["name": "a"], ["id": NSNull(), "name": "a"]])
            #expect(try Chapter.count(in: context) == 2)
            #expect(try Author.count(in: context) == 2)
        }
    }

    @Test func oneBatchMayNameAnObjectTwice() throws {
        try Library().using { context throws in
            let authors = try context.importObjects(
                Author.self, from: [["id": 1, "name": "Ada"], ["id": 2], ["id": "1", "age": 36]] as [[String: Any]])
            #expect(authors[0] === authors[2])
            #expect(authors[0].name == "Ada")
            #expect(authors[0].age == 36)
        }
    }

    @Test func theSameAgainChangesNothing() throws {
        try Library().using { context throws in
            let record: [String: Any] = [
                "id": 1, "name": "Ada", "balance": 0.1, "rating": 1, "born": "1815-12-10", "publishedBy": "T",
                "books": [["isbn": "1", "tags": ["a", "b"], "title": "Notes"] as [String: Any], "2"],
            ]
            try context.importObject(Author.self, from: record)
            try context.save()
            try context.importObject(Author.self, from: record)
            #expect(!context.hasChanges)
        }
    }

    @Test func whatAnEarlierRecordMadeIsFoundByTheKeyOfARelationship() throws {
        try Library().using { context throws in
            try context.importObject(Publisher.self, from: ["code": "T"])
            // Publishers have no key of their own, only that of the relationship that leads to them.
            let records: [[String: Any]] = [["id": 1, "publishedBy": "T"], ["id": 2, "publishedBy": ["code": "U"]], ["id": 3, "publishedBy": "U"]]
            let authors = try context.importObjects(Author.self, from: records)
            #expect(try Publisher.count(in: context) == 2)
            #expect(authors[1].publisher === authors[2].publisher)
        }
    }

    @Test func aKeyThatAnEarlierRecordChangedIsNobodysAnyMore() throws {
        try Library().using { context throws in
            let publisher = try #require(try context.importObject(Publisher.self, from: ["publisherID": 1, "code": "T"]))
            let records: [[String: Any]] = [["publisherID": 1, "code": "U"], ["publisherID": 2, "authors": [["id": 5, "publishedBy": "T"]]]]
            try context.importObjects(Publisher.self, from: records)
            #expect(publisher.code == "U")
            #expect(try Publisher.findAll(sortedBy: ["code"], in: context).map(\.code) == [nil, "T", "U"])
        }
    }

    @Test func aKeyThatARecordLeavesToItsDefaultIsFoundByTheNext() throws {
        try Library().using { context throws in
            let settings = try context.importObjects(Setting.self, from: [["value": 1], ["remoteID": "main", "value": 2]])
            #expect(settings[0] === settings[1])
            #expect(settings[0].value == 2)
        }
    }

    @Test func theClassOfAnAbstractEntityChoosesASubentity() throws {
        try Library().using { context throws in
            let animals = try context.importObjects(
                Animal.self, from: [["kind": "dog", "name": "Rex"], ["kind": "cat", "name": "Tom"], ["name": "Rex"]])
            #expect(animals[0] is Dog)
            #expect(animals[1] is Cat)
            #expect(animals[2] === animals[0])
            let error = #expect(throws: RecordError.self) { try context.importObject(Animal.self, from: ["name": "Kit"]) }
            #expect(error?.problem == "no object was found, and the entity is abstract, so none can be made")
            let wrong = #expect(throws: RecordError.self) { try context.importObject(Animal.self, from: ["kind": "author"]) }
            #expect(wrong?.value == "\"Author\"")
        }
    }

    @Test func entitiesWithoutAClassAreImportedByName() throws {
        try Library().using { context throws in
            let found = try context.importObjects(entityName: "Tag", from: [["name": "a"]])
            #expect(found[0].value(forKey: "name") as? String == "a")
            #expect(try context.importObjects(entityName: "Tag", from: Data(#"{"name": "a"}"#.utf8)) == found)
            let error = #expect(throws: RecordError.self) { try context.importObjects(entityName: "Tags", from: [["name": "a"]]) }
            #expect(error?.entity == "Tags")
        }
    }

    @Test func aChildImportsOverWhatItsParentHasNotSaved() throws {
        try Library().using { context throws in
            let author = try Author.findOrCreate(by: "id", value: 1, in: context)
            let child = NSManagedObjectContext(.privateQueueConcurrencyType)
            child.parent = context
            try child.performAndWait {
                try child.importObject(Author.self, from: ["id": 1, "name": "Ada"])
                try child.save()
            }
            #expect(author.name == "Ada")
            #expect(try Author.count(in: context) == 1)
        }
    }

    // MARK: Hooks

    @Test func hooksSeeTheObjectBeforeAndAfterItsValues() throws {
        try Library().using { context throws in
            let author = try #require(try context.importObject(Author.self, from: ["id": 1, "name": "Ada", "books": ["1"]]))
            try context.importObject(Author.self, from: ["id": 1, "name": "Countess"])
            #expect(author.calls == ["will nobody", "did Ada with 1 books", "will Ada", "did Countess with 1 books"])
        }
    }

    @Test func recordsThatTheirClassDoesNotWantAreLeftOut() throws {
        try Library().using { context throws in
            let authors = try context.importObjects(Author.self, from: [["id": 1, "skip": 1], ["id": 2]])
            #expect(authors.map(\.id) == [2])
            #expect(try context.importObject(Author.self, from: ["id": 1, "skip": 1]) == nil)
            let book = try #require(try context.importObject(Book.self, from: ["isbn": "1", "author": ["id": 2]]))
            try context.importObject(Book.self, from: ["isbn": "1", "author": ["id": 3, "skip": 1]])
            #expect(book.author === authors[0])
            let publisher = try #require(try context.importObject(Publisher.self, from: ["authors": [2, ["id": 9, "skip": 1]] as [Any]]))
            #expect(publisher.authors == [authors[0]])
        }
    }

    // MARK: JSON

    @Test func jsonKeepsNumbersAsTheyAreWritten() throws {
        try Library().using { context throws in
            let json =
                #"{"large": 9007199254740993, "exact": 0.1234567890123456789012345, "double": 0.1, "text": 18446744073709551615, "flag": true}"#
            let sample = try #require(try context.importObjects(Sample.self, from: Data(json.utf8)).first)
            #expect(sample.large == 9_007_199_254_740_993)
            #expect(sample.exact == Decimal(string: "0.1234567890123456789012345"))
            #expect(sample.double == 0.1)
            #expect(sample.text == "18446744073709551615")
            #expect(sample.flag)
            let truth = #expect(throws: RecordError.self) { try context.importObjects(Sample.self, from: Data(#"{"small": true}"#.utf8)) }
            #expect(truth?.problem == "is no number")
            for (key, number) in [
                ("large", "-9223372036854775808"), ("exact", "1.2"), ("exact", "123456789012345678901234567890"), ("exact", "12345678901234567.89"),
                ("text", "1.2"), ("small", "1e2"), ("exact", "-0.000001"),
            ] {
                let sample = try #require(try context.importObjects(Sample.self, from: Data("[{\"\(key)\": \(number)}]".utf8)).first)
                #expect(sample.value(forKey: key).map { "\($0)" }.flatMap { Decimal(string: $0) } == Decimal(string: number), "\(key) \(number)")
            }
        }
    }

    @Test func jsonThatIsNoRecordIsRefusedWithItsPlace() throws {
        try Library().using { context throws in
            let error = #expect(throws: RecordError.self) { try context.importObjects(Author.self, from: Data(#"[{"id": 1}, 2]"#.utf8)) }
            #expect(error?.description == "$[1]: Author: 2: is no object; give a JSON object, or an array of objects")
            #expect(throws: RecordError.self) { try context.importObjects(Author.self, from: Data("3".utf8)) }
            let text = #expect(throws: RecordError.self) { try context.importObjects(Author.self, from: Data("[1, x]".utf8)) }
            #expect(text?.problem == "the text is no JSON (Invalid value around character 4.)")
            #expect(throws: RecordError.self) { try context.importObjects(Author.self, from: Data()) }
            #expect(try context.importObjects(Author.self, from: Data("[]".utf8)).isEmpty)
            #expect(!context.hasChanges)
        }
    }
}
