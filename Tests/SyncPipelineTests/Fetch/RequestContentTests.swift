import NIOHTTP1
import Secrets
import SyncConfiguration
import Testing

@testable import SyncPipeline

/// What is sent, and what a page that is asked for with it is known by.
@Suite struct RequestContentTests {
    private static let url = "https://a.example/search?x=1"

    private func json(_ value: BodyValue) -> RequestContent { RequestContent(.json(value)) }

    @Test func aBodyIsWrittenAsJSONInItsOrder() {
        let content = json(
            .object([
                .init("z", .number("1.0")), .init("a", .array([.boolean(true), .text("x\"\\/\n\t\u{1}ü"), .array([]), .object([])])),
                .init("", .template(Template("{{a}}"))),
            ]))
        #expect(content.description == #"{"z":1.0,"a":[true,"x\"\\/\n\t\u0001ü",[],{}],"":"{{a}}"}"#)
        #expect(content.mediaType == "application/json")
        #expect(content.digest == BodyDigest(of: content.description))
    }

    @Test func aFormIsWrittenWithEscapes() {
        let content = RequestContent(.form([.init(name: "a b", value: "1&2=ü"), .init(name: "a b", value: ""), .init(name: "c", value: "x+y")]))
        #expect(content.description == "a%20b=1%262%3D%C3%BC&a%20b=&c=x%2By")
        #expect(content.mediaType == "application/x-www-form-urlencoded")
    }

    @Test func nothingHasNoType() {
        #expect(RequestContent(nil).isEmpty && RequestContent(nil).mediaType == "")
        #expect(!json(.object([])).isEmpty)
        let form = RequestContent(.form([]))
        #expect(!form.isEmpty && form.bytes.isEmpty && form.mediaType == "application/x-www-form-urlencoded")
    }

    // What is stored of pages stays theirs.
    @Test func theKeyOfAGETIsWhatItAlwaysWas() throws {
        let address = try HTTPAddress(Self.url)
        #expect(PageRequest(address: address).key == "GET https://a.example/search?x=1")
        #expect(
            PageRequest(address: address, headers: [HeaderField(name: "X-After", value: "7")]).key == "GET https://a.example/search?x=1\nx-after: 7")
    }

    @Test func theKeyOfAPOSTHasWhatItSends() throws {
        let address = try HTTPAddress(Self.url), one = RequestBody.json(.object([.init("q", .text("a"))]))
        func request(_ body: RequestBody?, headers: [HeaderField] = []) -> PageRequest {
            PageRequest(method: .post, address: address, headers: headers, body: body)
        }
        #expect(request(one).key == "POST https://a.example/search?x=1\n\(BodyDigest(of: #"{"q":"a"}"#))")
        let keys = [
            PageRequest(address: address).key, request(nil).key, request(one).key, request(.json(.object([.init("q", .text("b"))]))).key,
            request(.form([.init(name: "q", value: "a")])).key, request(one, headers: [HeaderField(name: "X", value: "1")]).key,
        ]
        #expect(Set(keys).count == keys.count)
        #expect(request(one).key == request(one).key)
        #expect(request(one).description == #"POST https://a.example/search?x=1 {"q":"a"}"#)
        #expect(PageRequest(address: address, body: one).content.isEmpty)
    }

    @Test func aRequestHasTheTypeOfWhatItSendsUnlessAHeaderSaysAnother() throws {
        func headers(_ body: RequestBody?, _ change: (inout ResourceConfiguration) -> Void = { _ in }) throws -> HTTPRequest {
            let settings = try Fixture.settings(Self.url) {
                $0.method = .post
                $0.body = body
                change(&$0)
            }
            let page = PageRequest(method: .post, address: settings.first, body: body)
            let credential = Credential(origin: settings.first.origin, place: .none)
            return settings.request(page, at: page.address, credential: credential, validators: nil, cookies: nil)
        }
        let form = RequestBody.form([.init(name: "q", value: "a")])
        let plain = try headers(form)
        #expect(plain.method == .post && plain.body?.revealed() == "q=a")
        #expect(plain.headers["Content-Type"] == ["application/x-www-form-urlencoded"])
        #expect(try headers(nil).headers["Content-Type"] == [])
        let other = try headers(form) { $0.headers = [HeaderField(name: "content-type", value: "application/x-www-form-urlencoded; charset=utf-8")] }
        #expect(other.headers["Content-Type"] == ["application/x-www-form-urlencoded; charset=utf-8"])
        #expect("\(plain)" == "POST https://a.example")
    }
}
