import CoreData
import Foundation
import OpenCoreDataConvenience
import Testing

struct CreatingTests {
    @Test func findOrCreateFindsWhatIsNotSavedYet() throws {
        try Library().using { context throws in
            let first = try Author.findOrCreate(by: "id", value: 7, in: context)
            #expect(first.id == 7)
            #expect(try Author.findOrCreate(by: "id", value: "7", in: context) === first)
            #expect(try Author.count(in: context) == 1)
            try context.save()
            #expect(try Author.findOrCreate(by: "id", value: 7, in: context) === first)
        }
    }

    @Test func manyAtOnceComeInOrderAndTheSameValueIsTheSameObject() throws {
        try Library().using { context throws in
            let known = try Author.findOrCreate(by: "id", value: 2, in: context)
            let all = try Author.findOrCreate(by: "id", values: [3, 2, 3, 1], in: context)
            #expect(all.map(\.id) == [3, 2, 3, 1])
            #expect(all[1] === known)
            #expect(all[0] === all[2])
            #expect(try Author.count(in: context) == 3)
        }
    }

    @Test func whatIsDeletedButNotSavedIsNotFoundAgain() throws {
        try Library().using { context throws in
            let old = try Author.findOrCreate(by: "id", value: 7, in: context)
            try context.save()
            old.delete()
            let new = try Author.findOrCreate(by: "id", value: 7, in: context)
            #expect(new !== old)
            try context.save()
            #expect(try Author.count(in: context) == 1)
        }
    }

    @Test func aValueThatCannotBeLeavesNothingBehind() throws {
        try Library().using { context throws in
            #expect(throws: RecordError.self) { try Author.findOrCreate(by: "id", values: [1, "two"], in: context) }
            #expect(throws: RecordError.self) { try Author.findOrCreate(by: "id", value: NSNull(), in: context) }
            #expect(throws: RecordError.self) { try Author.findOrCreate(by: "ID", value: 1, in: context) }
            #expect(throws: RecordError.self) { try Animal.create(in: context) }
            #expect(throws: RecordError.self) { try Animal.findOrCreate(by: "name", value: "Rex", in: context) }
            #expect(!context.hasChanges)
        }
    }

    @Test func textThatIsComposedDifferentlyIsAnotherKey() throws {
        try Library().using { context throws in
            let made = try Tag.findOrCreate(by: "name", values: ["\u{E9}", "e\u{301}"], in: context)
            #expect(made[0] !== made[1])
            try context.save()
            #expect(try Tag.findOrCreate(by: "name", values: ["e\u{301}", "\u{E9}"], in: context) == [made[1], made[0]])
            #expect(try Tag.count(in: context) == 2)
        }
    }

    @Test func manyThousandValuesAreFoundAtOnce() throws {
        let library = try Library()
        let values = Array(0..<40_000)
        try library.using { context throws in
            _ = try Author.findOrCreate(by: "id", values: values, in: context)
            try context.save()
        }
        try library.using { context throws in
            #expect(try Author.findOrCreate(by: "id", values: values, in: context).map { Int($0.id) } == values)
            #expect(!context.hasChanges)
        }
    }
}
