/// The keys of each kind of table, made once for a reading: every source has a dozen of them.
final class KeyTables {
    /// The keys of one kind of table.
    final class Keys<Root> {
        /// In the order people read them.
        let all: [Key<Root>]
        private let byName: [String: Key<Root>]

        fileprivate init(_ keys: [Key<Root>]) {
            all = keys
            byName = Dictionary(keys.map { ($0.name, $0) }) { first, _ in first }
        }

        subscript(name: String) -> Key<Root>? { byName[name] }
    }

    private var tables: [ObjectIdentifier: AnyObject] = [:]

    func keys<Table: ConfigurationTable>(of type: Table.Type) -> Keys<Table> {
        if let known = tables[ObjectIdentifier(type)] as? Keys<Table> { return known }
        let keys = Keys(Table.keys)
        tables[ObjectIdentifier(type)] = keys
        return keys
    }
}
