import Foundation
import NIOHTTP1
import Secrets
import SyncConfiguration
import SyncPipeline
import SyncTestSupport
import Testing

@testable import ConfigurationTestKit

@Suite struct TestRecorderTests {
    private func record(
        _ scope: String = "api/items", toml: String = Workbench.configuration, pages: Int = 2, secret: String = "real-secret-1",
        _ answer: @escaping @Sendable (HTTPRequest, Int) async throws -> StubTransport.Answer
    ) async throws -> String {
        let configuration = try ConfigurationReader(path: "/c/api.toml", files: ConfigurationTexts(["/c/api.toml": toml])).configuration()
        let resource = try #require(configuration.resource(scope: scope))
        let recorder = TestRecorder(configuration, folder: FileManager.default.temporaryDirectory, version: "test")
        let stub = StubTransport(answer)
        return try await recorder.record(
            resource, pages: pages, secrets: SecretResolver { _, _ in Secret(Array(secret.utf8)) }, clock: ManualClock()
        ) { _, wrap in TransportPool { _ in wrap(stub) } }
    }

    private static let page: [UInt8] = Array("[{\"id\": 1, \"name\": \"it's\", \"owner\": \"ada\"}]".utf8)

    @Test func whatIsRecordedIsATestThatPasses() async throws {
        let text = try await record { request, index in
            #expect(request.headers["Accept-Encoding"] == ["identity"])
            let next: HTTPHeaders = index == 0 ? ["Link": "</items?page=2>; rel=\"next\""] : [:]
            return .response(status: 200, headers: next, body: index == 0 ? Self.page : Array("[{\"id\": 2}]".utf8))
        }
        #expect(text.contains("rows") && text.contains("complete = true") && text.contains("\"it's\""))
        #expect(try await Workbench().differences(text) == [])
        #expect(try await Workbench().differences(text.replacing("inserted = 2", with: "inserted = 3")).count == 1)
    }

    @Test func whatGoesOnIsCutAndNotComplete() async throws {
        let text = try await record(pages: 1) { _, _ in
            .response(status: 200, headers: ["Link": "</items?page=2>; rel=\"next\""], body: Self.page)
        }
        #expect(text.contains("max_pages = 1") && text.contains("complete = false"))
        #expect(try await Workbench().differences(text) == [])
    }

    @Test func noSecretAndNoCookieIsInTheFile() async throws {
        let text = try await record { request, _ in
            #expect(request.headers["Authorization"] == ["Bearer real-secret-1"])
            return .response(
                status: 200, headers: ["Set-Cookie": "session=cookie-1", "ETag": "\"real-secret-1\"", "X-Other": "other"],
                body: Array("[{\"id\": 1, \"name\": \"you sent real-secret-1\"}]".utf8))
        }
        #expect(!text.contains("real-secret-1") && !text.contains("cookie-1") && !text.contains("other"))
        #expect(try await Workbench().differences(text) == [])
    }

    @Test func aFailureThatWasRecordedIsExpected() async throws {
        let text = try await record { _, _ in .response(status: 404, body: Array("no".utf8)) }
        #expect(text.contains("status = 404") && text.contains("error = "))
        #expect(try await Workbench().differences(text) == [])
    }

    @Test func whatCannotBeATestIsRefused() async throws {
        await #expect(throws: TestRecorder.Refusal.self) {
            _ = try await record { _, _ in .response(status: 200, headers: ["Content-Encoding": "gzip"], body: [31, 139]) }
        }
        let parts = Workbench.configuration.replacing("path = \"/items\"", with: "path = \"/items/{n}\"\nfor_each = { values = [\"1\"], as = \"n\" }")
        await #expect(throws: TestRecorder.Refusal.self) { _ = try await record(toml: parts) { _, _ in .response(status: 200) } }
    }
}
