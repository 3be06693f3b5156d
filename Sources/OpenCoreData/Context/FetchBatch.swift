/// The objects of one batch of a fetch (`fetchBatchSize`): faults without values, until the first of them is used. Then the rows of all are
/// loaded with one query. On the context's queue.
final class FetchBatch {
    let ids: ArraySlice<NSManagedObjectID>
    /// Whether all of them are realised when their rows come.
    let realises: Bool
    /// Relationships whose targets are loaded with them.
    let prefetched: PrefetchPaths
    /// Whether nobody has loaded the rows yet.
    var isWaiting = true

    init(_ ids: ArraySlice<NSManagedObjectID>, _ options: ObjectFetchOptions) {
        self.ids = ids
        realises = !options.asFaults
        prefetched = options.prefetched
    }
}

/// What a fetch of objects asks for beyond the objects.
struct ObjectFetchOptions {
    /// 0: all at once.
    var batchSize = 0
    var asFaults = true
    var prefetched = PrefetchPaths([])
    /// Objects that are realised already take over the values found.
    var refreshes = false
    /// Whether rows are fetched together with the identities.
    var includesRows: Bool { batchSize == 0 && loadsRows }
    private var loadsRows = true

    init<T>(_ request: NSFetchRequest<T>) {
        loadsRows = request.includesPropertyValues || !request.returnsObjectsAsFaults
        batchSize = loadsRows ? max(0, request.fetchBatchSize) : 0
        asFaults = request.returnsObjectsAsFaults
        prefetched = PrefetchPaths(request.relationshipKeyPathsForPrefetching ?? [])
        refreshes = request.shouldRefreshRefetchedObjects
    }
}
