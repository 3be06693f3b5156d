import OpenCoreData

/// What is remembered of all pages of a resource, as it was when a run read it in one go: to ask the store for one page after the other costs more than what a
/// small page says.
struct KnownRequests: Sendable {
    /// Pages that were read under the rules of today, but for those that the run has read, in the order in which they were stored; nil: they are too many.
    private let pages: [(key: String, request: StoredRequest)]?
    private let places: [String: Int]
    /// Nothing is stored of any page but those that the run has read itself: what it writes of others is new.
    let isBlank: Bool

    /// Of how many pages this much is kept in memory.
    static let most = 10_000
    /// How many pages, and how many of their records, are a group.
    private static let groupSize = (pages: 200, records: 20_000)

    /// On the context's queue.
    ///
    /// - Parameters:
    ///   - read: the pages that the run has read.
    ///   - most: of more pages nothing is kept.
    init(
        of scope: ResourceScope, fingerprint: String, besides read: Set<String>, most: Int = most, in worker: NSManagedObjectContext
    ) throws {
        let rows = try StateRow<RequestTable>.all(where: [.isEqual(\.scope, "\(scope)")], limit: most + 1, in: worker)
        guard rows.count <= most else {
            (pages, places, isBlank) = (nil, [:], false)
            return
        }
        let pages = rows.compactMap { row -> (key: String, request: StoredRequest)? in
            guard row.mapping == fingerprint, !read.contains(row.request) else { return nil }
            return row.remembered.map { (row.request, $0) }
        }
        self.pages = pages
        places = Dictionary(pages.indices.map { (pages[$0].key, $0) }) { $1 }
        isBlank =
            try rows.allSatisfy { read.contains($0.request) }
            && StoredKeys.entries(of: scope, in: worker).allSatisfy { $0.request.isEmpty || read.contains($0.request) }
    }

    /// Whether all pages are here. If not, each has to be asked for.
    var isWhole: Bool { pages != nil }

    subscript(key: String) -> StoredRequest? { places[key].flatMap { pages?[$0].request } }

    /// A page and some of those that were stored after it, which likely follow it in the listing, too: as many as are read together.
    ///
    /// - Parameter isMeant: whether a page other than the first is to be among them.
    func group(from key: String, where isMeant: (String, StoredRequest) -> Bool) -> [String] {
        guard let pages, let first = places[key] else { return [] }
        var group = [key], records = pages[first].request.facts?.records ?? 0
        for page in pages[(first + 1)...] where isMeant(page.key, page.request) {
            let count = page.request.facts?.records ?? 0
            guard group.count < Self.groupSize.pages, records <= Self.groupSize.records - count else { break }
            group.append(page.key)
            records += count
        }
        return group
    }
}
