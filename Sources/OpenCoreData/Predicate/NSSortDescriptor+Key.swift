public import Foundation

extension NSSortDescriptor: SortKeyInitializable {}

extension SortKeyInitializable where Self: NSSortDescriptor {
    /// Orders objects by the value of a key path; by themselves when it is nil or `self`. Traps when the text is no key path.
    public init(key: String?, ascending: Bool) {
        self.init(key: key, ascending: ascending, selector: .compare)
    }

    /// The same, with a way to compare strings: `.caseInsensitiveCompare`.
    public init(key: String?, ascending: Bool, selector: SortSelector) {
        self = Self.cast(KeySortDescriptor(SortNode(keyPath: .sortKey(key), ascending: ascending, selector: selector), key: key))
    }

    /// Orders by what the comparator says of the values, of which nil is passed as `NSNull`. Only memory can sort so, no SQL store.
    public init(key: String?, ascending: Bool, comparator: @escaping Comparator) {
        let node = SortNode(keyPath: .sortKey(key), ascending: ascending)
        self = Self.cast(KeySortDescriptor(node, key: key, comparator: comparator))
    }

    private static func cast(_ descriptor: KeySortDescriptor) -> Self {
        guard let result = descriptor as? Self else { PredicateViolations.formatIsNot(Self.self, format: descriptor.key ?? "self") }
        return result
    }
}

extension NSSortDescriptor {
    /// The key path of a descriptor made with one; nil of those made with Swift's key paths.
    public var key: String? {
        (self as? KeySortDescriptor)?.sortKey
    }

    /// How strings are compared; nil of descriptors made with a comparator or with Swift's key paths.
    public var selector: SortSelector? {
        node?.selector
    }

    /// The descriptor as a value; nil of those that only memory can sort by.
    package var node: SortNode? {
        guard let descriptor = self as? KeySortDescriptor, descriptor.customComparator == nil else { return nil }
        return descriptor.sortNode
    }
}

/// A descriptor with a key path known by name.
final class KeySortDescriptor: NSSortDescriptor {
    let sortNode: SortNode
    let sortKey: String?
    let customComparator: Comparator?

    init(_ node: SortNode, key: String?, comparator: Comparator? = nil) {
        sortNode = node
        sortKey = key
        customComparator = comparator
        // Foundation wants a key path of Swift's. It is never followed: `compare` does not ask for it.
        super.init(keyPath: \NamedKey.[key ?? "self"], ascending: node.ascending, comparator: comparator ?? { _, _ in .orderedSame })
    }

    /// Descriptors are archived by those who know their keys.
    required init?(coder: NSCoder) {
        nil
    }

    override var comparator: Comparator {
        customComparator ?? { [sortNode] first, second in
            SortNode(keyPath: PredicateKeyPath(steps: []), ascending: true, selector: sortNode.selector).compare(first, second)
        }
    }

    override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
        guard let customComparator else { return sortNode.compare(object1, object2) }
        let first = sortNode.value(of: object1).any ?? NSNull()
        let second = sortNode.value(of: object2).any ?? NSNull()
        return sortNode.ascending ? customComparator(first, second) : customComparator(second, first)
    }

    override var reversedSortDescriptor: Any {
        var reversed = sortNode
        reversed.ascending.toggle()
        return KeySortDescriptor(reversed, key: sortKey, comparator: customComparator)
    }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? KeySortDescriptor else { return false }
        if self === other { return true }
        return customComparator == nil && other.customComparator == nil && sortNode == other.sortNode
    }

    override var hash: Int { sortNode.hashValue }
    override func copy(with zone: NSZone? = nil) -> Any { self }
}

/// Stands in for the object in the Swift key path of a `KeySortDescriptor`.
private struct NamedKey {
    subscript(key: String) -> String { key }
}

extension PredicateKeyPath {
    /// The key path of a sort descriptor: nothing for the object itself.
    fileprivate static func sortKey(_ key: String?) -> PredicateKeyPath {
        guard let key, key.lowercased() != "self" else { return PredicateKeyPath(steps: []) }
        guard let path = PredicateKeyPath(key) else { PredicateViolations.malformedKeyPath(key) }
        return path
    }
}
