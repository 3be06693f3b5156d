import Foundation
import GRDBSQLite

/// The SQL functions that triggers call, on the connection that writes.
///
/// Apple's framework leaves triggers in the files that it makes for derived attributes (X7); they call functions of its own, whose names and arguments
/// are seen in such a file.
extension SQLFunctions {
    /// - `ocd_derive(number, key)`: the derived value of that number has to be found anew for the row.
    /// - `NSCoreDataDATriggerUpdatedAffectedObjectValue(table, entity, key, attribute, value)` and two of other names: a trigger of the file has given
    ///   the row this value.
    /// - `NSCoreDataNow()`, `NSCoreDataCanonical(text)`, `NSCoreDataToUpper(text)`, `NSCoreDataToLower(text)`: what is derived by.
    static func registerTriggers(
        on connection: OpaquePointer?, deriving: @escaping (_ number: Int, _ key: Int64) -> Void,
        changed: @escaping (_ entity: Int64, _ key: Int64) -> Void
    ) throws {
        try define(SQLiteDerivations.function, 2, isPure: false, on: connection) { context, arguments in
            sqlite3_result_null(context)
            guard let arguments, sqlite3_value_type(arguments[1]) == SQLITE_INTEGER else { return }
            deriving(Int(sqlite3_value_int64(arguments[0])), sqlite3_value_int64(arguments[1]))
        }
        for name in ["DATriggerUpdatedAffected", "DATriggerInsertUpdatedAffected", "TriggerUpdateAffected"] {
            try define("NSCoreData\(name)ObjectValue", 5, isPure: false, on: connection) { context, arguments in
                sqlite3_result_null(context)
                if let arguments { changed(sqlite3_value_int64(arguments[1]), sqlite3_value_int64(arguments[2])) }
            }
        }
        try define("NSCoreDataNow", 0, isPure: false, on: connection) { context, _ in
            sqlite3_result_double(context, Date().timeIntervalSinceReferenceDate)
        }
        for (name, function) in [("Canonical", "canonical:"), ("ToUpper", "uppercase:"), ("ToLower", "lowercase:")] {
            guard let function = PredicateFunction(function) else { continue }
            try define("NSCoreData\(name)", 1, on: connection) { context, arguments in
                result(context, text(arguments, 0).map { parameter(function.evaluate([.string($0)])) } ?? .null)
            }
        }
    }
}
