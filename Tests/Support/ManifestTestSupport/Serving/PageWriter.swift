/// Writes a page's body as a manifest reads it: the records where its extractor looks for them, and what its paginator needs to go on, or not to.
struct PageWriter {
    /// What there is to say of a page.
    struct Page {
        /// On the wire.
        var records: [DataValue]
        /// What asks for the next one; nil: there is none.
        var next: String?
        /// The whole address of the next one.
        var nextAddress: String?
        /// Counted from 1.
        var number: Int
        var count: Int
        /// How many records came until its end, and how many there are.
        var shown: Int
        var total: Int
    }

    let stream: DeclaredStream
    let isPageRecord: Bool

    /// - Returns: nil where no body is found of which the manifest would make what it should.
    func body(_ page: Page, _ scope: TemplateScope) -> (body: DataValue, link: String?)? {
        var body = isPageRecord ? page.records.first ?? .object([]) : DataValue.null
        if !isPageRecord { body = placed(page.records, at: stream.fieldPath[...]) }
        guard case .cursor(let value, let stop) = stream.pages.strategy else { return (body, nil) }
        let valuePaths = value.paths(from: "response")
        let allStopPaths = stop?.paths(from: "response") ?? []
        // What is a record's is left as it is.
        let stopPaths = allStopPaths.filter { !valuePaths.contains($0) && body.at($0) == nil }
        let byHeader = !value.paths(from: "headers").isEmpty
        var unknown: [Unknown] = []
        for (index, path) in valuePaths.enumerated() {
            // A number that is also compared is there on the last page, too; where the next page is named, nothing is.
            let isNumber = allStopPaths.contains(path) && page.next == nil && path.last?.lowercased().contains("next") != true
            let number: [DataValue?] = isNumber ? [.int(page.number)] : []
            unknown.append(Unknown(path: path, candidates: number + tokens(page, isFirst: index == 0)))
        }
        unknown += stopPaths.map { Unknown(path: $0, candidates: flags($0, page)) }
        var headers = DataValue.object([])
        if byHeader, let address = page.nextAddress { headers.set(.text(address), at: ["link", "next", "url"]) }
        let names: [String: DataValue] = [
            "headers": headers, "last_record": page.records.last ?? .null, "last_page_size": .int(page.records.count),
        ]
        guard let found = solved(body, unknown[...], page, scope.with(names), value, stop) else { return nil }
        return (found, byHeader ? page.nextAddress : nil)
    }

    // MARK: Records

    private func placed(_ records: [DataValue], at path: ArraySlice<String>) -> DataValue {
        guard let star = path.firstIndex(of: "*") else {
            var body = DataValue.object([])
            if path.isEmpty { return .list(records) }
            body.set(.list(records), at: Array(path))
            return body
        }
        let before = Array(path[..<star]), after = path[(star + 1)...]
        var inner: [DataValue] = []
        if after.contains("*") {
            inner = [placed(records, at: after)]
        } else {
            inner = records.map { record in
                var wrapped = record
                if !after.isEmpty {
                    wrapped = .object([])
                    wrapped.set(record, at: Array(after))
                }
                return wrapped
            }
        }
        // A star stands for the elements of a list and for the values of a map.
        var values = DataValue.list(inner)
        if after.isEmpty, StableHash.number(stream.name, below: 2) == 0 {
            values = .object(inner.enumerated().map { DataValue.Member("entry\($0.offset)", $0.element) })
        }
        if before.isEmpty { return values }
        var body = DataValue.object([])
        body.set(values, at: before)
        return body
    }

    // MARK: What comes next

    private struct Unknown {
        let path: [String]
        /// nil: nothing stands there.
        let candidates: [DataValue?]
    }

    /// What may stand where the next token is looked for.
    private func tokens(_ page: Page, isFirst: Bool) -> [DataValue?] {
        // Services say in different ways that there is nothing more.
        let nothing: [DataValue?] = StableHash.number(stream.name, below: 2) == 0 ? [nil, .null] : [.null, nil]
        guard let next = page.next, isFirst else { return nothing }
        var candidates: [DataValue?] = [.text(next)]
        if let address = page.nextAddress {
            if stream.pages.tokenPlace == .path { candidates = [] }
            candidates.append(.text(address))
            candidates.append(.list([link("self", address + "&self=1"), link("next", address)]))
        }
        candidates.append(.int(page.number))
        return candidates + nothing
    }

    private func link(_ relation: String, _ address: String) -> DataValue {
        .having([("rel", .text(relation)), ("href", .text(address)), ("url", .text(address))])
    }

    /// What may stand where a manifest looks for whether there is more: first what its name speaks for.
    private func flags(_ path: [String], _ page: Page) -> [DataValue?] {
        let name = (path.last ?? "").lowercased(), hasNext = page.next != nil
        var candidates: [DataValue?] = []
        if name.contains("total_pages") || name.contains("pages") || name.contains("last_page") {
            candidates.append(.int(page.count))
        } else if name.contains("page") {
            candidates.append(.int(page.number))
        } else if name.contains("total") || name.contains("count") {
            candidates.append(.int(page.total))
        } else if name.contains("offset") || name.contains("shown") {
            candidates.append(.int(page.shown))
        } else if name.contains("next") {
            candidates.append(hasNext ? page.nextAddress.map { DataValue.text($0) } : DataValue.null)
        }
        candidates += [.bool(hasNext), .bool(!hasNext), .int(page.number), .int(page.count), .int(page.shown), .int(page.total), .null, nil]
        return candidates
    }

    /// Tries what may stand in the places, until the manifest's own words make of it what they should.
    private func solved(
        _ body: DataValue, _ unknown: ArraySlice<Unknown>, _ page: Page, _ scope: TemplateScope, _ value: TemplateText, _ stop: TemplateText?
    ) -> DataValue? {
        guard let first = unknown.first else {
            let scope = scope.with(["response": body])
            let stops = stop.map { scope.isTrue($0.value(in: scope)) } ?? false
            let token = value.value(in: scope)
            guard let next = page.next else { return stops || !scope.isTrue(token) ? body : nil }
            if stops { return nil }
            if stream.pages.tokenPlace == .path { return token.shown == page.nextAddress ? body : nil }
            // A number that is counted up in the manifest does as well.
            return token.shown == next || token.isSame(as: .int(page.number + 1)) ? body : nil
        }
        for candidate in first.candidates {
            var tried = body
            if let candidate { tried.set(candidate, at: first.path) }
            if let found = solved(tried, unknown.dropFirst(), page, scope, value, stop) { return found }
        }
        return nil
    }
}
