import Foundation

extension NSPersistentStoreCoordinator {
    /// How far the history of these stores goes now, or of all stores. Nil if none of them keeps one, or one that does can't be read now.
    public func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
        historyToken(of: stores.map { $0.compactMap { $0 as? NSPersistentStore } } ?? persistentStores)
    }

    func historyToken(of stores: [NSPersistentStore]) -> NSPersistentHistoryToken? {
        var positions: [String: Int64] = [:]
        for store in stores.compactMap(\.history) {
            guard let number = try? store.lastTransactionNumber() else { return nil }
            positions[store.identifier] = number
        }
        return positions.isEmpty ? nil : NSPersistentHistoryToken(positions)
    }

    /// Executes a request for history. Throws 134091, 134301, and what the stores throw.
    func execute(_ request: NSPersistentHistoryChangeRequest) throws -> NSPersistentHistoryResult {
        let stores = try historyStores(for: request)
        return request.isDeletion ? try deleteHistory(request, in: stores) : try HistoryFetch(request, self).result(in: stores)
    }

    private func historyStores(for request: NSPersistentHistoryChangeRequest) throws -> [any HistoryKeeping] {
        let here = persistentStores, asked = request.affectedStores ?? here
        for store in request.affectedStores ?? [] {
            let name = store.url?.path ?? store.identifier ?? "a store"
            guard here.contains(where: { $0 === store }) else {
                throw NSError.coreData(.persistentStoreUnsupportedRequestType, "\(name) does not belong to this context's coordinator.")
            }
            if store.history == nil {
                throw NSError.coreData(
                    .persistentStoreUnsupportedRequestType,
                    "\(name) keeps no history. Add it with the option \(NSPersistentHistoryTrackingKey); only SQLite stores can have one.")
            }
        }
        let keeping = asked.compactMap(\.history)
        guard !keeping.isEmpty else {
            throw NSError.coreData(
                .persistentStoreUnsupportedRequestType,
                "No store of this coordinator keeps a history. Add one with the option \(NSPersistentHistoryTrackingKey); only SQLite stores can have "
                    + "one.")
        }
        return keeping
    }

    private func deleteHistory(_ request: NSPersistentHistoryChangeRequest, in stores: [any HistoryKeeping]) throws -> NSPersistentHistoryResult {
        var count = 0
        for store in stores {
            switch request.place {
            case .anywhere: continue
            case .date(let date): count += try store.deleteHistory(before: .time(date.timeIntervalSinceReferenceDate))
            case .token(let token):
                guard let number = token.positions[store.identifier] else { continue }
                count += try store.deleteHistory(before: .number(number))
            }
        }
        if request.resultType == .count { return NSPersistentHistoryResult(NSNumber(value: count), .count) }
        return NSPersistentHistoryResult(NSNumber(value: true), .statusOnly)
    }
}

extension NSPersistentStore {
    /// Itself, if it keeps a history.
    fileprivate var history: (any HistoryKeeping)? {
        guard let keeping = self as? any HistoryKeeping, keeping.keepsHistory else { return nil }
        return keeping
    }
}
