import NIOHTTP1
import Testing

@testable import SyncPipeline

@Suite struct ConditionalGETTests {
    // R7
    @Test(arguments: ["\"abc\"", "W/\"a b\\\"", "unquoted", "\"ü\"", "\"\""])
    func anETagIsSentBackByteForByte(etag: String) throws {
        let validators = try #require(ConditionalGET(headers: ["etag": etag]))
        var headers = HTTPHeaders()
        validators.apply(to: &headers)
        #expect(headers["If-None-Match"] == [etag])
        #expect(headers["If-Modified-Since"] == [])
    }

    @Test func lastModifiedIsSentBackAsItWasWritten() throws {
        let validators = try #require(ConditionalGET(headers: ["ETag": "\"a\"", "Last-Modified": "sometime in 2024"]))
        var headers: HTTPHeaders = ["If-Modified-Since": "old"]
        validators.apply(to: &headers)
        #expect(headers["If-Modified-Since"] == ["sometime in 2024"])
    }

    // RFC 9110, 8.8.2.2
    @Test(arguments: [
        ("Wed, 01 Jan 2025 00:00:00 GMT", "Wed, 01 Jan 2025 00:00:02 GMT", true),
        ("Wed, 01 Jan 2025 00:00:00 GMT", "Wed, 01 Jan 2025 00:00:01 GMT", false),
        ("Wed, 01 Jan 2025 00:00:00 GMT", "Wed, 01 Jan 2025 00:00:00 GMT", false),
        ("Wed, 01 Jan 2025 00:00:05 GMT", "Wed, 01 Jan 2025 00:00:00 GMT", false),
        ("sometime in 2024", "Wed, 01 Jan 2025 00:00:00 GMT", false),
    ])
    func aLastModifiedAloneIsKeptWhereItIsOlderThanItsResponse(modified: String, date: String, isKept: Bool) {
        let alone = ConditionalGET(headers: ["Last-Modified": modified, "Date": date])
        #expect((alone?.lastModified != nil) == isKept)
        #expect(ConditionalGET(headers: ["ETag": "\"a\"", "Last-Modified": modified, "Date": date])?.lastModified == modified)
    }

    @Test func nothingKnownIsNoValue() {
        #expect(ConditionalGET(headers: [:]) == nil)
        #expect(ConditionalGET(headers: ["ETag": ""]) == nil)
        #expect(ConditionalGET(etag: nil, lastModified: nil) == nil)
    }

    @Test func ambiguousValidatorsAreNotBelieved() {
        #expect(ConditionalGET(headers: HTTPHeaders([("ETag", "\"a\""), ("ETag", "\"b\"")])) == nil)
        #expect(ConditionalGET(headers: HTTPHeaders([("ETag", "\"a\""), ("ETag", "\"a\"")]))?.etag == "\"a\"")
        #expect(ConditionalGET(headers: ["ETag": "\"\u{FFFD}\""]) == nil)
        #expect(ConditionalGET(headers: ["ETag": String(repeating: "x", count: 1025)]) == nil)
    }

    @Test func aDigestAloneIsKeptButNotSent() throws {
        let validators = try #require(ConditionalGET(headers: [:], bodyDigest: BodyDigest(of: "[]")))
        #expect(!validators.isSent)
        var headers = HTTPHeaders()
        validators.apply(to: &headers)
        #expect(headers.isEmpty)
    }

    @Test func digestsAreStoredAndCompared() {
        let digest = BodyDigest(of: "abc")
        #expect(digest.description == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(BodyDigest(bytes: digest.bytes) == digest)
        #expect(BodyDigest(bytes: [1, 2, 3]) == nil)
    }
}
