import JSONPaths

/// How a listing goes on, as its parameters and its answer suggest.
struct OpenAPIPages {
    private(set) var table = TOMLTable()
    private(set) var reason = "Nothing in the document says that there are further pages: one page is taken for all."
    /// The parameters that it uses.
    private(set) var used: Set<String> = []

    private static let cursors = [
        "cursor", "pagetoken", "nexttoken", "continuationtoken", "nextcursor", "nextpagetoken", "marker", "after", "startingafter", "scrollid",
        "paginationtoken",
    ]
    private static let tokens = [
        "nextcursor", "nextpagetoken", "nexttoken", "continuationtoken", "nextmarker", "nextpagecursor", "endcursor", "cursor", "marker", "after",
        "scrollid",
        "next",
    ]
    private static let pages = ["page", "pagenumber", "pageno", "pageindex", "p"]
    private static let sizes = ["perpage", "pagesize", "size", "limit", "count", "pagelimit", "maxresults"]
    private static let offsets = ["offset", "skip", "startat", "startindex", "start", "from"]
    private static let limits = ["limit", "take", "top", "count", "maxresults", "size", "perpage", "pagesize"]

    init(_ parameters: [OpenAPIParameter], _ listing: OpenAPIListing) {
        let query = parameters.filter { $0.place == "query" }
        func parameter(_ names: [String], isNumber: Bool = false) -> OpenAPIParameter? {
            let possible = query.filter { !isNumber || $0.isNumber }
            return names.lazy.compactMap { name in possible.first { OpenAPIListing.plain($0.name) == name } }.first
        }
        func path(_ names: [String]) -> TOMLValue { .text(JSONPath(keys: names).description) }
        func isText(_ type: String, _: String) -> Bool { type == "string" || type == "uuid" }
        func isLink(_ type: String, _ format: String) -> Bool { type == "uri" || type == "string" && format.hasPrefix("uri") }
        let links = ["next", "nexturl", "nextlink", "nexturi", "nexthref", "nextpage", "nextpageurl", "odatanextlink"]
        let named = ["nexturl", "nextlink", "nexturi", "nexthref", "nextpageurl", "odatanextlink"]
        if listing.headers.contains("link") {
            set("link-header", [:], "The document describes a Link header of the answer.")
        } else if let link = listing.member(links, isLink) ?? listing.member(named, isText) {
            set("body-link", ["path": path(link)], "The answer holds the address of the next page.")
        } else if let cursor = parameter(Self.cursors), let token = listing.member(Self.tokens, { isText($0, $1) || $0 == "int64" }) {
            set("cursor", ["path": path(token), "param": .text(cursor.name)], "A token of each answer goes into \"\(cursor.name)\".")
            used.insert(cursor.name)
        } else if let offset = parameter(Self.offsets, isNumber: true) {
            let limit = parameter(Self.limits, isNumber: true)
            set(
                "offset", ["param": .text(offset.name), "limit_param": .text(limit?.name ?? "")],
                "\"\(offset.name)\" says how many records come before the page.")
            if let limit { addSize(limit, "limit") }
            used.insert(offset.name)
        } else if let page = parameter(Self.pages, isNumber: true) {
            let size = parameter(Self.sizes, isNumber: true)
            let said = page.defaultValue.flatMap { Int($0) } ?? page.minimum, start = said ?? 1
            let doubt =
                said == nil
                ? " The document does not say whether from 0 or from 1: if the first page is 0, write start = 0, or it is never read." : ""
            set(
                "page", ["param": .text(page.name), "start": .integer(max(0, min(start, 1))), "size_param": .text(size?.name ?? "")],
                "\"\(page.name)\" counts pages.\(doubt)")
            if let size { addSize(size, "size") }
            used.insert(page.name)
        } else {
            return
        }
        addStop(listing)
    }

    private mutating func set(_ kind: String, _ keys: KeyValuePairs<String, TOMLValue>, _ reason: String) {
        table["kind"] = .text(kind)
        for (key, value) in keys { table[key] = value }
        self.reason = reason
    }

    /// As many as may be, so that there are few requests.
    private mutating func addSize(_ parameter: OpenAPIParameter, _ key: String) {
        let size = parameter.maximum ?? max(parameter.defaultValue.flatMap { Int($0) } ?? 0, 100)
        table[key] = .integer(max(1, min(size, 1000)))
        used.insert(parameter.name)
    }

    private mutating func addStop(_ listing: OpenAPIListing) {
        var stop = TOMLTable()
        func isNumber(_ type: String, _: String) -> Bool { ["int32", "int64"].contains(type) }
        if let more = listing.member(["hasmore", "more", "hasnext", "hasnextpage"], { type, _ in type == "bool" }) {
            stop["has_more"] = .text(JSONPath(keys: more).description)
        }
        if let total = listing.member(["total", "totalcount", "totalresults", "totalitems", "totalrecords", "totalelements", "totalhits"], isNumber) {
            stop["total"] = .text(JSONPath(keys: total).description)
        }
        if let pages = listing.member(["totalpages", "pagecount", "lastpage", "numpages"], isNumber) {
            stop["total_pages"] = .text(JSONPath(keys: pages).description)
        }
        if !stop.isEmpty { table["stop"] = .table(stop) }
    }
}
