import Foundation

extension NSManagedObject {
    /// The value of a fetched property: evaluated on first use, kept until the object is refreshed.
    final func objects(of property: NSFetchedPropertyDescription) -> [NSManagedObject] {
        guard let context else { return [] }
        context.checkQueue()
        if let known = fetched[property.name] { return known.map { context.object(with: $0) } }
        guard let request = property.fetchRequest else { return [] }
        let found: [NSManagedObject]
        do {
            let node = request.predicate?.node.resolvingFetch(source: self, property: property)
            request.predicate = node.map { NSPredicate.make($0) }
            found = try context.fetch(request).compactMap { $0 as? NSManagedObject }
        } catch {
            // A getter can't throw. A file that can't be read just now has no answer, which is asked for again the next time; a fetch that
            // makes no sense was settled with the model.
            if (error as NSError).userInfo[NSSQLiteErrorDomain] != nil { return [] }
            Violation.misuse("the fetched property \(entity.name ?? "?").\(property.name) can't be evaluated: \(error.localizedDescription)")
        }
        fetched[property.name] = found.map(\.objectID)
        return found
    }
}

extension PredicateNode {
    /// The predicate for one object: its variables replaced, and what hangs on them by keys read from the object as it is now, because a store
    /// knows nothing of unsaved values.
    fileprivate func resolvingFetch(source: NSManagedObject, property: NSFetchedPropertyDescription) -> PredicateNode {
        substituting(["FETCH_SOURCE": .object(PredicateObject(source)), "FETCHED_PROPERTY": .opaque(OpaqueValue(property))])
            .mapExpressions { expression in
                guard case .keyPathOf(.constant, _) = expression else { return expression }
                return (try? expression.evaluate(in: EvaluationScope(nil))).map { .constant($0) } ?? expression
            }
    }
}
