import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Strings are equal when their bytes are.
@Suite struct AttributeValueTests {
    /// Two spellings of one letter, short (in the string's own words) and long (on the heap).
    private static let spellings = [
        ("\u{E9}", "e\u{301}"), ("caf\u{E9} \(String(repeating: "x", count: 40))", "cafe\u{301} \(String(repeating: "x", count: 40))"),
    ]

    // Q13
    @Test(arguments: spellings) func twoSpellingsOfALetterAreTwoValuesAndTwoKeys(composed: String, decomposed: String) {
        #expect(composed == decomposed)
        #expect(AttributeValue.string(composed) != .string(decomposed))
        #expect(Set<AttributeValue>([.string(composed), .string(decomposed)]).count == 2)
        #expect(UniqueKey([.string(composed)]) != UniqueKey([.string(decomposed)]))
        #expect(Set([UniqueKey([.string(composed), .int64(1)]), UniqueKey([.string(decomposed), .int64(1)])]).count == 2)
    }

    @Test func equalBytesAreEqualHoweverTheyAreStored() {
        for text in ["", "a", "exactly15bytes!", "sixteen bytes !!", String(repeating: "é", count: 100)] {
            // Built up in place, with room to grow: other storage, same bytes.
            var built = ""
            built.reserveCapacity(500)
            for character in text { built.append(character) }
            #expect(AttributeValue.string(text) == .string(built))
            #expect(AttributeValue.string(text).hashValue == AttributeValue.string(built).hashValue)
            #expect(AttributeValue.string(text) != .string(text + "x"))
        }
        #expect(UniqueKey([.string("ab"), .string("c")]) != UniqueKey([.string("a"), .string("bc")]))
    }

    @Test func valuesOfOtherTypesAreEqualWithinTheirType() throws {
        let link = try #require(URL(string: "https://example.org"))
        let values: [AttributeValue] = [
            .null, .int64(1), .double(1), .bool(true), .date(1), .string("1"), .data(Data([1])), .uuid(UUID()), .decimal(1), .object(ObjectBox(link)),
        ]
        for (index, value) in values.enumerated() {
            for (other, another) in values.enumerated() { #expect((value == another) == (index == other)) }
        }
        #expect(Set(values + values).count == values.count)
        #expect(AttributeValue.object(ObjectBox(link)) == .object(ObjectBox(URL(fileURLWithPath: "/").isFileURL ? link : link)))
    }

    // L5, L8
    @Test func aChangeOfSpellingAloneIsAChangeAndReachesTheFile() throws {
        let stack = try SQLiteStack()
        try stack.root.performAndWait { () throws in
            let item = stack.root.make("Item", ["key": "caf\u{E9}"])
            try stack.root.save()
            item.setValue("cafe\u{301}", forKey: "key")
            #expect(item.hasPersistentChangedValues && item.changedValues().keys.contains("key"))
            try stack.root.save()
        }
        #expect(try stack.fixture.shell.rows("SELECT hex(ZKEY), Z_OPT FROM ZITEM") == [["63616665CC81", "2"]])
        stack.forget()
        try stack.root.performAndWait { () throws in
            let key = try #require(try stack.root.all("Item").first?.value(forKey: "key") as? String)
            #expect(Array(key.utf8) == Array("cafe\u{301}".utf8))
        }
    }

    // P13, Q13
    @Test func anUpsertByKeyFindsTheSpellingThatIsStoredAndNoOther() throws {
        let stack = try SQLiteStack()
        stack.root.mergePolicy = .mergeByPropertyObjectTrump
        let item = try #require(stack.fixture.model.entitiesByName["Item"])
        try stack.root.performAndWait { () throws in
            let stored = stack.root.make("Item", ["key": "\u{E9}", "a": 1])
            try stack.root.save()
            let keys = [UniqueKey([.string("\u{E9}")]), UniqueKey([.string("e\u{301}")])]
            let found = try stack.root.find(item, constraint: 0, keys: keys)
            #expect(found.count == 1 && found[keys[0]]?.id == stored.objectID && found[keys[1]] == nil)
            // The same spelling is the same object, the other one is another.
            stack.root.make("Item", ["key": "\u{E9}", "a": 2])
            stack.root.make("Item", ["key": "e\u{301}", "a": 3])
            #expect(try stack.root.find(item, constraint: 0, keys: [keys[1]]).count == 1)
            try stack.root.save()
        }
        #expect(try stack.fixture.shell.rows("SELECT hex(ZKEY), ZA FROM ZITEM ORDER BY ZA") == [["C3A9", "2"], ["65CC81", "3"]])
    }
}
