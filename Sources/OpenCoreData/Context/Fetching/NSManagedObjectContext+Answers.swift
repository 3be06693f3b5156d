import Foundation

/// A fetch in three steps: prepared on the context's queue, answered on any thread, made into results on the queue again.
extension NSManagedObjectContext {
    /// A fetch request as a value.
    struct PreparedFetch {
        var plan: FetchPlan
        let type: NSFetchRequestResultType
        let options: ObjectFetchOptions
        let table: DictionaryPlan?
        /// The chain's stamp before the fetch.
        let stamp: UInt64
    }

    /// What was found.
    enum Found: Sendable {
        case rows([FetchedRow])
        case dictionaries([[AttributeValue]])
        case count(Int)
    }

    func prepared<T>(_ request: NSFetchRequest<T>) throws -> PreparedFetch {
        var plan = try plan(for: request)
        let options = ObjectFetchOptions(request), type = request.resultType
        var table: DictionaryPlan?
        switch type {
        case .managedObjectIDResultType: plan.includesRows = false
        case .dictionaryResultType:
            // Dictionaries show what the stores hold, never unsaved changes.
            plan.includesPendingChanges = false
            table = try DictionaryPlan(
                plan, fetching: request.propertiesToFetch, groupingBy: request.propertiesToGroupBy, having: request.havingPredicate,
                isDistinct: request.returnsDistinctResults)
        case .managedObjectResultType:
            try options.prefetched.check(against: plan.entity)
            plan.includesRows = options.includesRows
        default: break
        }
        return PreparedFetch(plan: plan, type: type, options: options, table: table, stamp: chain.stamp(with: rowCache))
    }

    /// From any thread.
    func answer(_ fetch: PreparedFetch) throws -> Found {
        if let table = fetch.table, let source { return .dictionaries(try table.evaluate(fetch.plan, in: source)) }
        if fetch.type == .countResultType { return .count(try count(fetch.plan)) }
        return .rows(try self.fetch(fetch.plan))
    }

    func results<T>(of fetch: PreparedFetch, found: Found) throws -> [T] {
        switch found {
        case .count(let count): return [try cast(NSNumber(value: count), fetch.plan)]
        case .dictionaries(let values): return try values.map { try cast(fetch.table?.dictionary($0), fetch.plan) }
        case .rows(let rows) where fetch.type == .managedObjectIDResultType: return try rows.map { try cast($0.id, fetch.plan) }
        case .rows(let rows): return try cast(objects(rows, of: fetch.plan, fetch.options, stamp: fetch.stamp), fetch.plan)
        }
    }

    private func cast<T>(_ found: Any?, _ plan: FetchPlan) throws -> T {
        if let result = found as? T { return result }
        throw Self.otherResult(found, T.self, plan)
    }

    /// What is found is not what the caller says that there is: left out, it would be lost without a word.
    private static func otherResult(_ found: Any?, _ type: Any.Type, _ plan: FetchPlan) -> NSError {
        let what = found.map { "\(Swift.type(of: $0))" } ?? "nothing"
        let entity = (found as? NSManagedObject)?.entity.name ?? plan.entity.name
        return NSError.coreData(
            .coreData,
            "A fetch of \(plan.entity.name ?? "?") for results of type \(type) found one of \(entity ?? "?") that is of type \(what). Fetch with "
                + "NSFetchRequest<NSManagedObject>, leave subentities out (includesSubentities), or set the resultType that goes with \(type).")
    }

    private func cast<T>(_ objects: [NSManagedObject], _ plan: FetchPlan) throws -> [T] {
        if let first = objects.first, T.self is AnyClass, first is T {
            let type = ObjectIdentifier(Swift.type(of: first))
            // All are of one class, which has just been cast: the array of them is an array of T already, since both hold plain references.
            if objects.allSatisfy({ ObjectIdentifier(Swift.type(of: $0)) == type }) { return unsafeBitCast(objects, to: [T].self) }
        }
        var result: [T] = []
        result.reserveCapacity(objects.count)
        var known: ObjectIdentifier?
        for object in objects {
            let type = ObjectIdentifier(Swift.type(of: object))
            if type == known {
                // An object of this class has just been cast; asking the runtime again costs more than making the object did.
                result.append(unsafeBitCast(object, to: T.self))
            } else if let cast = object as? T {
                if T.self is AnyClass { known = type }
                result.append(cast)
            } else {
                throw Self.otherResult(object, T.self, plan)
            }
        }
        return result
    }
}
