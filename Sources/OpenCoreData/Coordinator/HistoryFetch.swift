import Foundation

/// A request for history on its way through the stores.
struct HistoryFetch {
    private let request: NSPersistentHistoryChangeRequest
    private let coordinator: NSPersistentStoreCoordinator
    private let predicate: PredicateNode?
    private let sort: [NSSortDescriptor]
    /// Whether single changes are asked for, and not transactions.
    private let asksForChanges: Bool
    private let offset: Int
    /// Nil: no limit.
    private let limit: Int?

    /// Throws 134091 for a fetch request that makes no sense here.
    init(_ request: NSPersistentHistoryChangeRequest, _ coordinator: NSPersistentStoreCoordinator) throws {
        self.request = request
        self.coordinator = coordinator
        let fetch = request.fetchRequest
        predicate = try fetch?.predicate?.node.resolvingFetches()
        try predicate?.checkFetchable(fetch?.entityName)
        sort = fetch?.sortDescriptors ?? []
        offset = max(fetch?.fetchOffset ?? 0, 0)
        limit = fetch.flatMap { $0.fetchLimit > 0 ? $0.fetchLimit : nil }
        asksForChanges = fetch?.entityName == HistoryModel.change.name
        guard let fetch else { return }
        let entity = asksForChanges ? HistoryModel.change : HistoryModel.transaction
        guard fetch.entityName == entity.name else {
            throw Self.refusal(
                "A fetch request for history must be for transactions or for changes, not for \(fetch.entityName ?? "no entity"). Take "
                    + "NSPersistentHistoryTransaction.fetchRequest or NSPersistentHistoryChange.fetchRequest.")
        }
        let known = HistoryModel.keys(of: entity)
        for path in (predicate?.keyPaths ?? []) + sort.compactMap({ $0.node?.keyPath }) {
            guard case .key(let key)? = path.steps.first, !known.contains(key) else { continue }
            throw Self.refusal(
                "\(entity.name ?? "?") has no \"\(key)\" to search history by; it has \(known.sorted().joined(separator: ", ")).")
        }
        let tellsTransactions = request.resultType == .transactionsAndChanges || request.resultType == .transactionsOnly
        if asksForChanges && tellsTransactions && (limit != nil || offset > 0) {
            throw Self.refusal("Changes that come with their transactions have no limit and no offset. Ask for changes only, or for transactions.")
        }
        if asksForChanges && !sort.isEmpty && request.resultType == .transactionsAndChanges {
            throw Self.refusal("Changes that come in their transactions can't be sorted. Ask for changes only, or for transactions.")
        }
    }

    private static func refusal(_ sentence: String) -> NSError { NSError.coreData(.persistentStoreUnsupportedRequestType, sentence) }

    func result(in stores: [any HistoryKeeping]) throws -> NSPersistentHistoryResult {
        let found = try transactions(in: stores)
        let result: Any
        switch request.resultType {
        case .statusOnly: result = NSNumber(value: true)
        case .objectIDs:
            var seen: Set<NSManagedObjectID> = []
            result = changes(of: found).map(\.changedObjectID).filter { seen.insert($0).inserted }
        case .count: result = NSNumber(value: asksForChanges ? changes(of: found).count : found.count)
        case .changesOnly: result = changes(of: found).map { NSPersistentHistoryChange($0.record, in: nil) }
        case .transactionsOnly:
            result = found.map { transaction in
                var record = transaction.record
                record.changes = nil
                return NSPersistentHistoryTransaction(record, token: transaction.token)
            }
        case .transactionsAndChanges: result = found
        }
        return NSPersistentHistoryResult(result, request.resultType)
    }

    private func changes(of transactions: [NSPersistentHistoryTransaction]) -> [NSPersistentHistoryChange] {
        let all = transactions.flatMap { $0.changes ?? [] }
        return asksForChanges ? windowed(sorted(all)) : all
    }

    // MARK: Transactions

    private func transactions(in stores: [any HistoryKeeping]) throws -> [NSPersistentHistoryTransaction] {
        var positions = request.token?.positions ?? [:]
        if !positions.isEmpty, !coordinator.persistentStores.contains(where: { positions[$0.identifier] != nil }) {
            throw NSError.coreData(
                .persistentHistoryTokenExpired,
                "The token belongs to stores that this coordinator does not have. Fetch the objects, and go on from "
                    + "currentPersistentHistoryToken(fromStores:).")
        }
        // Of a predicate over changes, or one that can't be looked into, nothing can be said before they are read.
        let looksAtChanges = predicate.map { $0.containsOpaque || $0.keyPaths.contains { $0.steps.contains(.key("changes")) } } ?? false
        let needsChanges = asksForChanges || looksAtChanges || request.resultType.tellsChanges
        let isCutByStores = !asksForChanges && !looksAtChanges && sort.isEmpty
        var result: [NSPersistentHistoryTransaction] = []
        for store in stores {
            let place = try place(in: store)
            let start = positions
            func transaction(_ record: HistoryRecord) -> NSPersistentHistoryTransaction {
                var place = start
                place[record.store] = record.number
                return NSPersistentHistoryTransaction(record, token: NSPersistentHistoryToken(place))
            }
            let rest = isCutByStores ? limit.map { max($0 + offset - result.count, 0) } : nil
            if rest == 0 { break }
            let filter: ((HistoryRecord) throws -> Bool)? =
                asksForChanges || looksAtChanges ? nil : predicate.map { node in { try node.selects(transaction($0)) } }
            let records = try store.history(after: place, withChanges: needsChanges, limit: rest, where: filter)
            for record in records {
                let made = transaction(record)
                if asksForChanges {
                    if let chosen = try choosing(made) { result.append(chosen) }
                } else if try !looksAtChanges || predicate?.selects(made) ?? true {
                    result.append(made)
                }
            }
            // Those of the next store come after these.
            if let last = records.last { positions[last.store] = last.number }
        }
        if asksForChanges { return result }
        return windowed(sort.isEmpty ? result : named(sorted(result), after: request.token?.positions ?? [:]))
    }

    /// Each with the token of all that is listed up to it: as far as nothing before is missing.
    private func named(_ listed: [NSPersistentHistoryTransaction], after start: [String: Int64]) -> [NSPersistentHistoryTransaction] {
        var waiting = Dictionary(grouping: listed, by: \.storeID).mapValues { $0.map(\.transactionNumber).sorted()[...] }
        var seen: [String: Set<Int64>] = [:], positions = start
        return listed.map { transaction in
            let store = transaction.storeID
            seen[store, default: []].insert(transaction.transactionNumber)
            while let next = waiting[store]?.first, seen[store]?.contains(next) == true {
                positions[store] = next
                waiting[store]?.removeFirst()
            }
            return NSPersistentHistoryTransaction(transaction.record, token: NSPersistentHistoryToken(positions))
        }
    }

    private func place(in store: any HistoryKeeping) throws -> HistoryPlace? {
        switch request.place {
        case .anywhere: nil
        case .date(let date): .time(date.timeIntervalSinceReferenceDate)
        case .token(let token): token.positions[store.identifier].map(HistoryPlace.number)
        }
    }

    /// The transaction with those of its changes that are asked for; nil if there are none.
    private func choosing(_ transaction: NSPersistentHistoryTransaction) throws -> NSPersistentHistoryTransaction? {
        var record = transaction.record
        record.changes = try (transaction.changes ?? []).filter { try predicate?.selects($0) ?? true }.map(\.record)
        return record.changes?.isEmpty ?? true ? nil : NSPersistentHistoryTransaction(record, token: transaction.token)
    }

    // MARK: Order and window

    private func sorted<T>(_ objects: [T]) -> [T] {
        if sort.isEmpty { return objects }
        return objects.sorted { first, second in
            for descriptor in sort {
                switch descriptor.compare(first, to: second) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return false
        }
    }

    private func windowed<T>(_ objects: [T]) -> [T] {
        if offset == 0 && limit == nil { return objects }
        return Array(objects.dropFirst(offset).prefix(limit ?? .max))
    }
}

extension NSPersistentHistoryResultType {
    fileprivate var tellsChanges: Bool {
        switch self {
        case .objectIDs, .changesOnly, .transactionsAndChanges: true
        case .statusOnly, .count, .transactionsOnly: false
        }
    }
}

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
