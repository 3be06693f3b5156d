import OpenCoreData
import SyncConfiguration

/// What the first two pages say of the listing that they belong to.
struct ListingTests {
    let resource: ResourceConfiguration
    let redactor: Redactor
    let first: CheckedPage
    let facts: PageFacts
    /// What comes after the first page.
    let step: Pagination.Step

    /// What came of asking for the second page.
    enum Second {
        /// There is none.
        case none
        /// The page, and what comes after it; nil: it cannot be mapped.
        case page(CheckedPage, Pagination.Step?, PageRequest)
        case noPage(ResourceChecker.Answer, PageRequest)
        case unreadable(String, PageRequest)
    }

    private var pagination: PaginationConfiguration { resource.pagination }

    /// How the listing ended with a page, if it did.
    private static func end(_ step: Pagination.Step?) -> PaginationEnd? {
        if case .end(let end)? = step { end } else { nil }
    }

    // MARK: total-agrees

    /// What pages are to say of how much there is: key and path.
    private var promises: [(key: String, path: String, isSaid: Bool)] {
        let stop = pagination.stop
        var result: [(key: String, path: String, isSaid: Bool)] = []
        if let path = stop.total { result.append(("pages.stop.total", "\(path)", facts.total != nil)) }
        if let path = stop.totalPages { result.append(("pages.stop.total_pages", "\(path)", facts.totalPages != nil)) }
        if let path = stop.hasMore { result.append(("pages.stop.has_more", "\(path)", facts.hasMore != nil)) }
        if let path = stop.last { result.append(("pages.stop.last", "\(path)", facts.hasMore != nil)) }
        if let path = pagination.kind.hasMorePath { result.append(("pages.page_info", "\(path)", facts.hasMore != nil)) }
        return result
    }

    func totalAgrees(_ second: Second) -> ResourceCheck.Test {
        let promises = promises
        guard let promise = promises.first else { return .notTried(.totalAgrees, "pages.stop names nothing that would say it") }
        if let silent = promises.first(where: { !$0.isSaid }) {
            let isUnreadable = facts.unreadable.contains { $0.hasSuffix(" at \(silent.path)") }
            return .failed(
                .totalAgrees, isUnreadable ? "what is at \(silent.path) cannot be read" : "there is nothing at \(silent.path)", .answer,
                ResourceCheck.Change(silent.key, "the path at which the answer says it, or leave it out"))
        }
        let change = ResourceCheck.Change(promise.key, "the path of what is true of the whole listing, or leave it out")
        if let total = facts.total, facts.records > total {
            return .failed(.totalAgrees, "\(facts.records) records on the first page, and \(total) in all", .answer, change)
        }
        var steps = [step], pages = 1
        if case .page(let page, let after?, _) = second, let other = page.facts {
            steps.append(after)
            pages = 2
            if let total = facts.total, let now = other.total, now != total {
                return .warned(.totalAgrees, "the first page says \(total) in all, and the second \(now)", change)
            }
        }
        for end in steps.compactMap({ Self.end($0) }) {
            if let doubt = end.doubts.first(where: \.isOfCount) { return .failed(.totalAgrees, "\(doubt)", .answer, change) }
            let isCounted = end.rules.contains(.total) || end.rules.contains(.totalPages)
            if isCounted, pages == 1, facts.hasMore != false, facts.nextLink != nil || facts.cursor != nil {
                return .failed(
                    .totalAgrees, "it says that the first page is all there is, and the same answer leads on to another page", .answer, change)
            }
        }
        if pages == 1, let total = facts.total, total == facts.records, total == pageSize {
            return .warned(.totalAgrees, "it says \(total), and the page is as large as was asked for: does it count the page only?", change)
        }
        let said = [
            facts.total.map { "\($0) records in all" }, facts.totalPages.map { "\($0) pages in all" },
            facts.hasMore.map { $0 ? "there is more" : "there is no more" },
        ].compactMap { $0 }.joined(separator: ", ")
        return .passed(.totalAgrees, said)
    }

    /// How many records a page was asked to have; nil: nobody said.
    private var pageSize: Int? {
        switch pagination.kind {
        case .page(let numbers): numbers.sizeParameter == nil ? nil : numbers.size
        case .offset(let offset): offset.limitParameter == nil ? nil : offset.limit
        case .none, .cursor, .keyset, .linkHeader, .bodyLink, .graphQL: nil
        }
    }

    // MARK: second-page-differs

    func secondPageDiffers(_ second: Second) -> ResourceCheck.Test {
        switch step {
        case .repetition(let what):
            return .failed(.secondPageDiffers, what.rawValue, .answer, ResourceCheck.Change("pages", "how the service names the next page"))
        case .end(let end): return secondPage(after: end)
        case .next: break
        }
        switch second {
        case .none: return .notTried(.secondPageDiffers, "there is no second page")
        case .noPage(let answer, let request):
            guard case .failed(let error) = answer else { return .notTried(.secondPageDiffers, answer.reason ?? "it did not come") }
            return .failed(.secondPageDiffers, "\(words(request)): \(error)", AnswerTest.fault(of: error), ignoredParameter)
        case .unreadable(let why, let request):
            return .failed(.secondPageDiffers, "\(words(request)) cannot be read: \(why)", .answer, ignoredParameter)
        case .page(let page, _, let request): return compare(page, request)
        }
    }

    private func words(_ request: PageRequest) -> String { RemoteText.line(request.words(redactor), limit: 200) }

    private func secondPage(after end: PaginationEnd) -> ResourceCheck.Test {
        if let (doubt, change) = end.doubts.lazy.compactMap({ doubt in doubt.changeOfPages.map { (doubt, $0) } }).first {
            return .failed(.secondPageDiffers, RemoteText.line(redactor.redact(doubt.description), limit: 300), .answer, change)
        }
        if case .none = pagination.kind { return .notTried(.secondPageDiffers, "pages.kind is \"none\": there is one page") }
        if end.rules == [.maxPages] { return .notTried(.secondPageDiffers, "max_pages = 1 allows none") }
        return .notTried(.secondPageDiffers, "the first page is the last one (\(end.rules.map(\.rawValue).joined(separator: ", ")))")
    }

    private func compare(_ page: CheckedPage, _ request: PageRequest) -> ResourceCheck.Test {
        if page.count == 0 { return .passed(.secondPageDiffers, "the second page has no records") }
        let known = Set(first.keys.map { $0.key }), repeated = page.keys.count { known.contains($0.key) }
        let isSame = page.fetched.content.digest == first.fetched.content.digest
        if isSame || repeated > 0 && repeated == page.keys.count {
            return .failed(
                .secondPageDiffers, "\(words(request)) gives the records of the first page again, \(page.count) of \(page.count)", .answer,
                ignoredParameter)
        }
        guard repeated > 0 else { return .passed(.secondPageDiffers, "\(page.count) other records") }
        let detail = "\(repeated) of \(page.count) records of the second page are those of the first"
        return .warned(.secondPageDiffers, detail, overlap)
    }

    /// What to change where the server does not heed what says which page is meant.
    private var ignoredParameter: ResourceCheck.Change {
        func parameter(_ name: String) -> ResourceCheck.Change {
            ResourceCheck.Change("pages.param", "the parameter that the service reads; \(tomlQuoted(name)) changes nothing")
        }
        switch pagination.kind {
        case .page(let numbers) where numbers.start == 0:
            return ResourceCheck.Change("pages.start", "1, if the service counts from there; else pages.param = the parameter that it reads")
        case .page(let numbers): return parameter(numbers.parameter)
        case .offset(let offset): return parameter(offset.parameter)
        case .cursor(let cursor): return parameter(cursor.parameter)
        case .keyset(let keyset): return parameter(keyset.parameter)
        case .graphQL(let graphQL):
            return ResourceCheck.Change("pages.variable", "the variable of the query's after; \(tomlQuoted(graphQL.variable)) changes nothing")
        case .linkHeader: return ResourceCheck.Change("pages.rel", "the relation of the link that leads on")
        case .bodyLink: return ResourceCheck.Change("pages.path", "the path of the link that leads on")
        case .none: return ResourceCheck.Change("pages.kind", "how the service names the next page")
        }
    }

    private var overlap: ResourceCheck.Change? {
        switch pagination.kind {
        case .keyset: ResourceCheck.Change("pages.param", "a parameter that begins after the value, and not with it")
        case .offset: ResourceCheck.Change("pages.param", "a parameter that counts records; a listing in a fixed order")
        case .page, .cursor, .linkHeader, .bodyLink, .graphQL, .none:
            ResourceCheck.Change("params", "a fixed order, so that records do not move from page to page")
        }
    }

    // MARK: deletion-safe

    func deletionSafe() -> ResourceCheck.Test {
        guard resource.deletion.detect == .snapshot else { return .notTried(.deletionSafe, "deletion.detect is not \"snapshot\"") }
        if first.fetched.isPartial {
            return .warned(.deletionSafe, "only a part of a page came (206): no run will be complete", nil)
        }
        let (most, isBeyond) = (pageSize ?? .max).multipliedReportingOverflow(by: maxPages)
        let limit = min(resource.limits.maxRecords, isBeyond ? .max : most)
        if let total = facts.total, total > limit {
            return .warned(
                .deletionSafe, "\(total) records are announced, and a run reads no more than \(limit): it will not be complete",
                ResourceCheck.Change("limits.max_pages", "a larger number, and limits.max_records as well"))
        }
        if let total = facts.totalPages, total > maxPages {
            return .warned(
                .deletionSafe, "\(total) pages are announced, and a run reads no more than \(maxPages): it will not be complete",
                ResourceCheck.Change("limits.max_pages", "\(total) or more"))
        }
        if let doubts = Self.end(step)?.doubts, let doubt = doubts.first {
            return .warned(
                .deletionSafe, "no run is complete as long as this holds: \(RemoteText.line(redactor.redact(doubt.description), limit: 300))",
                ResourceCheck.Change("pages", "how the service names the next page"))
        }
        return endIsKnown
    }

    private var maxPages: Int { min(pagination.stop.maxPages, resource.limits.maxPages) }

    /// Whether anything but the lack of something shows that a listing is at its end.
    private var endIsKnown: ResourceCheck.Test {
        let stop = pagination.stop
        let isCounted = facts.total != nil || facts.totalPages != nil || facts.hasMore != nil
        if isCounted { return .passed(.deletionSafe, "the answer says how much there is") }
        let isRound = first.count >= 10 && (first.count.isMultiple(of: 10) || first.count.isMultiple(of: 25))
        let proof = ResourceCheck.Change("pages.stop", "{ total = \"…\" } or { has_more = \"…\" }: where the answer says how much there is")
        switch pagination.kind {
        case .none:
            guard isRound else { return .passed(.deletionSafe, "one page of \(first.count) records is all") }
            return .warned(
                .deletionSafe,
                "the answer has exactly \(first.count) records, and nothing says that there are no more: what is not on it will be deleted",
                ResourceCheck.Change("pages", "how the service names the next page, if it has pages"))
        case .page, .offset:
            if let size = pageSize, stop.shortPage, first.count > 0, first.count < size, isRound {
                return .warned(
                    .deletionSafe,
                    "the first page has \(first.count) of \(size) records and ends the listing (short_page): a server may send no more than that at once",
                    ResourceCheck.Change("pages.stop.short_page", "false"))
            }
            guard stop.emptyPage || stop.shortPage else {
                return .warned(.deletionSafe, "nothing ends the listing but max_pages: no run will be complete", proof)
            }
            return .passed(.deletionSafe, stop.shortPage ? "the listing ends with a page that is not full" : "the listing ends with an empty page")
        case .cursor, .keyset, .linkHeader, .bodyLink, .graphQL:
            guard Self.end(step) != nil, isRound else { return .passed(.deletionSafe, "the listing ends where nothing leads on") }
            return .warned(
                .deletionSafe,
                "the first page has exactly \(first.count) records and leads nowhere: is that where the answer holds what leads on?", proof)
        }
    }
}

extension PaginationEnd.Doubt {
    /// Whether it is about how much there is.
    fileprivate var isOfCount: Bool {
        switch self {
        case .moreWasPromised, .recordsMissing, .recordsTooMany, .totalChanged, .pagesMissing: true
        case .linkNotFollowed, .bodyLinkNotFollowed, .conflictingLinks, .linkRefused, .cursorNotFollowed, .noLastValue, .cut, .cutAtRecords,
            .linkUnreadable, .unreadable, .loneObject, .null, .nothingMapped:
            false
        }
    }

    /// What to change where it is about the next page; nil: it is about something else.
    fileprivate var changeOfPages: ResourceCheck.Change? {
        switch self {
        case .linkNotFollowed: ResourceCheck.Change("pages", "{ kind = \"link-header\" }")
        case .bodyLinkNotFollowed, .cursorNotFollowed:
            ResourceCheck.Change("pages.stop", "rules that do not end the listing while something leads on")
        case .conflictingLinks, .linkUnreadable: ResourceCheck.Change("pages.kind", "another way to the next page than the Link header")
        case .linkRefused: ResourceCheck.Change("http.next_links", "\"any\", if the address that it leads to is meant")
        case .noLastValue: ResourceCheck.Change("pages.from", "where each record holds what the listing is sorted by")
        case .unreadable(let what) where what.hasPrefix("the cursor") || what.hasPrefix("the next link"):
            ResourceCheck.Change("pages.path", "where the answer holds what leads on")
        case .unreadable, .moreWasPromised, .recordsMissing, .recordsTooMany, .totalChanged, .pagesMissing, .cut, .cutAtRecords, .loneObject, .null,
            .nothingMapped:
            nil
        }
    }
}
