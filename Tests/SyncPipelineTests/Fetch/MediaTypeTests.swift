import Testing

@testable import SyncPipeline

@Suite struct MediaTypeTests {
    @Test(arguments: [
        ("application/json", "application/json", true), ("Application/JSON; charset=utf-8", "application/json", true),
        ("application/geo+json", "application/*+json", true), ("application/+json", "application/*+json", false),
        ("text/html", "application/json", false), ("text/json", "text/*", true), ("application/json-seq", "application/json", false),
    ])
    func typesAreComparedWithPatterns(value: String, pattern: String, fits: Bool) throws {
        #expect(try #require(MediaType(value)).matches(#require(MediaType(pattern))) == fits)
    }

    @Test(arguments: ["", "json", "/json", "application/", "a/b/c", "application/json, text/html"])
    func whatIsNoTypeIsNil(value: String) {
        #expect(MediaType(value) == nil)
    }
}
