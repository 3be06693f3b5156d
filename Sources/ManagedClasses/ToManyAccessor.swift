/// A method that Core Data makes for a to-many relationship, known by its name and labels.
struct ToManyAccessor {
    private enum Verb {
        case add, remove, insert, removeAt, replace
    }

    private let verb: Verb
    /// The relationship, with a capital letter as it stands in the name.
    private let key: String

    init?(_ name: String, _ labels: [String?]) {
        let shapes: [(prefix: String, suffix: String, labels: [String?], verb: Verb)] = [
            ("addTo", "", [nil], .add), ("removeFrom", "", [nil], .remove), ("insertInto", "", [nil, "at"], .insert),
            ("removeFrom", "", ["at"], .removeAt), ("replace", "", ["at", "with"], .replace),
            // Names of before Swift's own.
            ("add", "Object", [nil], .add), ("remove", "Object", [nil], .remove), ("add", "", [nil], .add), ("remove", "", [nil], .remove),
        ]
        for shape in shapes where labels == shape.labels && name.hasPrefix(shape.prefix) && name.hasSuffix(shape.suffix) {
            let key = name.dropFirst(shape.prefix.count).dropLast(shape.suffix.count)
            guard let first = key.first, first == "_" || !first.isLowercase else { continue }
            self.key = String(key)
            verb = shape.verb
            return
        }
        return nil
    }

    /// The statement that does it, with parameters `p0` and `p1`.
    ///
    /// - Parameter isSingle: whether a parameter is one index.
    /// - Parameter indexes: several, as an `NSIndexSet`.
    func call(isSingle: (Int) -> Bool, indexes: (Int) -> String) -> String {
        switch verb {
        case .add: "addManagedMembers(p0, toProperty: \"\(key)\")"
        case .remove: "removeManagedMembers(p0, fromProperty: \"\(key)\")"
        case .removeAt where isSingle(0): "removeManagedMember(fromProperty: \"\(key)\", at: p0)"
        case .removeAt: "removeManagedMembers(fromProperty: \"\(key)\", at: \(indexes(0)))"
        case .insert where isSingle(1): "insertManagedMember(p0, intoProperty: \"\(key)\", at: p1)"
        case .insert: "insertManagedMembers(p0, intoProperty: \"\(key)\", at: \(indexes(1)))"
        case .replace where isSingle(0): "replaceManagedMember(ofProperty: \"\(key)\", at: p0, with: p1)"
        case .replace: "replaceManagedMembers(ofProperty: \"\(key)\", at: \(indexes(0)), with: p1)"
        }
    }
}
