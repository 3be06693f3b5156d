import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import TestTraits
import Testing

/// Random texts, from outside as it were: each is an error or a predicate, and a predicate finds the same in a file, in memory, and in a context whose
/// unsaved changes make of another file what these hold.
///
/// Nothing here looks at a clock. What would take for ever never ends; what is bounded is so by the library's own counts: levels, steps of a
/// pattern, characters of SQL.
struct PredicateTextTests {
    // Q1, Q3, Q13, F20
    @Test(.longComputation, arguments: 1...6 as ClosedRange<UInt64>)
    func everyTextIsAnErrorOrFindsTheSameEverywhere(seed: UInt64) throws {
        let run = try PredicateTextRun(seed: seed)
        try run.check(1_400)
        #expect(run.malformed > 100 && run.matched > 100 && run.refused > 40 && run.answered > 600, "\(run.summary)")
    }
}

/// Sums and averages of integers.
struct PredicateSumTests {
    // Q5, Q13
    @Test(arguments: [
        ("parts.@avg.number == -0.5", "ends"), ("parts.@sum.number == -1", "ends"), ("parts.@sum.number > 1.8e19", "large"),
        ("parts.@avg.number > 9e18", "large"), ("parts.@sum.real == 0 AND parts.@avg.real == nil", "none"),
    ])
    func theyAreExactWhereverTheyAreAskedFor(format: String, name: String) throws {
        let file = try SQLiteStack(Self.model()), memory = TestStack(Self.model())
        for context in [file.root, memory.root] {
            try context.performAndWait { () throws in
                for (name, numbers) in [("ends", [Int.max, Int.min]), ("large", [Int.max, Int.max]), ("none", [])] {
                    let whole = context.make("Thing", ["name": name])
                    for number in numbers { context.make("Thing", ["number": number, "real": 1.5, "whole": whole]) }
                }
                try context.save()
                let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
                request.predicate = NSPredicate(format: "name != nil AND (\(format))")
                #expect(try context.fetch(request).map { $0.value(forKey: "name") as? String } == [name])
            }
        }
    }

    // Q5, Q13
    @Test func whatIsNoNumberAnyMoreIsLeftOut() throws {
        let file = try SQLiteStack(Self.model()), memory = TestStack(Self.model())
        for context in [file.root, memory.root] {
            try context.performAndWait { () throws in
                let whole = context.make("Thing", ["name": "whole"])
                for real in [Double.infinity, -Double.infinity, 5] as [Double] { context.make("Thing", ["real": real, "whole": whole]) }
                try context.save()
                #expect(try context.all("Thing", "parts.@sum.real > 1e308 AND parts.@avg.real > 1e308").count == 1)
            }
        }
    }

    private static func model() -> NSManagedObjectModel {
        let thing = Company.entity("Thing"), attribute = Company.attribute
        thing.properties = [attribute("name", .string, true, nil), attribute("number", .integer64, true, nil), attribute("real", .double, true, nil)]
        Company.relate(thing, "parts", many: true, thing, "whole", many: false)
        return NSManagedObjectModel(entities: [thing])
    }
}

/// Random texts, much longer.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["CISTERN_STRESS"] == "1", "runs under make stress"))
struct PredicateTextStress {
    // Q1, Q3, Q13, F20
    @Test(arguments: 100..<140 as Range<UInt64>)
    func everyTextIsAnErrorOrFindsTheSameEverywhere(seed: UInt64) throws {
        try PredicateTextRun(seed: seed).check(5_000)
    }
}

/// Things in a file and in memory, and texts that are asked of both.
private final class PredicateTextRun {
    private let file: SQLiteStack
    private let memory: TestStack
    private let unsaved: SQLiteStack
    /// A context keeps what has changed, not what it has only read.
    private var kept: [NSManagedObject] = []
    private var texts: RandomPredicateTexts
    private(set) var malformed = 0, answered = 0, matched = 0, refused = 0, untranslated = 0

    var summary: String { "\(malformed) malformed, \(answered) answered, \(matched) matched, \(refused) refused, \(untranslated) untranslated" }

    init(seed: UInt64) throws {
        file = try SQLiteStack(Self.model())
        memory = TestStack(Self.model())
        texts = RandomPredicateTexts(seed: seed)
        unsaved = try SQLiteStack(Self.model())
        for context in [file.root, memory.root] {
            try context.performAndWait { () throws in
                _ = try Self.fill(context, things: [])
                try context.save()
            }
        }
        try unsaved.root.performAndWait { () throws in
            // Two of three are saved with values of another, and some that are deleted afterwards; the rest is new.
            let before = try Self.fill(unsaved.root, things: [], shifted: 5)
            for index in before.indices where index % 3 == 0 && index >= 8 { unsaved.root.delete(before[index]) }
            for _ in 0..<4 { unsaved.root.make("Thing", ["name": 99, "text": "gone"]) }
            try unsaved.root.save()
            let all = try unsaved.root.all("Thing")
            for thing in all where thing.value(forKey: "name") as? Int == 99 { unsaved.root.delete(thing) }
            kept = try Self.fill(unsaved.root, things: before.map { $0.isDeleted || $0.managedObjectContext == nil ? nil : $0 })
        }
    }

    private static func model() -> NSManagedObjectModel {
        let thing = Company.entity("Thing"), attribute = Company.attribute
        thing.properties = [
            attribute("name", .integer64, true, nil), attribute("number", .integer64, true, nil), attribute("real", .double, true, nil),
            attribute("flag", .boolean, true, nil), attribute("text", .string, true, nil),
        ]
        Company.relate(thing, "parts", many: true, thing, "whole", many: false)
        return NSManagedObjectModel(entities: [thing])
    }

    /// Makes the things what they are to be: those that are there, and new ones for the rest.
    ///
    /// - Parameter shift: how many places further the values stand.
    private static func fill(_ context: NSManagedObjectContext, things: [NSManagedObject?], shifted shift: Int = 0) throws -> [NSManagedObject] {
        let strings: [String?] = ["", "a", "A", "ab", "a.b", "é", "E\u{301}", String(repeating: "a", count: 32) + "b", "(", "[a]", nil, "aa", "日本"]
        let integers: [Int?] = [0, 1, -1, 42, nil, Int.max, Int.min], reals: [Double?] = [0, 1.5, nil, -2.25, 1e308]
        var made: [NSManagedObject] = []
        for index in 0..<26 {
            let thing = (index < things.count ? things[index] : nil) ?? context.make("Thing"), place = index + shift
            thing.setValue(index, forKey: "name")
            thing.setValue(integers[place % integers.count], forKey: "number")
            thing.setValue(reals[place % reals.count], forKey: "real")
            thing.setValue(strings[place % strings.count], forKey: "text")
            thing.setValue(place % 3 > 0 ? place % 3 == 1 : nil, forKey: "flag")
            thing.setValue(index >= 8 ? made[place % 8] : nil, forKey: "whole")
            made.append(thing)
        }
        return made
    }

    /// Whom a predicate finds, or what the fetch says.
    private func outcome(_ predicate: NSPredicate, _ context: NSManagedObjectContext) -> Result<[Int], NSError> {
        context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
            request.predicate = predicate
            do {
                return .success(try context.fetch(request).map { $0.value(forKey: "name") as? Int ?? -1 }.sorted())
            } catch let error as NSError {
                return .failure(error)
            }
        }
    }

    func check(_ count: Int) throws {
        for _ in 0..<count { try check(texts.text()) }
    }

    private func check(_ text: String) throws {
        let predicate: NSPredicate
        do throws(PredicateFormatError) {
            predicate = try NSPredicate.parse(text, arguments: [1])
        } catch {
            malformed += 1
            #expect(error.position >= 0 && error.position <= text.unicodeScalars.count && !error.expected.isEmpty, "\(text)")
            return
        }
        if let again = try? NSPredicate.parse(predicate.canonicalFormat) { #expect(again == predicate, "\(text)") }
        let inFile = outcome(predicate, file.root), inMemory = outcome(predicate, memory.root), inBetween = outcome(predicate, unsaved.root)
        if case .success(let found) = inBetween, case .success(let expected) = inMemory {
            #expect(found == expected, "over unsaved changes: \(text)")
        }
        switch (inFile, inMemory) {
        case (.success(let found), .success(let expected)):
            #expect(found == expected, "\(text)")
            answered += 1
            matched += found.isEmpty || found.count == 26 ? 0 : 1
        case (.failure(let error), .success) where error.localizedDescription.contains("can't translate"): untranslated += 1
        case (.failure(let one), .failure(let other)):
            #expect(one.code == 134060 && other.code == 134060, "\(text): \(one) \(other)")
            refused += 1
        case (.failure(let error), .success), (.success, .failure(let error)):
            // Which parts of an AND or OR are asked first is not said, so a pattern may fail in the one and never be looked at in the other.
            #expect(error.code == 134060 && error.localizedDescription.contains("MATCHES"), "\(text): \(error)")
            refused += 1
        }
    }
}
