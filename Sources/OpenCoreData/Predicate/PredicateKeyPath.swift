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
