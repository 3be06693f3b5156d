import Foundation
import Synchronization

/// `owner.pets.@sum.age` taken apart.
package struct PredicateKeyPath: Hashable, Sendable, CustomStringConvertible {
    package enum Step: Hashable, Sendable {
        case key(String)
        case collectionOperator(CollectionOperator)
    }

    package var steps: [Step]

    package init(steps: [Step]) {
        self.steps = steps
    }

    package init(keys: [String]) {
        steps = keys.map { .key($0) }
    }

    /// Takes dotted text apart. Nil for empty text, an empty component or an unknown `@operator`.
    package init?(_ text: String) {
        var steps: [Step] = []
        for component in text.split(separator: ".", omittingEmptySubsequences: false) {
            guard !component.isEmpty else { return nil }
            if component.hasPrefix("@") {
                guard let known = CollectionOperator(rawValue: String(component.dropFirst())) else { return nil }
                steps.append(.collectionOperator(known))
            } else {
                steps.append(.key(String(component)))
            }
        }
        self.steps = steps
    }

    /// The keys, or nil when an operator stands among them.
    package var keys: [String]? {
        var keys: [String] = []
        keys.reserveCapacity(steps.count)
        for step in steps {
            guard case .key(let key) = step else { return nil }
            keys.append(key)
        }
        return keys
    }

    /// The parts around the first operator: the collection it works on, and what is taken of each element.
    package var split: (collection: PredicateKeyPath, collectionOperator: CollectionOperator, rest: PredicateKeyPath)? {
        for (index, step) in steps.enumerated() {
            guard case .collectionOperator(let found) = step else { continue }
            return (PredicateKeyPath(steps: Array(steps[..<index])), found, PredicateKeyPath(steps: Array(steps[(index + 1)...])))
        }
        return nil
    }

    /// Dotted text, unescaped.
    package var description: String {
        steps.map { step in
            switch step {
            case .key(let key): key
            case .collectionOperator(let found): "@" + found.rawValue
            }
        }.joined(separator: ".")
    }
}

/// An operator inside a key path.
///
/// `@count` and `@sum` of nothing are 0; `@min`, `@max` and `@avg` of nothing are nil. Nil elements count, and are otherwise ignored.
/// Collections of collections are flattened, so the forms for arrays and sets differ from those for objects in name only.
package enum CollectionOperator: String, Hashable, Sendable, CaseIterable {
    case count, sum, min, max, avg
    case unionOfObjects, distinctUnionOfObjects
    case unionOfArrays, distinctUnionOfArrays
    case unionOfSets, distinctUnionOfSets
}

/// An array or a set of values.
///
/// A constant of many elements on the right of `IN` is asked again for every object, so it keeps an index of its elements, built the
/// first time it is asked.
package final class PredicateCollection: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case array, set, orderedSet
    }

    /// In order; those of a set in no particular one.
    package let elements: [PredicateValue]
    package let kind: Kind
    private let index = Mutex<Index?>(nil)

    private enum Index: Sendable {
        case strings(Set<String>)
        case integers(Set<Int64>)
        case uuids(Set<UUID>)
        case identities(Set<PredicateObject>)
        /// Few elements, or of several types: looked at one by one.
        case none
    }

    package init(_ elements: [PredicateValue], kind: Kind) {
        self.elements = elements
        self.kind = kind
    }

    /// Two collections are the same constant when they hold the same elements in the same order, whatever holds them.
    package static func == (left: PredicateCollection, right: PredicateCollection) -> Bool {
        left === right || left.elements == right.elements
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(elements)
    }

    /// Whether an element equals the value, by the rule of `==` without options.
    package func contains(_ value: PredicateValue) -> Bool {
        if elements.count > 8 {
            let built = index.withLock { index in
                if index == nil { index = makeIndex() }
                return index
            }
            switch (built, value) {
            case (.strings(let set), .string(let string)):
                // The set's equality is Unicode's canonical one, ours is that of bytes: absence is certain, presence is checked.
                guard let place = set.firstIndex(of: string) else { return false }
                if StringComparison.equalBytes(set[place], string) { return true }
            case (.integers(let set), .integer(let number)): return set.contains(number)
            case (.integers(let set), .bool(let flag)): return set.contains(flag ? 1 : 0)
            case (.uuids(let set), .uuid(let uuid)): return set.contains(uuid)
            case (.identities(let set), .object(let object)): return set.contains(object)
            default: break
            }
        }
        return elements.contains { Comparison.equal($0, value) }
    }

    private func makeIndex() -> Index {
        switch elements[0] {
        case .string: all { if case .string(let element) = $0 { element } else { nil } }.map(Index.strings) ?? .none
        case .integer: all { if case .integer(let element) = $0 { element } else { nil } }.map(Index.integers) ?? .none
        case .uuid: all { if case .uuid(let element) = $0 { element } else { nil } }.map(Index.uuids) ?? .none
        case .object:
            // The identity of an object that is not frozen may change when it is saved; an index of it would not notice.
            all { if case .object(let element) = $0, element.isFrozen { element } else { nil } }.map(Index.identities) ?? .none
        default: .none
        }
    }

    private func all<Element: Hashable>(_ extract: (PredicateValue) -> Element?) -> Set<Element>? {
        var set = Set<Element>(minimumCapacity: elements.count)
        for element in elements {
            guard let extracted = extract(element) else { return nil }
            set.insert(extracted)
        }
        return set
    }
}

/// An object whose values are reached by name.
///
/// On Apple's platforms this is a part of `NSObject`. Here predicates and sort descriptors read objects that conform, dictionaries
/// with string keys (`[String: Any]`, `NSDictionary`), and, element by element, arrays and sets of either.
public protocol KeyValueCoding {
    /// The value of a property: nil, a value, another object that conforms, or a collection of such.
    func value(forKey key: String) -> Any?
}

/// The same without the detour over `Any`: asked first where an object offers both.
package protocol PredicateValueProviding {
    func predicateValue(forKey key: String) -> PredicateValue
}

/// A collection that hands out its elements without the detour over `Any`.
package protocol PredicateCollectionProviding {
    var predicateCollection: PredicateCollection { get }
}
