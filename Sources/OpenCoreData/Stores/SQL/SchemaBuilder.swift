import Foundation

/// Names tables and columns as Core Data does.
struct SchemaBuilder {
    private let dialect: any SQLDialect
    private let kept: [NSEntityDescription]
    private let roots: [NSEntityDescription]
    private let numbers: [Int: Int64]
    private var tableNames: [Int: String] = [:]
    /// Column of each stored attribute and to-one.
    private var columns: [ObjectIdentifier: SlotColumn] = [:]
    /// The order column of each ordered to-many that is kept in its members' rows.
    private var orderColumns: [ObjectIdentifier: String] = [:]
    private var tableColumns: [Int: [(name: String, coding: ColumnCoding)]] = [:]
    private var joins: [JoinTable] = []
    private var joinsByRelationship: [ObjectIdentifier: Int] = [:]

    /// - Parameters:
    ///   - known: the entity numbers that an existing file has, by name.
    ///   - isSummed: whether the rows of the table of that name have their sum beside them.
    static func schema(
        for entities: [NSEntityDescription], in dialect: any SQLDialect, known: [String: Int64]?, isSummed: (_ table: String) -> Bool
    ) throws -> SQLSchema {
        var builder = try SchemaBuilder(entities, dialect, known: known)
        try builder.nameColumns()
        try builder.nameJoins()
        return try builder.build(isSummed)
    }

    private init(_ entities: [NSEntityDescription], _ dialect: any SQLDialect, known: [String: Int64]?) throws {
        self.dialect = dialect
        kept = entities.sorted { $0.number < $1.number }
        var roots: [NSEntityDescription] = []
        for entity in kept where !roots.contains(where: { $0 === entity.rootEntity }) { roots.append(entity.rootEntity) }
        self.roots = roots.sorted { $0.number < $1.number }
        var numbers: [Int: Int64] = [:]
        for entity in roots.flatMap(\.withDescendants) {
            if let known {
                numbers[entity.number] = known[entity.name ?? ""]
            } else {
                numbers[entity.number] = Int64(entity.number)
            }
        }
        self.numbers = numbers
        var used: Set<String> = ["Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE"]
        for root in self.roots { tableNames[root.number] = Self.unused("Z" + (root.name ?? "").uppercased(), among: &used) }
        for entity in kept where numbers[entity.number] == nil {
            throw NSError.coreData(
                .persistentStoreIncompatibleVersionHash, "The store has no entity \(entity.name ?? "?"), which the model has.")
        }
    }

    /// The name itself, or the name with the first number that makes it new.
    private static func unused(_ wanted: String, among used: inout Set<String>) -> String { numbered(wanted) { used.insert($0).inserted } }

    /// The same for an index, whose letters may be small: to SQL the case of ASCII letters is nothing, and other bytes are what they are.
    private static func unusedIndex(_ wanted: String, among used: inout Set<[UInt8]>) -> String {
        numbered(wanted) { used.insert(inSQL($0)).inserted }
    }

    private static func numbered(_ wanted: String, isNew: (String) -> Bool) -> String {
        var name = wanted, suffix = 1
        while !isNew(name) {
            name = wanted + String(suffix)
            suffix += 1
        }
        return name
    }

    private static func inSQL(_ name: String) -> [UInt8] {
        name.utf8.map { $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") ? $0 - 32 : $0 }
    }

    private func number(_ entity: NSEntityDescription) -> Int64 { numbers[entity.number] ?? 0 }

    private mutating func nameColumns() throws {
        for root in roots {
            var used: Set<String> = ["Z_PK", "Z_ENT", "Z_OPT", "Z_SUM"]
            var declared: [(name: String, coding: ColumnCoding)] = []
            for entity in root.withDescendants.sorted(by: { $0.number < $1.number }) {
                for property in entity.declaredLeaves.sorted(by: { $0.name < $1.name }) where !property.isTransient {
                    if let attribute = property as? NSAttributeDescription {
                        guard let coding = attribute.kind.column else {
                            throw NSError.coreData(
                                .persistentStoreIncompatibleSchema,
                                "\(entity.name ?? "?").\(attribute.name) has the type \(attribute.kind.name), which a \(dialect.name) store can't keep. "
                                    + "Make it transient or give it another type.")
                        }
                        let name = Self.unused("Z" + attribute.plainName.uppercased(), among: &used)
                        columns[ObjectIdentifier(attribute)] = SlotColumn(slot: 0, name: name, coding: coding, entityColumn: nil)
                        declared.append((name, coding))
                    } else if let relationship = property as? NSRelationshipDescription, !relationship.isToMany {
                        try nameToOne(relationship, used: &used, declared: &declared)
                    }
                }
            }
            tableColumns[root.number] = declared.sorted { ($0.coding.rank, $0.name) < ($1.coding.rank, $1.name) }
        }
    }

    private mutating func nameToOne(
        _ relationship: NSRelationshipDescription, used: inout Set<String>, declared: inout [(name: String, coding: ColumnCoding)]
    ) throws {
        guard let destination = relationship.destinationEntity, roots.contains(where: { $0 === destination.rootEntity }) else {
            throw NSError.coreData(
                .persistentStoreIncompatibleSchema,
                "\(relationship.entity?.name ?? "?").\(relationship.name) leads to \(relationship.destinationEntity?.name ?? "?"), which this "
                    + "store's configuration does not contain. Relationships can't cross stores.")
        }
        let base = relationship.name.uppercased()
        let name = Self.unused("Z" + base, among: &used)
        declared.append((name, .reference))
        var entityColumn: String?
        if !destination.subentities.isEmpty {
            let column = Self.unused("Z\(number(destination))_" + base, among: &used)
            declared.append((column, .integer))
            entityColumn = column
        }
        columns[ObjectIdentifier(relationship)] = SlotColumn(slot: 0, name: name, coding: .reference, entityColumn: entityColumn)
        if let inverse = relationship.inverseRelationship, inverse.isToMany, inverse.isOrdered {
            let column = Self.unused("Z_FOK_" + base, among: &used)
            declared.append((column, .integer))
            orderColumns[ObjectIdentifier(inverse)] = column
        }
    }

    private mutating func nameJoins() throws {
        var used = Set(tableNames.values)
        for entity in roots.flatMap(\.withDescendants).sorted(by: { $0.number < $1.number }) {
            for property in entity.declaredProperties.sorted(by: { $0.name < $1.name }) where !property.isTransient {
                guard let relationship = property as? NSRelationshipDescription, relationship.isToMany,
                    relationship.inverseRelationship?.isToMany ?? true, relationship.isCanonicalSide
                else { continue }
                guard let destination = relationship.destinationEntity, roots.contains(where: { $0 === destination.rootEntity }) else {
                    throw NSError.coreData(
                        .persistentStoreIncompatibleSchema,
                        "\(entity.name ?? "?").\(relationship.name) leads to an entity that this store's configuration does not contain.")
                }
                addJoin(relationship, from: entity, to: destination, used: &used)
            }
        }
    }

    private mutating func addJoin(
        _ relationship: NSRelationshipDescription, from entity: NSEntityDescription, to destination: NSEntityDescription,
        used: inout Set<String>
    ) {
        let mine = number(entity), theirs = number(destination), inverse = relationship.inverseRelationship
        var columnNames: Set<String> = []
        let member = Self.unused("Z_\(theirs)\(relationship.name.uppercased())", among: &columnNames)
        let owner: String
        switch inverse {
        case nil: owner = Self.unused("Z_\(mine)\((entity.name ?? "").uppercased())", among: &columnNames)
        case let inverse? where inverse === relationship: owner = "REFLEXIVE"
        case let inverse?: owner = Self.unused("Z_\(mine)\(inverse.name.uppercased())", among: &columnNames)
        }
        let isSymmetric = inverse === relationship
        joinsByRelationship[ObjectIdentifier(relationship)] = joins.count
        if let inverse { joinsByRelationship[ObjectIdentifier(inverse)] = joins.count }
        joins.append(
            JoinTable(
                name: Self.unused("Z_\(mine)\(relationship.name.uppercased())", among: &used), ownerColumn: owner, memberColumn: member,
                ownerOrderColumn: relationship.isOrdered ? "Z_FOK_" + member.dropFirst(2) : nil,
                memberOrderColumn: !isSymmetric && inverse?.isOrdered == true ? "Z_FOK_" + owner.dropFirst(2) : nil,
                relationship: relationship))
    }

    private func build(_ isSummed: (String) -> Bool) throws -> SQLSchema {
        var tables: [TableMap] = [], maps: [EntityMap] = []
        for (index, root) in roots.enumerated() {
            let tableName = tableNames[root.number] ?? ""
            let members = root.withDescendants.filter { numbers[$0.number] != nil }.sorted { number($0) < number($1) }
            for entity in members { maps.append(map(of: entity, table: index, tableName: tableName, memberCount: members.count)) }
            let joined = joins.flatMap { join -> [(table: String, column: String)] in
                var ends: [(table: String, column: String)] = []
                if join.relationship.entity?.rootEntity === root { ends.append((join.name, join.ownerColumn)) }
                if join.relationship.destinationEntity?.rootEntity === root { ends.append((join.name, join.memberColumn)) }
                return ends
            }
            let columns = (tableColumns[root.number] ?? []).map { ($0.name, dialect.declaration($0.coding)) }
            tables.append(
                TableMap(
                    name: tableName, members: members.map { number($0) },
                    root: numbers[root.number] ?? members.map { number($0) }.min() ?? 0, columns: columns,
                    joins: joined,
                    sum: isSummed(tableName) ? dialect.sum(of: [("Z_PK", "INTEGER"), ("Z_ENT", "INTEGER")] + columns) : nil))
        }
        maps.sort { $0.number < $1.number }
        // Conditions are put as fetches put them.
        let isPartial = maps.contains { $0.entity.indexes.contains { $0.partialIndexPredicate != nil } }
        let bare = isPartial ? SQLSchema(dialect: dialect, tables: tables, joins: joins, entities: maps) : nil
        // A file has one name for one thing, whatever it is.
        var used = Set((tableNames.values + joins.map(\.name)).map(Self.inSQL))
        for (index, root) in roots.enumerated() {
            let members = root.withDescendants.filter { numbers[$0.number] != nil }.sorted { number($0) < number($1) }
            tables[index].indexes = indexes(of: root, members: members, table: tables[index].name, bare: bare, used: &used)
        }
        return SQLSchema(dialect: dialect, tables: tables, joins: joins, entities: maps)
    }

    private func map(of entity: NSEntityDescription, table: Int, tableName: String, memberCount: Int) -> EntityMap {
        let layout = entity.layout
        let slots = layout.slots.enumerated().map { index, slot -> SlotColumn? in
            let property: NSPropertyDescription =
                switch slot {
                case .attribute(let attribute): attribute
                case .toOne(let relationship): relationship
                }
            guard let column = columns[ObjectIdentifier(property)] else { return nil }
            return SlotColumn(slot: index, name: column.name, coding: column.coding, entityColumn: column.entityColumn)
        }
        let toManys = layout.toManys.map { place(of: $0) }
        let constraints = layout.constraints.map { constraint in
            let owner = constraint.declarer
            let scope = number(owner) == 0 || owner.superentity == nil ? nil : owner.withDescendants.map { number($0) }.sorted()
            return ConstraintMap(columns: constraint.slots.compactMap { slots[$0] }, scope: scope)
        }
        return EntityMap(
            entity: entity, number: number(entity), table: table, tableName: tableName, columns: slots, toManys: toManys,
            constraints: constraints)
    }

    private func place(of relationship: NSRelationshipDescription) -> ToManyPlace? {
        if let inverse = relationship.inverseRelationship, !inverse.isToMany {
            guard let column = columns[ObjectIdentifier(inverse)], let owner = inverse.entity,
                let table = tableNames[owner.rootEntity.number]
            else { return nil }
            return .inverse(
                table: table, column: column.name, entityColumn: column.entityColumn, order: orderColumns[ObjectIdentifier(relationship)])
        }
        guard let index = joinsByRelationship[ObjectIdentifier(relationship)] else { return nil }
        let join = joins[index]
        if join.relationship === relationship {
            return .pairs(join: index, mine: join.ownerColumn, theirs: join.memberColumn, order: join.ownerOrderColumn, isOwnerSide: true)
        }
        return .pairs(join: index, mine: join.memberColumn, theirs: join.ownerColumn, order: join.memberOrderColumn, isOwnerSide: false)
    }

    // MARK: Indexes

    private func indexes(
        of root: NSEntityDescription, members: [NSEntityDescription], table: String, bare: SQLSchema?, used: inout Set<[UInt8]>
    ) -> [IndexMap] {
        var result: [IndexMap] = []
        func add(_ wanted: String, unique: Bool, columns: [String], over names: [String], where condition: String? = nil) {
            let name = Self.unusedIndex(wanted, among: &used)
            let condition = condition.map { " WHERE \($0)" } ?? ""
            result.append(
                IndexMap(
                    name: name,
                    sql: "CREATE \(unique ? "UNIQUE " : "")INDEX \(name.sqlName) ON \(table.sqlName) "
                        + "(\(columns.joined(separator: ", ")))\(condition)",
                    isUnique: unique, columns: names))
        }
        if members.count > 1 { add("\(table)_Z_ENT_INDEX", unique: false, columns: ["Z_ENT"], over: ["Z_ENT"]) }
        for entity in members {
            let own = entity.declaredLeaves.sorted { $0.name < $1.name }, leaves = entity.leavesByName
            for property in own {
                guard let column = columns[ObjectIdentifier(property)] else { continue }
                if column.coding == .reference {
                    add("\(table)_\(column.name)_INDEX", unique: false, columns: [column.name.sqlName], over: [column.name])
                } else if property.isIndexed {
                    add("Z_\(entity.name ?? "")_\(property.name)", unique: false, columns: [binary(column)], over: [column.name])
                }
            }
            for index in entity.indexes {
                let parts = index.elements.flatMap { element -> [(column: String, term: String)] in
                    entity.leafNames([element.indexedName].compactMap(\.self)).compactMap { leaves[$0] }.compactMap { property in
                        columns[ObjectIdentifier(property)].map { ($0.name, binary($0) + (element.isAscending ? " ASC" : " DESC")) }
                    }
                }
                if parts.isEmpty { continue }
                let condition = bare.flatMap { bare in
                    index.partialIndexPredicate.flatMap { SQLTranslator.indexCondition($0, of: entity, in: bare) }
                }
                add(
                    "Z_\(entity.name ?? "")_\(index.name)", unique: false, columns: parts.map(\.term),
                    over: parts.map(\.column) + (condition?.columns ?? []), where: condition?.sql)
            }
            for constraint in entity.ownConstraintNames {
                let parts = constraint.compactMap { name in
                    leaves[name].flatMap { columns[ObjectIdentifier($0)] }
                }
                let scope = entity.superentity == nil ? nil : entity.withDescendants.map { number($0) }.sorted()
                let condition = scope.map { "Z_ENT IN (\($0.map(String.init).joined(separator: ", ")))" }
                add(
                    "Z_\(entity.name ?? "")_UNIQUE_\(constraint.joined(separator: "_"))", unique: true, columns: parts.map { binary($0) },
                    over: parts.map(\.name), where: condition)
            }
        }
        return result
    }

    private func binary(_ column: SlotColumn) -> String { dialect.bytewise(column.name.sqlName) }
}
