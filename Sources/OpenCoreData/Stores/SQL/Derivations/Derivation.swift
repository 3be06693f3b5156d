import Foundation

/// How a store keeps the value of a derived attribute (A8): what computes it, and which changes of rows make it another.
struct Derivation: Sendable {
    enum Value: Sendable {
        /// The time of the save.
        case now
        /// What SELECTs find: the value `v` of one row, whose key is the last of the parameters; and of each row, whose key is `k`.
        case computed(SQLTranslator.Query, ofAll: SQLTranslator.Query)
    }

    /// The entity that declares the attribute. Those that inherit it have it in the same column.
    let map: EntityMap
    let column: SlotColumn
    /// The numbers of the entities whose rows have it.
    let entities: [Int64]
    let value: Value
    /// After what it has to be found anew, and for which rows.
    let occasions: [DerivationOccasion]

    /// For all derived attributes of the entities that a schema keeps. Throws 134020 for one that no row of this store can tell.
    static func all(in schema: SQLSchema) throws -> [Derivation] {
        try schema.entities.flatMap { map in
            try map.entity.declaredProperties.sorted { $0.name < $1.name }.compactMap { property -> Derivation? in
                guard let attribute = property as? NSDerivedAttributeDescription, let slot = map.layout.slot(of: attribute.name),
                    let column = map.columns[slot]
                else { return nil }
                return try Derivation(attribute, column, of: map, in: schema)
            }
        }
    }

    private init(_ attribute: NSDerivedAttributeDescription, _ column: SlotColumn, of map: EntityMap, in schema: SQLSchema) throws {
        let name = map.layout.fullName(column.slot)
        func refusal(_ why: String) -> NSError {
            .coreData(
                .persistentStoreIncompatibleSchema,
                "\(name) can't be derived\(attribute.derivationExpression.map { " from \($0)" } ?? ""): \(why). A derivation is a key path; uppercase:, "
                    + "lowercase: or canonical: of one; relationship.@count; relationship.attribute.@sum; or now().")
        }
        self.map = map
        self.column = column
        entities = schema.numbers(of: map.entity)
        guard let node = attribute.derivationExpression?.node else { throw refusal("it has no expression") }
        for other in schema.entities
        where other.table == map.table && other.constraints.contains(where: { $0.columns.contains { $0.name == column.name } }) {
            throw refusal("a uniqueness constraint of \(other.name) names it, and its value is known only when everything is saved")
        }
        if node == .function("now", []) {
            guard column.coding == .date || column.coding == .double else { throw refusal("it has to be a date, or a number of seconds") }
            value = .now
            occasions = DerivationOccasions(of: map).whenSaved
            return
        }
        do {
            var found = DerivationOccasions(of: map)
            for path in try Self.keyPaths(in: node) { try found.follow(path, in: schema) }
            occasions = found.occasions
            value = .computed(try Self.query(node, column, map, in: schema), ofAll: try Self.query(node, column, map, in: schema, ofAll: true))
        } catch let reason as DerivationOccasions.Refusal {
            throw refusal(reason.why)
        } catch {
            throw refusal("\(attribute.kind.name) can't hold what it yields")
        }
    }

    private static func query(
        _ node: ExpressionNode, _ column: SlotColumn, _ map: EntityMap, in schema: SQLSchema, ofAll: Bool = false
    ) throws -> SQLTranslator.Query {
        let translator = SQLTranslator(schema: schema, identity: .unbound)
        let alias = translator.newAlias(), source = SQLSource(tables: "\(map.tableName.sqlName) AS \(alias)")
        let scope = SQLScope(object: SQLObject(map: map, alias: alias, source: source))
        let found = try translator.value(node, scope), own = SQLType(column.coding)
        guard found.type == own || found.type == .null || found.type.isNumeric && own.isNumeric else {
            throw translator.refusal("a value of another type")
        }
        let value = try translator.stored(found, node, as: column.slot, of: map.layout)
        if !ofAll { source.conditions.append("\(alias).Z_PK = \(translator.place(.null))") }
        return SQLTranslator.Query(
            sql: "SELECT \(ofAll ? "\(alias).Z_PK AS k, " : "")\(value) AS v FROM \(source.clause)", parameters: translator.parameters)
    }

    /// The key paths that an expression reads, without their operators.
    private static func keyPaths(in node: ExpressionNode) throws -> [[String]] {
        switch node {
        case .constant: return []
        case .keyPath(let path):
            if let split = path.split, let collection = split.collection.keys, let rest = split.rest.keys { return [collection + rest] }
            guard let keys = path.keys else { throw DerivationOccasions.Refusal(why: "\(path) has several operators") }
            return [keys]
        case .function(let name, let arguments) where name != "now": return try arguments.flatMap(keyPaths)
        case .cast(let inner, _): return try keyPaths(in: inner)
        default: throw DerivationOccasions.Refusal(why: "\(node.canonicalFormat) is nothing that can be followed from row to row")
        }
    }

    /// What tells this derivation from another one, whichever file it is in.
    var text: String {
        let how =
            switch value {
            case .now: "now"
            case .computed(_, let query): "\(query.sql) \(query.parameters)"
            }
        return "\(map.tableName).\(column.name) \(entities): \(how)"
    }
}

/// Something that happens to a row, after which rows have other derived values.
struct DerivationOccasion: Hashable, Sendable {
    enum Event: Hashable, Sendable {
        case insert
        case delete
        /// Of a column.
        case update(String)
    }

    let table: String
    let event: Event
    /// From which row those rows are found: its key in SQL, where `NEW` and `OLD` are the row that something happens to.
    let key: String
    let route: DerivationRoute
}

/// How the rows that have a derived value are found from one that it depends on: back along the relationships of a key path. It is asked when all is
/// written: what leads elsewhere then has seen another occasion.
struct DerivationRoute: Hashable, Sendable {
    /// One relationship, and how it is found in which rows stand at its near end.
    enum Hop: Hashable, Sendable {
        /// A column of these rows names the one at the far end.
        case toOne(table: String, column: String)
        /// The rows at the far end name the near one.
        case members(table: String, column: String)
        case pairs(table: String, mine: String, theirs: String)

        /// The keys of the rows from which it leads to these.
        fileprivate func back(_ keys: String) -> String {
            switch self {
            case .toOne(let table, let column): "SELECT Z_PK FROM \(table) WHERE \(column) IN (\(keys))"
            case .members(let table, let column): "SELECT \(column) FROM \(table) WHERE Z_PK IN (\(keys))"
            case .pairs(let table, let mine, let theirs): "SELECT \(mine) FROM \(table) WHERE \(theirs) IN (\(keys))"
            }
        }
    }

    let hops: [Hop]

    /// A SELECT of keys, for one of keys; the same where the row itself is the one.
    func owners(of keys: String) -> String { hops.reversed().reduce(keys) { $1.back($0) } }
}

/// Collects the occasions of one derivation: follows key paths from its rows.
struct DerivationOccasions {
    /// Why a key path leads to no value of a row.
    struct Refusal: Error {
        let why: String
    }

    private let map: EntityMap
    private(set) var occasions: [DerivationOccasion] = []
    private var known: Set<DerivationOccasion> = []

    init(of map: EntityMap) {
        self.map = map
        note(map.tableName, .insert, [], "NEW.Z_PK")
    }

    /// Whenever a row is written: the version goes up then.
    var whenSaved: [DerivationOccasion] {
        var all = self
        all.note(map.tableName, .update("Z_OPT"), [], "NEW.Z_PK")
        return all.occasions
    }

    private mutating func note(_ table: String, _ event: DerivationOccasion.Event, _ hops: [DerivationRoute.Hop], _ key: String) {
        let occasion = DerivationOccasion(table: table, event: event, key: key, route: DerivationRoute(hops: hops))
        if known.insert(occasion).inserted { occasions.append(occasion) }
    }

    mutating func follow(_ keys: [String], in schema: SQLSchema) throws {
        let keys = map.entity.folded(keys)
        var here = map, hops: [DerivationRoute.Hop] = []
        for (index, key) in keys.enumerated() {
            let name = "\(here.name).\(key)"
            switch here.layout.place(of: key) {
            case nil: throw Refusal(why: "\(here.name) has no property \(key)")
            case .composite?: throw Refusal(why: "\(name) is composite: name an element of it")
            case .slot(let slot)?:
                guard let column = here.columns[slot]?.name else { throw Refusal(why: "\(name) is transient") }
                if here.layout.derivedSlots.contains(slot) { throw Refusal(why: "\(name) is derived itself") }
                note(here.tableName, .update(column), hops, "NEW.Z_PK")
                guard let relationship = here.layout.relationship(atSlot: slot) else {
                    if index < keys.count - 1 { throw Refusal(why: "\(name) is no relationship") }
                    return
                }
                hops.append(.toOne(table: here.tableName.sqlName, column: column.sqlName))
                here = try target(of: relationship, name, in: schema)
                // One that nobody minds goes, and comes back when that is undone; those that refer to it stay as they are.
                note(here.tableName, .delete, hops, "OLD.Z_PK")
                note(here.tableName, .insert, hops, "NEW.Z_PK")
            case .toMany(let number)?:
                let relationship = here.layout.toManys[number]
                switch here.toManys[number] {
                case nil where relationship.isTransient: throw Refusal(why: "\(name) is transient")
                case nil: throw Self.elsewhere(name)
                case .inverse(let table, let column, _, _)?:
                    note(table, .insert, hops, "NEW.\(column.sqlName)")
                    note(table, .delete, hops, "OLD.\(column.sqlName)")
                    for side in ["OLD", "NEW"] { note(table, .update(column), hops, "\(side).\(column.sqlName)") }
                    hops.append(.members(table: table.sqlName, column: column.sqlName))
                    here = try target(of: relationship, name, in: schema)
                case .pairs(let join, let mine, let theirs, _, _)?:
                    let table = schema.joins[join].name
                    note(table, .insert, hops, "NEW.\(mine.sqlName)")
                    note(table, .delete, hops, "OLD.\(mine.sqlName)")
                    for side in ["OLD", "NEW"] { note(table, .update(mine), hops, "\(side).\(mine.sqlName)") }
                    note(table, .update(theirs), hops, "NEW.\(mine.sqlName)")
                    hops.append(.pairs(table: table.sqlName, mine: mine.sqlName, theirs: theirs.sqlName))
                    here = try target(of: relationship, name, in: schema)
                }
            }
        }
    }

    private func target(of relationship: NSRelationshipDescription, _ name: String, in schema: SQLSchema) throws -> EntityMap {
        guard let target = relationship.destinationEntity.flatMap({ schema[$0] }) else {
            throw Self.elsewhere(name)
        }
        return target
    }

    private static func elsewhere(_ name: String) -> Refusal { Refusal(why: "\(name) leads to an entity that this store does not keep") }
}
