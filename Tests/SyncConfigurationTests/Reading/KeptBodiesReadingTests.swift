import Testing

@testable import SyncConfiguration

/// `schema.raw` and `schema.raw_max`: which bodies are kept.
@Suite struct KeptBodiesReadingTests {
    @Test func noneAreKeptUnlessSomebodySaysSo() throws {
        let schema = try configuration(itemSource).sources[0].resources[0].schema
        #expect(schema.raw == .none && schema.rawMax == .mebibytes(256))
    }

    @Test func aResourceOverridesTheDefaults() throws {
        let text = "[defaults.schema]\nraw = \"all\"\nraw_max = \"16MiB\"\n" + itemSource + "schema = { raw = \"last\" }\n"
        let schema = try configuration(text).sources[0].resources[0].schema
        #expect(schema.raw == .last && schema.rawMax == .mebibytes(16))
        let settings = try #require(read(text).resolved).settings
        #expect(settings.first { $0.keyPath == "source.items.schema.raw" }?.value == "\"last\"")
        #expect(settings.first { $0.keyPath == "source.items.schema.raw_max" }?.value == "\"16MiB\"")
    }

    @Test(arguments: [
        ("incremental = { field = \"$.at\", since = \"since\" }", "it asks for what has changed (incremental)"),
        ("deletion = { detect = \"field\", path = \"$.gone\" }", "its records say what is gone (deletion.detect = \"field\")"),
        ("deletion = { detect = \"records\" }", "its records say what is gone (deletion.detect = \"records\")"),
        ("deletion = { detect = \"snapshot\", path = \"$.gone\" }", "its records say what is gone (deletion.detect = \"snapshot\")"),
    ])
    func whatCannotBeReplayedIsRefused(line: String, reason: String) throws {
        let found = errors("[defaults.schema]\nraw = \"last\"\n" + itemSource + line + "\n")
        #expect(found.count == 1, "\(found)")
        #expect(
            found.first?.hasPrefix("/c/cisternd.toml:2: ") == true
                && found.first?.contains("bodies of items/items cannot be kept to be mapped again in this version: \(reason)") == true
                && found.first?.contains("write schema = { raw = \"none\" } at this resource") == true, "\(found)")
        #expect(errors("[defaults.schema]\nraw = \"last\"\n" + itemSource + line + "\nschema = { raw = \"none\" }\n") == [])
    }

    @Test func listingsThatShowWhatIsGoneAreKept() throws {
        let text = itemSource + "deletion = { detect = \"snapshot\" }\nschema = { raw = \"all\" }\n"
        #expect(try configuration(text).sources[0].resources[0].schema.raw == .all)
    }
}
