import Foundation

/// What one database says in SQL otherwise than another does. All else in this folder is said as every one of them understands it.
///
/// A store over another database brings a dialect, connections and the statements that save; it translates predicates, plans saves and lays out
/// tables with what is here.
protocol SQLDialect: Sendable {
    /// The database, for sentences.
    var name: String { get }

    // MARK: Expressions

    /// The place of a parameter, by its number from 1.
    func place(_ number: Int) -> String
    /// A condition that always holds, or never.
    func truth(_ value: Bool) -> String
    /// True or false: both are the same, or both are NULL.
    func same(_ left: String, _ right: String) -> String
    /// The condition, false where it is NULL.
    func orFalse(_ condition: String) -> String
    /// Whether a text stands in another, byte for byte; NULL where one is.
    func contains(_ text: String, _ part: String) -> String
    /// The end of a SELECT: how many rows at most (nil: all) after leaving out how many (nil: none). One of both is not nil.
    func window(limit: String?, offset: String?) -> String
    /// A term of ORDER BY: NULL comes before everything else, and behind it where the order descends.
    func ordered(_ term: String, isAscending: Bool) -> String
    /// A function that computes as predicates do in memory; nil where the database has no such function, and the predicate is refused.
    func call(_ function: SQLFunction, _ arguments: [String]) -> String?

    // MARK: Values

    /// A constant of a predicate as a column would hold it; what has no such form is NULL.
    func parameter(_ value: PredicateValue) -> SQLParameter
    /// Many constants in one parameter; nil where one of them has no place in it.
    func list(_ elements: [SQLParameter]) -> SQLList?
    /// An aggregate over rows: the sum of numbers, as memory adds them; 0 of none.
    func total(_ number: String) -> String
    /// An aggregate over rows: the average of numbers, as memory reckons it; NULL of none.
    func average(_ number: String) -> String
    /// An aggregate over rows, for `SQLFunction.aggregate`: their values in one.
    func collected(_ value: String) -> String

    // MARK: Tables

    /// The type that a column is declared with.
    func declaration(_ coding: ColumnCoding) -> String
    /// A column of an index in the order of its bytes, as predicates compare.
    func bytewise(_ column: String) -> String
    /// The value of a column as a person reads it, for views.
    func readable(_ column: String, _ coding: ColumnCoding) -> String
    /// Tables beside those of entities and relationships, whose names no view may have.
    var ownTables: [String] { get }
    /// How the rows of a table with these columns are summed; nil: they are not.
    func sum(of columns: [(name: String, declaration: String)]) -> (any SQLRowSum)?
}

/// Functions over the values of columns.
enum SQLFunction: String, Sendable {
    /// (text, options): the text folded for case and accents.
    case fold
    /// (text, selector): what sorts as the selector sorts the text.
    case sortKey = "sort_key"
    /// (left, right, operator, options): whether a string comparison holds.
    case match
    /// (tag, a, tag, b): −1, 0 or 1 for two numbers.
    case order
    /// (tag, a, tag, b): whether both are the same number.
    case same
    /// (x): what sorts as the decimal does.
    case decimal
    /// (name, tags, …): a function of predicates.
    case call
    /// (operator, tag, collected values): a collection operator.
    case aggregate
    /// (tag, x, type, name): a computed value in the form of a column, for the attribute of that type and name; fails for what is no value of it.
    case store
}

/// A value on its way into a statement.
enum SQLParameter: Hashable, Sendable {
    case null
    case integer(Int64)
    case double(Double)
    case text(String)
    case blob(Data)
}

/// Many values as one parameter.
struct SQLList {
    let parameter: SQLParameter
    /// A SELECT of one column over the parameter's place.
    let query: (_ place: String) -> String
}

/// The sum that stands beside the values of a row in its table.
protocol SQLRowSum: Sendable {
    /// The column that holds it.
    var column: String { get }
    /// The columns that are summed.
    var columns: [String] { get }
    /// SQL for the sum of a row with these values, each an SQL expression; the others are null.
    func whole(_ values: [(column: String, value: String)]) -> String
    /// SQL for the sum of a stored row after it was given these values.
    func replacing(_ values: [(column: String, value: String)]) -> String
}

extension SQLRowSum {
    /// SQL for the sum of a row as it is stored.
    var stored: String { whole(columns.map { ($0, $0.sqlName) }) }
}
