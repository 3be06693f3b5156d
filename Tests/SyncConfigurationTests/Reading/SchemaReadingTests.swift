import Testing

@testable import SyncConfiguration

/// `schema`: what becomes of records that do not match.
@Suite struct SchemaReadingTests {
    @Test func theResourceSaysItBeforeTheSourceAndTheDefaults() throws {
        let all = try configuration(
            itemModel + """
                [defaults.schema]
                missing_field = "keep"
                type_mismatch = "null"
                coerce = "none"
                [[source]]
                name = "s"
                base_url = "https://api.example.com"
                schema = { type_mismatch = "fail" }
                [[source.resource]]
                name = "a"
                path = "/a"
                entity = "Item"
                schema = { coerce = "safe" }
                [[source.resource]]
                name = "b"
                path = "/b"
                entity = "Item"

                """)
        let first = try #require(all.resource(scope: "s/a")).schema, second = try #require(all.resource(scope: "s/b")).schema
        #expect(first.missingField == .keep && first.typeMismatch == .fail && first.coercion == .safe)
        #expect(second.missingField == .keep && second.typeMismatch == .fail && second.coercion == .none)
        let builtIn = SchemaConfiguration()
        #expect(builtIn.missingField == .null && builtIn.typeMismatch == .quarantine && builtIn.coercion == .safe)
    }

    @Test func whereAllValuesAreTextsTheyHaveToBeMadeToFit() {
        let found = errors(itemSource + "format = \"csv\"\nschema = { coerce = \"none\" }\n").joined(separator: "\n")
        #expect(found.contains("are texts, and no number would be one"), "\(found)")
        #expect(found.contains("write schema = { coerce = \"safe\" } at this resource"), "\(found)")
    }

    @Test func whatNothingIsMadeOfIsNotKeptInThisVersion() {
        let found = errors("[defaults.schema]\nunknown_fields = \"raw\"\n")
        #expect(found.count == 1 && found.first?.contains("is not in this version") == true, "\(found)")
        #expect(errors("[defaults.schema]\nunknown_fields = \"warn\"\n").isEmpty)
    }
}
