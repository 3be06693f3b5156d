/// What a part of a stream answers, page by page.
struct Listing {
    let records: StreamRecords
    let part: StreamPart
    /// Scheme and host, for addresses of further pages.
    let base: String

    private var stream: DeclaredStream { records.stream }
    private var pages: DeclaredPages { stream.pages }

    /// The parameter that says which page is meant, where the manifest leaves the address to the service.
    private static let linkParameter = "continue_at"

    // MARK: Reading a request

    /// Reads the body, if one belongs to it. Whatever stands in it is looked at by ``answer(_:)``.
    func prepare(_ reading: inout RequestReading) throws(RequestFault) {
        if sendsJSON { try reading.readJSON() } else if sendsForm { reading.readForm() }
    }

    private var places: [RequestPlace] {
        let named = [pages.tokenPlace, pages.sizePlace, stream.cursor?.since, stream.cursor?.until].compactMap(\.self)
        return named + part.options.map(\.place)
            + AuthenticationWay.all(stream.authenticator, scope).compactMap { way -> RequestPlace? in
                switch way {
                case .nothing: nil
                case .fixed(let place, _), .token(_, let place, _): place
                }
            }
    }

    private var sendsJSON: Bool {
        stream.json != nil || places.contains { if case .json = $0 { true } else { false } }
    }

    private var sendsForm: Bool {
        !stream.form.isEmpty || places.contains { if case .form = $0 { true } else { false } }
    }

    private var scope: TemplateScope { records.scope(of: part) }

    /// What was asked for, or what is wrong with it.
    func answer(_ reading: inout RequestReading) throws(RequestFault) -> APIResponse {
        let asked = reading.parameters
        let scope = scope
        let address = stream.address.text(in: scope)
        let path = TokenService.path(of: address)
        var captures = TextPattern(path).captures(in: reading.path) ?? [:]
        if let query = address.firstIndex(of: "?") {
            for (name, value) in RequestReading.fields(address[address.index(after: query)...]) { try reading.expect(value, at: .query(name)) }
        }
        for option in part.options { try reading.expect(option.text, at: option.place) }
        var token = try Self.take(pages.tokenPlace, &reading)
        if pages.tokenPlace == .path { token = try reading.take(.query(Self.linkParameter)) }
        if let place = pages.sizePlace, let size = pages.size { try reading.expect("\(size)", at: place) }
        var since = try Self.take(stream.cursor?.since, &reading)
        var until = try Self.take(stream.cursor?.until, &reading)
        try reading.expect(stream.parameters, in: scope) { .query($0) }
        try reading.expect(stream.headers, in: scope) { .header($0.lowercased()) }
        try reading.expect(stream.form, in: scope) { .form($0) }
        if let json = stream.json { try reading.expectJSON(json, in: scope) }
        captures.merge(reading.captures) { $1 }
        if pages.tokenPlace == nil { token = captures[.page] }
        since = since ?? captures[.since]
        until = until ?? captures[.until]
        if stream.cursor?.until != nil, since == nil || until == nil { throw RequestFault("an end of the range is missing") }
        try reading.finish()
        let range = try range(since, until)
        return try page(token, range, asked, at: reading.path)
    }

    private static func take(_ place: RequestPlace?, _ reading: inout RequestReading) throws(RequestFault) -> String? {
        guard let place else { return nil }
        return try reading.take(place)
    }

    // MARK: Times

    /// The times that are asked for, ends included; nil: all.
    private func range(_ since: String?, _ until: String?) throws(RequestFault) -> ClosedRange<Int> {
        guard let cursor = stream.cursor else { return Int.min...Int.max }
        func time(_ text: String?) throws(RequestFault) -> Int? {
            guard let text else { return nil }
            guard let time = cursor.request.milliseconds(text) else { throw RequestFault("\(text) is no time as \(cursor.request.source)") }
            return time
        }
        let unit = max(Int(cursor.request.granularity * 1000), 1)
        let start = try time(since) ?? Int.min
        let end = try time(until).map { $0 + unit - 1 } ?? Int.max
        if let step = cursor.step, start != Int.min, end != Int.max, end - start > step + 86_400_000 {
            throw RequestFault("\(since ?? "") to \(until ?? "") is more than a step")
        }
        guard start <= end else { throw RequestFault("\(since ?? "") is after \(until ?? "")") }
        return start...end
    }

    // MARK: Pages

    private func page(
        _ token: String?, _ range: ClosedRange<Int>, _ asked: [(name: String, value: String)], at path: String
    ) throws(RequestFault) -> APIResponse {
        var items = part.items.filter { range.contains($0.time) }
        if stream.cursor?.isFeed == true { items.sort { ($0.time, $0.serial) > ($1.time, $1.serial) } }
        let size = records.pageSize ?? max(items.count, 1)
        let first = try start(token, size, range, items)
        let shown = items[min(first, items.count)..<min(first + size, items.count)]
        let next = first + size < items.count ? first + size : nil
        var page = PageWriter.Page(
            records: shown.map { records.raw($0, in: part) }, next: nil, nextAddress: nil, number: first / size + 1,
            count: max((items.count + size - 1) / size, 1), shown: first + shown.count, total: items.count)
        let writer = PageWriter(stream: stream, isPageRecord: records.isPageRecord)
        if let next { setNext(&page, at: next, range, asked, path) }
        var written = writer.body(page, scope)
        if written == nil, next == nil, let keyset = keyset, !shown.isEmpty {
            // Whoever goes on from the last record learns only from a page without records that there is nothing more.
            page.next = keyset.text(in: scope.with(["last_record": page.records.last ?? .null]))
            written = writer.body(page, scope)
        }
        guard let (body, link) = written else { throw RequestFault("no answer leads the paginator on", status: 500) }
        var response = APIResponse(200, body)
        if let link { response.headers.append((name: "Link", value: "<\(link)>; rel=\"next\"")) }
        return response
    }

    private var keyset: TemplateText? {
        guard case .cursor(let value, _) = pages.strategy, !value.paths(from: "last_record").isEmpty else { return nil }
        return value
    }

    private func setNext(
        _ page: inout PageWriter.Page, at next: Int, _ range: ClosedRange<Int>, _ asked: [(name: String, value: String)], _ path: String
    ) {
        var token = "t\(next)x\(mark(of: range))"
        if let keyset { token = keyset.text(in: scope.with(["last_record": page.records.last ?? .null])) }
        page.next = token
        var name = Self.linkParameter
        if case .query(let own)? = pages.tokenPlace { name = own }
        let secret = AuthenticationWay.all(stream.authenticator, scope).compactMap { way -> String? in
            switch way {
            case .fixed(.query(let name), _), .token(_, .query(let name), _): name
            default: nil
            }
        }
        let kept = asked.filter { $0.name != name && !secret.contains($0.name) } + [(name: name, value: token)]
        let query = kept.map { "\(Self.escaped($0.name))=\(Self.escaped($0.value))" }.joined(separator: "&")
        let steps = path.split(separator: "/", omittingEmptySubsequences: false)
        page.nextAddress = base + steps.map { Self.escaped(String($0)) }.joined(separator: "/") + "?" + query
    }

    /// Where a token leads: which record comes first.
    private func start(_ token: String?, _ size: Int, _ range: ClosedRange<Int>, _ items: [StreamItem]) throws(RequestFault) -> Int {
        guard let token, !token.isEmpty else { return 0 }
        switch pages.strategy {
        case .none: throw RequestFault("\(token) leads nowhere")
        case .page(let start):
            guard let number = Int(token), number >= start else { throw RequestFault("\(token) is no number of a page") }
            return (number - start) * size
        case .offset:
            guard let number = Int(token), number >= 0 else { throw RequestFault("\(token) is no offset") }
            return number
        case .cursor:
            if let keyset {
                let place = items.firstIndex { item in
                    keyset.text(in: scope.with(["last_record": records.raw(item, in: part)])) == token
                }
                guard let place else { throw RequestFault("\(token) is no record's") }
                return place + 1
            }
            if let number = Int(token), number > 0 { return (number - 1) * size }
            let parts = token.dropFirst().split(separator: "x")
            guard token.hasPrefix("t"), parts.count == 2, let number = Int(parts[0]), parts[1] == mark(of: range) else {
                throw RequestFault("\(token) was given to nobody, or for something else")
            }
            return number
        }
    }

    /// What ties a token to the part and the times that it was given for.
    private func mark(of range: ClosedRange<Int>) -> String {
        String(StableHash.of("\(stream.name) \(part.identity) \(range)") % 1_000_000)
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            let isPlain = (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || "-._~".utf8.contains(byte)
            if isPlain {
                result.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return result
    }

    /// Whether an answer can be written for the first page and for the last.
    var canGoOn: Bool {
        let everything = Int.min...Int.max
        guard (try? page(nil, everything, [], at: "/")) != nil else { return false }
        let size = records.pageSize ?? max(part.items.count, 1)
        guard part.items.count > size, keyset == nil, case .cursor = pages.strategy else { return true }
        let last = (part.items.count - 1) / size * size
        return (try? page("t\(last)x\(mark(of: everything))", everything, [], at: "/")) != nil
    }
}
