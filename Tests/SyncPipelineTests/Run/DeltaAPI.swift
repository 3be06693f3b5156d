import Foundation
import NIOHTTP1
import SyncConfiguration
import SyncTestSupport
import Synchronization

@testable import SyncPipeline

/// A server that gives a token with the last page of each listing, and lists what has changed since to who brings it: `/people?delta=…`, as a link, or
/// with a parameter `sync`.
final class DeltaAPI: Sendable {
    fileprivate struct Record {
        var id: Int
        /// Nil: it is gone.
        var name: String?
        var version: Int

        var json: String {
            guard let name else { return "{\"id\": \(id), \"@removed\": {\"reason\": \"deleted\"}}" }
            return "{\"id\": \(id), \"name\": \"\(name)\"}"
        }
    }

    struct State: Sendable {
        fileprivate var records: [Int: Record] = [:]
        /// Counts what has changed.
        var version = 0
        /// How many records a page has.
        var pageSize = 2
        /// Tokens of older versions are not taken any more.
        var oldest = 0
        var rejection = 410
        /// The requests that fail, by their number from 0 on among all.
        var broken: Set<Int> = []
        /// What a last page holds besides; nil: what it should.
        var ending: String?
        /// The first page of each listing has no records.
        var beginsEmpty = false
        var requests: [String] = []
    }

    private let state = Mutex(State())
    /// Tokens are addresses.
    let isLink: Bool

    init(isLink: Bool = true) { self.isLink = isLink }

    func put(_ id: Int, name: String = "x") { set(id, name) }
    func delete(_ id: Int) { set(id, nil) }

    private func set(_ id: Int, _ name: String?) {
        state.withLock { state in
            state.version += 1
            state.records[id] = Record(id: id, name: name, version: state.version)
        }
    }

    func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

    /// The queries that were asked since the last time somebody wanted to know, in order, as they were sent.
    func asked() -> [String] {
        state.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
    }

    /// What there is: `1=x`.
    var there: [String] {
        state.withLock { state in state.records.values.compactMap { record in record.name.map { "\(record.id)=\($0)" } } }.sorted()
    }

    func answer(_ request: HTTPRequest, _ number: Int) -> StubTransport.Answer {
        let items = URLComponents(url: request.address.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
        func item(_ name: String) -> String? { items.first { $0.name == name }?.value }
        return state.withLock { state in
            state.requests.append(request.address.url.query ?? "")
            if state.broken.contains(number) { return .response(status: 500) }
            let since = (item("delta") ?? item("sync")?.replacing("a/+=", with: "")).flatMap { Int($0) }
            if let since, since < state.oldest { return .response(status: state.rejection) }
            // A listing is of the version at which it began.
            let page = Int(item("page") ?? "1") ?? 1, at = Int(item("at") ?? "") ?? state.version
            let listed = state.records.values.filter { record in
                guard let since else { return record.name != nil }
                return record.version > since
            }
            let found = listed.sorted { $0.id < $1.id }
            let first = (page - (state.beginsEmpty ? 2 : 1)) * state.pageSize
            let records: [String] = first < 0 ? [] : found.dropFirst(first).prefix(state.pageSize).map(\.json)
            let isLast = first + state.pageSize >= found.count, next = "page=\(page + 1)&at=\(at)", origin = since.map { "delta=\($0)&" } ?? ""
            let rest =
                switch (isLast, isLink) {
                case (false, true): "\"next\": \"/people?\(origin)\(next)\""
                case (false, false): "\"next\": \"\(page + 1)\""
                case (true, true): state.ending ?? "\"delta\": \"https://api.example/people?delta=\(at)\""
                case (true, false): state.ending ?? "\"delta\": \"a/+=\(at)\""
                }
            let body = "{\"value\": [\(records.joined(separator: ","))], \(rest)}", etag = "\"\(BodyDigest(of: body))\""
            if request.headers.first(name: "If-None-Match") == etag { return .response(status: 304, headers: ["ETag": etag]) }
            return .response(status: 200, headers: ["Content-Type": "application/json", "ETag": etag], body: Array(body.utf8))
        }
    }

    func fixture(
        _ toml: String, folder: URL? = nil, now: Date? = nil, secrets: SecretResolver = .none
    ) async throws -> PipelineFixture {
        try await PipelineFixture(toml, folder: folder, now: now, secrets: secrets) { request, number in self.answer(request, number) }
    }

    /// One resource `/people` that goes on from tokens.
    ///
    /// - Parameter keys: of its table `incremental`, after those that say where tokens are.
    func people(_ keys: String = "", deletion: String = "detect = \"field\", path = \"$['@removed']\"", _ more: String = "") -> String {
        let pages = isLink ? "kind = \"body-link\", path = \"$.next\"" : "kind = \"cursor\", path = \"$.next\", param = \"page\""
        let token = "kind = \"token\", path = \"$.delta\"" + (isLink ? "" : ", param = \"sync\"")
        return ScriptedAPI.configuration(
            ScriptedAPI.resource(
                "people", of: "Person",
                """
                records = "$.value"
                deletion = { \(deletion) }
                pages = { \(pages) }
                incremental = { \(token)\(keys.isEmpty ? "" : ", \(keys)") }
                retry = { attempts = 1 }
                \(more)
                """))
    }
}
