import CoreData
import Foundation
import OpenCoreDataConvenience
import Testing

struct FindingTests {
    private func library() throws -> Library {
        let library = try Library()
        try library.using { context throws in
            for (id, name, age) in [(1, "Ada", 36), (2, "Grace", 85), (3, "Alan", 41), (4, "Edsger", 72)] {
                let author = try Author.create(in: context)
                author.id = Int64(id)
                author.name = name
                author.age = Int32(age)
            }
            try context.save()
        }
        return library
    }

    @Test func findFirstGivesTheFirstInTheOrder() throws {
        try library().using { context throws in
            #expect(try Author.findFirst(where: "name == %@", "Ada", in: context)?.id == 1)
            #expect(try Author.findFirst(where: "age > %@", 40, sortedBy: ["age"], in: context)?.name == "Alan")
            #expect(try Author.findFirst(where: "age > %@", 40, sortedBy: [.descending("age")], in: context)?.name == "Grace")
            #expect(try Author.findFirst(where: "age > %@", 99, in: context) == nil)
        }
    }

    @Test func findAllSortsByOneKeyAfterTheOther() throws {
        try library().using { context throws in
            try #require(try Author.findFirst(by: "id", value: 3, in: context)).age = 36
            let names = try Author.findAll(sortedBy: ["age", .descending("name")], in: context).map(\.name)
            #expect(names == ["Alan", "Ada", "Edsger", "Grace"])
            #expect(try Author.findAll(sortedBy: ["id"], limit: 2, offset: 1, in: context).map(\.id) == [2, 3])
        }
    }

    @Test func anAttributesValueIsConvertedBeforeItIsLookedFor() throws {
        try library().using { context throws in
            #expect(try Author.findAll(by: "id", value: "2", in: context).map(\.name) == ["Grace"])
            #expect(try Author.findAll(by: "name", value: nil, in: context).isEmpty)
            let error = #expect(throws: RecordError.self) { try Author.findFirst(by: "id", value: "two", in: context) }
            #expect(error?.description == "Author.id: \"two\": is no number; give a number, or text that is one")
        }
    }

    @Test func countsAndExistenceIncludeWhatIsNotSaved() throws {
        try library().using { context throws in
            #expect(try Author.count(in: context) == 4)
            try Author.create(in: context).age = 99
            #expect(try Author.count(in: context) == 5)
            #expect(try Author.count(where: "age > %@", 80, in: context) == 2)
            #expect(try Author.exists(where: "age == %@", 99, in: context))
            #expect(try !Author.exists(where: "age == %@", 98, in: context))
            #expect(try !Book.exists(in: context))
        }
    }

    @Test func objectsOfSubentitiesAreFound() throws {
        try Library().using { context throws in
            try Dog.create(in: context).name = "Rex"
            try Cat.create(in: context).name = "Tom"
            #expect(try Animal.findAll(sortedBy: ["name"], in: context).map { $0.name } == ["Rex", "Tom"])
            #expect(try Cat.count(in: context) == 1)
        }
    }

    @Test func aggregatesAreTheSameSavedOrNot() throws {
        let library = try library()
        try library.using { context throws in
            let saved = try answers(context)
            try #require(try Author.findFirst(by: "id", value: 1, in: context)).note = "changed"
            #expect(context.hasChanges)
            let unsaved = try answers(context)
            #expect(saved == unsaved)
            #expect(saved == ["234", "58.5", "36", "85", "Ada", "157"])
        }
    }

    private func answers(_ context: NSManagedObjectContext) throws -> [String] {
        let older = NSPredicate(format: "age > 50")
        return [
            "\(try Author.sum(of: "age", in: context))", "\(try Author.average(of: "age", in: context) ?? -1)",
            "\(try Author.minimum(of: "age", as: Int.self, in: context) ?? -1)", "\(try Author.maximum(of: "age", as: Int.self, in: context) ?? -1)",
            try Author.minimum(of: "name", as: String.self, in: context) ?? "", "\(try Author.sum(of: "age", matching: older, in: context))",
        ]
    }

    @Test func aggregatesCountWhatIsNotSavedInAParent() throws {
        let library = try library()
        try library.using { context throws in
            try Author.create(in: context).age = 1000
            let child = NSManagedObjectContext(.privateQueueConcurrencyType)
            child.parent = context
            let sum = try child.performAndWait { try Author.sum(of: "age", in: child) }
            #expect(sum == 1234)
        }
    }

    @Test func decimalsAreAddedExactlyAndSumsOfNothingAreZero() throws {
        try Library().using { context throws in
            #expect(try Author.sum(of: "balance", in: context) == 0)
            #expect(try Author.average(of: "balance", in: context) == nil)
            #expect(try Author.minimum(of: "age", as: Int.self, in: context) == nil)
            for _ in 0..<3 { try Author.create(in: context).balance = Decimal(string: "0.1") ?? 0 }
            try Author.create(in: context).balance = Decimal(string: "12345678901234567890.123456789") ?? 0
            let sum = Decimal(string: "12345678901234567890.423456789")
            #expect(try Author.sum(of: "balance", in: context).decimalValue == sum)
            try context.save()
            #expect(try Author.sum(of: "balance", in: context).decimalValue == sum)
        }
    }

    @Test func whatCannotBeAskedIsThrown() throws {
        try library().using { context throws in
            let unknown = #expect(throws: RecordError.self) { try Author.sum(of: "agee", in: context) }
            #expect(unknown?.property == "agee")
            #expect(throws: RecordError.self) { try Author.sum(of: "name", in: context) }
            #expect(throws: RecordError.self) { try Author.maximum(of: "name", as: Int.self, in: context) }
            #expect(throws: PredicateFormatError.self) { try Author.findAll(where: "age >", in: context) }
            let nowhere = #expect(throws: RecordError.self) { try Stranger.findAll(in: context) }
            #expect(nowhere?.problem == "no entity of the context's model has this class")
            let adrift = NSManagedObjectContext(.privateQueueConcurrencyType)
            #expect(throws: RecordError.self) { try adrift.performAndWait { try Author.findAll(in: adrift) } }
        }
    }

    private final class Stranger: NSManagedObject {}

    @Test func sumsAreTheSameOrRefusedAlikeWhetherOrNotAnythingIsUnsaved() throws {
        for values: [Int64] in [[.max, 1, -1], [.min, -1, 1], [.max, .min], [.max, 1], [.min, .min], [.max, .max, .min], []] {
            let library = try Library()
            try library.using { context throws in
                for value in values { try Setting.create(in: context).value = value }
                try context.save()
                func outcome() -> [String] {
                    let sum = Result { try Setting.sum(of: "value", in: context) }.map(\.stringValue)
                    let mean = Result { try Setting.average(of: "value", in: context) }.map { "\($0 ?? .nan)" }
                    return [sum, mean].map { result in (try? result.get()) ?? "\(result)" }
                }
                let saved = outcome()
                // The store can't answer any more.
                try Author.create(in: context).id = 1
                let unsaved = outcome()
                #expect(unsaved == saved)
                let exact = values.reduce(Int128(0)) { $0 + Int128($1) }
                #expect(Int64(exactly: exact).map { saved[0] == "\($0)" } ?? saved[0].contains("the sum does not fit 64 bits"), "\(saved)")
            }
        }
    }
}
