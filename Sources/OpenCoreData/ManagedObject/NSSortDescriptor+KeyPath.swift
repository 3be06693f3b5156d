public import Foundation

extension NSSortDescriptor {
    /// Orders managed objects by a property: `NSSortDescriptor(keyPath: \Person.name, ascending: true)`. A fetch sorts by the property's name in the
    /// model, which it finds out by reading the key path; it throws 134060 where the key path computes something.
    public convenience init<Root: NSManagedObject, Value: Comparable>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
        // Foundation keeps nothing but the key path, so its end tells that there is no comparator of the caller's.
        self.init(keyPath: keyPath.appending(path: \Value.asSorted), ascending: ascending) { NSSortDescriptor.order($0, $1) }
    }

    /// The key path of a descriptor that a fetch can sort by, once its name is known.
    final var managedKeyPath: AnyKeyPath? {
        guard !(self is KeySortDescriptor) else { return nil }
        return self is KeyPathSortDescriptor || type(of: keyPath).valueType is any SortedValue.Type ? keyPath : nil
    }

    fileprivate static func order(_ first: Any, _ second: Any) -> ComparisonResult {
        SortNode(keyPath: PredicateKeyPath(steps: []), ascending: true).compare(values: value(first), value(second))
    }

    private static func value(_ any: Any) -> PredicateValue { PredicateValue((any as? any SortedValue)?.sortedValue ?? any) }
}

extension SortKeyInitializable where Self: NSSortDescriptor {
    /// The same for a property that may be nil: nil comes first when ascending.
    public init<Root: NSManagedObject, Value>(keyPath: KeyPath<Root, Value>, ascending: Bool) {
        guard let result = KeyPathSortDescriptor(keyPath, ascending: ascending) as? Self else {
            Violation.misuse("a sort descriptor of a key path is not a \(Self.self)")
        }
        self = result
    }

    /// The same as a Swift sort descriptor of a property: `NSSortDescriptor(SortDescriptor(\Person.name, order: .reverse))`. Strings are ordered by their
    /// bytes. Stops the program for a descriptor without a key path: a store sorts by properties.
    public init<Compared: NSObject>(_ descriptor: SortDescriptor<Compared>) {
        guard let keyPath = descriptor.keyPath else { Violation.misuse("\(descriptor) has no key path; a fetch sorts by properties") }
        func made<Value>(of type: Value.Type) -> Self? {
            (keyPath as? KeyPath<Compared, Value>).flatMap { KeyPathSortDescriptor($0, ascending: descriptor.order == .forward) as? Self }
        }
        guard let result = _openExistential(Swift.type(of: keyPath).valueType, do: made) else {
            Violation.misuse("a sort descriptor of a key path is not a \(Self.self)")
        }
        self = result
    }
}

/// A descriptor that sorts by what may be nil; Foundation's sort by what is comparable only.
final class KeyPathSortDescriptor: NSSortDescriptor {
    private let reverse: () -> KeyPathSortDescriptor

    init<Root: NSObject, Value>(_ keyPath: KeyPath<Root, Value>, ascending: Bool) {
        reverse = { KeyPathSortDescriptor(keyPath, ascending: !ascending) }
        super.init(keyPath: keyPath, ascending: ascending) { NSSortDescriptor.order($0, $1) }
    }

    /// Descriptors are archived by those who know their keys.
    required init?(coder: NSCoder) {
        nil
    }

    override var reversedSortDescriptor: Any { reverse() }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? KeyPathSortDescriptor else { return false }
        return keyPath == other.keyPath && ascending == other.ascending
    }

    override var hash: Int { keyPath.hashValue }
    override func copy(with zone: NSZone? = nil) -> Any { self }
}

/// A value at the end of a key path by which managed objects are sorted.
protocol SortedValue {
    var sortedValue: Any { get }
}

private struct Sorted<Value: Comparable>: SortedValue {
    let value: Value

    var sortedValue: Any { value }
}

extension Comparable {
    fileprivate var asSorted: Sorted<Self> { Sorted(value: self) }
}

extension SortKey {
    /// What a descriptor asks of a fetch. Throws 134060 for what only memory can sort by.
    init(_ descriptor: NSSortDescriptor, of entity: NSEntityDescription) throws {
        if let keyPath = descriptor.managedKeyPath {
            let names = try KeyPathProbe.names(of: keyPath, from: entity)
            self.init(path: names, isAscending: descriptor.ascending)
        } else if let node = descriptor.node, let path = node.keyPath.keys {
            self.init(path: entity.folded(path), isAscending: node.ascending, selector: node.selector)
        } else {
            throw NSError.coreData(
                .coreData,
                "A fetch of \(entity.name ?? "?") can't sort by \(descriptor.key ?? "a descriptor made of code"): a store sorts by keys, not by "
                    + "comparators or operators. Use NSSortDescriptor(key:ascending:selector:), or sort the results.")
        }
    }
}
