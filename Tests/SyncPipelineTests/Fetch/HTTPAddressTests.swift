import SyncConfiguration
import Testing

@testable import SyncPipeline

@Suite struct HTTPAddressTests {
    @Test func originsAreCompared() throws {
        let plain = try HTTPAddress("https://API.example/items")
        #expect(plain.origin == (try HTTPAddress("https://api.example:443/other?x=1#y")).origin)
        #expect(plain.origin == (try HTTPAddress("https://api.example./")).origin)
        #expect(plain.origin != (try HTTPAddress("http://api.example/")).origin)
        #expect(plain.origin != (try HTTPAddress("https://api.example:8443/")).origin)
        #expect((try HTTPAddress("http://[::1]:8080/a")).origin.description == "http://[::1]:8080")
    }

    // N4
    @Test(arguments: [
        "", "   ", "items", "/items", "//host/items", "ftp://host/", "file:///etc/passwd", "gopher://host/", "javascript:alert(1)",
        "http://", "http:///path", "http://user@host/", "http://user:secret@host/", "http://@host/", "http://[fe80::1%25eth0]/",
        "http://ho%73t/", "http://host\\@evil/", "http:\\\\host/", "http://host/\u{0}", "http://host/\r\nX: y", "http://host:0/",
        "http://host:99999/", "http+unix://%2Ftmp%2Fx/", "unix:///tmp/x", "http://a/" + String(repeating: "x", count: 17_000),
    ])
    func unsafeAddressesAreRefused(text: String) {
        #expect(throws: Refusal.self) { try HTTPAddress(text) }
    }

    @Test func referencesAreResolved() throws {
        let base = try HTTPAddress("https://api.example/v1/items?page=1")
        #expect(try base.resolving("?page=2").description == "https://api.example/v1/items?page=2")
        #expect(try base.resolving("/v2/items").description == "https://api.example/v2/items")
        #expect(try base.resolving("more").description == "https://api.example/v1/more")
        #expect(try base.resolving("//other.example/x").description == "https://other.example/x")
        #expect(try base.resolving("http://api.example/x").origin.scheme == "http")
        #expect(try base.resolving("#here").description == "https://api.example/v1/items?page=1")
        #expect(throws: Refusal.self) { try base.resolving("") }
        #expect(throws: Refusal.self) { try base.resolving("//user@other.example/") }
    }

    @Test func parametersAreReplacedAndTheRestIsKept() throws {
        let address = try HTTPAddress("https://a.example/x?b=%2B1&a=1&a=2&flag")
        #expect(address.setting([("a", "ü &=+/")]).description == "https://a.example/x?b=%2B1&flag&a=%C3%BC%20%26%3D%2B%2F")
        #expect(address.removing(parameters: ["a", "flag"]).description == "https://a.example/x?b=%2B1")
        #expect(address.removing(parameters: ["a", "b", "flag"]).description == "https://a.example/x")
        #expect(address.parameter("b") == "+1")
        #expect(address.parameter("flag") == "")
        #expect(address.parameter("none") == nil)
        #expect(address.setting([("a", "ü &=+/")]).parameter("a") == "ü &=+/")
    }

    @Test func whatIsEscapedStaysAndWhatMustBeIsEscapedOnce() throws {
        let base = try HTTPAddress("https://a.example/x")
        #expect(try base.resolving("/y?path=a%2Fb&ids=1|2").description == "https://a.example/y?path=a%2Fb&ids=1%7C2")
        #expect(try base.resolving("/y?q={a b}%25&s=100%").description == "https://a.example/y?q=%7Ba%20b%7D%25&s=100%25")
        #expect(try base.resolving("/ü/%C3%BC?[x]=1").description == "https://a.example/%C3%BC/%C3%BC?%5Bx%5D=1")
        #expect(try HTTPAddress("http://[::1]:8080/a|b").origin.description == "http://[::1]:8080")
    }

    @Test func privateNamesAreKnown() throws {
        for text in ["http://localhost/", "http://api.localhost/", "http://127.0.0.1/", "http://2130706433/", "http://0x7f.1/", "http://[::1]/"] {
            #expect(try HTTPAddress(text).isPrivateByName, "\(text)")
        }
        #expect(try !HTTPAddress("http://example.com/").isPrivateByName)
    }
}
