import Foundation
import NIOHTTP1
import SyncTestSupport

@testable import SyncPipeline

/// What two servers know, and how they lie about it. A list is told in pages, each list's in a way of its own; every page has an `ETag`.
struct SimulatedServer {
    struct List: Sendable {
        /// How the pages of a list are told apart, and what follows a page.
        enum Kind {
            case link, number, cursor
            /// The next page begins after the last record, and records that are gone say so.
            case keyset
        }

        let scope: ResourceScope
        let entity: String
        let pages: Int
        let kind: Kind

        var address: String { "https://\(scope.source).example/\(scope.resource)" }

        /// The page that a request asks for, counted from 0.
        func page(_ request: HTTPRequest) -> Int {
            let number = request.address.url.query.flatMap { Int($0.drop { $0 != "=" }.dropFirst()) }
            return number.map { number in
                switch kind {
                case .link, .cursor: number
                case .number: number - 1
                case .keyset: number % pages + 1
                }
            } ?? 0
        }
    }

    /// Two lists tell of the same people, from one server; another has teams, which people name. A fourth one says itself what is gone.
    static let lists = [
        List(scope: ResourceScope(source: "a", resource: "people"), entity: "Person", pages: 3, kind: .link),
        List(scope: ResourceScope(source: "a", resource: "staff"), entity: "Person", pages: 2, kind: .number),
        List(scope: ResourceScope(source: "b", resource: "teams"), entity: "Team", pages: 2, kind: .cursor),
        List(scope: ResourceScope(source: "b", resource: "rooms"), entity: "Room", pages: 3, kind: .keyset),
    ]
    static let keys = ["Person": Array(1...9), "Team": Array(1...4), "Room": Array(1...6)]

    enum Lie: CaseIterable {
        case error, notFound, tooMany, unavailable, cut, broken, part, errorObject, html, unasked304, repetition, badLink, badRecord, noKey
    }

    /// What a page says of what is not on it.
    enum Evidence {
        case proof, noProof, lie
    }

    /// An answer, and what follows from it for a pipeline that believes what may be believed.
    struct Reply {
        let answer: StubTransport.Answer
        let page: Int
        /// What the rows of this page are once it is saved, or found unmodified.
        let rows: [Int: String]
        /// The rows that it tells of: a record whose values cannot be read is told of, too.
        let listed: Set<Int>
        /// What it says is gone.
        var gone: Set<Int> = []
        let evidence: Evidence
        /// Its server wants to be left alone for so long.
        var wait: Duration?
        let words: String
    }

    private(set) var names: [ResourceScope: [Int: String]] = [:]
    /// Whose team is which, by key.
    private(set) var teams: [Int: Int] = [:]
    /// What was there once, of a list that says so as long as it is not there again.
    private(set) var gone: [ResourceScope: Set<Int>] = [:]
    private var version = 0

    init(using random: inout SeededNumbers) {
        for list in Self.lists {
            names[list.scope] = [:]
            for key in Self.keys[list.entity] ?? [] where random.chance(70) { set(key, of: list, "v0") }
        }
    }

    /// All that tell of a thing say the same of it.
    private mutating func set(_ key: Int, of list: List, _ name: String) {
        if list.entity == "Person" { teams[key] = (key + (Int(name.dropFirst()) ?? 0)) % 5 }
        names[list.scope]?[key] = name
        gone[list.scope]?.remove(key)
        for other in Self.lists where other.entity == list.entity && names[other.scope]?[key] != nil { names[other.scope]?[key] = name }
    }

    /// Things change, go and come.
    mutating func change(using random: inout SeededNumbers) {
        for _ in 0...random.next(upTo: 3) {
            let list = Self.lists[random.next(upTo: Self.lists.count)]
            guard let key = random.element(Self.keys[list.entity] ?? []) else { continue }
            version += 1
            if names[list.scope]?[key] == nil || random.chance(50) {
                set(key, of: list, "v\(version)")
            } else {
                names[list.scope]?[key] = nil
                if list.kind == .keyset { gone[list.scope, default: []].insert(key) }
            }
        }
    }

    // MARK: Answers

    /// The pages that have something on them; one, where nothing is listed.
    private func pages(_ list: List) -> [[Int]] {
        let known = Set((names[list.scope] ?? [:]).keys).union(gone[list.scope] ?? []).sorted()
        let pages = (0..<list.pages).map { page in known.filter { $0 % list.pages == page } }.filter { !$0.isEmpty }
        return pages.isEmpty ? [[]] : pages
    }

    /// The number of a page among those that there are now.
    private func page(_ list: List, of pages: [[Int]], _ asked: Int) -> Int {
        guard list.kind == .keyset else { return asked }
        return pages.firstIndex { ($0.first ?? 0) % list.pages >= asked } ?? pages.count
    }

    func reply(to request: HTTPRequest, of list: List, _ lie: Lie?, using random: inout SeededNumbers) -> Reply {
        let pages = pages(list), number = page(list, of: pages, list.page(request)), told = number < pages.count ? pages[number] : []
        let rows = told.reduce(into: [:]) { $0[$1] = names[list.scope]?[$1] }
        let gone = Set(told).intersection(self.gone[list.scope] ?? []), ends = gone.sorted().map { #"{"id": \#($0), "key": \#($0), "gone": true}"# }
        let next = number + 1 < pages.count ? number + 1 : nil
        let after = Page.After(next: next, count: pages.count), body = text(records(rows, of: list) + ends, list, after)
        let tag = "\"\(BodyDigest(of: body).description.prefix(12))-\(next ?? 0)\""
        var page = Page(list: list, number: number, rows: rows, gone: gone, next: next, tag: tag)
        let isKnown = request.headers.first(name: "If-None-Match") == tag
        guard let lie else { return page.honest(body, isKnown: isKnown && random.chance(80)) }
        switch lie {
        case .error: return page.lie(.response(status: random.chance(50) ? 500 : 502))
        case .notFound: return page.lie(.response(status: 404))
        case .tooMany, .unavailable:
            let seconds = [2, 40, 900, 7200, 300_000][random.next(upTo: 5)]
            var reply = page.lie(.response(status: lie == .tooMany ? 429 : 503, headers: ["Retry-After": "\(seconds)"]), "Retry-After \(seconds)")
            reply.wait = .seconds(min(seconds, 86_400))
            return reply
        case .cut: return page.lie(.pieces(status: 200, headers: page.headers, [Array(body.utf8.dropLast(3)), nil]), "cut off")
        case .broken: return page.lie(.response(status: 200, headers: page.headers, body: Array(body.utf8.dropLast(1))), "half of it")
        case .part: return page.lie(.response(status: 206, headers: page.headers, body: Array(body.utf8)), saves: true)
        case .errorObject: return page.lie(.response(status: 200, headers: page.headers, body: Array(#"{"error": "later"}"#.utf8)), "an error object")
        case .html:
            return page.lie(
                .response(status: 200, headers: ["Content-Type": "text/html", "ETag": tag], body: Array("<p>Log in</p>".utf8)), "a page to log in")
        case .unasked304:
            if request.headers.contains(name: "If-None-Match") { return page.honest(body, isKnown: isKnown) }
            return page.lie(.response(status: 304, headers: ["ETag": tag]), "unasked")
        case .repetition, .badLink:
            guard list.kind == .link else {
                // An empty page leads nowhere, and says so.
                if list.kind == .keyset, rows.isEmpty { return page.honest(body, isKnown: false) }
                let text = text(records(rows, of: list, isReadable: false), list, .init(next: next, count: pages.count, isReadable: false))
                page.gone = []
                return page.marked().lie(
                    .response(status: 200, headers: page.marked().headers, body: Array(text.utf8)), "what follows cannot be read", saves: true)
            }
            let isLoop = lie == .repetition
            page.headers.replaceOrAdd(
                name: "Link", value: isLoop ? "<\(list.address)?page=\(number)>; rel=\"next\"" : "<\(list.address)?page=1; rel=next")
            return page.marked().lie(
                .response(status: 200, headers: page.marked().headers, body: Array(body.utf8)), isLoop ? "itself as the next" : "a broken link",
                saves: true)
        case .badRecord, .noKey:
            guard let bad = random.element(rows.keys.sorted()) else { return page.honest(body, isKnown: false) }
            let record = lie == .noKey ? #"{"name": "x"}"# : #"{"id": \#(bad), "name": "x", "age": "old"}"#
            let others = rows.filter { $0.key != bad }
            let text = text(ends + records(others, of: list) + [record], list, after)
            page.rows = others
            if lie == .badRecord { page.listed = Set(rows.keys) } else { page.listed = Set(others.keys) }
            return page.marked().lie(
                .response(status: 200, headers: page.marked().headers, body: Array(text.utf8)), "\(bad) is \(lie)", saves: true,
                evidence: lie == .badRecord ? .proof : .noProof)
        }
    }

    /// What the title of a thing is: another mapping calls that its name.
    static func title(_ name: String) -> String { "\(name)t" }

    /// - Parameter isReadable: what the next page begins after stands there.
    private func records(_ rows: [Int: String], of list: List, isReadable: Bool = true) -> [String] {
        rows.sorted { $0.key < $1.key }.map { key, name in
            let place = list.kind == .keyset && isReadable ? #", "key": \#(key)"# : ""
            let team = list.entity == "Person" ? #", "team": \#(teams[key].flatMap { $0 > 0 ? "\($0)" : nil } ?? "null")"# : ""
            return #"{"id": \#(key), "name": "\#(name)", "title": "\#(Self.title(name))", "age": \#(key)\#(team)\#(place)}"#
        }
    }

    private func text(_ records: [String], _ list: List, _ after: Page.After) -> String {
        let records = "[\(records.joined(separator: ","))]"
        switch list.kind {
        case .link: return records
        case .number: return #"{"pages": \#(after.isReadable ? "\(after.count)" : "{}"), "items": \#(records)}"#
        case .keyset: return #"{"items": \#(records)}"#
        case .cursor: return #"{"next": \#(after.isReadable ? after.next.map { "\"\($0)\"" } ?? "null" : "{}"), "items": \#(records)}"#
        }
    }

    /// A page as it would be told.
    private struct Page {
        /// What a page says of what follows it.
        struct After {
            let next: Int?
            let count: Int
            var isReadable = true
        }

        let number: Int
        var rows: [Int: String]
        var listed: Set<Int>
        var gone: Set<Int>
        var headers: HTTPHeaders
        let tag: String

        init(list: List, number: Int, rows: [Int: String], gone: Set<Int>, next: Int?, tag: String) {
            self.number = number
            self.rows = rows
            self.gone = gone
            self.tag = tag
            listed = Set(rows.keys)
            headers = ["Content-Type": "application/json", "ETag": tag]
            if let next, list.kind == .link { headers.add(name: "Link", value: "<\(list.address)?page=\(next)>; rel=\"next\"") }
        }

        /// With a tag of its own: what is told is not what the server knows.
        func marked() -> Page {
            var page = self
            page.headers.replaceOrAdd(name: "ETag", value: String(tag.dropLast(1)) + "-x\"")
            return page
        }

        func honest(_ body: String, isKnown: Bool) -> Reply {
            let answer: StubTransport.Answer =
                isKnown ? .response(status: 304, headers: headers) : .response(status: 200, headers: headers, body: Array(body.utf8))
            return Reply(
                answer: answer, page: number, rows: rows, listed: listed, gone: gone, evidence: .proof, words: isKnown ? "304" : "200 \(body)")
        }

        func lie(_ answer: StubTransport.Answer, _ words: String = "", saves: Bool = false, evidence: Evidence = .lie) -> Reply {
            var status = 0
            switch answer {
            case .response(let code, _, _), .pieces(let code, _, _), .silentBody(let code, _): status = code
            case .silence, .failure: break
            }
            return Reply(
                answer: answer, page: number, rows: saves ? rows : [:], listed: saves ? listed : [], gone: saves ? gone : [], evidence: evidence,
                words: "\(status) \(words)")
        }
    }
}
