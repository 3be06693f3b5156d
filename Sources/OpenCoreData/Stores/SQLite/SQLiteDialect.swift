import Foundation

/// SQL as SQLite speaks it, with the functions that a store's connections know (`SQLFunctions`).
struct SQLiteDialect: SQLDialect {
    var name: String { "SQLite" }

    func place(_ number: Int) -> String { "?\(number)" }
    func truth(_ value: Bool) -> String { value ? "1" : "0" }
    func same(_ left: String, _ right: String) -> String { "\(left) IS \(right)" }
    func orFalse(_ condition: String) -> String { "IFNULL(\(condition), 0)" }
    func contains(_ text: String, _ part: String) -> String { "instr(\(text), \(part)) > 0" }

    /// SQLite has no offset without a limit.
    func window(limit: String?, offset: String?) -> String { " LIMIT \(limit ?? "-1")" + (offset.map { " OFFSET \($0)" } ?? "") }

    func ordered(_ term: String, isAscending: Bool) -> String { term + (isAscending ? " ASC" : " DESC") }

    func call(_ function: SQLFunction, _ arguments: [String]) -> String? { "ocd_\(function.rawValue)(\(arguments.joined(separator: ", ")))" }

    func parameter(_ value: PredicateValue) -> SQLParameter { SQLFunctions.parameter(value) }

    func list(_ elements: [SQLParameter]) -> SQLList? {
        let integers = elements.compactMap { element -> Int64? in
            if case .integer(let integer) = element { integer } else { nil }
        }
        if integers.count == elements.count {
            return SQLList(parameter: .text(JSONList.text(integers))) { "SELECT value FROM json_each(\($0))" }
        }
        guard let packed = JSONList.text(elements.map { SQLFunctions.packed($0) }) else { return nil }
        return SQLList(parameter: .text(packed)) { "SELECT ocd_unpack(value) FROM json_each(\($0))" }
    }

    func total(_ number: String) -> String { "ocd_total(\(number))" }
    func average(_ number: String) -> String { "ocd_average(\(number))" }
    func collected(_ value: String) -> String { "json_group_array(ocd_pack(\(value)))" }

    /// Core Data's own types.
    func declaration(_ coding: ColumnCoding) -> String {
        switch coding {
        case .integer, .boolean, .reference: "INTEGER"
        case .double: "FLOAT"
        case .date: "TIMESTAMP"
        case .string, .uri: "VARCHAR"
        case .decimal: "DECIMAL"
        case .data, .uuid, .transformable: "BLOB"
        }
    }

    func bytewise(_ column: String) -> String { "\(column) COLLATE BINARY" }

    func readable(_ column: String, _ coding: ColumnCoding) -> String {
        switch coding {
        case .integer, .boolean, .double, .string, .uri, .data, .transformable, .reference: return column
        case .decimal: return "CASE typeof(\(column)) WHEN 'blob' THEN CAST(\(column) AS TEXT) ELSE \(column) END"
        case .date:
            let unix = "\(column) + 978307200.0, 'unixepoch'"
            return "CASE WHEN \(column) = CAST(\(column) AS INTEGER) THEN strftime('%Y-%m-%dT%H:%M:%SZ', \(unix)) "
                + "ELSE rtrim(rtrim(strftime('%Y-%m-%dT%H:%M:%f', \(unix)), '0'), '.') || 'Z' END"
        case .uuid:
            let hex = "lower(hex(\(column)))"
            let parts = [(1, 8), (9, 4), (13, 4), (17, 4), (21, 12)].map { "substr(\(hex), \($0.0), \($0.1))" }.joined(separator: " || '-' || ")
            return "CASE WHEN \(column) IS NOT NULL THEN \(parts) END"
        }
    }

    var ownTables: [String] { SQLiteHistoryTables.names }

    func sum(of columns: [(name: String, declaration: String)]) -> (any SQLRowSum)? { RowSum(columns) }
}
