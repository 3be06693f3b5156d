extension NSFetchRequest {
    /// A copy that does not say what its results are.
    func erased() -> NSFetchRequest<any NSFetchRequestResult> {
        let copy = entityName.map { NSFetchRequest<any NSFetchRequestResult>(entityName: $0) } ?? NSFetchRequest<any NSFetchRequestResult>()
        if let entity { copy.entity = entity }
        copy.affectedStores = affectedStores
        copy.predicate = predicate
        copy.sortDescriptors = sortDescriptors
        copy.fetchLimit = fetchLimit
        copy.fetchOffset = fetchOffset
        copy.fetchBatchSize = fetchBatchSize
        copy.resultType = resultType
        copy.includesSubentities = includesSubentities
        copy.includesPropertyValues = includesPropertyValues
        copy.returnsObjectsAsFaults = returnsObjectsAsFaults
        copy.includesPendingChanges = includesPendingChanges
        copy.returnsDistinctResults = returnsDistinctResults
        copy.shouldRefreshRefetchedObjects = shouldRefreshRefetchedObjects
        copy.propertiesToFetch = propertiesToFetch
        copy.relationshipKeyPathsForPrefetching = relationshipKeyPathsForPrefetching
        return copy
    }
}
