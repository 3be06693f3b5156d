import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// Random texts, from outside as it were: each is an error or a predicate, and a predicate finds the same in a file and in memory.
///
/// Nothing here looks at a clock. What would take for ever never ends; what is bounded is so by the library's own counts: levels, steps of a
/// pattern, characters of SQL.
struct PredicateTextTests {
    // Q1, Q3, Q13, F20
    @Test(arguments: [1, 2, 3] as [UInt64])
    func everyTextIsAnErrorOrFindsTheSameEverywhere(seed: UInt64) throws {
        let run = try PredicateTextRun(seed: seed)
        try run.check(700)
        #expect(run.malformed > 50 && run.matched > 50 && run.refused > 20 && run.answered > 300, "\(run.summary)")
    }
}

/// The same, much longer.
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
    private var texts: RandomPredicateTexts
    private(set) var malformed = 0, answered = 0, matched = 0, refused = 0, untranslated = 0

    var summary: String { "\(malformed) malformed, \(answered) answered, \(matched) matched, \(refused) refused, \(untranslated) untranslated" }

    init(seed: UInt64) throws {
        file = try SQLiteStack(Self.model())
        memory = TestStack(Self.model())
        texts = RandomPredicateTexts(seed: seed)
        for context in [file.root, memory.root] { try Self.fill(context) }
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

    private static func fill(_ context: NSManagedObjectContext) throws {
        let strings: [String?] = ["", "a", "A", "ab", "a.b", "é", "E\u{301}", String(repeating: "a", count: 32) + "b", "(", "[a]", nil, "aa", "日本"]
        let integers: [Int?] = [0, 1, -1, 42, nil, Int.max, Int.min], reals: [Double?] = [0, 1.5, nil, -2.25, 1e308]
        try context.performAndWait { () throws in
            var made: [NSManagedObject] = []
            for index in 0..<26 {
                var values: [String: Any] = ["name": index]
                if let number = integers[index % integers.count] { values["number"] = number }
                if let real = reals[index % reals.count] { values["real"] = real }
                if let text = strings[index % strings.count] { values["text"] = text }
                if index % 3 > 0 { values["flag"] = index % 3 == 1 }
                let thing = context.make("Thing", values)
                if index >= 8 { thing.setValue(made[index % 8], forKey: "whole") }
                made.append(thing)
            }
            try context.save()
        }
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
        let inFile = outcome(predicate, file.root), inMemory = outcome(predicate, memory.root)
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
