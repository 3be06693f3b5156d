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
            if total.isReal { sqlite3_result_double(context, total.real) } else { sqlite3_result_int64(context, total.integer) }
        }
        try define("ocd_average", on: connection) { context in
            guard let total = NumberTotal.of(context, 0)?.pointee, total.count > 0 else { return sqlite3_result_null(context) }
            sqlite3_result_double(context, (total.isReal ? total.real : Double(total.integer)) / Double(total.count))
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

/// What has been added so far. SQLite makes it, of zeros.
private struct NumberTotal {
    var integer: Int64
    var real: Double
    var isReal: Bool
    var count: Int64

    /// - Parameter size: of what is made if there is none yet; 0: nothing is.
    static func of(_ context: OpaquePointer?, _ size: Int32) -> UnsafeMutablePointer<NumberTotal>? {
        sqlite3_aggregate_context(context, size)?.assumingMemoryBound(to: NumberTotal.self)
    }

    /// As `Arithmetic.add`; what is no number is left out.
    mutating func add(_ value: OpaquePointer) {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER:
            let number = sqlite3_value_int64(value)
            if isReal {
                real += Double(number)
            } else {
                let (sum, overflows) = integer.addingReportingOverflow(number)
                if overflows { becomeReal(adding: Double(number)) } else { integer = sum }
            }
        case SQLITE_FLOAT:
            let number = sqlite3_value_double(value), sum = (isReal ? real : Double(integer)) + number
            // As in memory, what makes it not a number is left out.
            if !sum.isNaN {
                real = sum
                isReal = true
            }
        default: return
        }
        count += 1
    }

    private mutating func becomeReal(adding number: Double) {
        real = Double(integer) + number
        isReal = true
    }
}
