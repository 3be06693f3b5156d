import Foundation
import NIOHTTP1
import SyncConfiguration
import SyncTestSupport
import Synchronization

@testable import SyncPipeline

/// A server whose records change, and which gives those that have since a time: `/people?since=…&until=…&page=…`.
final class ChangingAPI: Sendable {
    struct Record: Sendable {
        var id: Int
        /// Seconds since 1970.
        var changed: Double?
        var name: String
        /// It is gone, and its record says so: nothing but that.
        var isDeleted = false
    }

    struct State: Sendable {
        var records: [Int: Record] = [:]
        /// How many records a page has.
        var pageSize = 100
        /// How records are sorted; nil: by key.
        var order: (@Sendable (Record, Record) -> Bool)?
        /// The server does not know the parameter.
        var ignoresSince = false
        /// Statuses for requests that say from where on.
        var rejection: Int?
        /// The request that fails, by its number from 0 on among all.
        var broken: Set<Int> = []
        /// The requests that are refused (400), by their numbers.
        var refused: Set<Int> = []
        /// Records whose key is no number.
        var spoilt: Set<Int> = []
        /// Times are written as numbers.
        var isNumber = false
        /// What changes before a request is answered, by its number.
        var meanwhile: (request: Int, records: [Record])?
        /// Of a page that is there.
        var status = 200
        var requests: [String] = []
    }

    private let state = Mutex(State())

    /// Makes or changes records at a time.
    func put(_ ids: Int..., at time: Double?, name: String = "x") {
        state.withLock { state in for id in ids { state.records[id] = Record(id: id, changed: time, name: name) } }
    }

    /// What is removed at a time is said to be gone from then on.
    func delete(_ id: Int, at time: Double) { state.withLock { $0.records[id] = Record(id: id, changed: time, name: "", isDeleted: true) } }

    func remove(_ ids: Int...) { state.withLock { state in for id in ids { state.records[id] = nil } } }

    func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

    /// The queries that were asked since the last time somebody wanted to know, in order.
    func asked() -> [String] {
        state.withLock { state in
            defer { state.requests = [] }
            return state.requests
        }
    }

    private var there: [Record] { state.withLock { state in state.records.values.filter { !$0.isDeleted } } }
    var live: [String] { there.map { "\($0.id)" }.sorted() }
    var names: [String] { there.map { "\($0.id)=\($0.name)" }.sorted() }

    private static func seconds(_ text: String?) -> Double? {
        guard let text else { return nil }
        return Double(text) ?? DateConversion.seconds(text, format: .rfc3339).map { $0 + 978_307_200 }
    }

    func answer(_ request: HTTPRequest, _ number: Int) -> StubTransport.Answer {
        let items = URLComponents(url: request.address.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
        func item(_ name: String) -> String? { items.first { $0.name == name }?.value }
        return state.withLock { state in
            state.requests.append(request.address.url.query?.removingPercentEncoding ?? "")
            if let (request, records) = state.meanwhile, request == number { for record in records { state.records[record.id] = record } }
            if state.broken.contains(number) { return .response(status: 500) }
            if state.refused.contains(number) { return .response(status: 400) }
            let since = state.ignoresSince ? nil : Self.seconds(item("since")), until = Self.seconds(item("until"))
            if since != nil, let status = state.rejection { return .response(status: status) }
            let found = state.records.values.filter { record in
                guard let changed = record.changed else { return since == nil }
                return changed >= since ?? changed && changed <= until ?? changed
            }.sorted(by: state.order ?? { $0.id < $1.id })
            let page = Int(item("page") ?? "1") ?? 1
            let records = found.dropFirst((page - 1) * state.pageSize).prefix(state.pageSize).map { [state] record in
                let time =
                    state.isNumber
                    ? "\(Int(record.changed ?? 0))" : "\"\(DateWriting.text((record.changed ?? 0) - 978_307_200, format: .rfc3339) ?? "")\""
                let changed = record.changed == nil ? "" : ", \"at\": \(time)"
                let id = state.spoilt.contains(record.id) ? "\"\(record.id)x\"" : "\(record.id)"
                return "{\"id\": \(id), " + (record.isDeleted ? "\"deleted\": true" : "\"name\": \"\(record.name)\"") + "\(changed)}"
            }
            let body = "[\(records.joined(separator: ","))]", etag = "\"\(BodyDigest(of: body))\""
            if request.headers.first(name: "If-None-Match") == etag { return .response(status: 304, headers: ["ETag": etag]) }
            return .response(
                status: state.status, headers: ["Content-Type": "application/json", "ETag": etag], body: Array(body.utf8))
        }
    }

    func fixture(_ toml: String, folder: URL? = nil, savesAtOnce: Bool = false) async throws -> PipelineFixture {
        try await PipelineFixture(toml, folder: folder, savesAtOnce: savesAtOnce) { request, number in self.answer(request, number) }
    }

    /// One resource `/people` that asks for what has changed.
    ///
    /// - Parameter deletion: its `detect`, and other keys after it.
    static func people(
        _ incremental: String, deletion: String = "none", _ more: String = "pages = { kind = \"page\", size_param = \"\" }"
    ) -> String {
        ScriptedAPI.configuration(
            ScriptedAPI.resource(
                "people", of: "Person",
                """
                deletion = { detect = "\(deletion)", confirm_runs = 1, max_fraction = 1.0 }
                incremental = { field = "$.at"\(incremental.isEmpty ? "" : ", \(incremental)") }
                retry = { attempts = 1 }
                \(more)
                """))
    }
}
