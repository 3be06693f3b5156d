import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// A file, memory, unsaved changes and controllers sort strings in one order.
@Suite struct SortingTests {
    static let selectors: [SortSelector] = [
        .compare, .caseInsensitiveCompare, .localizedCompare, .localizedCaseInsensitiveCompare, .localizedStandardCompare,
    ]

    private static let parts = [
        "a", "A", "ä", "Ä", "a\u{308}", "b", "B", "ß", "ss", "1", "2", "10", "01", "é", "e\u{301}", "É", "😀", "👍🏽", " ", "-", "_", "ø", "日", "İ", "i",
        "I",
        "ı", "\u{200B}", "x", ".", "ﬀ", "Ａ", "\u{FFFD}", "\u{10FFFF}",
    ]

    private static func strings(_ count: Int, seed: UInt64) -> [String] {
        var numbers = SeededNumbers(seed: seed)
        return (0..<count).map { _ in
            let length = numbers.pick([0, 1, 1, 2, 2, 3, 4, 40])
            return (0..<length).map { _ in numbers.pick(parts) }.joined()
        }
    }

    private static func request(_ selector: SortSelector, ascending: Bool = true) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Skill")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: ascending, selector: selector)]
        return request
    }

    private static func names(_ objects: [NSManagedObject]) -> [String] { objects.map { $0.value(forKey: "name") as? String ?? "∅" } }

    /// The order that a list of all would have, ties in the order of insertion.
    private static func sorted(_ names: [String], _ selector: SortSelector, ascending: Bool) -> [String] {
        names.enumerated().sorted { left, right in
            let order = selector.compare(left.element, right.element)
            return order == .orderedSame ? left.offset < right.offset : order == (ascending ? .orderedAscending : .orderedDescending)
        }
        .map(\.element)
    }

    // F7, F8
    @Test(arguments: selectors, [1, 2, 3] as [UInt64])
    func aFileMemoryAndUnsavedChangesSortAlike(_ selector: SortSelector, seed: UInt64) throws {
        let names = Self.strings(90, seed: seed)
        let file = try SQLiteStack(), memory = TestStack(), unsaved = try SQLiteStack()
        for context in [file.root, memory.root] {
            try context.performAndWait { () throws in
                for name in names { context.make("Skill", ["name": name]) }
                try context.save()
                context.reset()
            }
        }
        for ascending in [true, false] {
            let expected = Self.sorted(names, selector, ascending: ascending)
            for context in [file.root, memory.root] {
                try context.performAndWait { () throws in
                    #expect(try Self.names(context.fetch(Self.request(selector, ascending: ascending))) == expected)
                }
            }
        }
        // The first third as it was saved, the second changed since, the last inserted since, by a child.
        let child = unsaved.child(of: unsaved.root)
        try unsaved.root.performAndWait { () throws in
            var objects: [NSManagedObject] = []
            for (index, name) in names.prefix(60).enumerated() { objects.append(unsaved.root.make("Skill", ["name": index < 30 ? name : "old"])) }
            try unsaved.root.save()
            for index in 30..<60 { objects[index].setValue(names[index], forKey: "name") }
        }
        try child.performAndWait { () throws in
            for name in names.suffix(30) { child.make("Skill", ["name": name]) }
            for ascending in [true, false] {
                let expected = Self.sorted(names, selector, ascending: ascending), request = Self.request(selector, ascending: ascending)
                #expect(try Self.names(child.fetch(request)) == expected)
                (request.fetchOffset, request.fetchLimit) = (20, 30)
                #expect(try Self.names(child.fetch(request)) == Array(expected[20..<50]))
                let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Skill")
                ids.sortDescriptors = request.sortDescriptors
                ids.resultType = .managedObjectIDResultType
                #expect(try Self.names(child.fetch(ids).map { child.object(with: $0) }) == expected)
            }
        }
    }

    // V1, F7
    @Test(arguments: selectors)
    func aControllerSortsAsAFetchDoes(_ selector: SortSelector) throws {
        let names = Self.strings(60, seed: 4), stack = TestStack()
        try stack.root.performAndWait { () throws in
            for name in names.prefix(30) { stack.root.make("Skill", ["name": name]) }
            try stack.root.save()
            let controller = NSFetchedResultsController(
                fetchRequest: Self.request(selector), managedObjectContext: stack.root, sectionNameKeyPath: nil, cacheName: nil)
            let recorder = ResultsRecorder()
            controller.delegate = recorder
            try controller.performFetch()
            recorder.shown = Shown(controller)
            for name in names.suffix(30) { stack.root.make("Skill", ["name": name]) }
            stack.root.processPendingChanges()
            #expect(Self.names(controller.fetchedObjects ?? []) == Self.sorted(names, selector, ascending: true))
        }
    }

    // F7
    @Test func everySelectorOrdersTotally() {
        let strings = Self.strings(60, seed: 5)
        for selector in Self.selectors {
            for first in strings {
                for second in strings {
                    #expect(selector.compare(first, second).rawValue == -selector.compare(second, first).rawValue)
                    for third in strings
                    where selector.compare(first, second) != .orderedDescending && selector.compare(second, third) != .orderedDescending {
                        if selector.compare(first, third) == .orderedDescending { Issue.record("\(selector): \(first), \(second), \(third)") }
                    }
                }
            }
        }
    }

    // F7
    @Test func localizedSelectorsOrderWordsInAFetch() throws {
        let stack = try SQLiteStack()
        try stack.root.performAndWait { () throws in
            for name in ["file10", "Zoe", "Ärger", "apfel", "file2", "Apfel", "zebra"] { stack.root.make("Skill", ["name": name]) }
            try stack.root.save()
            func names(_ selector: SortSelector) throws -> [String] { try Self.names(stack.root.fetch(Self.request(selector))) }
            #expect(try names(.localizedCompare) == ["apfel", "Apfel", "Ärger", "file10", "file2", "zebra", "Zoe"])
            #expect(try names(.localizedCaseInsensitiveCompare) == ["apfel", "Apfel", "Ärger", "file10", "file2", "zebra", "Zoe"])
            #expect(try names(.localizedStandardCompare) == ["apfel", "Apfel", "Ärger", "file2", "file10", "zebra", "Zoe"])
            #expect(try names(.compare) == ["Apfel", "Zoe", "apfel", "file10", "file2", "zebra", "Ärger"])
        }
    }

    // F7, F20
    @Test func aDescriptorThatOnlyMemoryCanSortByIsRefused() throws {
        let stack = TestStack()
        stack.root.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Skill")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true) { _, _ in .orderedSame }]
            #expect((#expect(throws: NSError.self) { try stack.root.fetch(request) })?.code == 134060)
        }
    }
}
