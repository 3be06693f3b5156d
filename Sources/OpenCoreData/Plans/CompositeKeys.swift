import Foundation

/// Key paths into composite attributes. Rows know an element by its path, so that all who follow key paths take those keys as one.
extension NSEntityDescription {
    /// The keys of a path from objects of this entity, those into a composite as one: `magnitude`, `richter` become `magnitude.richter`. The model must be
    /// frozen.
    package func folded(_ keys: [String]) -> [String] { folded(PredicateKeyPath(keys: keys)).keys ?? keys }

    /// The same with collection operators: what follows one is asked of the elements of the collection.
    package func folded(_ path: PredicateKeyPath) -> PredicateKeyPath {
        var steps: [PredicateKeyPath.Step] = [], owner: NSEntityDescription? = self
        var open: String?
        for step in path.steps {
            guard case .key(let key) = step else {
                if let whole = open { steps.append(.key(whole)) }
                open = nil
                steps.append(step)
                continue
            }
            let name = open.map { "\($0).\(key)" } ?? key
            open = nil
            switch owner?.layout.place(of: name) {
            case .composite?:
                open = name
                continue
            case .slot(let slot)?: owner = owner?.layout.relationship(atSlot: slot)?.destinationEntity
            case .toMany(let number)?: owner = owner?.layout.toManys[number].destinationEntity
            case nil: if key != "self" && key != "objectID" { owner = nil }
            }
            steps.append(.key(name))
        }
        if let whole = open { steps.append(.key(whole)) }
        return PredicateKeyPath(steps: steps)
    }

    /// The composite that folded keys lead to.
    package func composite(at keys: [String]) -> CompositeLayout? {
        var owner: NSEntityDescription? = self
        for (index, key) in keys.enumerated() {
            switch owner?.layout.place(of: key) {
            case .composite(let number)?: return index == keys.count - 1 ? owner?.layout.composites[number] : nil
            case .slot(let slot)?: owner = owner?.layout.relationship(atSlot: slot)?.destinationEntity
            case .toMany(let number)?: owner = owner?.layout.toManys[number].destinationEntity
            case nil: if key != "self" { return nil }
            }
        }
        return nil
    }
}

extension ExpressionNode {
    /// The expression with its key paths folded; those of variables and of other expressions stay.
    func folded(for entity: NSEntityDescription) -> ExpressionNode {
        mapExpressions { node in
            if case .keyPath(let path) = node { .keyPath(entity.folded(path)) } else { node }
        }
    }
}

extension [String: Any] {
    /// Puts a value under the last of these keys, in dictionaries under those before it.
    mutating func nest(_ value: Any, under keys: ArraySlice<String>) {
        guard let key = keys.first else { return }
        if keys.count == 1 {
            self[key] = value
        } else {
            var inner = self[key] as? [String: Any] ?? [:]
            inner.nest(value, under: keys.dropFirst())
            self[key] = inner
        }
    }
}
