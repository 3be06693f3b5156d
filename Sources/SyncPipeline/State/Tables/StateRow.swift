import Foundation
import OpenCoreData

/// One row of a table, found by key and written if it differs. Its columns are properties. Used on the context's queue.
@dynamicMemberLookup
struct StateRow<Table: StateTable> {
    private let entity: NSEntityDescription
    private var id: NSManagedObjectID?
    private let base: RowSnapshot?
    private var row: RowSnapshot
    private var changed = SlotSet()

    /// The row with this key, or a new one.
    static func find(key parts: any ColumnValue..., in context: NSManagedObjectContext) throws -> StateRow {
        try find(keys: [parts], in: context)[0]
    }

    /// The row with each of these keys, or a new one, in their order: the store is asked for all at once that nobody has asked for before.
    static func find(keys: [[any ColumnValue]], in context: NSManagedObjectContext) throws -> [StateRow] {
        let entity = try entity(in: context), keys = keys.map { UniqueKey($0.map(\.stored)) }
        let known = try keys.map { try recalled($0, entity, in: context) }
        let unknown = zip(keys, known).filter { $1 == nil }.map(\.0)
        var located = try unknown.isEmpty ? [] : context.findOrReserve(entity, constraint: 0, keys: unknown)[...]
        return zip(keys, known).map { key, known in known ?? StateRow(located.removeFirst(), key: key, entity, in: context) }
    }

    private init(_ located: NSManagedObjectContext.Located, key: UniqueKey, _ entity: NSEntityDescription, in context: NSManagedObjectContext) {
        if let found = located.row {
            context.remember(located.id, entity: entity, constraint: 0, key: key)
            self.init(entity: entity, id: located.id, base: found, row: found)
            return
        }
        self.init(entity: entity, id: located.id, key: key)
    }

    /// A new row, of which it is known that none has its key.
    init(newKey parts: any ColumnValue..., in context: NSManagedObjectContext) throws {
        self.init(entity: try Self.entity(in: context), id: nil, key: UniqueKey(parts.map(\.stored)))
    }

    private init(entity: NSEntityDescription, id: NSManagedObjectID?, key: UniqueKey) {
        self.init(entity: entity, id: id, base: nil, row: RowSnapshot.defaults(entity.layout))
        for (slot, value) in zip(entity.layout.constraints[0].slots, key.values) {
            row.update(slot, to: value)
            changed.insert(slot)
        }
    }

    /// The row with this key, for reading only; nil: there is none.
    static func existing(key parts: any ColumnValue..., in context: NSManagedObjectContext) throws -> StateRow? {
        let entity = try entity(in: context), key = UniqueKey(parts.map(\.stored))
        if let known = try recalled(key, entity, in: context) { return known }
        let found = try existing(keys: [parts], in: context).first
        if let id = found?.id { context.remember(id, entity: entity, constraint: 0, key: key) }
        return found
    }

    /// The rows with these keys, for reading only, as far as there are any; in no particular order.
    static func existing(keys: [[any ColumnValue]], in context: NSManagedObjectContext) throws -> [StateRow] {
        let entity = try entity(in: context)
        let found = try context.find(entity, constraint: 0, keys: keys.map { UniqueKey($0.map(\.stored)) }).values
        let rows = try context.currentRows(found.filter { $0.row == nil }.map(\.id))
        return found.compactMap { found in
            (found.row ?? rows[found.id]).map { StateRow(entity: entity, id: found.id, base: $0, row: $0) }
        }
    }

    /// The row that the key led to before, if it has it still. Every poll asks for the same few rows, and nobody else writes them.
    private static func recalled(_ key: UniqueKey, _ entity: NSEntityDescription, in context: NSManagedObjectContext) throws -> StateRow? {
        guard let found = try context.recall(entity, constraint: 0, key: key), let row = found.row else { return nil }
        return StateRow(entity: entity, id: found.id, base: row, row: row)
    }

    /// The rows that meet all conditions, in this order, `limit` after the first `skip`; all of them, where nothing is asked.
    static func all(
        where conditions: [RowCondition<Table>] = [], sortedBy order: [RowOrder<Table>] = [], skip: Int = 0, limit: Int = 0,
        in context: NSManagedObjectContext
    ) throws -> [StateRow] {
        let entity = try entity(in: context)
        var plan = FetchPlan(entity: entity)
        if !conditions.isEmpty { plan.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: conditions.map(\.predicate)).node }
        plan.sort = order.map(\.key)
        plan.offset = skip
        plan.limit = limit
        return try context.fetch(plan).compactMap { found in
            found.row.map { StateRow(entity: entity, id: found.id, base: $0, row: $0) }
        }
    }

    static func entity(in context: NSManagedObjectContext) throws -> NSEntityDescription {
        guard let entity = context.endOfChain?.managedObjectModel.entitiesByName[Table.entity] else {
            throw SyncError.unknownEntity(Table.entity)
        }
        return entity
    }

    private init(entity: NSEntityDescription, id: NSManagedObjectID?, base: RowSnapshot?, row: RowSnapshot) {
        self.entity = entity
        self.id = id
        self.base = base
        self.row = row
    }

    var isNew: Bool { base == nil }

    subscript<Value>(dynamicMember path: KeyPath<Table, Column<Value>>) -> Value {
        get {
            let column = Table.columns[keyPath: path]
            return column.value(row[column.name])
        }
        set { set(Table.columns[keyPath: path], to: newValue.stored) }
    }

    /// What is stored in a column, whatever it is.
    func stored(_ column: any TableColumn) -> AttributeValue { row[column.name] }

    mutating func set(_ column: any TableColumn, to value: AttributeValue) {
        guard let slot = entity.layout.slot(of: column.name), row[slot] != value else { return }
        if row === base { row = row.copy() }
        row.update(slot, to: value)
        changed.insert(slot)
    }

    /// Records what was set. Nothing if nothing was.
    mutating func write(in context: NSManagedObjectContext) {
        guard !changed.isEmpty else { return }
        if let id, let base {
            context.updateRow(id, to: row, changed: changed, base: base)
        } else {
            let made = id ?? context.makeID(for: entity)
            context.insertRow(made, row, set: changed)
            id = made
        }
        changed = SlotSet()
    }

    /// Writes all values of a new row into the row with its key, or inserts it where there is none.
    func writeOver(in context: NSManagedObjectContext) throws {
        guard let key = entity.layout.constraints[0].key(of: row) else { return }
        var other = StateRow(try context.findOrReserve(entity, constraint: 0, keys: [key])[0], key: key, entity, in: context)
        if other.base != nil { other.row = other.row.copy() }
        for slot in 0..<row.count where other.row[slot] != row[slot] {
            other.row.update(slot, to: row[slot])
            other.changed.insert(slot)
        }
        other.write(in: context)
    }

    /// Writes a new row into a block.
    ///
    /// - Returns: false where it has a value that is for no block.
    func put(into builder: RowBlockBuilder) -> Bool {
        guard (0..<row.count).allSatisfy({ builder.put(row[$0]) }), builder.endRow() else {
            builder.beginRow()
            return false
        }
        return true
    }

    /// Deletes the row.
    func delete(in context: NSManagedObjectContext) {
        if let id, base != nil { context.delete(context.object(with: id)) }
    }
}

/// A table of the pipeline's own: a type whose properties are its columns. What the pipeline must remember is data: it is set in the same worker
/// context as the records it vouches for, and reaches the store in the same transaction.
protocol StateTable: Sendable {
    /// The table's entity.
    static var entity: String { get }
    /// The name of its view; nil: it has none.
    static var view: String? { get }
    /// The only value of the type.
    static var columns: Self { get }
}

extension StateTable {
    /// All columns, in the order of their declaration.
    static var allColumns: [any TableColumn] { Mirror(reflecting: columns).children.compactMap { $0.value as? any TableColumn } }

    /// - Parameter views: further views, by name.
    static func description(views: [String: String]) -> NSEntityDescription {
        let description = NSEntityDescription(), columns = allColumns
        description.name = entity
        description.properties = columns.map { column in
            let attribute = NSAttributeDescription(name: column.name, type: column.type)
            // What is added to a store is what it reads as: rows are found by it.
            if case .string(let text) = column.unwritten { attribute.defaultValue = text }
            attribute.userInfo = [ViewAnnotation.column: column.isShown ? column.sql : ""]
            return attribute
        }
        description.uniquenessConstraints = [columns.filter(\.isKey).map(\.name)]
        description.userInfo = [ViewAnnotation.hidden: view == nil, ViewAnnotation.name: view ?? entity, ViewAnnotation.extra: views]
        return description
    }
}

/// Which rows of a table.
struct RowCondition<Table: StateTable> {
    let predicate: NSPredicate

    private init<Value>(_ column: KeyPath<Table, Column<Value>>, _ comparison: String, _ value: Any?) {
        predicate = NSPredicate(format: "%K \(comparison) %@", Table.columns[keyPath: column].name, value)
    }

    static func isEqual<Value>(_ column: KeyPath<Table, Column<Value>>, _ value: Value) -> RowCondition {
        RowCondition(column, "==", value.stored.plain)
    }

    static func isNot<Value>(_ column: KeyPath<Table, Column<Value>>, _ value: Value) -> RowCondition {
        RowCondition(column, "!=", value.stored.plain)
    }

    static func isAtMost<Value>(_ column: KeyPath<Table, Column<Value>>, _ value: Value) -> RowCondition {
        RowCondition(column, "<=", value.stored.plain)
    }

    static func isAmong<Value>(_ column: KeyPath<Table, Column<Value>>, _ values: [Value]) -> RowCondition {
        RowCondition(column, "IN", values.map { $0.stored.plain })
    }

    static func begins(_ column: KeyPath<Table, Column<String>>, _ start: String) -> RowCondition {
        RowCondition(column, "BEGINSWITH", start)
    }
}

/// In which order.
struct RowOrder<Table: StateTable> {
    let key: SortKey

    private init<Value>(_ column: KeyPath<Table, Column<Value>>, isAscending: Bool) {
        key = SortKey(path: [Table.columns[keyPath: column].name], isAscending: isAscending)
    }

    static func up<Value>(_ column: KeyPath<Table, Column<Value>>) -> RowOrder { RowOrder(column, isAscending: true) }
    static func down<Value>(_ column: KeyPath<Table, Column<Value>>) -> RowOrder { RowOrder(column, isAscending: false) }
}
