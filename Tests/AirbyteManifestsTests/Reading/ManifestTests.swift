import Testing

@testable import AirbyteManifests

@Suite struct ManifestTests {
    private func manifest(_ text: String) throws -> Manifest {
        var reader = ManifestReader(file: "m.yaml")
        return Manifest(file: "m.yaml", root: try #require(try reader.read(Array(text.utf8)).mapping))
    }

    private func resolved(_ key: String, in text: String) throws -> ManifestValue {
        let manifest = try manifest(text)
        return try manifest.resolved(try #require(manifest.root[key]))
    }

    @Test func aReferenceIsFollowedAndOwnKeysWin() throws {
        let text = """
            definitions:
              base: { a: 1, b: { c: 2 } }
              list: [x, { y: z }]
              "with/slash": found
            one: { $ref: "#/definitions/base", a: 3 }
            two: "#/definitions/base/b/c"
            three: "#/definitions/list/1/y"
            four: "#/definitions/with/slash"
            five: { $ref: "#/one" }
            """
        #expect(try resolved("one", in: text).mapping?["a"]?.integer == 3)
        #expect(try resolved("one", in: text).mapping?["b"]?.mapping?["c"]?.integer == 2)
        #expect(try resolved("two", in: text).integer == 2)
        #expect(try resolved("three", in: text).text == "z")
        #expect(try resolved("four", in: text).text == "found")
        #expect(try resolved("five", in: text).mapping?["a"]?.integer == 3)
    }

    @Test(arguments: ["a: { $ref: \"#/a\" }", "a: \"#/b\"\nb: \"#/a\"", "a: \"#/nothing\"", "a: { $ref: 1 }", "a: { $ref: elsewhere.yaml }"])
    func whatLeadsNowhereOrBackIsAnErrorWithItsLine(_ text: String) throws {
        let error = #expect(throws: ManifestError.self) { try resolved("a", in: text) }
        #expect(error?.line != nil)
    }

    @Test func aCircleThroughInnerValuesEndsToo() throws {
        let manifest = try manifest("a: { b: { $ref: \"#/a\" } }")
        #expect(throws: ManifestError.self) { try manifest.plain(try #require(manifest.root["a"])) }
    }

    @Test func parametersComeDownAndGiveWayToFields() throws {
        let manifest = try manifest(
            """
            a:
              type: Outer
              $parameters: { path: /outer, name: x, inner: never }
              inner: { type: Inner, path: "" }
              other: { type: Other, path: /own, $parameters: { name: y } }
            """)
        let outer = try Component(try #require(manifest.root["a"]), defaultType: "Outer", of: manifest)
        #expect(try outer.value("path")?.text == "/outer")
        let inner = try #require(try outer.component("inner", "Inner"))
        #expect(try inner.value("path")?.text == "/outer")
        #expect(try inner.value("inner") == nil)
        let other = try #require(try outer.component("other", "Other"))
        #expect(try other.value("path")?.text == "/own")
        #expect(try other.value("name")?.text == "y")
    }
}
