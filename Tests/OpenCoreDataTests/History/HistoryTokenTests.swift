import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// Places in the history of one or several stores.
@Suite struct HistoryTokenTests {
    private let folder: HistoryFolder

    init() throws { folder = try HistoryFolder() }

    // H4
    @Test func aTokenIsTheSameAfterItWasArchivedOrEncoded() throws {
        let stack = try HistoryStack(folder.file)
        try stack.saveCities("a")
        let token = try #require(stack.token)
        let archive = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
        let unarchived = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: archive)
        #expect(unarchived == token && unarchived !== token && unarchived?.hash == token.hash)
        let decoded = try JSONDecoder().decode(NSPersistentHistoryToken.self, from: JSONEncoder().encode(token))
        #expect(decoded == token && decoded != NSPersistentHistoryToken([:]))
        #expect((token.copy() as? NSPersistentHistoryToken) == token)
        try stack.saveCities("b")
        #expect(try stack.token != token && stack.transactions(after: unarchived).numbers == [2])
    }

    // H4
    @Test func theCurrentTokenIsThatOfAllStoresOrOfThoseAskedFor() throws {
        let (stack, second) = try twoStores()
        #expect(stack.token == NSPersistentHistoryToken([stack.store.identifier: 0, second.identifier: 0]))
        try stack.save { context in
            context.make("City", ["code": "a"])
            context.make("Note")
        }
        try stack.saveCities("b")
        #expect(stack.token == NSPersistentHistoryToken([stack.store.identifier: 2, second.identifier: 1]))
        let one = stack.coordinator.currentPersistentHistoryToken(fromStores: [second])
        #expect(one == NSPersistentHistoryToken([second.identifier: 1]))
        #expect(stack.coordinator.currentPersistentHistoryToken(fromStores: []) == nil)
        let memory = try stack.coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        #expect(stack.coordinator.currentPersistentHistoryToken(fromStores: [memory]) == nil)
    }

    // H4
    @Test func theLastTransactionsTokenIsWhereToGoOnInAllStores() throws {
        let (stack, second) = try twoStores()
        for code in ["a", "b"] {
            try stack.save { context in
                context.make("City", ["code": code])
                context.make("Note")
            }
        }
        let all = try stack.transactions()
        #expect(all.map(\.storeID) == [stack.store.identifier, stack.store.identifier, second.identifier, second.identifier].compactMap { $0 })
        // From each of them on come those that were listed after it.
        for (index, transaction) in all.enumerated() {
            #expect(try stack.transactions(after: transaction.token) == Array(all[(index + 1)...]))
        }
        #expect(all.last?.token == stack.token)
        try stack.save { $0.make("Note") }
        #expect(try stack.transactions(after: all.last?.token).map(\.storeID) == [second.identifier])
        // A window goes on where it ended, over the stores.
        let request = try NSPersistentHistoryChangeRequest.fetchHistory(withFetch: #require(NSPersistentHistoryTransaction.fetchRequest))
        request.fetchRequest?.fetchLimit = 3
        let window = try stack.transactions(request)
        #expect(window == Array(all[..<3]))
        #expect(try stack.transactions(after: window.last?.token).map(\.transactionNumber) == [2, 3])
    }

    // H4
    @Test func aStoreThatATokenDoesNotKnowIsToldFromItsBeginning() throws {
        let (stack, second) = try twoStores()
        try stack.saveCities("a")
        try stack.save { $0.make("Note") }
        let first = try #require(stack.coordinator.currentPersistentHistoryToken(fromStores: [stack.store]))
        #expect(try stack.transactions(after: first).map(\.storeID) == [second.identifier])
        // And nothing is deleted from it.
        try stack.execute(.deleteHistory(before: first))
        #expect(try stack.transactions().map(\.storeID) == [stack.store.identifier, second.identifier].compactMap { $0 })
    }

    /// A stack whose notes are in a second store.
    private func twoStores() throws -> (HistoryStack, NSPersistentStore) {
        let city = StoreModels.entity("City", [StoreModels.attribute("code", .string), StoreModels.attribute("name", .string)])
        let note = StoreModels.entity("Note", [StoreModels.attribute("text", .string)])
        let model = NSManagedObjectModel(entities: [city, note])
        model.setEntities([city], forConfigurationName: "cities")
        model.setEntities([note], forConfigurationName: "notes")
        let stack = try HistoryStack(folder.file, model, configuration: "cities")
        let second = try stack.coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: "notes", at: folder.file("notes"), options: HistoryStack.tracking)
        return (stack, second)
    }
}
