import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

extension Person {
    fileprivate var shout: String { name.uppercased() }
    fileprivate var initial: String { String(name.prefix(1)) }
    fileprivate var capped: Int32 { min(age, 100) }
    fileprivate var label: String { "\(name) (\(age))" }
    fileprivate var called: String? { value(forKey: "nick") as? String }
    fileprivate var constant: Int { 3 }
}

/// `NSSortDescriptor(keyPath:ascending:)` in fetches.
@Suite struct KeyPathSortTests {
    /// Persons by name, the older first, with a manager and a department each.
    private func use(_ body: (NSManagedObjectContext) throws -> Void) throws {
        let stack = TestStack()
        try stack.root.performAndWait { () throws in
            let (first, second) = (Department(context: stack.root), Department(context: stack.root))
            (first.name, second.name) = ("Zoo", "Art")
            let ada = Engineer(context: stack.root), ben = Person(context: stack.root), cem = Person(context: stack.root)
            (ada.name, ada.age, ada.nick, ada.department) = ("Ada", 30, "x", first)
            (ben.name, ben.age, ben.nick, ben.department, ben.manager) = ("Ben", 20, nil, second, ada)
            (cem.name, cem.age, cem.nick, cem.department, cem.manager) = ("Cem", 10, "a", second, ben)
            try stack.root.save()
            try body(stack.root)
        }
    }

    private func names(_ context: NSManagedObjectContext, _ descriptors: NSSortDescriptor..., entity: String = "Person") throws -> [String] {
        let request = NSFetchRequest<Person>(entityName: entity)
        request.sortDescriptors = descriptors
        return try context.fetch(request).map(\.name)
    }

    private func refusal(_ context: NSManagedObjectContext, _ descriptor: NSSortDescriptor) -> NSError? {
        #expect(throws: NSError.self) { try names(context, descriptor) }
    }

    // F7
    @Test func aFetchSortsByAKeyPathOfSwifts() throws {
        try use { (context) throws in
            #expect(try names(context, NSSortDescriptor(keyPath: \Person.age, ascending: true)) == ["Cem", "Ben", "Ada"])
            #expect(try names(context, NSSortDescriptor(keyPath: \Person.name, ascending: false)) == ["Cem", "Ben", "Ada"])
            let reversed = NSSortDescriptor(keyPath: \Person.age, ascending: true).reversedSortDescriptor as? NSSortDescriptor
            #expect(try names(context, try #require(reversed)) == ["Ada", "Ben", "Cem"])
        }
    }

    // F7
    @Test func aSortDescriptorOfSwiftsSortsByItsKeyPath() throws {
        try use { (context) throws in
            #expect(try names(context, NSSortDescriptor(SortDescriptor(\Person.age))) == ["Cem", "Ben", "Ada"])
            #expect(try names(context, NSSortDescriptor(SortDescriptor(\Person.name, order: .reverse))) == ["Cem", "Ben", "Ada"])
            let byNick = NSSortDescriptor(SortDescriptor(\Person.nick, order: .forward))
            #expect(try names(context, byNick) == ["Ben", "Cem", "Ada"] && byNick.ascending)
            #expect(try names(context, try #require(byNick.reversedSortDescriptor as? NSSortDescriptor)) == ["Ada", "Cem", "Ben"])
            let found = NSArray(array: try context.fetch(NSFetchRequest<Person>(entityName: "Person")))
            #expect((found.sortedArray(using: [byNick]) as? [Person])?.map(\.name) == ["Ben", "Cem", "Ada"])
            // Unsaved changes are sorted by it, too.
            for person in found.compactMap({ $0 as? Person }) where person.name == "Ada" { person.age = 1 }
            #expect(try names(context, NSSortDescriptor(SortDescriptor(\Person.age))) == ["Ada", "Cem", "Ben"])
        }
    }

    // F7
    @Test func optionalPropertiesSortNilFirst() throws {
        try use { (context) throws in
            let byNick = NSSortDescriptor(keyPath: \Person.nick, ascending: true)
            #expect(try names(context, byNick) == ["Ben", "Cem", "Ada"])
            #expect(try names(context, try #require(byNick.reversedSortDescriptor as? NSSortDescriptor)) == ["Ada", "Cem", "Ben"])
            #expect(try names(context, NSSortDescriptor(keyPath: \Person.called, ascending: true)) == ["Ben", "Cem", "Ada"])
        }
    }

    // F7
    @Test func keyPathsLeadOverToOnes() throws {
        try use { (context) throws in
            let byDepartment = NSSortDescriptor(keyPath: \Person.department?.name, ascending: true)
            #expect(try names(context, byDepartment, NSSortDescriptor(keyPath: \Person.name, ascending: false)) == ["Cem", "Ben", "Ada"])
            let byManager = NSSortDescriptor(keyPath: \Person.manager?.manager?.age, ascending: false)
            #expect(try names(context, byManager, NSSortDescriptor(keyPath: \Person.age, ascending: true)) == ["Cem", "Ben", "Ada"])
        }
    }

    // F7
    @Test func anEntityIsSortedByAKeyPathOfItsParent() throws {
        try use { (context) throws in
            #expect(try names(context, NSSortDescriptor(keyPath: \Person.age, ascending: true), entity: "Engineer") == ["Ada"])
            #expect(try names(context, NSSortDescriptor(keyPath: \Engineer.language, ascending: true), entity: "Engineer") == ["Ada"])
            #expect(refusal(context, NSSortDescriptor(keyPath: \Engineer.language, ascending: true))?.code == 134060)
        }
    }

    // F7, F20
    @Test func aKeyPathThatComputesIsRefused() throws {
        try use { (context) throws in
            let refused = [
                NSSortDescriptor(keyPath: \Person.shout, ascending: true), NSSortDescriptor(keyPath: \Person.initial, ascending: true),
                NSSortDescriptor(keyPath: \Person.capped, ascending: true), NSSortDescriptor(keyPath: \Person.label, ascending: true),
                NSSortDescriptor(keyPath: \Person.constant, ascending: true), NSSortDescriptor(keyPath: \Person.name.count, ascending: true),
                NSSortDescriptor(keyPath: \Person.reports.count, ascending: true), NSSortDescriptor(keyPath: \Person.department, ascending: true),
                NSSortDescriptor(keyPath: \Department.name, ascending: true), NSSortDescriptor(keyPath: \String.count, ascending: true),
            ]
            for descriptor in refused { #expect(refusal(context, descriptor)?.code == 134060) }
            #expect(refusal(context, refused[0])?.localizedDescription.contains("can't sort by") == true)
        }
    }

    // F7, F20
    @Test func aComparatorOverAKeyPathIsNotForgotten() throws {
        try use { (context) throws in
            let descriptor = NSSortDescriptor(keyPath: \Person.age, ascending: true, comparator: { _, _ in .orderedSame })
            #expect(refusal(context, descriptor)?.code == 134060)
        }
    }

    // F7
    @Test func objectsInMemoryAreSortedByKeyPaths() throws {
        try use { (context) throws in
            let people = try context.all("Person", sort: "name").compactMap { $0 as? Person }
            func sorted(_ descriptor: NSSortDescriptor) -> [String] {
                people.sorted { descriptor.compare($0, to: $1) == .orderedAscending }.map(\.name)
            }
            #expect(sorted(NSSortDescriptor(keyPath: \Person.age, ascending: true)) == ["Cem", "Ben", "Ada"])
            #expect(sorted(NSSortDescriptor(keyPath: \Person.nick, ascending: true)) == ["Ben", "Cem", "Ada"])
            #expect(sorted(NSSortDescriptor(keyPath: \Person.nick, ascending: false)) == ["Ada", "Cem", "Ben"])
            #expect(sorted(NSSortDescriptor(keyPath: \Person.shout, ascending: false)) == ["Cem", "Ben", "Ada"])
        }
    }
}
