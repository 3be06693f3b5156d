import Foundation
import SyncConfiguration
import SyncControl
import SyncTestSupport
import Testing

@testable import cisternctl

@Suite struct InferVerbTests {
    private let outcome = Outcome()

    private func run(_ arguments: String...) async -> ControlExitCode {
        await Cisternctl.run(arguments: ["infer"] + arguments, surroundings: outcome.surroundings())
    }

    private static func answer(_ status: String, _ body: String, _ headers: String...) -> [UInt8] {
        let head = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)", "Connection: close"] + headers
        return Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }

    private func file(_ text: String, _ name: String = "answer.json") throws -> String {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("infer-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent(name)
        try Data(text.utf8).write(to: file)
        return file.path
    }

    private func remove(_ file: String) { try? FileManager.default.removeItem(at: URL(fileURLWithPath: file).deletingLastPathComponent()) }

    @Test func anAnswerOfAServerBecomesAConfigurationWithoutItsSecrets() async throws {
        let server = try await RawHTTPServer { request, _ in
            let isKnown =
                request.headers["authorization"] == "Bearer hunter2" && request.headers["x-app"] == "hunter3"
                && request.target.contains("api_key=hunter4")
            return [
                .send(
                    isKnown
                        ? Self.answer("200 OK", #"[{"id": 1}, 7, {"id": 2}]"#, "Content-Type: text/plain", "ETag: \"1\"")
                        : Self.answer("401 Unauthorized", "{}", "Content-Type: application/json")), .close,
            ]
        }
        let token = try file("hunter2\n")
        defer { remove(token) }
        let code = await run(server.url("/items?api_key=hunter4"), "--bearer-file", token, "--header", "X-App=hunter3")
        #expect(code == .success, "\(outcome.error)")
        #expect(!outcome.out.contains("hunter") && outcome.out.contains("# The answer has ETag"))
        let reading = ConfigurationReader(path: "/d.toml", files: ConfigurationTexts(["/d.toml": outcome.out])).read()
        let resource = try #require(reading.configuration?.sources.first?.resources.first)
        #expect(resource.scope == "items/items" && resource.key == ["id"])
        #expect(resource.secretHeaders.map(\.name) == ["X-App"] && resource.secretParameters.map(\.name) == ["api_key"])
        #expect(resource.parse.contentTypes.contains("text/plain"))

        let refused = Outcome()
        #expect(await Cisternctl.run(arguments: ["infer", server.url("/items")], surroundings: refused.surroundings()) == .noPermission)
        #expect(refused.error.contains("--bearer-file") && refused.out.isEmpty)
        await server.shutdown()
    }

    @Test func aSavedAnswerNeedsItsAddress() async throws {
        let answer = try file(#"{"items": [{"id": 1}]}"#)
        defer { remove(answer) }
        #expect(await run(answer) == .usage)
        #expect(outcome.error.contains("--url ADDRESS"))
        #expect(await run(answer, "--url", "https://a.example/items", "--json") == .success)
        #expect(outcome.out.contains("\"scope\" : \"items/items\"") || outcome.out.contains("\"scope\": \"items/items\""))
        #expect(outcome.out.contains("source.records"))
    }

    @Test func aFileThatIsThereIsKeptWithoutForce() async throws {
        let answer = try file("[{\"id\": 1}]"), draft = answer + ".toml"
        defer { remove(answer) }
        #expect(await run(answer, "--url", "https://a.example/items", "-o", draft) == .success)
        #expect(outcome.out.isEmpty && FileManager.default.contents(atPath: draft)?.isEmpty == false)
        // As a file that somebody makes meanwhile: the surroundings here know of none.
        try Data("mine".utf8).write(to: URL(fileURLWithPath: draft))
        #expect(await run(answer, "--url", "https://a.example/items", "-o", draft) == .ioError)
        #expect(FileManager.default.contents(atPath: draft) == Data("mine".utf8))
        let known = Outcome()
        let arguments = ["infer", answer, "--url", "https://a.example/items", "-o", draft]
        #expect(await Cisternctl.run(arguments: arguments, surroundings: known.surroundings(existing: [draft])) == .usage)
        #expect(FileManager.default.contents(atPath: draft) == Data("mine".utf8))
        #expect(await Cisternctl.run(arguments: arguments + ["--force"], surroundings: known.surroundings(existing: [draft])) == .success)
        #expect(FileManager.default.contents(atPath: draft) != Data("mine".utf8))
    }

    @Test func whatIsNoAnswerIs65AndABadAddressIs64() async throws {
        let page = try file("<html></html>"), none = try file("[]")
        defer {
            remove(page)
            remove(none)
        }
        #expect(await run(page, "--url", "https://a.example/items") == .dataError)
        #expect(await run(none, "--url", "https://a.example/items") == .dataError)
        #expect(await run("/nonexistent/answer.json", "--url", "https://a.example/items") == .dataError)
        #expect(await run(none, "--url", "https://me:hunter2@a.example/items") == .usage)
        #expect(await run(none, "--url", "https://a.example:99999/items") == .usage)
        #expect(await run(none, "--url", "https://a.example/items", "--header", "Host=b") == .usage)
        #expect(await run(none, "--url", "https://a.example/items", "--header", "X") == .usage)
        #expect(!outcome.error.contains("hunter2") && outcome.out.isEmpty)
    }

    private static let description = """
        {"openapi": "3.0.0", "info": {"title": "Zoo API"}, "servers": [{"url": "/v1"}], "paths": {"/animals": {"get": {"responses": {"200": {"content": {
        "application/json": {"schema": {"type": "array", "items": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}}}}
        }}}}, "post": {}}}}
        """

    @Test func aDescriptionOfAServiceIsDraftedFromAFileOrAnAddress() async throws {
        let known = try file(Self.description, "openapi.json")
        defer { remove(known) }
        #expect(await run(known, "--url", "https://a.example/docs/openapi.json") == .success, "\(outcome.error)")
        let reading = ConfigurationReader(path: "/d.toml", files: ConfigurationTexts(["/d.toml": outcome.out])).read()
        #expect(reading.configuration?.resource(scope: "zoo/animals")?.url == "https://a.example/v1/animals", "\(reading.errors)")
        #expect(outcome.error.contains("1 operation is no GET") && outcome.error.contains("1 resource drafted, 1 left out"))

        let server = try await RawHTTPServer { _, _ in
            [.send(Self.answer("200 OK", Self.description, "Content-Type: application/json")), .close]
        }
        let fetched = Outcome()
        let code = await Cisternctl.run(
            arguments: ["infer", server.url("/openapi.json"), "--json"], surroundings: fetched.surroundings())
        #expect(code == .success && server.requests.count == 1, "\(fetched.error)")
        #expect(fetched.out.contains("leftOut") && fetched.out.contains("[entity.Animal]"))
        await server.shutdown()
    }

    @Test func aDescriptionWithoutListsIs65AndWritesNothing() async throws {
        let known = try file("openapi: 3.0.0\npaths: { /x: { get: { responses: {} } } }\n", "openapi.yaml"), draft = known + ".toml"
        defer { remove(known) }
        #expect(await run(known, "-o", draft) == .dataError)
        #expect(outcome.error.contains("left out: GET /x: it has no answer with status 200") && !FileManager.default.fileExists(atPath: draft))
    }

    @Test func aServerThatIsNotThereIs69() async {
        #expect(await run("http://127.0.0.1:1/items") == .unavailable)
    }
}
