import Foundation
import NIOHTTP1
public import SyncConfiguration

/// What one page says about the listing it belongs to: all that the paginator needs, and nothing else.
///
/// It can be stored beside a page's validators. A page that was not modified then leads on as it did when it was read.
public struct PageFacts: Sendable, Hashable, Codable {
    /// The number of records on the page.
    public var records: Int
    /// The digest of the body.
    public var digest: BodyDigest
    /// Where the `Link` header leads on to, absolute and without credentials; nil if it does not.
    public var nextLink: String?
    /// Why the `Link` header's next page cannot be asked for, if it has one that cannot.
    public var refusedLink: String?
    /// Whether the `Link` header names several different next pages.
    public var hasConflictingLinks: Bool
    /// The token of the next page; nil if the page has none.
    public var cursor: String?
    /// What the body says about whether there is more.
    public var hasMore: Bool?
    /// The number of records of the whole listing.
    public var total: Int?
    /// The number of pages of the whole listing.
    public var totalPages: Int?

    /// Facts from their parts.
    public init(
        records: Int, digest: BodyDigest, nextLink: String? = nil, refusedLink: String? = nil, hasConflictingLinks: Bool = false,
        cursor: String? = nil, hasMore: Bool? = nil, total: Int? = nil, totalPages: Int? = nil
    ) {
        self.records = records
        self.digest = digest
        self.nextLink = nextLink
        self.refusedLink = refusedLink
        self.hasConflictingLinks = hasConflictingLinks
        self.cursor = cursor
        self.hasMore = hasMore
        self.total = total
        self.totalPages = totalPages
    }

    /// The facts of a page that was fetched.
    /// - Parameters:
    ///   - page: the page.
    ///   - pagination: how the listing goes on.
    ///   - settings: the rules for next links.
    ///   - records: the number of records the parser found.
    ///   - cursor: the text at the cursor's path, if the cursor is in the body; nil, or empty, at the end.
    ///   - hasMore: the truth value at `stop.has_more`.
    ///   - total: the number at `stop.total`.
    ///   - totalPages: the number at `stop.total_pages`.
    public init(
        page: FetchedPage, pagination: PaginationConfiguration, settings: FetchSettings, records: Int, cursor: String? = nil,
        hasMore: Bool? = nil, total: Int? = nil, totalPages: Int? = nil
    ) {
        self.init(records: records, digest: page.digest, cursor: cursor, hasMore: hasMore, total: total, totalPages: totalPages)
        if case .cursor(let rule) = pagination.kind, case .header(let name) = rule.origin {
            self.cursor = page.headers.first(name: name)
        }
        if self.cursor?.isEmpty == true { self.cursor = nil }
        var relation = "next"
        if case .linkHeader(let configured) = pagination.kind { relation = configured }
        let targets = LinkHeader.targets(of: relation, in: LinkHeader.parse(page.headers["Link"]))
        hasConflictingLinks = targets.count > 1
        if let target = targets.first {
            do {
                nextLink = try Self.follow(target, from: page.address, settings: settings).url.absoluteString
            } catch {
                refusedLink = "\(error)"
            }
        }
    }

    /// A next link gets the same treatment as a redirect.
    private static func follow(_ target: String, from address: HTTPAddress, settings: FetchSettings) throws(Refusal) -> HTTPAddress {
        let next = settings.authentication.stripping(try address.resolving(target))
        guard address.origin.scheme != "https" || next.origin.scheme == "https" else { throw .downgrade }
        switch settings.http.nextLinks {
        case .any: break
        case .sameOrigin: if next.origin != settings.first.origin { throw .otherOrigin(next.origin) }
        case .none: throw .nextLinksNotAllowed
        }
        guard !settings.authentication.leaks(to: next) else { throw .credentialLeak }
        return next
    }
}
