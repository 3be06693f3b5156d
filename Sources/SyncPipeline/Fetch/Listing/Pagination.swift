import Foundation
public import SyncConfiguration

/// Leads through a listing, page by page: given what a page says, it names the next one or the end. Pure; it sees no network and no clock.
///
/// Any rule that says "end" ends the listing. If at that moment anything else promises more, the listing is not complete. The same records twice, or
/// a link back, means a server that goes in circles; that fails the run rather than filling it with repetitions. The same token twice does not:
/// servers that scroll send one token for all pages.
public struct Pagination: Sendable {
    /// What comes after a page.
    public enum Step: Sendable, Hashable {
        /// Another page.
        case next(PageRequest)
        /// Nothing.
        case end(PaginationEnd)
        /// The repeat guard: the run fails.
        case repetition(Repetition)
    }

    /// What came twice.
    public enum Repetition: String, Sendable, Hashable {
        /// What leads on leads to a page that was already requested: a link, an offset after a page without records, or a last record that was that
        /// of an earlier page, too. Cursors may repeat.
        case token = "the same next page twice"
        /// Two pages hold the same; empty ones count only at the same address.
        case body = "the same body twice"
        /// The token cannot be sent: too long, or with characters that the place does not allow.
        case unusableToken = "a token that cannot be sent"
    }

    /// The longest token that is sent.
    static let longestToken = 8192

    private let kind: PaginationConfiguration.Kind
    private let stop: PaginationConfiguration.StopRules
    private let maxPages: Int
    private let maxRecords: Int
    private let start: ListingStart
    private let pageSize: Int?
    /// The last page says what the next run goes on from. Until then there may be pages without records: nothing has changed in what they are of.
    private let endsWithToken: Bool

    /// The page to be asked for now.
    public private(set) var request: PageRequest
    /// How many pages have been taken in.
    public private(set) var pages = 0
    /// How many records they had.
    public private(set) var records = 0
    private var total: Int?
    private var doubts: [PaginationEnd.Doubt] = []
    private var seenTokens: Set<BodyDigest> = []
    private var seenBodies: Set<String> = []

    /// The beginning of a listing.
    /// - Parameters:
    ///   - configuration: the `pages` table.
    ///   - limits: its `max_pages` counts if it is the smaller one.
    ///   - first: the first address, without pagination parameters and credentials.
    ///   - method: how pages are asked for.
    ///   - body: what each request sends, but for what says which page is meant; nil: nothing.
    public init(
        _ configuration: PaginationConfiguration, limits: LimitsConfiguration, first: HTTPAddress, method: RequestMethod = .get,
        body: RequestBody? = nil
    ) {
        self.init(configuration, limits: limits, start: ListingStart(address: first, method: method, body: body), endsWithToken: false)
    }

    private init(_ configuration: PaginationConfiguration, limits: LimitsConfiguration, start: ListingStart, endsWithToken: Bool) {
        kind = configuration.kind
        stop = configuration.stop
        maxPages = max(1, min(configuration.stop.maxPages, limits.maxPages))
        maxRecords = limits.maxRecords
        self.start = start
        self.endsWithToken = endsWithToken
        switch configuration.kind {
        case .page(let numbers):
            pageSize = numbers.sizeParameter == nil ? nil : numbers.size
            // The configuration has made sure that there is a place for it.
            request = Self.numbered(start, numbers, index: 0) ?? start.request
        case .offset(let offset):
            pageSize = offset.limitParameter == nil ? nil : offset.limit
            request = Self.beginning(start, offset, after: 0) ?? start.request
        case .none, .cursor, .keyset, .linkHeader, .bodyLink, .graphQL:
            pageSize = nil
            request = start.request
        }
        // The first page counts as requested: a token that leads back to it is a circle.
        seenTokens.insert(BodyDigest(of: request.key))
    }

    /// The beginning of a resource's listing, its templates filled.
    init(_ resource: ResourceConfiguration, first: HTTPAddress) {
        self.init(resource, start: ListingStart(address: first, method: resource.method, body: resource.body))
    }

    /// The same from somewhere else on.
    init(_ resource: ResourceConfiguration, start: ListingStart) {
        self.init(resource.pagination, limits: resource.limits, start: start, endsWithToken: resource.incremental?.token != nil)
    }

    /// Takes a page in and says what comes after it.
    public mutating func advance(_ facts: PageFacts) -> Step {
        pages += 1
        records += facts.records
        guard seenBodies.insert(body(facts)).inserted else { return .repetition(.body) }
        note(facts)
        var rules = endingRules(facts)
        if !rules.isEmpty { return .end(end(rules, facts)) }
        switch nextPage(facts) {
        case .next(let next):
            let isNew = seenTokens.insert(BodyDigest(of: next.key)).inserted
            if !isNew && !kind.mayRepeat { return .repetition(.token) }
            guard pages < maxPages else {
                doubts.append(.cut(pages: pages))
                rules = [.maxPages]
                return .end(end(rules, facts))
            }
            guard records < maxRecords else {
                doubts.append(.cutAtRecords(records))
                rules = [.maxRecords]
                return .end(end(rules, facts))
            }
            request = next
            return .next(next)
        case .end(let rule):
            return .end(end([rule], facts))
        case .unusable:
            return .repetition(.unusableToken)
        }
    }

    /// The page that will follow the one being requested; nil: there is none, or it is not new. Whether it is requested is decided when the current page
    /// has been taken in.
    ///
    /// - Parameter facts: what the current page says of its listing, before its records are read.
    func foreseen(_ facts: PageFacts) -> PageRequest? {
        if seenBodies.contains(body(facts)) { return nil }
        var after = self
        // What has been seen is not copied for every page.
        (after.seenBodies, after.seenTokens) = ([], [])
        guard case .next(let next) = after.advance(facts) else { return nil }
        return seenTokens.contains(BodyDigest(of: next.key)) ? nil : next
    }

    /// Two pages may both be empty; two that hold the same records are a repetition.
    private func body(_ facts: PageFacts) -> String {
        facts.records > 0 ? "\(facts.digest)" : "\(facts.digest) \(request.key)"
    }

    // MARK: Rules

    /// What is remembered about a page for the judgement at the end.
    private mutating func note(_ facts: PageFacts) {
        if let announced = facts.total {
            if let total, total != announced, !doubts.contains(where: { if case .totalChanged = $0 { true } else { false } }) {
                doubts.append(.totalChanged(from: total, to: announced))
            }
            total = announced
        }
        if facts.hasConflictingLinks { doubts.append(.conflictingLinks) }
        if facts.isLoneObject { doubts.append(.loneObject) }
        if facts.isNull { doubts.append(.null) }
        for what in facts.unreadable where !doubts.contains(.unreadable(what)) { doubts.append(.unreadable(what)) }
        if facts.records > 0, facts.rejected >= facts.records { doubts.append(.nothingMapped(page: pages)) }
    }

    private func endingRules(_ facts: PageFacts) -> [PaginationEnd.Rule] {
        var rules: [PaginationEnd.Rule] = []
        if case .none = kind { rules.append(.singlePage) }
        // Where every page says whether there is more, one without records may be one whose records nobody here may see.
        let goesOn = kind.hasMorePath != nil && facts.hasMore == true || endsWithToken && facts.token == nil && namesNextPage(facts)
        if stop.emptyPage, facts.records == 0, !facts.hasEmptyLists, !goesOn { rules.append(.emptyPage) }
        if stop.shortPage, let pageSize, facts.records < pageSize { rules.append(.shortPage) }
        if facts.hasMore == false { rules.append(.hasMore) }
        if let total = facts.total, records >= total { rules.append(.total) }
        if let totalPages = facts.totalPages, pages >= totalPages { rules.append(.totalPages) }
        return rules
    }

    /// Whether the page itself says where the listing continues.
    private func namesNextPage(_ facts: PageFacts) -> Bool {
        kind.tokenOrigin != nil && facts.cursor != nil || kind.linkRelation != nil && facts.nextLink != nil
    }

    private func end(_ rules: [PaginationEnd.Rule], _ facts: PageFacts) -> PaginationEnd {
        var doubts = doubts
        if rules.contains(.noLastValue), let path = kind.lastRecordPath { doubts.append(.noLastValue(page: pages, path: "\(path)")) }
        if facts.hasMore == true { doubts.append(.moreWasPromised) }
        if let total = facts.total ?? total {
            if records < total { doubts.append(.recordsMissing(seen: records, total: total)) }
            if records > total { doubts.append(.recordsTooMany(seen: records, total: total)) }
        }
        if let totalPages = facts.totalPages, pages < totalPages { doubts.append(.pagesMissing(seen: pages, total: totalPages)) }
        // A body that explicitly says there is no more is believed over a link or token that is always present.
        let wasCut = rules == [.maxPages] || rules == [.maxRecords]
        if facts.hasMore != false, !wasCut {
            if let refused = facts.refusedLink {
                doubts.append(.linkRefused(refused))
            } else if facts.nextLink != nil {
                doubts.append(.linkNotFollowed)
            } else if facts.hasUnreadableLink {
                doubts.append(.linkUnreadable)
            }
            let isCounted = rules.contains(.total) || rules.contains(.totalPages)
            if kind.tokenIsLink {
                if facts.cursor != nil { doubts.append(.bodyLinkNotFollowed) }
            } else if facts.cursor != nil, !isCounted, !leadsToItself(facts), kind.tokenOrigin != nil {
                doubts.append(.cursorNotFollowed)
            }
        }
        return PaginationEnd(rules: rules, doubts: doubts)
    }

    /// An empty page whose token is the one that led to it: a scroll that has ended, but still sends its token.
    private func leadsToItself(_ facts: PageFacts) -> Bool {
        guard facts.records == 0, pages > 1, case .next(let next) = nextPage(facts) else { return false }
        return next.key == request.key
    }

    // MARK: Next page

    private enum NextPage {
        case next(PageRequest)
        case end(PaginationEnd.Rule)
        case unusable
    }

    private func nextPage(_ facts: PageFacts) -> NextPage {
        switch kind {
        case .none:
            return .end(.singlePage)
        case .page(let numbers):
            return Self.numbered(start, numbers, index: pages).map(NextPage.next) ?? .unusable
        case .offset(let offset):
            return Self.beginning(start, offset, after: records).map(NextPage.next) ?? .unusable
        case .linkHeader, .bodyLink:
            guard let link = kind.tokenIsLink ? facts.cursor : facts.nextLink else { return .end(.noNextLink) }
            // Stored links were made by this program; one that can no longer be read counts as refused.
            guard let address = try? HTTPAddress(link) else { return .unusable }
            return .next(start.request(at: address))
        case .cursor(let rule):
            guard let cursor = facts.cursor, !cursor.isEmpty else { return .end(.noCursor) }
            return nextPage(with: cursor, facts, in: rule.place, rule.parameter)
        case .graphQL(let graphQL):
            guard let cursor = facts.cursor, !cursor.isEmpty else { return .end(.noCursor) }
            return nextPage(with: cursor, facts, in: .body, graphQL.parameter)
        case .keyset(let keyset):
            guard let value = facts.cursor, !value.isEmpty else { return .end(.noLastValue) }
            return nextPage(with: value, facts, in: keyset.place, keyset.parameter)
        }
    }

    /// The first request with a token in it: in a JSON body as what it is in the answer, a text or a number.
    private func nextPage(
        with token: String, _ facts: PageFacts, in place: PaginationConfiguration.Place, _ parameter: String
    ) -> NextPage {
        guard token.utf8.count <= Self.longestToken else { return .unusable }
        if place == .header, !token.utf8.allSatisfy({ $0 > 0x1F && $0 != 0x7F }) { return .unusable }
        let value = facts.isCursorNumber ? BodyValue.number(token) : BodyValue.text(token)
        return start.request(with: [(parameter, value)], in: place).map(NextPage.next) ?? .unusable
    }

    private static func numbered(_ start: ListingStart, _ numbers: PaginationConfiguration.PageNumber, index: Int) -> PageRequest? {
        var values = [(parameter: numbers.parameter, value: BodyValue.number("\(numbers.start &+ index)"))]
        if let size = numbers.sizeParameter { values.append((size, .number("\(numbers.size)"))) }
        return start.request(with: values, in: numbers.place)
    }

    /// The page that begins after so many records: as many as came, set aside or not. Counting by `limit` would leave records out, because a server
    /// that caps the size of its pages sends fewer than it is asked for.
    private static func beginning(_ start: ListingStart, _ offset: PaginationConfiguration.Offset, after records: Int) -> PageRequest? {
        var values = [(parameter: offset.parameter, value: BodyValue.number("\(offset.start &+ records)"))]
        if let limit = offset.limitParameter { values.append((limit, .number("\(offset.limit)"))) }
        return start.request(with: values, in: offset.place)
    }
}
