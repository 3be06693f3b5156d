import Foundation
import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// A server whose answers a test sets, by path and query, and the configurations that ask it.
final class ScriptedAPI: Sendable {
    private struct Page {
        var body = "[]"
        var etag: String?
        var status = 200
        var headers: HTTPHeaders = [:]
    }

    private let pages = Mutex<[String: Page]>([:])

    /// Sets what `path`, query included, is answered. With an ETag, a request that has it is answered 304.
    func set(_ path: String, _ body: String, etag: String? = nil, status: Int = 200, headers: HTTPHeaders = [:]) {
        pages.withLock { $0[path] = Page(body: body, etag: etag, status: status, headers: headers) }
    }

    func answer(_ request: HTTPRequest) -> StubTransport.Answer {
        let url = request.address.url
        let path = url.path + (url.query.map { "?\($0)" } ?? "")
        guard let page = pages.withLock({ $0[path] }) else { return .response(status: 404) }
        if let etag = page.etag, request.headers.first(name: "If-None-Match") == etag { return .response(status: 304, headers: ["ETag": etag]) }
        var headers = page.headers
        headers.replaceOrAdd(name: "Content-Type", value: "application/json")
        if let etag = page.etag { headers.replaceOrAdd(name: "ETag", value: etag) }
        return .response(status: page.status, headers: headers, body: Array(page.body.utf8))
    }

    func fixture(_ toml: String) async throws -> PipelineFixture {
        try await PipelineFixture(toml) { request, _ in self.answer(request) }
    }

    /// A resource at the path of its name.
    static func resource(_ name: String, of entity: String = "Person", _ more: String = "") -> String {
        """
        [[source.resource]]
        name = "\(name)"
        entity = "\(entity)"
        path = "/\(name)"
        \(more)

        """
    }

    /// Resources of the source `api`, polled hourly.
    static func configuration(_ resources: String..., defaults: String = "", entities: String = entities()) -> String {
        """
        version = 1
        [daemon]
        contact = "test@localhost"
        [defaults.schedule]
        every = "1h"
        \(defaults)
        [[source]]
        name = "api"
        base_url = "https://api.example"
        \(resources.joined())
        \(entities)
        """
    }

    /// One resource `/people` of the entity Person; everything complete listings do not hold goes at once.
    static func people(
        _ more: String = "", defaults: String = "", deletion: String = "confirm_runs = 1, max_fraction = 1.0", attributes: String = ""
    ) -> String {
        configuration(
            resource("people", of: "Person", "deletion = { detect = \"snapshot\", \(deletion) }\n\(more)"), defaults: defaults,
            entities: entities(attributes))
    }

    /// Teams, their people and the tasks of these, which are theirs: what becomes of the people of a team that goes is `rule`. People know their team by
    /// its key.
    static func teams(onDelete rule: String) -> String {
        """
        [entity.Team]
        key = ["id"]
        [entity.Team.attributes]
        id = { type = "int64", optional = false }
        name = { type = "string" }
        [entity.Team.relationships]
        people = { to = "Person", many = true, inverse = "team", on_delete = "\(rule)" }
        [entity.Person]
        key = ["id"]
        [entity.Person.attributes]
        id = { type = "int64", optional = false }
        [entity.Person.relationships]
        team = { to = "Team", match = "key", inverse = "people" }
        tasks = { to = "Task", many = true, match = "embedded", inverse = "person", on_delete = "cascade" }
        [entity.Task]
        key = ["id"]
        [entity.Task.attributes]
        id = { type = "int64", optional = false }
        [entity.Task.relationships]
        person = { to = "Person", match = "key", inverse = "tasks" }
        """
    }

    static func entities(_ attributes: String = "") -> String {
        """
        [entity.Person]
        key = ["id"]
        [entity.Person.attributes]
        id = { type = "int64", optional = false }
        name = { type = "string" }
        age = { type = "int32" }
        \(attributes)
        """
    }
}

extension PipelineFixture {
    /// The keys of the rows that are not tombstones.
    func live(_ entity: String = "Person") async throws -> [String] {
        try await values("id", of: entity, where: "cisternDeletedAt == nil")
    }

    /// Polls one resource once, committed.
    @discardableResult
    func sync(_ scope: String, full: Bool = false) async throws -> RunReport {
        clock.advance(by: .seconds(3600))
        return try #require(try await pipeline.sync(scope, cause: .control, full: full, wait: true).first)
    }
}
