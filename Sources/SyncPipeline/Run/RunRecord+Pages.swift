import OpenCoreData

/// What a run's end means for the pages that are remembered.
extension RunRecord {
    /// For how many runs that did not reach the end of the listing pages are remembered.
    private static let unfinished: Int64 = 3

    /// Forgets pages that are no longer in the listing, and what the others vouched for before it. For a listing that never ends, the pages of the
    /// last runs are kept, in case they are requested again; the resource itself vouches for the rows of the others. So it does for those of a page
    /// that has a row which is gone: if the page comes again, it is read.
    ///
    /// - Returns: the pages that are no longer remembered.
    func forgetRequests(
        _ stored: [StoredKeys.Entry], isListing: Bool, gone: KeyRuns, in worker: NSManagedObjectContext
    ) throws -> Set<String> {
        var forgotten: Set<String> = []
        func hasGone(_ entry: StoredKeys.Entry) -> Bool { !gone.isEmpty && entry.keys?.intersection(gone).isEmpty == false }
        let outdated = Set(stored.filter { $0.kind == .members && hasGone($0) }.map(\.request))
        for row in try StateRow<RequestTable>.all(where: [.isEqual(\.scope, "\(scope)")], in: worker) {
            if !outdated.contains(row.request) {
                guard !tally.requestKeys.contains(row.request) else { continue }
                guard isListing || (row.run > state.completeRun && row.run <= state.number - Self.unfinished) else { continue }
            }
            forgotten.insert(row.request)
            if row.manifest > 0 { try StoredManifest.delete(ofPage: row.request, scope: row.scope, in: worker) }
            row.delete(in: worker)
        }
        if isListing { try doubtPages(sharing: releasedKeys(stored, forgotten), stored, besides: forgotten, in: worker) }
        for entry in stored where !entry.request.isEmpty && entry.kind != .gone {
            if forgotten.contains(entry.request) || (isListing && entry.kind == .previous) {
                entry.delete(in: worker)
            } else if entry.kind == .previous, hasGone(entry), let keys = entry.keys {
                entry.replace(by: keys.subtracting(gone), in: worker)
            }
        }
        return forgotten
    }

    /// The rows that pages listed before this run and do not list any more.
    private func releasedKeys(_ stored: [StoredKeys.Entry], _ forgotten: Set<String>) -> KeyRuns {
        stored.reduce(into: KeyCollector()) { released, entry in
            if entry.request.isEmpty { return }
            guard entry.kind == .previous || entry.kind == .members && forgotten.contains(entry.request), let keys = entry.keys else { return }
            released.add(keys)
        }.keys
    }

    /// Where two pages listed a row, it is what the later one said. When that one lists it no more, it has to be what the other one says: pages that were
    /// not read in this run, and list such a row, are read when they come next.
    private func doubtPages(
        sharing released: KeyRuns, _ stored: [StoredKeys.Entry], besides forgotten: Set<String>, in worker: NSManagedObjectContext
    ) throws {
        if released.isEmpty || tally.unmodified.isEmpty { return }
        let unmodified = Set(tally.unmodified).subtracting(forgotten)
        for entry in stored where entry.kind == .members && unmodified.contains(entry.request) {
            guard let keys = entry.keys, !keys.intersection(released).isEmpty else { continue }
            guard var page = try RequestTable.existing(of: scope, entry.request, in: worker) else { continue }
            page.facts = nil
            page.write(in: worker)
        }
    }
}
