import Foundation
import GRDB
import GRDBSQLite

extension SQLiteStore {
    /// Dictionaries computed by SQLite; nil where they have to be computed from rows.
    func computed(_ table: DictionaryPlan, _ plan: FetchPlan, at state: SQLiteState? = nil) throws -> [[AttributeValue]]? {
        guard let asked = try SQLTranslator(schema: schema, identity: identity).query(table, plan) else { return nil }
        return try reading(at: state) { database in
            let statement = try fetchStatement(asked.query.sql, in: database)
            try statement.bindNumbered(asked.query.parameters)
            var result: [[AttributeValue]] = []
            try statement.forEachRow { raw in
                result.append(
                    zip(asked.readings, table.columns).enumerated().map { number, column in
                        let value = Self.value(raw, Int32(number), column.0)
                        guard case .expression(_, let type) = column.1.source, type != .undefinedAttributeType else { return value }
                        return AttributeValue.coded(value.plain, as: type) ?? value
                    })
            }
            return result
        }
    }

    private static func value(_ raw: OpaquePointer, _ index: Int32, _ reading: SQLTranslator.ColumnReading) -> AttributeValue {
        if sqlite3_column_type(raw, index) == SQLITE_NULL { return .null }
        switch reading {
        case .stored(let coding): return ValueCoding.value(raw, index, coding) ?? .null
        case .number:
            return sqlite3_column_type(raw, index) == SQLITE_INTEGER
                ? .int64(sqlite3_column_int64(raw, index)) : .double(sqlite3_column_double(raw, index))
        }
    }
}
