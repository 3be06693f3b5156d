import Foundation
import Synchronization

/// Whoever knows rows and members by ID: a channel, or a store.
package protocol RowSource: AnyObject, Sendable {
    /// The current row of an object if it is in memory; never touches a file.
    func rowInMemory(_ id: NSManagedObjectID) -> RowLookup
    /// The current rows of these objects; those that do not exist are left out.
    func rows(for ids: [NSManagedObjectID]) throws -> [NSManagedObjectID: RowSnapshot]
    /// The members of a to-many, in order if it is ordered.
    func relatedIDs(_ key: RelationshipKey) throws -> [NSManagedObjectID]
}

/// What memory knows of a row.
package enum RowLookup: Sendable {
    case unknown
    case row(RowSnapshot)
    case deleted
}

/// Reads rows and members for those who evaluate predicates and sort in memory, where nothing can be thrown, and remembers the first failure: a
/// row that could not be read is no row that is gone. Whoever made it asks `check()` before the outcome is believed.
final class CheckedReader: Sendable {
    let source: any RowSource
    private let failure = Mutex<(any Error)?>(nil)

    init(_ source: any RowSource) { self.source = source }

    func row(of id: NSManagedObjectID) -> RowSnapshot? {
        if case .row(let row) = source.rowInMemory(id) { return row }
        do { return try source.rows(for: [id])[id] } catch {
            remember(error)
            return nil
        }
    }

    func members(_ key: RelationshipKey) -> [NSManagedObjectID] {
        do { return try source.relatedIDs(key) } catch {
            remember(error)
            return []
        }
    }

    private func remember(_ error: any Error) { failure.withLock { if $0 == nil { $0 = error } } }

    /// Throws what the first reading that failed said.
    func check() throws {
        if let error = failure.withLock({ $0 }) { throw error }
    }
}

/// An object as a predicate sees it at one level of a chain, without there being an instance: its row, and the reader that resolves its
/// relationships.
struct RowView {
    let id: NSManagedObjectID
    let row: RowSnapshot
    let reader: CheckedReader

    /// The row of an object at this level.
    func view(of other: NSManagedObjectID) -> RowView? {
        reader.row(of: other).map { RowView(id: other, row: $0, reader: reader) }
    }
}

extension RowView: KeyValueCoding, PredicateIdentity, PredicateValueProviding {
    func predicateValue(forKey key: String) -> PredicateValue {
        if case .slot(let slot)? = row.layout.place(of: key) {
            switch row[slot] {
            case .null: return .null
            case .int64(let value): return .integer(value)
            case .double(let value): return .double(value)
            case .bool(let value): return .bool(value)
            case .date(let value): return .date(Date(timeIntervalSinceReferenceDate: value))
            case .string(let value): return .string(value)
            case .data(let value): return .data(value)
            case .uuid(let value): return .uuid(value)
            case .decimal(let value): return .decimal(value)
            default: break
            }
        }
        return PredicateValue(value(forKey: key))
    }

    func value(forKey key: String) -> Any? {
        switch row.layout.place(of: key) {
        case .slot(let slot)?:
            if case .objectID(let target) = row[slot] { return view(of: target) }
            return row[slot].plain
        case .toMany(let number)?:
            return reader.members(RelationshipKey(owner: id, toMany: number)).compactMap { view(of: $0) }
        case .composite(let number)?: return row.layout.composites[number].dictionary(in: row.layout) { row[$0].plain }
        case nil:
            if key == "objectID" { return id }
            if key == "self" { return self }
            Violation.unknownKey(key, entity: row.entity.name)
        }
    }

    var predicateIdentity: any Hashable & Sendable { id }
}

/// Puts found rows in the order of a plan's sort keys; ties by primary key, so that windows are the same every time.
struct RowOrdering {
    private let keys: [SortKey]
    private let reader: CheckedReader

    init(_ keys: [SortKey], reader: CheckedReader) {
        self.keys = keys
        self.reader = reader
    }

    func sorted(_ rows: [FetchedRow]) -> [FetchedRow] {
        guard !keys.isEmpty else { return rows.sorted { $0.id.key < $1.id.key } }
        return rows.map { Place($0, values(of: $0)) }.sorted(by: precedes).map(\.row)
    }

    /// Puts `others` into rows that are in this order already: the values of a few of those are looked at.
    func merged(_ rows: [FetchedRow], with others: [FetchedRow]) -> [FetchedRow] {
        if others.isEmpty { return rows }
        var result: [FetchedRow] = []
        result.reserveCapacity(rows.count + others.count)
        var start = 0
        for other in sorted(others) {
            let place = Place(other, values(of: other))
            var low = start, high = rows.count
            while low < high {
                let middle = (low + high) / 2
                if precedes(Place(rows[middle], values(of: rows[middle])), place) { low = middle + 1 } else { high = middle }
            }
            result += rows[start..<low]
            result.append(other)
            start = low
        }
        return result + rows[start...]
    }

    /// A row and the values that say where it stands.
    private struct Place {
        let row: FetchedRow
        let values: [AttributeValue]

        init(_ row: FetchedRow, _ values: [AttributeValue]) {
            self.row = row
            self.values = values
        }
    }

    private func precedes(_ left: Place, _ right: Place) -> Bool {
        for (index, key) in keys.enumerated() {
            switch RowOrdering.compare(left.values[index], right.values[index]) {
            case .orderedSame: continue
            case .orderedAscending: return key.isAscending
            case .orderedDescending: return !key.isAscending
            }
        }
        return left.row.id.key < right.row.id.key
    }

    private func values(of fetched: FetchedRow) -> [AttributeValue] {
        guard fetched.row == nil, let values = fetched.sortValues, values.count == keys.count else { return keys.map { value(of: fetched, at: $0) } }
        return zip(keys, values).map { $0.sortable($1) }
    }

    private func value(of fetched: FetchedRow, at key: SortKey) -> AttributeValue {
        guard var row = fetched.row else { return .null }
        for name in key.path.dropLast() {
            guard case .objectID(let target) = row[name],
                let next = reader.row(of: target)
            else { return .null }
            row = next
        }
        return key.sortable(key.path.last.map { row[$0] } ?? .null)
    }

    /// Nil first, as SQLite sorts; strings by their UTF-8 bytes.
    static func compare(_ left: AttributeValue, _ right: AttributeValue) -> ComparisonResult {
        func order<T: Comparable>(_ left: T, _ right: T) -> ComparisonResult {
            left < right ? .orderedAscending : (right < left ? .orderedDescending : .orderedSame)
        }
        switch (left, right) {
        case (.null, .null): return .orderedSame
        case (.null, _): return .orderedAscending
        case (_, .null): return .orderedDescending
        case (.int64(let left), .int64(let right)): return order(left, right)
        case (.double(let left), .double(let right)): return order(left, right)
        case (.date(let left), .date(let right)): return order(left, right)
        case (.bool(let left), .bool(let right)): return order(left ? 1 : 0, right ? 1 : 0)
        case (.decimal(let left), .decimal(let right)): return order(left, right)
        case (.string(let left), .string(let right)):
            let difference = StringComparison.order(left, right)
            return difference == 0 ? .orderedSame : (difference < 0 ? .orderedAscending : .orderedDescending)
        case (.uuid(let left), .uuid(let right)): return order(left.uuidString, right.uuidString)
        case (.data(let left), .data(let right)):
            return SortSelector.result(Comparison.orderData(left, right))
        case (.objectID(let left), .objectID(let right)): return order(left.key, right.key)
        default: return .orderedSame
        }
    }
}

extension FetchPlan {
    /// Cuts the plan's window out of ordered results.
    func windowed<T>(_ rows: [T]) -> [T] {
        guard offset > 0 || limit > 0 else { return rows }
        let start = min(offset, rows.count)
        let end = limit > 0 ? min(start + limit, rows.count) : rows.count
        return Array(rows[start..<end])
    }
}

extension ExpressionNode {
    /// The expression with its aggregates computed.
    func aggregated(over group: [RowView], of entity: NSEntityDescription) throws -> ExpressionNode {
        try mapExpressions { expression in
            guard expression.isAggregate(of: entity), case .function(let name, let arguments) = expression else { return expression }
            let values = try group.map { try arguments[0].computed(for: $0) }
            switch name {
            case "count:": return .constant(.integer(Int64(values.count { !$0.isNull })))
            case "sum:": return .constant(Aggregates.sum(values))
            case "average:": return .constant(Aggregates.average(values))
            case "min:": return .constant(Aggregates.extreme(values, wanted: -1))
            default: return .constant(Aggregates.extreme(values, wanted: 1))
            }
        }
    }
}

extension RowView {
    /// The value at the end of names over to-ones.
    func attributeValue(_ path: [String]) -> AttributeValue {
        guard let last = path.last else { return .null }
        var current = self
        for name in path.dropLast() {
            guard case .objectID(let target) = current.row[name], let next = current.view(of: target) else { return .null }
            current = next
        }
        return last == "objectID" ? .objectID(current.id) : current.row[last]
    }
}
