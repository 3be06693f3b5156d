import Foundation

/// What kind of value an expression of SQL yields.
enum SQLType: Equatable {
    /// Integer or real: as SQLite finds it.
    case number
    case decimal
    case string
    case date
    case data
    case uuid
    case url
    /// The key of an object of the table of that number.
    case object(table: Int)
    case transformable
    /// NULL.
    case null
    /// A value that equals nothing here: of a type that no column has, or an object of another store.
    case stranger

    /// How functions are told what they get; nil where none takes it.
    var tag: ValueTag? {
        switch self {
        case .number, .null: .number
        case .decimal: .decimal
        case .string: .string
        case .date: .date
        case .data: .data
        case .uuid: .uuid
        case .url: .url
        case .object, .transformable, .stranger: nil
        }
    }

    var isNumeric: Bool { self == .number || self == .decimal }

    init(_ coding: ColumnCoding) {
        switch coding {
        case .integer, .boolean, .double: self = .number
        case .date: self = .date
        case .string: self = .string
        case .data: self = .data
        case .uuid: self = .uuid
        case .decimal: self = .decimal
        case .uri: self = .url
        case .transformable: self = .transformable
        case .reference: self = .null
        }
    }
}

/// A value in SQL.
struct SQLExpression {
    var sql: String
    var type: SQLType
    /// Set for constants.
    var constant: PredicateValue?
}

/// A FROM clause in the making: its joins are added while the conditions over it are translated.
final class SQLSource {
    var tables: String
    var conditions: [String] = []
    private var known: [String: SQLObject] = [:]

    init(tables: String) { self.tables = tables }

    /// The object that a to-one of `object` leads to, joined once however often it is named.
    func joined(_ name: String, make: () -> SQLObject) -> SQLObject {
        if let object = known[name] { return object }
        let made = make()
        known[name] = made
        return made
    }

    var clause: String { tables + (conditions.isEmpty ? "" : " WHERE " + conditions.map { "(\($0))" }.joined(separator: " AND ")) }
}

/// An object in SQL: a row of a table under an alias.
struct SQLObject {
    let map: EntityMap
    let alias: String
    let source: SQLSource

    var expression: SQLExpression { SQLExpression(sql: "\(alias).Z_PK", type: .object(table: map.table)) }
}

/// The elements of a collection in SQL: a subquery and what is taken of each of its rows.
struct SQLCollection {
    enum Element {
        case object(SQLObject)
        case value(SQLExpression)

        var expression: SQLExpression {
            switch self {
            case .object(let object): object.expression
            case .value(let value): value
            }
        }
    }

    let source: SQLSource
    let element: Element
}

/// What one side of a comparison is.
enum SQLOperand {
    case value(SQLExpression)
    /// `{a, b}`, or a collection that was passed.
    case list([SQLExpression])
    case collection(SQLCollection)
    indirect case setOperation(SetOperation, SQLOperand, SQLOperand)
}

/// What a variable stands for.
enum SQLBinding {
    case object(SQLObject)
    case value(SQLExpression)
}

/// What expressions are translated against: `SELF` and the variables.
struct SQLScope {
    let object: SQLObject
    var variables: [String: SQLBinding] = [:]
}

/// What a column value stands for, where its storage does not tell.
enum ValueTag: UInt8, Sendable {
    case number = 110  // n: integer or real, as stored
    case decimal = 109  // m
    case string = 115  // s
    case date = 116  // t
    case data = 120  // x
    case uuid = 117  // u
    case url = 108  // l

    /// As SQL spells it.
    var sql: String { "'\(Character(UnicodeScalar(rawValue)))'" }
}
