import Foundation

@testable import OpenCoreData

/// SQL as PostgreSQL speaks it, in a database that has none of our functions. No store uses it: it is there to see that what is translated says nothing
/// that only SQLite understands.
///
/// Columns are declared so that the database compares them as memory does: texts by their bytes. A parameter has one of five forms, so truth values are
/// numbers, UUIDs are bytes and dates are seconds since 2001.
struct PostgreSQLDialect: SQLDialect {
    var name: String { "PostgreSQL" }

    func place(_ number: Int) -> String { "$\(number)" }
    func truth(_ value: Bool) -> String { value ? "TRUE" : "FALSE" }
    func same(_ left: String, _ right: String) -> String { "\(left) IS NOT DISTINCT FROM \(right)" }
    func orFalse(_ condition: String) -> String { "COALESCE(\(condition), FALSE)" }
    func total(_ number: String) -> String { "COALESCE(SUM(\(number)), 0)" }
    func average(_ number: String) -> String { "AVG(\(number))" }
    func contains(_ text: String, _ part: String) -> String { "strpos(\(text), \(part)) > 0" }

    func window(limit: String?, offset: String?) -> String {
        (limit.map { " LIMIT \($0)" } ?? "") + (offset.map { " OFFSET \($0)" } ?? "")
    }

    /// Left to itself the database puts NULL at the other end.
    func ordered(_ term: String, isAscending: Bool) -> String { term + (isAscending ? " ASC NULLS FIRST" : " DESC NULLS LAST") }

    func call(_ function: SQLFunction, _ arguments: [String]) -> String? { nil }

    // MARK: Values

    func parameter(_ value: PredicateValue) -> SQLParameter {
        switch value {
        case .null, .object, .collection, .opaque: .null
        case .bool(let bool): .integer(bool ? 1 : 0)
        case .integer(let integer): .integer(integer)
        // Here not-a-number equals itself.
        case .double(let double): double.isNaN ? .null : .double(double)
        // The column that it is compared with says that it is a number.
        case .decimal(let decimal): decimal.isNaN ? .null : .text(decimal.description)
        case .string(let string): .text(string)
        case .date(let date): .double(date.timeIntervalSinceReferenceDate)
        case .data(let data): .blob(data)
        case .uuid(let uuid): .blob(withUnsafeBytes(of: uuid.uuid) { Data($0) })
        case .url(let url): .text(url.absoluteString)
        }
    }

    /// An array, as the database writes it.
    func list(_ elements: [SQLParameter]) -> SQLList? {
        guard let type = Self.arrayType(of: elements) else { return nil }
        return SQLList(parameter: .text("{" + elements.map(Self.item).joined(separator: ",") + "}")) { "SELECT unnest(\($0)::\(type)[])" }
    }

    /// What an array of all of them is made of; nil where there is no such array, or none that can be told.
    private static func arrayType(of elements: [SQLParameter]) -> String? {
        var types: Set<String> = []
        for element in elements {
            switch element {
            case .null: break
            case .integer: types.insert("bigint")
            case .double: types.insert("double precision")
            case .text(let text):
                if text.utf8.contains(0) { return nil }
                types.insert("text")
            case .blob: types.insert("bytea")
            }
        }
        // Neither of the two holds all of the other.
        if types == ["bigint", "double precision"] { return "numeric" }
        return types.count == 1 ? types.first : nil
    }

    private static func item(_ element: SQLParameter) -> String {
        switch element {
        case .null: return "NULL"
        case .integer(let integer): return "\(integer)"
        case .double(let double): return "\(double)"
        case .text(let text):
            var result = "\""
            // By scalars: a quotation mark with an accent on it is another character.
            for scalar in text.unicodeScalars {
                if scalar == "\"" || scalar == "\\" { result += "\\" }
                result.unicodeScalars.append(scalar)
            }
            return result + "\""
        case .blob(let data):
            let digits = Array("0123456789abcdef".utf8)
            return "\"\\\\x" + String(decoding: data.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self) + "\""
        }
    }

    func collected(_ value: String) -> String { "array_agg(\(value))" }

    // MARK: Tables

    func declaration(_ coding: ColumnCoding) -> String {
        switch coding {
        case .integer, .reference: "BIGINT"
        case .boolean: "SMALLINT"
        case .double, .date: "DOUBLE PRECISION"
        case .decimal: "NUMERIC"
        case .string, .uri: "TEXT COLLATE \"C\""
        case .data, .uuid, .transformable: "BYTEA"
        }
    }

    /// As it is declared; of what is no text a collation can't be said.
    func bytewise(_ column: String) -> String { column }

    func readable(_ column: String, _ coding: ColumnCoding) -> String {
        switch coding {
        case .integer, .boolean, .double, .decimal, .string, .uri, .data, .transformable, .reference: return column
        case .date:
            let text = "to_char(to_timestamp(\(column) + 978307200) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS')"
            return "rtrim(rtrim(\(text), '0'), '.') || 'Z'"
        case .uuid: return "encode(\(column), 'hex')::uuid::text"
        }
    }

    var ownTables: [String] { [] }

    func sum(of columns: [(name: String, declaration: String)]) -> (any SQLRowSum)? { nil }
}
