import Foundation
import NIOHTTP1
import Testing

@testable import SyncPipeline

@Suite struct RunCookiesTests {
    private let now = Date(timeIntervalSince1970: 1_735_689_600)
    private let cookies = RunCookies()

    private func set(_ values: String..., at url: String = "https://a.example/v1/items") throws {
        cookies.store(HTTPHeaders(values.map { ("Set-Cookie", $0) }), from: try HTTPAddress(url), now: now)
    }

    private func sent(to url: String = "https://a.example/v1/items") throws -> [String] {
        var request = HTTPRequest(address: try HTTPAddress(url), headers: [:])
        cookies.apply(to: &request)
        return request.headers["Cookie"]
    }

    @Test func cookiesGoBackToTheirOriginOnly() throws {
        try set("backend=7; Path=/; HttpOnly", "other=1; Domain=example; Path=/")
        #expect(try sent() == ["backend=7; other=1"])
        #expect(try sent(to: "https://b.example/v1/items") == [])
        #expect(try sent(to: "http://a.example/v1/items") == [])
        #expect(try sent(to: "https://a.example:8443/v1/items") == [])
    }

    @Test func pathsAreObeyed() throws {
        try set("a=1", "b=2; Path=/v1/items/deep", "c=3; Path=/")
        #expect(try sent() == ["a=1; c=3"])
        #expect(try sent(to: "https://a.example/v1") == ["a=1; c=3"])
        #expect(try sent(to: "https://a.example/v1x") == ["c=3"])
        #expect(try sent(to: "https://a.example/v1/items/deep/er") == ["b=2; a=1; c=3"])
    }

    @Test func aNewValueReplacesAndThePastDeletes() throws {
        try set("a=1; Path=/", "b=1; Path=/")
        try set("a=2; Path=/", "b=; Path=/; Max-Age=0")
        #expect(try sent() == ["a=2"])
        try set("a=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(try sent() == [])
    }

    @Test func malformedAndOversizedCookiesAreIgnored() throws {
        try set("", ";", "=x", "novalue", "big=\(String(repeating: "x", count: 5000))", "a=b\u{1}")
        #expect(try sent() == [])
        for index in 0..<200 { try set("c\(index)=1; Path=/") }
        #expect(try sent().first?.split(separator: ";").count == 50)
    }

    @Test func secureCookiesNeedEncryption() throws {
        try set("a=1; Secure; Path=/", at: "http://a.example/")
        #expect(try sent(to: "http://a.example/") == [])
    }
}
