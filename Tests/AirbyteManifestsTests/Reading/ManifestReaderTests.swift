import Testing

@testable import AirbyteManifests

@Suite struct ManifestReaderTests {
    private func read(_ text: String) throws -> ManifestValue {
        var reader = ManifestReader(file: "m.yaml")
        return try reader.read(Array(text.utf8))
    }

    private func problem(_ text: String) -> ManifestError? {
        do {
            _ = try read(text)
            return nil
        } catch {
            return error as? ManifestError
        }
    }

    @Test func valuesHaveTheirTypesAndLines() throws {
        let root = try #require(try read("a: 1\nb: [x, yes, ~, 1.5]\nc:\n  d: '1'\n").mapping)
        #expect(root["a"]?.integer == 1)
        let list = try #require(root["b"]?.list)
        #expect(list[0].text == "x")
        #expect(list[1].scalar == "True")
        #expect(list[2].isNull)
        #expect(root["c"]?.mapping?["d"]?.text == "1")
        #expect(root.line(of: "c") == 3)
        #expect(root["c"]?.mapping?.line(of: "d") == 4)
    }

    @Test func aShortTextAndJSONAreRead() throws {
        #expect(try read("a: b").mapping?["a"]?.text == "b")
        #expect(try read("{\"a\": [true, null]}").mapping?["a"]?.list?.count == 2)
        #expect(try read("\u{FEFF}a: b").mapping?["a"]?.text == "b")
    }

    @Test func mergeKeysGiveWayToOwnOnes() throws {
        let root = try #require(try read("x: &x { a: 1, b: 2 }\ny: &y { b: 3, c: 4 }\nz: { <<: [*x, *y], a: 0 }\n").mapping)
        let merged = try #require(root["z"]?.mapping)
        #expect(merged["a"]?.integer == 0)
        #expect(merged["b"]?.integer == 2)
        #expect(merged["c"]?.integer == 4)
    }

    @Test func twoValuesWithOneKeyAreRefusedByLine() throws {
        let error = try #require(problem("a: 1\nb: 2\na: 3\n"))
        #expect(error.message.contains("\"a\""))
        #expect(error.line != nil)
    }

    @Test(arguments: ["a: [1", "a: \"x", "a: b: c", "\ta: 1", "a: *nothing", "a: \u{0}"]) func whatIsNotYAMLIsRefused(_ text: String) throws {
        #expect(problem(text) != nil)
    }

    @Test func aBombOfAliasesEndsWithAnError() throws {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
        for level in 1...12 { text += "a\(level): &a\(level) [" + Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", ") + "]\n" }
        #expect(problem(text)?.message.contains("aliases") == true)
        // As a key it would never end.
        #expect(problem(text + "? *a12\n: x\n")?.message.contains("key") == true)
        #expect(problem(text + "[*a12]: x\n")?.message.contains("key") == true)
    }

    @Test func depthIsBounded() {
        #expect(problem(String(repeating: "[", count: 300) + String(repeating: "]", count: 300)) != nil)
        #expect(problem(String(repeating: "[", count: 200_000)) != nil)
        #expect(problem(String(repeating: "- ", count: 5000) + "a") != nil)
    }

    @Test func aHugeFileIsRefusedUnread() {
        #expect(problem(String(repeating: "a", count: ManifestReader.maxBytes + 1))?.message.contains("4 MiB") == true)
    }

    @Test func bytesThatAreNoTextAreRefused() {
        var reader = ManifestReader(file: "m.yaml")
        #expect(throws: ManifestError.self) { try reader.read([0x61, 0x3A, 0x20, 0xFF]) }
        #expect(throws: ManifestError.self) { try reader.read([]) }
    }
}
