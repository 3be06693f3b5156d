import Foundation
import Synchronization

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
