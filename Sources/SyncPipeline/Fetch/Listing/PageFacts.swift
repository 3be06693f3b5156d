import Foundation
import NIOHTTP1
public import SyncConfiguration

/// What one page says about the listing it belongs to: all that the paginator needs, and nothing else.
///
/// It can be stored beside a page's validators. A page that was not modified then leads on as it did when it was read.
public struct PageFacts: Sendable, Hashable {
    /// The number of records on the page.
    public var records: Int
    /// The digest of the body.
    public var digest: BodyDigest
    /// Where the `Link` header leads on to, absolute and without credentials; nil if it does not.
    public var nextLink: String?
    /// Why the next page that the `Link` header or a link in the body leads to cannot be asked for, if there is one that cannot.
    public var refusedLink: String?
    /// Whether the `Link` header names several different next pages.
    public var hasConflictingLinks: Bool
    /// The token of the next page: where a link in the body leads on, its address, absolute and without credentials; where the last record does, its
    /// value. Nil if the page has none.
    public var cursor: String?
    /// Whether that is a number in the body.
    public var isCursorNumber = false
    /// What the body says about whether there is more.
    public var hasMore: Bool?
    /// The number of records of the whole listing.
    public var total: Int?
    /// The number of pages of the whole listing.
    public var totalPages: Int?
    /// Whether the `Link` header holds something that cannot be read and may be the next page.
    public var hasUnreadableLink = false
    /// Where the body holds something about the listing that cannot be read.
    public var unreadable: [String] = []
    /// How many of the records were set aside.
    public var rejected = 0
    /// How many of those could not even be identified by their key: the page may list any row.
    public var unidentified = 0
    /// How many of the records `filter` leaves out. They count as records of the page that were read, and as none that anybody wants.
    public var leftOut = 0
    /// How many of the records are wanted.
    var wanted: Int { records - leftOut }
    /// Whether there was an object where no records were declared.
    public var isLoneObject = false
    /// Whether `null` was there: no records, and not an empty list either.
    public var isNull = false
    /// Whether it has no records, but what such records would be in, as groups that happen to be empty: there may be some on the next page. A page of which
    /// it is so is not remembered.
    var hasEmptyLists = false
    /// Whether it has no body, or one of which was said that there is nothing in it: what it does not say, it does not deny.
    var saysNothing = false
    /// How new its records are; nil where nobody asks. Of a page that was not read it is what is stored of it.
    var span: CursorSpan? {
        didSet { (newest, last) = (span?.newest?.text, span?.last?.text) }
    }
    /// What the next run goes on from, as it may be stored and sent; nil: the page has nothing of the kind.
    var token: String?
    /// Why the one that it has is of no use.
    var refusedToken: String?
    /// How new the newest and the last of its records are, as `SyncCursor` writes it.
    var newest: String?
    var last: String?

    /// Whether the page belongs to a listing, and says how it continues. A page that does not – an error with status 200 – may come with the
    /// validators of the page it replaces, and a "not modified" response would then refer to the error.
    var isSound: Bool {
        !isLoneObject && !isNull && unreadable.isEmpty && !hasConflictingLinks && !hasUnreadableLink && (records == 0 || rejected < records)
    }

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
    ///   - cursor: the text at the path of the cursor or of the next link, if that is in the body, or the value of the last record; nil, or empty, if
    ///     there is none.
    ///   - hasMore: the truth value at `stop.has_more`.
    ///   - total: the number at `stop.total`.
    ///   - totalPages: the number at `stop.total_pages`.
    public init(
        page: FetchedPage, pagination: PaginationConfiguration, settings: FetchSettings, records: Int, cursor: String? = nil,
        hasMore: Bool? = nil, total: Int? = nil, totalPages: Int? = nil
    ) {
        self.init(
            records: records, digest: page.content.digest, cursor: cursor?.isEmpty == true ? nil : cursor, hasMore: hasMore, total: total,
            totalPages: totalPages)
        if case .header(let header)? = pagination.kind.tokenOrigin { takeCursor(page.headers, header) }
        takeLinks(page.headers, from: page.address, pagination: pagination, settings: settings)
        if pagination.kind.tokenIsLink, let link = self.cursor { takeLinkInBody(link, from: page.address, settings: settings) }
    }

    /// What a page that was not modified says now: its body is unchanged, but its headers need not be, because a full page leads on as soon as there
    /// is one more record. Nil: the listing now continues where it ended, or ends where it continued, and the page must be read again to be
    /// remembered that way.
    func renewed(by page: UnmodifiedPage, pagination: PaginationConfiguration, settings: FetchSettings) -> PageFacts? {
        // A 304 may leave out what it would repeat: a header that is not there says what it said before.
        func says(_ header: String) -> Bool { page.evidence != .status || !page.headers[header].isEmpty }
        var facts = self
        if says("Link") {
            (facts.nextLink, facts.refusedLink, facts.hasConflictingLinks, facts.hasUnreadableLink) = (nil, nil, false, false)
            facts.takeLinks(page.headers, from: page.address, pagination: pagination, settings: settings)
        }
        if case .header(let header)? = pagination.kind.tokenOrigin, says(header) { facts.takeCursor(page.headers, header) }
        if pagination.kind.tokenIsLink {
            // Where a link may lead is for the configuration to say, and it may say otherwise now. One that was refused is not remembered.
            if cursor == nil, refusedLink != nil { return nil }
            if let cursor { facts.takeLinkInBody(cursor, from: page.address, settings: settings) }
        }
        let isSame = (facts.nextLink == nil) == (nextLink == nil) && (facts.cursor == nil) == (cursor == nil)
        return isSame ? facts : nil
    }

    private mutating func takeCursor(_ headers: HTTPHeaders, _ header: String) {
        (cursor, isCursorNumber) = (headers.first(name: header), false)
        if cursor?.isEmpty == true { cursor = nil }
    }

    private mutating func takeLinks(
        _ headers: HTTPHeaders, from address: HTTPAddress, pagination: PaginationConfiguration, settings: FetchSettings
    ) {
        let relation = pagination.kind.linkRelation ?? "next"
        let (links, unreadable) = LinkHeader.read(headers["Link"])
        let targets = LinkHeader.targets(of: relation, in: links)
        hasConflictingLinks = targets.count > 1
        hasUnreadableLink = unreadable.contains { pagination.kind.linkRelation != nil || $0.lowercased().contains(relation.lowercased()) }
        if let target = targets.first {
            do {
                nextLink = try Self.follow(target, from: address, settings: settings).url.absoluteString
            } catch {
                refusedLink = "\(error)"
            }
        }
    }

    /// A link in the body is treated as one in a header, and its address is the token of the next page.
    private mutating func takeLinkInBody(_ link: String, from address: HTTPAddress, settings: FetchSettings) {
        do {
            cursor = try Self.follow(link, from: address, settings: settings).url.absoluteString
        } catch {
            (cursor, refusedLink) = (nil, "\(error)")
        }
    }

    /// A next link is treated like a redirect: what the request sends stays with its origin.
    static func follow(_ target: String, from address: HTTPAddress, settings: FetchSettings) throws(Refusal) -> HTTPAddress {
        let next = try settings.authentication.clearing(try address.resolving(target), of: settings.first)
        guard address.origin.scheme != "https" || next.origin.scheme == "https" else { throw .downgrade }
        guard settings.http.nextLinks != .none else { throw .nextLinksNotAllowed }
        if next.origin != settings.first.origin {
            guard !settings.sendsContent else { throw .contentForOtherOrigin(next.origin) }
            guard settings.http.nextLinks == .any else { throw .otherOrigin(next.origin) }
        }
        guard !settings.authentication.leaks(to: next) else { throw .credentialLeak }
        return next
    }
}
