import Foundation

extension SQLTranslator {
    /// Where a key path has led so far.
    enum Step {
        case object(SQLObject)
        case value(SQLExpression)
        case collection(SQLCollection)

        /// Of what further keys are asked.
        fileprivate var object: SQLObject? {
            switch self {
            case .object(let object): return object
            case .value: return nil
            case .collection(let collection):
                if case .object(let object) = collection.element { return object }
                return nil
            }
        }
    }

    /// Follows plain keys from an object.
    func follow(_ keys: [String], from start: Step) throws -> Step {
        var step = start
        let keys = start.object?.map.entity.folded(keys) ?? keys
        for (index, key) in keys.enumerated() { step = try follow(key, from: step, isLast: index == keys.count - 1) }
        return step
    }

    private func follow(_ key: String, from step: Step, isLast: Bool) throws -> Step {
        switch step {
        case .object(let object): return try property(key, of: object, in: nil, isLast: isLast)
        case .value: throw refusal("the key \"\(key)\" of a value that is not an object")
        case .collection(let collection):
            guard case .object(let object) = collection.element else { throw refusal("the key \"\(key)\" of values that are not objects") }
            return try property(key, of: object, in: collection.source, isLast: isLast)
        }
    }

    /// One key of an object: an attribute, the object of a to-one, or the objects of a to-many. `collection` is the source that the object is
    /// an element of, if it is one.
    private func property(_ key: String, of object: SQLObject, in collection: SQLSource?, isLast: Bool) throws -> Step {
        func wrapped(_ element: SQLCollection.Element) -> Step {
            if let collection { return .collection(SQLCollection(source: collection, element: element)) }
            switch element {
            case .object(let object): return .object(object)
            case .value(let value): return .value(value)
            }
        }
        switch object.map.layout.place(of: key) {
        case nil:
            if key == "self" || key == "objectID" { return wrapped(.object(object)) }
            throw refusal("the key \"\(key)\", which \(object.map.name) does not have")
        case .slot(let slot)?:
            guard let column = object.map.columns[slot] else {
                throw refusal("\(object.map.name).\(key), which is transient and not in the file")
            }
            let name = "\(object.alias).\(column.name.sqlName)"
            guard column.coding == .reference else { return wrapped(.value(SQLExpression(sql: name, type: SQLType(column.coding)))) }
            guard let destination = object.map.layout.relationship(atSlot: slot)?.destinationEntity, let target = schema[destination] else {
                throw refusal("\(object.map.name).\(key), which leads to another store")
            }
            if isLast { return wrapped(.value(SQLExpression(sql: name, type: .object(table: target.table)))) }
            let source = object.source
            return wrapped(
                .object(
                    source.joined("\(object.alias).\(key)") {
                        let alias = newAlias()
                        source.tables += " LEFT JOIN \(target.tableName.sqlName) AS \(alias) ON \(alias).Z_PK = \(name)"
                        return SQLObject(map: target, alias: alias, source: source)
                    }))
        case .toMany(let number)?: return .collection(try members(number, of: object, in: collection))
        case .composite?: throw refusal("\(object.map.name).\(key), which is composite: name an element of it")
        }
    }

    private func members(_ number: Int, of object: SQLObject, in collection: SQLSource?) throws -> SQLCollection {
        let relationship = object.map.layout.toManys[number]
        guard let place = object.map.toManys[number], let destination = relationship.destinationEntity, let target = schema[destination] else {
            throw refusal("\(object.map.name).\(relationship.name), which is not in the file")
        }
        let alias = newAlias(), owner = "\(object.alias).Z_PK"
        guard let source = collection else {
            // The first to-many of the path: a subquery of its own, bound to the outer row.
            let source: SQLSource
            switch place {
            case .inverse(let table, let column, _, _):
                source = SQLSource(tables: "\(table.sqlName) AS \(alias)")
                source.conditions.append("\(alias).\(column.sqlName) = \(owner)")
            case .pairs(let join, let mine, let theirs, _, _):
                let pairs = newAlias()
                source = SQLSource(
                    tables: "\(schema.joins[join].name.sqlName) AS \(pairs) JOIN \(target.tableName.sqlName) AS \(alias) "
                        + "ON \(alias).Z_PK = \(pairs).\(theirs.sqlName)")
                source.conditions.append("\(pairs).\(mine.sqlName) = \(owner)")
            }
            return SQLCollection(source: source, element: .object(SQLObject(map: target, alias: alias, source: source)))
        }
        // A further one: the members of all members. A member that has none adds nothing, but a nil in their place stays a nil.
        switch place {
        case .inverse(let table, let column, _, _):
            source.tables += " LEFT JOIN \(table.sqlName) AS \(alias) ON \(alias).\(column.sqlName) = \(owner)"
        case .pairs(let join, let mine, let theirs, _, _):
            let pairs = newAlias()
            source.tables +=
                " LEFT JOIN (\(schema.joins[join].name.sqlName) AS \(pairs) JOIN \(target.tableName.sqlName) AS \(alias) "
                + "ON \(alias).Z_PK = \(pairs).\(theirs.sqlName)) ON \(pairs).\(mine.sqlName) = \(owner)"
        }
        source.conditions.append("\(alias).Z_PK IS NOT NULL OR \(owner) IS NULL")
        return SQLCollection(source: source, element: .object(SQLObject(map: target, alias: alias, source: source)))
    }

    /// A collection operator: `@count`, `@sum`, `@avg`, `@min`, `@max`.
    func aggregate(_ collectionOperator: CollectionOperator, _ start: Step, collection: [String], rest: PredicateKeyPath) throws -> SQLOperand {
        guard let restKeys = rest.keys else { throw refusal("several operators in one key path") }
        if collectionOperator == .count && !restKeys.isEmpty { throw refusal("a key after @count") }
        guard case .collection(let elements) = try follow(collection + restKeys, from: start) else {
            throw refusal("@\(collectionOperator.rawValue) of what is not a to-many")
        }
        return try aggregate(collectionOperator, elements)
    }

    func aggregate(_ collectionOperator: CollectionOperator, _ elements: SQLCollection) throws -> SQLOperand {
        let element = elements.element.expression
        func query(_ value: String) -> String { "(SELECT \(value) FROM \(elements.source.clause))" }
        func value(_ sql: String, _ type: SQLType) -> SQLOperand { .value(SQLExpression(sql: sql, type: type)) }
        switch collectionOperator {
        case .count: return value(query("COUNT(*)"), .number)
        case .unionOfObjects, .unionOfArrays, .unionOfSets, .distinctUnionOfObjects, .distinctUnionOfArrays, .distinctUnionOfSets:
            // For membership it does not matter whether an element comes once or twice.
            return .collection(elements)
        case .sum, .avg, .min, .max: break
        }
        let isSum = collectionOperator == .sum
        if element.type == .decimal {
            let names: [CollectionOperator: String] = [.sum: "sum:", .avg: "average:", .min: "min:", .max: "max:"]
            let list = query(dialect.collected(element.sql))
            return value(try call(.aggregate, (names[collectionOperator] ?? "").sqlText, ValueTag.decimal.sql, list), .decimal)
        }
        switch collectionOperator {
        case .min, .max:
            switch element.type {
            case .number, .string, .date, .data, .uuid, .url:
                return value(query("\(collectionOperator.rawValue.uppercased())(\(element.sql))"), element.type)
            default: throw refusal("@\(collectionOperator.rawValue) of objects")
            }
        default:
            // What is no number is left out.
            guard element.type == .number else { return value(isSum ? "0" : "NULL", isSum ? .number : .null) }
            return value(query(isSum ? dialect.total(element.sql) : dialect.average(element.sql)), .number)
        }
    }
}
