import Foundation
import GRDB
import GRDBSQLite

/// The SQL functions that a store's connections know: the very functions that evaluate predicates in memory, so that both give the same
/// answers.
///
/// - `ocd_fold(text, options)`: the text folded for case and accents.
/// - `ocd_sort_key(text, selector)`: a blob that sorts as the selector sorts the text.
/// - `ocd_match(left, right, operator, options)`: 1 or 0; 0 if one is no text. Fails for a pattern that is none, or takes too many steps.
/// - `ocd_order(tag, a, tag, b)`: −1, 0 or 1 for two numbers; NULL where there is no order.
/// - `ocd_same(tag, a, tag, b)`: 1 or 0; two NULLs are the same.
/// - `ocd_decimal(x)`: a blob that sorts as the decimal does.
/// - `ocd_call(name, tags, …)`: a function of predicates.
/// - `ocd_aggregate(operator, tag, list)`: a collection operator over a JSON list of packed values.
/// - `ocd_store(tag, x, type, name)`: a value in the form of a column, for the attribute of that type and name. Fails for what is no value of it.
/// - `ocd_pack(x)`, `ocd_unpack(text)`: a value as text and back, exactly.
/// - `ocd_total(x)`, `ocd_average(x)`: over rows; see `SQLFunctions+Aggregates.swift`.
/// - `ocd_sum(base, sign, shape, …)`: the sum of a row with, or without, these values; see `RowSum`.
enum SQLFunctions {
    /// What the message of an error begins with that is not SQLite's, but of a function here: the rest is a sentence that says what to do.
    static let failureMark = "OpenCoreData: "

    static func register(on connection: OpaquePointer?) throws {
        try registerAggregates(on: connection)
        try define("ocd_fold", 2, on: connection) { context, arguments in
            guard let text = text(arguments, 0) else { return sqlite3_result_null(context) }
            result(context, .text(StringFolding.fold(text, options(arguments, 1))))
        }
        try define("ocd_sort_key", 2, on: connection) { context, arguments in
            guard let string = text(arguments, 0), let kind = text(arguments, 1).flatMap(SortSelector.Kind.init(rawValue:)) else {
                return sqlite3_result_null(context)
            }
            result(context, SortSelector(kind: kind).key(string).map { .blob($0) } ?? .text(string))
        }
        try define("ocd_match", 4, on: connection) { context, arguments in
            guard let left = text(arguments, 0), let right = text(arguments, 1),
                let type = NSComparisonPredicate.Operator(rawValue: UInt(sqlite3_value_int64(arguments?[2])))
            else { return sqlite3_result_int(context, 0) }
            do throws(PredicateEvaluationError) {
                sqlite3_result_int(context, try StringComparison.matches(left, right, type: type, options: options(arguments, 3)) ? 1 : 0)
            } catch {
                sqlite3_result_error(context, failureMark + error.description, -1)
            }
        }
        try define("ocd_order", 4, on: connection) { context, arguments in
            guard let order = Comparison.order(value(arguments, 1, tag: 0), value(arguments, 3, tag: 2)) else {
                return sqlite3_result_null(context)
            }
            sqlite3_result_int(context, Int32(order.signum()))
        }
        try define("ocd_same", 4, on: connection) { context, arguments in
            sqlite3_result_int(context, Comparison.equal(value(arguments, 1, tag: 0), value(arguments, 3, tag: 2)) ? 1 : 0)
        }
        try define("ocd_decimal", 1, on: connection) { context, arguments in
            guard case .decimal(let decimal) = value(arguments, 0, as: .decimal) else { return sqlite3_result_null(context) }
            result(context, .blob(Data(DecimalCoding.sortKey(decimal))))
        }
        try define("ocd_store", 4, on: connection) { context, arguments in
            let value = value(arguments, 1, tag: 0)
            guard let type = NSAttributeType(rawValue: UInt(sqlite3_value_int64(arguments?[2]))), let column = AttributeKind[type].column else {
                return sqlite3_result_null(context)
            }
            let kind = AttributeKind[type]
            if let coded = AttributeValue.coded(value.any, as: kind), kind.admits(coded),
                let stored = try? ValueCoding.parameter(coded, column, attribute: text(arguments, 3) ?? "")
            {
                return result(context, stored)
            }
            let sentence = NSError.noValue(value.any, of: text(arguments, 3) ?? "?", kind: kind.name).localizedDescription
            sqlite3_result_error(context, failureMark + sentence, -1)
        }
        try define("ocd_pack", 1, on: connection) { context, arguments in result(context, .text(packed(parameter(arguments?[0])))) }
        try define("ocd_unpack", 1, on: connection) { context, arguments in
            result(context, text(arguments, 0).map { unpacked($0) } ?? .null)
        }
        try define("ocd_sum", -1, on: connection) { context, count, arguments in
            guard count > 3, sqlite3_value_type(arguments?[0]) == SQLITE_INTEGER else { return sqlite3_result_null(context) }
            let values = UnsafeBufferPointer(start: arguments.map { UnsafePointer($0 + 3) }, count: Int(count) - 3)
            let sum = RowSum.sum(
                sqlite3_value_int64(arguments?[0]), sign: sqlite3_value_int64(arguments?[1]), shape: shape(context, arguments), values)
            if let sum { sqlite3_result_int64(context, sum) } else { sqlite3_result_null(context) }
        }
        try define("ocd_call", -1, on: connection) { context, arguments in
            guard let name = text(arguments, 0), let tags = text(arguments, 1) else { return sqlite3_result_null(context) }
            let values = tags.utf8.enumerated().map { index, byte in
                value(arguments, index + 2, as: ValueTag(rawValue: byte) ?? .number)
            }
            result(context, parameter(PredicateFunction(name)?.evaluate(values) ?? .null))
        }
        try define("ocd_aggregate", 3, on: connection) { context, arguments in
            guard let name = text(arguments, 0), let tag = text(arguments, 1)?.utf8.first.flatMap(ValueTag.init(rawValue:)),
                let list = text(arguments, 2)?.data(using: .utf8),
                let elements = try? JSONDecoder().decode([String].self, from: list),
                let function = PredicateFunction(name)
            else { return sqlite3_result_null(context) }
            let values = elements.map { tag.value(unpacked($0)) }
            result(context, parameter(function.evaluate([.collection(PredicateCollection(values, kind: .array))])))
        }
    }

    typealias Arguments = UnsafeMutablePointer<OpaquePointer?>?

    /// Keeps a body for as long as the connection knows the function.
    private final class Function {
        let body: (OpaquePointer?, Int32, Arguments) -> Void

        init(_ body: @escaping (OpaquePointer?, Int32, Arguments) -> Void) { self.body = body }
    }

    /// - Parameter isPure: whether the same arguments always give the same value, and nothing else happens.
    static func define(
        _ name: String, _ count: Int32, isPure: Bool = true, on connection: OpaquePointer?, _ body: @escaping (OpaquePointer?, Arguments) -> Void
    ) throws {
        try define(name, count, isPure: isPure, on: connection) { context, _, arguments in body(context, arguments) }
    }

    private static func define(
        _ name: String, _ count: Int32, isPure: Bool = true, on connection: OpaquePointer?,
        _ body: @escaping (OpaquePointer?, Int32, Arguments) -> Void
    ) throws {
        let code = sqlite3_create_function_v2(
            connection, name, count, SQLITE_UTF8 | (isPure ? SQLITE_DETERMINISTIC : 0), Unmanaged.passRetained(Function(body)).toOpaque(),
            { context, count, arguments in
                guard let data = sqlite3_user_data(context) else { return }
                Unmanaged<Function>.fromOpaque(data).takeUnretainedValue().body(context, count, arguments)
            }, nil, nil,
            { data in
                if let data { Unmanaged<Function>.fromOpaque(data).release() }
            })
        if code != SQLITE_OK { throw SQLiteError(connection: connection, operation: "while registering \(name)") }
    }

    // MARK: Arguments and results

    /// The shape that is the third argument: a constant, read once for each statement.
    private static func shape(_ context: OpaquePointer?, _ arguments: Arguments) -> SumShape? {
        if let known = sqlite3_get_auxdata(context, 2) { return Unmanaged<SumShape>.fromOpaque(known).takeUnretainedValue() }
        guard let shape = text(arguments, 2).flatMap(SumShape.init) else { return nil }
        sqlite3_set_auxdata(context, 2, Unmanaged.passRetained(shape).toOpaque()) { shape in
            if let shape { Unmanaged<SumShape>.fromOpaque(shape).release() }
        }
        return shape
    }

    static func text(_ arguments: Arguments, _ index: Int) -> String? {
        guard let argument = arguments?[index], sqlite3_value_type(argument) == SQLITE_TEXT, let bytes = sqlite3_value_text(argument) else {
            return nil
        }
        return String(decoding: UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(argument))), as: UTF8.self)
    }

    private static func options(_ arguments: Arguments, _ index: Int) -> NSComparisonPredicate.Options {
        NSComparisonPredicate.Options(rawValue: UInt(sqlite3_value_int64(arguments?[index])))
    }

    private static func parameter(_ argument: OpaquePointer?) -> SQLParameter {
        switch sqlite3_value_type(argument) {
        case SQLITE_INTEGER: return .integer(sqlite3_value_int64(argument))
        case SQLITE_FLOAT: return .double(sqlite3_value_double(argument))
        case SQLITE_TEXT:
            guard let bytes = sqlite3_value_text(argument) else { return .null }
            return .text(String(decoding: UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(argument))), as: UTF8.self))
        case SQLITE_BLOB:
            guard let bytes = sqlite3_value_blob(argument) else { return .blob(Data()) }
            return .blob(Data(bytes: bytes, count: Int(sqlite3_value_bytes(argument))))
        default: return .null
        }
    }

    private static func value(_ arguments: Arguments, _ index: Int, tag: Int) -> PredicateValue {
        let byte = sqlite3_value_text(arguments?[tag])?.pointee ?? 0
        return value(arguments, index, as: ValueTag(rawValue: byte) ?? .number)
    }

    private static func value(_ arguments: Arguments, _ index: Int, as tag: ValueTag) -> PredicateValue {
        tag.value(parameter(arguments?[index]))
    }

    static func result(_ context: OpaquePointer?, _ value: SQLParameter) {
        switch value {
        case .null: sqlite3_result_null(context)
        case .integer(let integer): sqlite3_result_int64(context, integer)
        case .double(let double): sqlite3_result_double(context, double)
        case .text(var text):
            text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    sqlite3_result_text(context, $0.baseAddress ?? SQLStatement.empty, Int32($0.count), SQLStatement.transient)
                }
            }
        case .blob(let data):
            data.withUnsafeBytes { bytes in
                bytes.isEmpty
                    ? sqlite3_result_zeroblob(context, 0)
                    : sqlite3_result_blob(context, bytes.baseAddress, Int32(bytes.count), SQLStatement.transient)
            }
        }
    }

    /// A value of a predicate as SQL computes with it; what has no such form is NULL.
    static func parameter(_ value: PredicateValue) -> SQLParameter {
        switch value {
        case .null, .object, .collection, .opaque: .null
        case .bool(let bool): .integer(bool ? 1 : 0)
        case .integer(let integer): .integer(integer)
        case .double(let double): double.isNaN ? .null : .double(double)
        case .decimal(let decimal): DecimalCoding.parameter(decimal)
        case .string(let string): .text(string)
        case .date(let date): .double(date.timeIntervalSinceReferenceDate)
        case .data(let data): .blob(data)
        case .uuid(let uuid): .blob(ValueCoding.data(uuid))
        case .url(let url): .text(url.absoluteString)
        }
    }

    // MARK: Packing

    /// The value as text, exactly: the first character says what it is.
    static func packed(_ value: SQLParameter) -> String {
        switch value {
        case .null: return "n"
        case .integer(let integer): return "i\(integer)"
        case .double(let double): return "d\(double.bitPattern)"
        case .text(let text): return "t" + text
        case .blob(let data):
            let digits = Array("0123456789abcdef".utf8)
            return "b" + String(decoding: data.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
        }
    }

    static func unpacked(_ text: String) -> SQLParameter {
        let rest = text.dropFirst()
        switch text.utf8.first {
        case UInt8(ascii: "i"): return Int64(rest).map { .integer($0) } ?? .null
        case UInt8(ascii: "d"): return UInt64(rest).map { .double(Double(bitPattern: $0)) } ?? .null
        case UInt8(ascii: "t"): return .text(String(decoding: text.utf8.dropFirst(), as: UTF8.self))
        case UInt8(ascii: "b"):
            let digits = rest.utf8.map { $0 <= UInt8(ascii: "9") ? $0 - UInt8(ascii: "0") : $0 - UInt8(ascii: "a") + 10 }
            return .blob(Data(stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }))
        default: return .null
        }
    }
}

/// What a column value stands for.
extension ValueTag {
    func value(_ parameter: SQLParameter) -> PredicateValue {
        switch (self, parameter) {
        case (_, .null): return .null
        case (.decimal, .integer(let integer)): return .decimal(Decimal(integer))
        case (.decimal, .double(let double)): return .decimal(DecimalCoding.decimal(double))
        case (.decimal, .blob(let data)):
            return DecimalCoding.decimal(text: String(decoding: data, as: UTF8.self)).map { .decimal($0) } ?? .null
        case (.date, .integer(let integer)): return .date(Date(timeIntervalSinceReferenceDate: Double(integer)))
        case (.date, .double(let double)): return .date(Date(timeIntervalSinceReferenceDate: double))
        case (.url, .text(let text)): return URL(string: text).map { .url($0) } ?? .null
        case (_, .text(let text)): return .string(text)
        case (.uuid, .blob(let data)):
            guard data.count == 16 else { return .null }
            return .uuid(UUID(uuid: data.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
        case (_, .blob(let data)): return .data(data)
        case (_, .integer(let integer)): return .integer(integer)
        case (_, .double(let double)): return .double(double)
        }
    }
}

extension SQLiteError {
    /// What a function of the store's own has to say, where it is that which failed.
    var ownSentence: String? {
        guard primaryCode == SQLITE_ERROR, message.hasPrefix(SQLFunctions.failureMark) else { return nil }
        return String(message.dropFirst(SQLFunctions.failureMark.count))
    }
}
