import GRDBSQLite

/// Sums and averages as predicates reckon them in memory. SQLite's own add integers as reals for an average, fail where a sum of integers overflows,
/// and do either in ways that differ from version to version.
///
/// - `ocd_total(x)`: the sum of the numbers; 0 of none.
/// - `ocd_average(x)`: their average; NULL of none.
extension SQLFunctions {
    static func registerAggregates(on connection: OpaquePointer?) throws {
        try define("ocd_total", on: connection) { context in
            guard let total = NumberTotal.of(context, 0)?.pointee else { return sqlite3_result_int64(context, 0) }
            if let integer = total.integer { sqlite3_result_int64(context, integer) } else { sqlite3_result_double(context, total.real) }
        }
        try define("ocd_average", on: connection) { context in
            guard let total = NumberTotal.of(context, 0)?.pointee, total.count > 0 else { return sqlite3_result_null(context) }
            sqlite3_result_double(context, total.real / Double(total.count))
        }
    }

    private static func define(_ name: String, on connection: OpaquePointer?, _ end: @convention(c) (OpaquePointer?) -> Void) throws {
        let code = sqlite3_create_function_v2(
            connection, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil, nil,
            { context, _, arguments in
                let size = Int32(MemoryLayout<NumberTotal>.size)
                if let argument = arguments?[0] { NumberTotal.of(context, size)?.pointee.add(argument) }
            }, end, nil)
        if code != SQLITE_OK { throw SQLiteError(connection: connection, operation: "while registering \(name)") }
    }
}

/// What has been added so far, as `Aggregates.sum` adds. SQLite makes it, of zeros.
private struct NumberTotal {
    private var whole: WholeTotal
    private var reals: Double
    private var hasReals: Bool
    private(set) var count: Int64

    /// - Parameter size: of what is made if there is none yet; 0: nothing is.
    static func of(_ context: OpaquePointer?, _ size: Int32) -> UnsafeMutablePointer<NumberTotal>? {
        sqlite3_aggregate_context(context, size)?.assumingMemoryBound(to: NumberTotal.self)
    }

    /// What is no number is left out, and what would make the sum none.
    mutating func add(_ value: OpaquePointer) {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: whole.add(sqlite3_value_int64(value))
        case SQLITE_FLOAT:
            let sum = reals + sqlite3_value_double(value)
            if !sum.isNaN {
                reals = sum
                hasReals = true
            }
        default: return
        }
        count += 1
    }

    /// Nil where the sum is real.
    var integer: Int64? { hasReals ? nil : whole.integer }

    var real: Double { hasReals ? reals + whole.real : whole.real }
}
