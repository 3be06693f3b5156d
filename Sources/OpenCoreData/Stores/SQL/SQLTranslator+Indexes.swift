import Foundation

extension SQLTranslator {
    /// The condition of an index of an entity, in the words that a fetch with the same predicate has for it: so the database sees that the one
    /// follows from the other. With the columns that it names.
    ///
    /// Nil for what an index can't say: it has no parameters, looks at one row, and knows no functions of ours.
    static func indexCondition(_ predicate: NSPredicate, of entity: NSEntityDescription, in schema: SQLSchema) -> (sql: String, columns: [String])? {
        guard let map = schema[entity] else { return nil }
        let translator = SQLTranslator(schema: schema, identity: .unbound), table = map.tableName.sqlName
        let source = SQLSource(tables: table), alias = translator.newAlias()
        guard let node = try? predicate.node.frozen().fitted(to: entity),
            let condition = try? translator.condition(node, SQLScope(object: SQLObject(map: map, alias: alias, source: source))),
            source.tables == table, source.conditions.isEmpty, !condition.contains("ocd_"), !condition.contains("(SELECT ")
        else { return nil }
        // Nothing of the program's is in the text yet.
        let columns = map.columns.compactMap { $0 }.filter { condition.contains("\(alias).\($0.name.sqlName)") }.flatMap(\.names)
        if columns.isEmpty { return nil }
        return (translator.filled(condition.replacing("\(alias).", with: "")), columns)
    }

    /// The text with the parameters in their places.
    private func filled(_ text: String) -> String {
        var result = "", rest = text[...]
        let mark = String(dialect.place(1).dropLast())
        while let place = rest.firstRange(of: mark) {
            let digits = rest[place.upperBound...].prefix { $0.isASCII && $0.isNumber }
            result += rest[..<place.lowerBound]
            result += Int(digits).flatMap { parameters.indices.contains($0 - 1) ? parameters[$0 - 1].sql : nil } ?? String(rest[place])
            rest = rest[digits.endIndex...]
        }
        return result + rest
    }
}
