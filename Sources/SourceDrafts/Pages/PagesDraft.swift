import JSONPaths

/// How the listing goes on, as far as one answer says it.
struct PagesDraft {
    /// The value of `pages`, as TOML; nil: there is one page, as far as is known.
    var toml: String?
    /// Why, and what is only a guess.
    var reason: String
    /// A parameter of the address that `toml` says.
    var replaced: String?

    /// Never `short_page`: a server may send fewer records than it is asked for, and have more.
    static func choose(for sample: Sample, body: SampleValue, found: SampleRecords) -> PagesDraft {
        if hasNextLink(sample) {
            return PagesDraft(toml: "{ kind = \"link-header\" }", reason: "The answer has a Link header that leads to the next page.")
        }
        let members = around(body, found)
        if found.isLone { return PagesDraft(reason: "One object is one page.") }
        return next(members) ?? counted(members, sample, found) ?? fromAddress(sample)
            ?? PagesDraft(reason: unknown(members, sample))
    }

    /// A member of the objects around the records, with its path.
    private struct Member {
        let path: [MemberName]
        let value: SampleValue

        /// In lower case, without anything but letters and digits.
        var plain: String { Self.plain(path.last?.text ?? "") }
        /// Whether it is in an object that is about pages.
        var isInPaging: Bool {
            path.dropLast().contains { ["paging", "cursors", "pagination", "meta", "next", "data"].contains($0.text.lowercased()) }
        }
        var quoted: String { MemberPath.quoted(path.map(\.text)) }

        static func plain(_ name: String) -> String { String(name.lowercased().filter { $0.isLetter || $0.isNumber }) }
    }

    private static func around(_ body: SampleValue, _ found: SampleRecords) -> [Member] {
        var members: [Member] = []
        func add(_ object: SampleObject, _ prefix: [MemberName]) {
            for (name, value) in zip(object.names, object.values) where MemberPath.isWritable(name.text) {
                let path = prefix + [name]
                // What is in a map of records is none of the listing's.
                if found.names != nil, found.path.segments.dropLast() == JSONPath(keys: path.map(\.text)).segments[...] { continue }
                members.append(Member(path: path, value: value))
                if let inner = value.object, prefix.count < 2 { add(inner, path) }
            }
        }
        if found.names == nil || found.path.segments.count > 1, let object = body.object { add(object, []) }
        return members
    }

    private static func hasNextLink(_ sample: Sample) -> Bool {
        sample.values(of: "link").contains { value in
            value.split(separator: ";").dropFirst().contains { parameter in
                let parts = parameter.split(separator: "=", maxSplits: 1).map { $0.trimming { " \t\"".contains($0) } }
                let relation = parts.count == 2 ? parts[1].prefix { $0 != "\"" && $0 != "," } : ""
                return parts.first?.lowercased() == "rel" && relation.lowercased().split(separator: " ").contains("next")
            }
        }
    }

    // MARK: What the answer says comes next

    private static let links: Set = [
        "next", "nexturl", "nexturi", "nextlink", "nexthref", "nextpageurl", "nextpageuri", "nextpagelink", "odatanextlink", "nextpage",
    ]
    private static let tokens = [
        "nextcursor": "cursor", "nextpagecursor": "cursor", "nexttoken": "next_token", "nextpagetoken": "page_token",
        "continuationtoken": "continuation_token", "endcursor": "after", "after": "after", "nextpageid": "page_id", "nextmarker": "marker",
        "scrollid": "scroll_id", "next": "cursor", "nextpage": "page",
    ]

    private static func next(_ members: [Member]) -> PagesDraft? {
        for member in members where links.contains(member.plain) {
            if let text = member.value.text, isLink(text) { return link(member.quoted) }
            if let href = member.value.object, let text = href["href"]?.text ?? href["url"]?.text, isLink(text) {
                let name = href["href"]?.text == nil ? "url" : "href"
                return link(MemberPath.quoted(member.path.map(\.text) + [name]))
            }
        }
        for member in members {
            guard let parameter = tokens[member.plain], member.value.text?.isEmpty == false || member.value.int64 != nil else { continue }
            // A number is a token where nothing else counts pages.
            if member.value.int64 != nil, member.plain == "nextpage" || member.plain == "after" || member.plain == "next" { continue }
            if member.plain == "after", !member.isInPaging { continue }
            let name = member.path.last?.text == "nextPageToken" ? "pageToken" : parameter
            return PagesDraft(
                toml: "{ kind = \"cursor\", path = \(member.quoted), param = \(DraftWriting.quoted(name)) }",
                reason: "The answer holds a token for the next page. The name of its parameter is a guess: look it up.")
        }
        // The last page says null: which of both it would be elsewhere, its name says.
        for member in members where member.value.isNull {
            let isNamedLink = ["nexturl", "nexturi", "nextlink", "nexthref", "nextpageurl", "odatanextlink"].contains(member.plain)
            if isNamedLink || member.plain == "next" {
                return PagesDraft(
                    toml: "{ kind = \"body-link\", path = \(member.quoted) }",
                    reason: "The answer has a place for the address of the next page, which is null here. That it would be an address is a guess.")
            }
            if let parameter = tokens[member.plain], member.plain != "nextpage", member.plain != "after" {
                return PagesDraft(
                    toml: "{ kind = \"cursor\", path = \(member.quoted), param = \(DraftWriting.quoted(parameter)) }",
                    reason: "The answer has a place for the token of the next page, which is null here. The parameter's name is a guess: look it up.")
            }
        }
        return nil
    }

    private static func link(_ path: String) -> PagesDraft {
        PagesDraft(toml: "{ kind = \"body-link\", path = \(path) }", reason: "The answer holds the address of the next page.")
    }

    private static func isLink(_ text: String) -> Bool {
        ["https://", "http://", "/", "?"].contains { text.hasPrefix($0) }
    }

    // MARK: What the answer counts

    private static func counted(_ members: [Member], _ sample: Sample, _ found: SampleRecords) -> PagesDraft? {
        func number(_ names: String...) -> (member: Member, value: Int64)? {
            for name in names {
                for member in members where member.plain == name { if let value = member.value.int64 { return (member, value) } }
            }
            return nil
        }
        let records = Int64(found.records.count + found.others)
        let total = number("total", "totalcount", "totalresults", "totalitems", "totalrecords", "totalelements", "totalhits", "recordstotal", "count")
        let totalPages = number("totalpages", "pagecount", "pages", "lastpage", "pagestotal", "numpages")
        var rules: [String] = []
        // A number that is less than what is here counts something else.
        if let totalPages, totalPages.value >= 1 { rules.append("total_pages = \(totalPages.member.quoted)") }
        if let total, total.value >= records, total.member.plain != "count" || total.value > records {
            rules.append("total = \(total.member.quoted)")
        }
        let stop = rules.isEmpty ? "" : ", stop = { " + rules.joined(separator: ", ") + " }"
        let page = number("page", "currentpage", "pagenumber", "pageno", "number")
        if let page, (0...1).contains(page.value), page.member.plain != "number" || totalPages != nil {
            let known = ["page", "p", "pageNumber", "page_number"].first { sample.origin.parameter($0) != nil }
            return PagesDraft(
                toml: "{ kind = \"page\", param = \(DraftWriting.quoted(known ?? "page")), start = \(page.value), size_param = \"\"\(stop) }",
                reason: "The answer counts its pages." + (known == nil ? " The name of the parameter is a guess: look it up." : ""), replaced: known)
        }
        if let offset = number("offset", "skip"), offset.value == 0, let limit = number("limit", "take", "top", "max"),
            (1...1_000_000).contains(limit.value)
        {
            let offsetName = offset.member.path.last?.text ?? "offset", limitName = limit.member.path.last?.text ?? "limit"
            let total = rules.filter { $0.hasPrefix("total =") }, stop = total.isEmpty ? "" : ", stop = { \(total[0]) }"
            guard offsetName.utf8.count <= 128, limitName.utf8.count <= 128 else { return nil }
            let names = "param = \(DraftWriting.quoted(offsetName)), limit_param = \(DraftWriting.quoted(limitName))"
            return PagesDraft(
                toml: "{ kind = \"offset\", \(names), limit = \(limit.value)\(stop) }",
                reason: "The answer says from where on it lists, and how many. That the parameters are called as its members is a guess.",
                replaced: offsetName)
        }
        return nil
    }

    private static func fromAddress(_ sample: Sample) -> PagesDraft? {
        for name in ["page", "page_number", "pageNumber"] {
            guard let text = sample.origin.parameter(name), let start = Int(text), (0...1_000_000).contains(start) else { continue }
            return PagesDraft(
                toml: "{ kind = \"page\", param = \(DraftWriting.quoted(name)), start = \(min(start, 1)), size_param = \"\" }",
                reason: "The address counts pages; one without records is the last.", replaced: name)
        }
        return nil
    }

    private static let advice = "write pages = { kind = … }, see cisternd.toml(5)"

    /// Nothing says how to go on: perhaps there is more all the same.
    private static func unknown(_ members: [Member], _ sample: Sample) -> String {
        let more = members.first { ["hasmore", "hasnext", "hasnextpage", "more", "istruncated"].contains($0.plain) && $0.value.bool == true }
        if let more {
            return
                "The answer says at \(more.quoted) that there is more, but not how to ask for it: \(advice). Until then this is only the first page."
        }
        return "Nothing in the answer leads to another page. If the service has more records than these, \(advice)."
    }
}

extension Substring {
    /// Without such characters at both ends.
    fileprivate func trimming(_ isLeftOut: (Character) -> Bool) -> Substring {
        let start = drop(while: isLeftOut)
        guard let end = start.lastIndex(where: { !isLeftOut($0) }) else { return start }
        return start[...end]
    }
}
