import Foundation
import SyncConfiguration
import Testing

@testable import SourceDrafts

@Suite struct SampleOriginTests {
    @Test(arguments: [
        ("https://a.example/v1/order-items?limit=5", "order-items"), ("https://a.example/users/octocat/Repos/", "repos"),
        ("https://a.example/api/v2", "a-example"), ("https://a.example:8080", "a-example"), ("http://127.0.0.1/data/cities.json", "cities"),
        ("https://a.example/items/42", "items"), ("https://a.example/a%20b", "a-b"),
    ]) func theSourceIsCalledAsTheLastPartOfThePath(_ address: String, _ name: String) throws {
        #expect(try SampleOrigin(address).name == name)
    }

    @Test func secretsAreTakenOutOfTheAddress() throws {
        var taken: [String: String] = [:]
        let origin = try SampleOrigin("https://a.example/items?page_token=t&API_key=hunter%32&limit=5#x") { taken[$1] = $0 }
        #expect(origin.url == "https://a.example/items?page_token=t&limit=5")
        #expect(taken == ["items-api_key": "hunter2"])
        #expect(origin.lines.contains("secret_params = { \"API_key\" = { credential = \"items-api_key\" } }"))
        #expect(!origin.probe.contains("hunter"))
    }

    @Test(arguments: [
        "X-Amz-Signature", "X-Amz-Security-Token", "X-Amz-Credential", "jwt", "session", "pat", "code", "sig", "client_secret", "userPassword",
        "subscription-key", "refreshToken", "key", "token", "appid", "auth", "pwd",
    ]) func whatIsCalledLikeASecretIsOne(_ name: String) throws {
        let origin = try SampleOrigin("https://a.example/items?limit=5&\(name)=hunter2")
        #expect(origin.url == "https://a.example/items?limit=5")
        #expect(!origin.lines.contains { $0.contains("hunter2") })
        #expect(origin.lines.contains { $0.hasPrefix("secret_params = ") })
    }

    @Test(arguments: ["page_token", "nextToken", "sort_key", "barcode", "path", "design", "keyword", "country_code", "sessions"])
    func whatOnlySoundsLikeASecretStaysInTheAddress(_ name: String) throws {
        #expect(try SampleOrigin("https://a.example/items?\(name)=x").url == "https://a.example/items?\(name)=x")
    }

    @Test func tokensAndHeadersBecomeCredentialsAndPlainHeadersStay() throws {
        var origin = try SampleOrigin("https://a.example/items")
        #expect(origin.addBearer() == "items-token")
        #expect(origin.addHeader("X-Api-Key", "hunter2") == "items-x-api-key")
        #expect(origin.addHeader("X-GitHub-Api-Version", "2022-11-28") == nil)
        let draft = try SourceDraft(Sample(body: Array("[{\"id\": 1}]".utf8), origin: origin))
        #expect(!draft.toml.contains("hunter2") && draft.toml.contains("/etc/cistern/credentials/items-x-api-key"))
        let resource = try DraftTrial.configuration(draft).sources[0].resources[0]
        #expect(resource.secretHeaders.map(\.name) == ["X-Api-Key"])
        #expect(resource.headers.map(\.value) == ["2022-11-28"])
    }

    @Test(arguments: ["items.json", "ftp://a.example/x", "https://", "https://user:pw@a.example/x"]) func whatIsNoAddressIsRefused(_ address: String)
    {
        #expect(throws: SourceDraftError.self) { try SampleOrigin(address) }
    }

    @Test func bracesOfAnAddressAreNoTemplate() throws {
        let draft = try DraftTrial.draft("[{\"id\": 1}]", "https://a.example/items?q={x}")
        #expect(try DraftTrial.configuration(draft).sources[0].resources[0].url == "https://a.example/items?q=%7Bx%7D")
    }
}
