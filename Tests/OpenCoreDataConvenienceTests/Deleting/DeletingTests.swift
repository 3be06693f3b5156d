import CoreData
import Foundation
import OpenCoreDataConvenience
import Testing

struct DeletingTests {
    @Test func deletingSaysHowManyAndIsTakenBackByARollback() throws {
        try Library().using { context throws in
            _ = try Author.findOrCreate(by: "id", values: [1, 2, 3], in: context)
            try context.save()
            #expect(try Author.deleteAll(where: "id > %@", 1, in: context) == 2)
            #expect(try Author.count(in: context) == 1)
            context.rollback()
            #expect(try Author.count(in: context) == 3)
            try Author.findFirst(by: "id", value: 1, in: context)?.delete()
            try context.save()
            #expect(try Author.findAll(sortedBy: ["id"], in: context).map(\.id) == [2, 3])
        }
    }

    @Test func truncateDeletesSubentitiesToo() throws {
        try Library().using { context throws in
            _ = try (Dog.create(in: context), Cat.create(in: context), Tag.create(in: context))
            #expect(try Animal.truncate(in: context) == 2)
            #expect(try Animal.truncate(in: context) == 0)
            #expect(try Tag.count(in: context) == 1)
        }
    }

    @Test func anObjectWithoutAContextIsLeftAlone() throws {
        try Library().using { context throws in
            let tag = try Tag.create(in: context)
            tag.delete()
            try context.save()
            tag.delete()
            #expect(!context.hasChanges)
        }
    }
}
