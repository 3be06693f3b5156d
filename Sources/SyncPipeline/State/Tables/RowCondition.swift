import Foundation
import OpenCoreData

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
