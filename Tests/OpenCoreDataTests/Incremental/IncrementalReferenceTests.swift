import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// What an incremental store calls its objects, and their URIs.
@Suite struct IncrementalReferenceTests {
    /// A store that is nothing but a name.
    // Has no state of its own.
    private final class Named: NSIncrementalStore, @unchecked Sendable {
        override func loadMetadata() throws { metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: options?["name"] ?? "shelf"] }
    }

    private struct Fixture {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
        let store: NSIncrementalStore

        init(name: String = "shelf") throws {
            NSPersistentStoreCoordinator.registerStoreClass(Named.self, forStoreType: "Named")
            store = try #require(
                try coordinator.addPersistentStore(ofType: "Named", configurationName: nil, at: nil, options: ["name": name]) as? NSIncrementalStore)
        }

        func id(_ reference: Any, _ entity: String = "Item") throws -> NSManagedObjectID {
            store.newObjectID(for: try #require(coordinator.managedObjectModel.entitiesByName[entity]), referenceObject: reference)
        }
    }

    static let strings: [(String, String)] = [
        ("plain", "pplain"), ("two words", "ptwo%20words"), ("a/b", "pa/b"), ("a//b/", "pa//b/"), ("/", "p/"), ("", "p"), ("p", "pp"),
        ("pencil", "ppencil"),
        ("100%", "p100%25"), ("%20", "p%2520"), ("a?b#c;d", "pa%3Fb%23c%3Bd"), ("é", "p%C3%A9"), ("e\u{301}", "pe%CC%81"), ("書", "p%E6%9B%B8"),
        ("http://example.org/x?y=1&z", "phttp://example.org/x%3Fy=1&z"), ("line\nbreak", "pline%0Abreak"),
        ("\"<>\\^`{|}", "p%22%3C%3E%5C%5E%60%7B%7C%7D"),
        ("42", "p%342"), ("-7", "p%2D7"), ("1.5", "p%31.5"), ("0x00ff", "p%30x00ff"), ("007", "p007"), ("0xFF", "p0xFF"), ("4 2", "p4%202"),
        ("..", "p.."),
        ("18446744073709551615", "p%318446744073709551615"),
    ]

    // I5
    @Test(arguments: IncrementalReferenceTests.strings) func aStringStandsInTheURIByTheRulesOfAPath(string: String, text: String) throws {
        let fixture = try Fixture()
        let id = try fixture.id(string)
        #expect(id.uriRepresentation().absoluteString == "x-coredata://shelf/Item/\(text)")
        #expect(fixture.store.referenceObject(for: id) as? String == string)
    }

    // I5
    @Test(arguments: IncrementalReferenceTests.strings) func aURILeadsBackToTheStringAlsoInAnotherProcess(string: String, text: String) throws {
        let here = try Fixture(), there = try Fixture()
        let id = try here.id(string), uri = id.uriRepresentation()
        #expect(here.coordinator.managedObjectID(forURIRepresentation: uri) == id)
        let written = try #require(URL(string: uri.absoluteString))
        let other = try #require(there.coordinator.managedObjectID(forURIRepresentation: written))
        let reference = try #require(there.store.referenceObject(for: other) as? String)
        #expect(Array(reference.utf8) == Array(string.utf8))
        #expect(try other == there.id(string) && other.uriRepresentation() == uri && other != id)
    }

    // I5
    @Test func aNumberStandsInTheURIAsItsDigits() throws {
        let here = try Fixture(), there = try Fixture()
        let numbers: [(Any, String)] = [
            (42, "p42"), (Int64.min, "p-9223372036854775808"), (UInt64.max, "p18446744073709551615"), (NSNumber(value: 7), "p7"), (UInt8(3), "p3"),
            (1.5, "p1.5"), (2.0, "p2"), (NSNumber(value: -0.25), "p-0.25"), (1e300, "p1e+300"),
        ]
        for (number, text) in numbers {
            let id = try here.id(number)
            #expect(id.uriRepresentation().absoluteString == "x-coredata://shelf/Item/\(text)")
            #expect(here.coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) == id)
            let other = try #require(there.coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()))
            #expect(try other == there.id(number) && there.store.referenceObject(for: other) is NSNumber)
        }
        #expect(try here.store.referenceObject(for: here.id(42)) as? Int == 42)
    }

    // I5
    @Test func dataStandsInTheURIAsHexadecimalDigits() throws {
        let here = try Fixture(), there = try Fixture()
        for (data, text) in [(Data([0, 15, 255]), "p0x000fff"), (Data(), "p0x"), (Data("p".utf8), "p0x70")] {
            let id = try here.id(data), uri = id.uriRepresentation()
            #expect(uri.absoluteString == "x-coredata://shelf/Item/\(text)" && here.store.referenceObject(for: id) as? Data == data)
            #expect(here.coordinator.managedObjectID(forURIRepresentation: uri) == id)
            let other = try #require(there.coordinator.managedObjectID(forURIRepresentation: uri))
            #expect(there.store.referenceObject(for: other) as? Data == data)
        }
    }

    // I5, I4
    @Test func twoIDsWithOneReferenceAreOne() throws {
        let fixture = try Fixture()
        let references: [Any] = ["a", "42", 42, Data("a".utf8), 1.5, "é", "e\u{301}"]
        for reference in references {
            let first = try fixture.id(reference), second = try fixture.id(reference)
            #expect(first == second && first.hashValue == second.hashValue && first !== second)
        }
        let all = try references.map { try fixture.id($0) }
        #expect(Set(all).count == references.count && Set(all.map { $0.uriRepresentation() }).count == references.count)
        #expect(try fixture.id(42) == fixture.id(NSNumber(value: 42.0)) && fixture.id("a") == fixture.id(NSString("a")))
        #expect(try fixture.id("a", "Person") != fixture.id("a", "Engineer"))
        #expect(try fixture.id("a", "Person").uriRepresentation().absoluteString == "x-coredata://shelf/Person/pa")
    }

    // I5
    @Test func aURIWhoseEscapesSomebodyTookAwayNamesTheStringThatIsKnown() throws {
        let fixture = try Fixture()
        let string = try fixture.id("42"), plain = try #require(URL(string: "x-coredata://shelf/Item/p42"))
        #expect(fixture.coordinator.managedObjectID(forURIRepresentation: plain) == string)
        let number = try fixture.id(42)
        #expect(number != string && fixture.coordinator.managedObjectID(forURIRepresentation: plain) == number)
    }

    // I5
    @Test func aURIThatNamesNothingHereIsNoID() throws {
        let fixture = try Fixture()
        for text in [
            "x-coredata://other/Item/pa", "x-coredata://shelf/Nothing/pa", "x-coredata://shelf/Item/a", "x-coredata://shelf/Item",
            "x-coredata://shelf/pa",
            "x-coredata://shelf/Item/p%FF", "http://shelf/Item/pa",
        ] {
            let uri = try #require(URL(string: text))
            #expect(fixture.coordinator.managedObjectID(forURIRepresentation: uri) == nil)
        }
        let id = try fixture.id("a"), uri = id.uriRepresentation()
        try fixture.coordinator.remove(fixture.store)
        #expect(fixture.coordinator.managedObjectID(forURIRepresentation: uri) == nil && id.uriRepresentation() == uri)
    }

    // I5
    @Test func theNameOfAStoreMayHoldAnything() throws {
        for name in ["my library", "http://example.org/api", "ä", "a%20b"] {
            let fixture = try Fixture(name: name)
            let id = try fixture.id("x")
            #expect(fixture.coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()) == id)
        }
    }

    // I5, E2
    @Test func whatIsNeitherNumberNorStringNorDataIsNoReference() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Fixture().id(Date())
        }.trap(says: "can't be the reference of an object")
    }

    // E2
    @Test func anIDOfAnotherStoreHasNoReferenceHere() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try Fixture().store.referenceObject(for: try Fixture().id("a"))
        }.trap(says: "is not an ID of the store")
    }

    // E2
    @Test func noIDIsMadeBeforeTheStoreHasItsName() async {
        await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Company.model())
            let store = NSIncrementalStore(persistentStoreCoordinator: coordinator, configurationName: nil, at: URL(fileURLWithPath: "/dev/null"))
            for entity in coordinator.managedObjectModel.entities { _ = store.newObjectID(for: entity, referenceObject: 1) }
        }.trap(says: "before loadMetadata()")
    }
}
