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
            options.prefetched.check(against: plan.entity)
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
        case .count(let count): return [NSNumber(value: count)].compactMap { $0 as? T }
        case .dictionaries(let values): return values.compactMap { fetch.table?.dictionary($0) as? T }
        case .rows(let rows) where fetch.type == .managedObjectIDResultType: return rows.compactMap { $0.id as? T }
        case .rows(let rows): return cast(try objects(rows, of: fetch.plan, fetch.options, stamp: fetch.stamp))
        }
    }

    private func cast<T>(_ objects: [NSManagedObject]) -> [T] {
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
            }
        }
        return result
    }
}
