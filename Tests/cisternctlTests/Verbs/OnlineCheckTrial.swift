import Foundation
import SyncControl
import SyncTestSupport
import Testing

@testable import cisternctl

/// `check --online` over a server that answers as a test says.
enum OnlineCheckTrial {
    /// What the tool told as JSON, and what the server was asked.
    struct Told: Decodable {
        struct Change: Decodable {
            var key: String
            var value: String
        }

        struct Test: Decodable {
            var name: String
            var outcome: String
            var detail: String
            var fault: String?
            var change: Change?
        }

        struct Resource: Decodable {
            var scope: String
            var part: String?
            var requests: Int
            var tests: [Test]

            subscript(name: String) -> Test? { tests.first { $0.name == name } }
        }

        var resources: [Resource]

        func test(_ name: String, of scope: String = "shop/items") throws -> Test {
            let resource = try #require(resources.first(where: { $0.scope == scope }))
            return try #require(resource[name])
        }
    }

    struct Answer: Sendable {
        var status = "200 OK"
        var headers: [String] = []
        var body: String

        var bytes: [UInt8] {
            let head =
                ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)", "Content-Type: application/json", "Connection: close"] + headers
            return Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
        }
    }

    struct Result {
        var code: ControlExitCode
        var told: Told
        var output: String
        var targets: [String]
    }

    static let model = """
        [entity.Item]
        key = ["id"]
        [entity.Item.attributes]
        id = { type = "int64" }
        at = { type = "date" }
        """

    static func parameter(_ name: String, in request: RawHTTPServer.Request) -> String? {
        let query = request.target.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        let part = query.split(separator: "&").first { $0.hasPrefix("\(name)=") }
        return part.map { String($0.dropFirst(name.count + 1)).removingPercentEncoding ?? "" }
    }

    static func items(_ ids: some Sequence<Int>) -> String { "[" + ids.map { "{\"id\": \($0)}" }.joined(separator: ", ") + "]" }

    /// Checks a configuration with one source, whose first resource is `items`.
    ///
    /// - Parameters:
    ///   - resource: further keys of it, and further resources.
    ///   - arguments: besides those that every check has.
    static func check(
        _ resource: String = "", model: String = Self.model, arguments: [String] = [], environment: [String: String] = [:],
        answer: @escaping @Sendable (RawHTTPServer.Request, Int) -> Answer
    ) async throws -> Result {
        let server = try await RawHTTPServer { request, number in [.send(answer(request, number).bytes), .close] }
        let configuration = """
            version = 1
            [defaults.retry]
            attempts = 1
            [[source]]
            name = "shop"
            base_url = "\(server.url(""))"
            [[source.resource]]
            name = "items"
            entity = "Item"
            path = "/items"
            \(resource)

            \(model)
            """
        let outcome = Outcome()
        let code = await Cisternctl.run(
            arguments: ["check", "--online", "--json", "--config", "/c.toml"] + arguments,
            surroundings: outcome.surroundings(["/c.toml": configuration], environment: environment))
        let targets = server.requests.map(\.target)
        await server.shutdown()
        let told = try #require(try? JSONDecoder().decode(Told.self, from: Data(outcome.out.utf8)), "\(outcome.out) \(outcome.error)")
        return Result(code: code, told: told, output: outcome.out + outcome.error, targets: targets)
    }
}
