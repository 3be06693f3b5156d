import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// Asking for history, and deleting it.
@Suite struct HistoryRequestTests {
    private let folder: HistoryFolder
    private let stack: HistoryStack

    init() throws {
        folder = try HistoryFolder()
        stack = try HistoryStack(folder.file)
    }

    /// Saves one city after the other, by authors a, b, c, …
    private func saveOneByOne(_ codes: String...) throws {
        for code in codes {
            stack.context.performAndWait { stack.context.transactionAuthor = code }
            try stack.saveCities(code)
        }
    }

    private func fetch(_ request: NSFetchRequest<any NSFetchRequestResult>?, _ format: String? = nil) throws -> NSPersistentHistoryChangeRequest {
        let request = try #require(request)
        request.predicate = format.map { NSPredicate(format: $0) }
        return .fetchHistory(withFetch: request)
    }

    // H2
    @Test func historyIsFetchedAfterADateATokenOrATransaction() throws {
        let early = Date()
        try saveOneByOne("a", "b", "c")
        let all = try stack.transactions()
        #expect(all.numbers == [1, 2, 3])
        #expect(try stack.transactions(after: all[0].token).numbers == [2, 3])
        #expect(try stack.transactions(.fetchHistory(after: all[1])).numbers == [3])
        #expect(try stack.transactions(after: all[2].token).isEmpty)
        #expect(try stack.transactions(.fetchHistory(after: early)).numbers == [1, 2, 3])
        #expect(try stack.transactions(.fetchHistory(after: all[0].timestamp)).numbers == [2, 3])
        #expect(try stack.transactions(.fetchHistory(after: .distantFuture)).isEmpty)
        #expect(try stack.transactions(.fetchHistory(after: nil as NSPersistentHistoryTransaction?)).numbers == [1, 2, 3])
        #expect(NSPersistentHistoryChangeRequest.fetchHistory(after: all[1]).token == all[1].token)
        #expect(NSPersistentHistoryChangeRequest.fetchHistory(after: early).token == nil)
        #expect(try stack.transactions(NSPersistentHistoryChangeRequest()).numbers == [1, 2, 3])
    }

    // H2
    @Test func whereTheClockWasSetBackNothingIsMissing() throws {
        try saveOneByOne("a", "b", "c")
        _ = try folder.shell.rows("UPDATE ATRANSACTION SET ZTIMESTAMP = CASE Z_PK WHEN 1 THEN 10 WHEN 2 THEN 100 ELSE 20 END")
        let date = Date(timeIntervalSinceReferenceDate: 50)
        #expect(try stack.transactions(.fetchHistory(after: date)).numbers == [2, 3])
        try stack.execute(.deleteHistory(before: date))
        #expect(try stack.transactions().numbers == [2, 3])
    }

    // H2
    @Test func sixKindsOfResults() throws {
        try stack.saveCities("a", "b")
        try stack.save { _ in try stack.city("a").setValue("A", forKey: "name") }
        func result(_ type: NSPersistentHistoryResultType) throws -> Any? {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            #expect(request.resultType == .transactionsAndChanges)
            request.resultType = type
            let result = try stack.execute(request)
            #expect(result.resultType == type)
            return result.result
        }
        let ids = try stack.context.performAndWait { try stack.context.all("City", sort: "code").map(\.objectID) }
        #expect(try result(.statusOnly) as? Bool == true)
        #expect(try result(.objectIDs) as? [NSManagedObjectID] == ids)
        #expect(try result(.count) as? Int == 2)
        let transactions = try #require(try result(.transactionsOnly) as? [NSPersistentHistoryTransaction])
        #expect(transactions.numbers == [1, 2] && transactions.allSatisfy { $0.changes == nil })
        let changes = try #require(try result(.changesOnly) as? [NSPersistentHistoryChange])
        #expect(changes.map(\.changedObjectID) == ids + [ids[0]] && changes.allSatisfy { $0.transaction == nil })
        let both = try #require(try result(.transactionsAndChanges) as? [NSPersistentHistoryTransaction])
        #expect(both.flatMap { $0.changes ?? [] } == changes)
        let types: [NSPersistentHistoryResultType] = [.statusOnly, .objectIDs, .count, .transactionsOnly, .changesOnly, .transactionsAndChanges]
        #expect(types.map(\.rawValue) == Array(0...5))
        #expect([NSPersistentHistoryChangeType.insert, .update, .delete].map(\.rawValue) == [0, 1, 2])
    }

    // H2
    @Test func aFetchRequestChoosesTransactions() throws {
        try saveOneByOne("a", "b", "c", "d")
        let request = NSPersistentHistoryTransaction.fetchRequest
        #expect(try stack.transactions(fetch(request, "author != 'b'")).numbers == [1, 3, 4])
        #expect(try stack.transactions(fetch(request, "author == 'b' OR transactionNumber == 4")).numbers == [2, 4])
        #expect(try stack.transactions(fetch(request, "ANY changes.changeType == 1")).isEmpty)
        try stack.save { _ in try stack.city("b").setValue(1, forKey: "population") }
        #expect(try stack.transactions(fetch(request, "ANY changes.changeType == 1")).numbers == [5])
        // Together with a place.
        let later = NSPersistentHistoryChangeRequest.fetchHistory(after: try stack.transactions()[1])
        later.fetchRequest = request
        later.fetchRequest?.predicate = NSPredicate(format: "author IN {'a', 'b', 'd'}")
        #expect(try stack.transactions(later).numbers == [4, 5])
        // Order and window.
        let window = try fetch(request)
        window.fetchRequest?.fetchLimit = 2
        #expect(try stack.transactions(window).numbers == [1, 2])
        window.fetchRequest?.fetchOffset = 1
        #expect(try stack.transactions(window).numbers == [2, 3])
        window.fetchRequest?.sortDescriptors = [NSSortDescriptor(key: "transactionNumber", ascending: false)]
        #expect(try stack.transactions(window).numbers == [4, 3])
        window.fetchRequest?.predicate = NSPredicate(block: { object, _ in (object as? NSPersistentHistoryTransaction)?.author == "a" })
        window.fetchRequest?.fetchOffset = 0
        #expect(try stack.transactions(window).numbers == [1])
        let entity = NSPersistentHistoryTransaction.entityDescription(with: stack.context)
        #expect(entity != nil && entity === NSPersistentHistoryTransaction.entityDescription && entity === request?.entity)
    }

    // H2
    @Test func aFetchRequestChoosesChanges() throws {
        try stack.saveCities("a", "b")
        try stack.save { context in
            try stack.city("a").setValue(1, forKey: "population")
            context.delete(try stack.city("b"))
        }
        let id = try stack.context.performAndWait { try stack.city("a").objectID }
        let request = try fetch(NSPersistentHistoryChange.fetchRequest)
        request.fetchRequest?.predicate = NSPredicate(format: "changedObjectID == %@", id)
        let found = try stack.transactions(request)
        #expect(found.numbers == [1, 2] && found.map { $0.changes?.map(\.changedObjectID) } == [[id], [id]])
        request.resultType = .count
        #expect(try stack.execute(request).result as? Int == 2)
        request.resultType = .changesOnly
        request.fetchRequest?.predicate = NSPredicate(format: "changeType == 2 AND tombstone.name == 'city b'")
        #expect((try stack.execute(request).result as? [NSPersistentHistoryChange])?.map(\.changeType) == [.delete])
        request.fetchRequest?.predicate = NSPredicate(format: "transaction.transactionNumber == 2")
        request.fetchRequest?.sortDescriptors = [NSSortDescriptor(key: "changeType", ascending: false)]
        #expect((try stack.execute(request).result as? [NSPersistentHistoryChange])?.map(\.changeType) == [.delete, .update])
        #expect(NSPersistentHistoryChange.entityDescription(with: stack.context) === NSPersistentHistoryChange.entityDescription)
    }

    // H2
    @Test func aFetchWithinARequestIsCarriedOutBefore() throws {
        try saveOneByOne("a", "b", "c")
        let request = try fetch(NSPersistentHistoryTransaction.fetchRequest), cities = NSFetchRequest<NSManagedObject>(entityName: "City")
        let count = NSFetchRequestExpression.expression(
            forFetch: NSExpression(forConstantValue: cities), context: NSExpression(forConstantValue: stack.context), countOnly: true)
        request.fetchRequest?.predicate = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "transactionNumber"), rightExpression: count, type: .lessThan)
        #expect(try stack.transactions(request).numbers == [1, 2])
    }

    // H2
    @Test func aFetchRequestThatMakesNoSenseIsRefused() throws {
        try saveOneByOne("a")
        let cities = NSFetchRequest<any NSFetchRequestResult>(entityName: "City")
        #expect(errorCode { try stack.execute(.fetchHistory(withFetch: cities)) } == 134091)
        let unknown = try fetch(NSPersistentHistoryTransaction.fetchRequest, "colour == 'red'")
        #expect { try stack.execute(unknown) } throws: { $0.localizedDescription.contains("colour") && ($0 as NSError).code == 134091 }
        let sorted = try fetch(NSPersistentHistoryChange.fetchRequest)
        sorted.fetchRequest?.sortDescriptors = [NSSortDescriptor(key: "changeType", ascending: true)]
        #expect(errorCode { try stack.execute(sorted) } == 134091)
    }

    // H2
    @Test func historyIsDeletedBeforeATokenATransactionOrADate() throws {
        try saveOneByOne("a", "b", "c", "d", "e")
        let all = try stack.transactions()
        let first = NSPersistentHistoryChangeRequest.deleteHistory(before: all[1].token)
        #expect(first.resultType == .statusOnly)
        #expect(try stack.execute(first).result as? Bool == true)
        #expect(try stack.transactions().numbers == [2, 3, 4, 5])
        let second = NSPersistentHistoryChangeRequest.deleteHistory(before: all[3])
        second.resultType = .count
        #expect(try stack.execute(second).result as? Int == 2)
        #expect(try stack.transactions().map(\.author) == ["d", "e"])
        #expect(try folder.shell.column("SELECT ZNAME FROM ATRANSACTIONSTRING WHERE length(ZNAME) = 1 ORDER BY 1") == ["d", "e"])
        #expect(try folder.shell.rows("SELECT count(*) FROM ACHANGE") == [["2"]])
        try stack.execute(.deleteHistory(before: nil as NSPersistentHistoryToken?))
        try stack.execute(.deleteHistory(before: all[4].timestamp))
        #expect(try stack.transactions().numbers == [5])
        try stack.execute(.deleteHistory(before: .distantFuture))
        #expect(try stack.transactions().isEmpty)
        // Numbers go on.
        try saveOneByOne("f")
        #expect(try stack.transactions().numbers == [6])
        #expect(try stack.context.performAndWait { try stack.context.all("City").count } == 6)
    }

    // H2
    @Test func aTokenWhoseContinuationWasDeletedHasExpired() throws {
        try saveOneByOne("a", "b", "c")
        let all = try stack.transactions()
        try stack.execute(.deleteHistory(before: all[2]))
        #expect(errorCode { _ = try stack.transactions(after: all[0].token) } == 134301)
        #expect(errorCode { _ = try stack.transactions(.fetchHistory(after: all[0])) } == 134301)
        // What comes after the second is there.
        #expect(try stack.transactions(after: all[1].token).numbers == [3])
        #expect(try stack.transactions().numbers == [3])
        try stack.execute(.deleteHistory(before: .distantFuture))
        #expect(errorCode { _ = try stack.transactions(after: all[1].token) } == 134301)
        #expect(try stack.transactions(after: all[2].token).isEmpty)
        #expect(try stack.transactions(after: stack.token).isEmpty)
    }

    // H2
    @Test func aTokenThatTheFileCantHaveGivenHasExpired() throws {
        try saveOneByOne("a")
        let other = try HistoryStack(folder.file("other"))
        try other.saveCities("x")
        #expect(errorCode { _ = try stack.transactions(after: other.token) } == 134301)
        // The file was replaced by an older copy of it.
        let late = NSPersistentHistoryToken([stack.store.identifier: 7])
        #expect { try stack.transactions(after: late) } throws: {
            ($0 as NSError).code == 134301 && $0.localizedDescription.contains("older")
        }
    }

    // H2, S10
    @Test func storesWithoutAHistorySayHowToGetOne() throws {
        let plain = try HistoryStack(folder.file("plain"), options: nil)
        #expect { try plain.transactions() } throws: {
            ($0 as NSError).code == 134091 && $0.localizedDescription.contains(NSPersistentHistoryTrackingKey)
        }
        #expect(errorCode { try plain.execute(.deleteHistory(before: Date())) } == 134091 && plain.token == nil)
        let memory = TestStack()
        #expect(errorCode { try memory.root.performAndWait { _ = try memory.root.execute(.history) } } == 134091)
        // Beside one that has a history they are left out, unless they are asked for.
        let beside = try stack.coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        try saveOneByOne("a")
        #expect(try stack.transactions().numbers == [1])
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: .distantPast)
        request.affectedStores = [stack.store]
        #expect(try stack.transactions(request).numbers == [1])
        request.affectedStores = [stack.store, beside]
        #expect(errorCode { try stack.execute(request) } == 134091)
        request.affectedStores = [plain.store]
        #expect(errorCode { try stack.execute(request) } == 134091)
    }

    // H2
    @Test func aChildAsksTheSameHistory() throws {
        try saveOneByOne("a")
        let child = NSManagedObjectContext(.privateQueueConcurrencyType)
        child.parent = stack.context
        let result = try child.performAndWait { () throws in
            child.make("City", ["code": "unsaved"])
            return try child.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: .distantPast)) as? NSPersistentHistoryResult
        }
        #expect((result?.result as? [NSPersistentHistoryTransaction])?.numbers == [1])
    }

    // H2
    @Test func theTokenOfASortedTransactionLeavesNothingOut() throws {
        let folder = try HistoryFolder(), stack = try HistoryStack(folder.file)
        for code in ["a", "b", "c"] { try stack.saveCities(code) }
        func told(ascending: Bool, limit: Int) throws -> [NSPersistentHistoryTransaction] {
            let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
            fetch.sortDescriptors = [NSSortDescriptor(key: "transactionNumber", ascending: ascending)]
            fetch.fetchLimit = limit
            return try stack.transactions(.fetchHistory(withFetch: fetch))
        }
        let first = try told(ascending: true, limit: 2), last = try told(ascending: false, limit: 2)
        #expect(first.numbers == [1, 2] && last.numbers == [3, 2])
        #expect(try stack.transactions(after: first.last?.token).numbers == [3])
        #expect(try stack.transactions(after: last.last?.token).numbers == [1, 2, 3])
        #expect(try stack.transactions(after: told(ascending: false, limit: 3).last?.token).isEmpty)
    }

    // H2
    @Test func changesWithTheirTransactionsHaveNoLimit() throws {
        let folder = try HistoryFolder(), stack = try HistoryStack(folder.file)
        try stack.saveCities("a", "b")
        let fetch = try #require(NSPersistentHistoryChange.fetchRequest)
        fetch.fetchLimit = 1
        let request = NSPersistentHistoryChangeRequest.fetchHistory(withFetch: fetch)
        #expect(errorCode { try stack.execute(request) } == 134091)
        request.resultType = .changesOnly
        #expect((try stack.execute(request).result as? [NSPersistentHistoryChange])?.count == 1)
    }
}

extension NSPersistentStoreRequest {
    fileprivate static var history: NSPersistentHistoryChangeRequest { .fetchHistory(after: .distantPast) }
}
