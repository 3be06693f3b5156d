import CoreData
import Foundation
import OpenCoreDataConvenience
import OpenCoreDataTestSupport
import Testing

/// What a store is asked by an import.
struct ImportFetchTests {
    private static func records(_ count: Int) -> [[String: Any]] {
        (0..<count).map { id in
            [
                "id": id, "name": "name \(id)", "publishedBy": "P\(id % 3)",
                "books": ["\(id)", ["isbn": "\(id + count)", "tags": ["a", "\(id % 7)"]]] as [Any],
            ]
        }
    }

    private func requests(_ count: Int) throws -> [String] {
        let stack = TestStack(Library.model)
        try stack.root.performAndWait {
            try stack.root.importObjects(Author.self, from: Self.records(count))
            try stack.root.save()
            stack.root.reset()
        }
        return try stack.requests {
            try stack.root.performAndWait {
                try stack.root.importObjects(Author.self, from: Self.records(count))
                #expect(!stack.root.hasChanges)
            }
        }.map { "\($0)".prefix { $0 != "(" }.description }
    }

    @Test func existingObjectsAreFoundByOneFetchForEachKeyHoweverManyRecordsThereAre() throws {
        let few = try requests(3), many = try requests(300)
        #expect(few == many)
        #expect(few.filter { $0 == "fetch" }.count == 4)
    }
}
