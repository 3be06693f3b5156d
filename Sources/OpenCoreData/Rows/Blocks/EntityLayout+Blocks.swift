extension EntityLayout {
    /// Whether new rows may travel in blocks: what the model asks of a value is seen from the value, and that a row names an object changes nothing about
    /// that one but who its members are.
    package var isBlockable: Bool {
        guard countedToManys.isEmpty, !hasTransients, !hasDerived, composites.isEmpty, constraints.count == 1,
            entity.superentity == nil, entity.subentities.isEmpty, !rules.contains(where: \.asksMore)
        else { return false }
        return slots.indices.allSatisfy { slot in relationship(atSlot: slot)?.isPlain ?? kinds[slot].isPackable }
            && constraints[0].slots.allSatisfy { kinds[$0].hasExactForms }
    }

    /// Whether rows in blocks may list objects in a to-many: its pairs have no order and no number that they must have, and are written once.
    ///
    /// - Parameter number: that of the to-many.
    package func isListable(_ number: Int) -> Bool {
        let relationship = toManys[number], inverse = relationship.inverseRelationship
        guard !relationship.isKeptInMembers, let destination = relationship.destinationEntity, destination !== entity,
            destination.superentity == nil, destination.subentities.isEmpty
        else { return false }
        return [relationship, inverse].allSatisfy { $0.map { !$0.isOrdered && !$0.hasCounts } ?? true }
    }
}

extension NSRelationshipDescription {
    /// Whether a to-one is a key in a column, and its other end, if it has one, is nothing but the rows that have the key.
    fileprivate var isPlain: Bool {
        guard let destinationEntity, destinationEntity.superentity == nil, destinationEntity.subentities.isEmpty else { return false }
        return inverseRelationship.map { $0.isToMany && !$0.isOrdered && !$0.hasCounts } ?? true
    }
}

extension AttributeKind {
    /// Whether each of its values has one form, which its column takes as it is.
    fileprivate var isPackable: Bool {
        switch (form, column) {
        case (.int64, .integer), (.double, .double), (.bool, .boolean), (.date, .date), (.string, .string), (.data, .data), (.uuid, .uuid): true
        default: false
        }
    }

    /// Whether two values that are equal are packed alike.
    fileprivate var hasExactForms: Bool { form == .int64 || form == .string || form == .uuid }
}
