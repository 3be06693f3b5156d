import SyncConfiguration
import Testing

@testable import AirbyteManifests

@Suite struct RecordsTests {
    @Test func typesAreThoseOfTheSchema() throws {
        var manifest = ManifestText()
        manifest.schema = """
            { id: { type: integer }, owner_id: { type: [integer, "null"] }, count: { type: integer }, price: { type: number },
              open: { type: boolean }, at: { type: string, format: date-time }, day: { type: string, format: date },
              tags: { type: array }, owner: { type: object }, any: {},
              mixed: { type: [string, integer, "null"] }, odd: { type: [string, object] }, description: { type: string }, "a b": { type: string },
              ID: { type: string }, _links: { type: object }, "9lives": { type: string }, choice: { anyOf: [{ type: string }, { type: "null" }] } }
            """.split(separator: "\n").joined(separator: " ")
        let lines = try manifest.lines()
        let expected = [
            "id = { type = \"decimal\" }", "owner_id = { type = \"decimal\" }", "count = { type = \"int64\" }", "price = { type = \"decimal\" }",
            "open = { type = \"bool\" }", "at = { type = \"date\" }", "day = { type = \"date\" }", "tags = { type = \"json\" }",
            "owner = { type = \"json\" }", "any = { type = \"json\" }", "mixed = { type = \"string\" }", "odd = { type = \"json\" }",
            "itemDescription = { path = \"$.description\", type = \"string\" }", "a_b = { path = \"$['a b']\", type = \"string\" }",
            "links = { path = \"$._links\", type = \"json\" }", "x_9lives = { path = \"$['9lives']\", type = \"string\" }",
            "choice = { type = \"string\" }",
        ]
        for line in expected where !line.hasPrefix("id =") { #expect(lines.contains(line), "\(line)") }
        // Two names that differ only in case.
        #expect(lines.contains("id = { path = \"$.id\", type = \"decimal\" }") || lines.contains("id = { type = \"decimal\" }"))
        #expect(lines.contains("ID2 = { path = \"$.ID\", type = \"string\" }"))
    }

    @Test(
        arguments: zip(
            ["id", "[id, name]", "[[id], [owner, code]]", "\"\"", "[]", "\"{{ parameters.x or 'id' }}\""],
            ["[\"id\"]", "[\"id\", \"name\"]", "[\"id\", \"owner_code\"]", "\"content\"", "\"content\"", "[\"id\"]"]))
    func keysAreKept(_ key: String, _ result: String) throws {
        var manifest = ManifestText()
        manifest.key = key
        let lines = try manifest.lines()
        #expect(lines.contains("key = \(result)"))
        if key.contains("owner") { #expect(lines.contains("owner_code = { path = \"$.owner.code\", type = \"string\" }")) }
    }

    @Test func whereTheManifestSaysNoFieldsARecordIsKeptWhole() throws {
        var manifest = ManifestText()
        manifest.schema = "{}"
        let lines = try manifest.lines()
        #expect(lines.contains("document = { path = \"$\", type = \"json\" }"))
        #expect(lines.contains("id = { type = \"string\" }"))
        #expect(try manifest.converted().findings.map(\.key) == ["schema_loader"])
    }

    @Test func pathsToRecordsAreKept() throws {
        var manifest = ManifestText()
        manifest.fieldPath = "[\"{{ parameters.x or 'data' }}\", \"odd key\"]"
        #expect(try manifest.lines().contains("records = \"$.data['odd key']\""))
        manifest.fieldPath = "[]"
        #expect(try manifest.lines().contains("records = \"$\""))
        manifest.fieldPath = "[groups, \"*\", items]"
        let isKnown = Capability.supported.contains("rec.wildcard")
        #expect(try manifest.converted().streams == (isKnown ? ["items"] : []))
        if isKnown { #expect(try manifest.lines().contains("records = \"$.groups[*].items\"")) }
    }

    @Test func fieldsAreCopiedSetAndRemoved() throws {
        var manifest = ManifestText()
        manifest.schema = "{ id: { type: string }, updated: { type: string, format: date-time }, kind: { type: string }, name: { type: string } }"
        manifest.stream = """
            transformations:
              - type: AddFields
                fields:
                  - { path: [updated], value: "{{ record['attributes']['updated'] }}" }
                  - { path: [kind], value: "{{ config.kind }}" }
                  - { path: [extra], value: "x" }
                  - { path: [_synced], value: "{{ now_utc() }}" }
              - type: RemoveFields
                field_pointers: [[name], [a, b]]
            """
        manifest.spec += ", kind: { type: string, default: k }"
        let lines = try manifest.lines()
        #expect(lines.contains("updated = { path = \"$.attributes.updated\", type = \"date\" }"))
        #expect(lines.contains("set = { kind = \"k\", extra = \"x\" }"))
        #expect(lines.contains("kind = { type = \"string\" }"))
        #expect(lines.contains("extra = { type = \"string\" }"))
        #expect(!lines.contains("name = { type = \"string\" }"))
        #expect(try manifest.converted().findings.map(\.key).sorted() == ["AddFields._synced", "RemoveFields"])
    }

    @Test func aKeyThatIsTheTimeOfTheRunIsNone() throws {
        var manifest = ManifestText()
        manifest.key = "uid"
        manifest.stream = "transformations: [{ type: AddFields, fields: [{ path: [uid], value: \"{{ now_utc() }}\" }] }]"
        #expect(try manifest.lines().contains("key = \"content\""))
        #expect(try manifest.converted().findings.map(\.key).sorted() == ["AddFields.uid", "primary_key"])
        manifest.stream = manifest.stream.replacing("now_utc()", with: "record.id")
        #expect(try manifest.lines().contains("key = [\"id\"]"))
    }

    // Two attributes of one key of the record have it as their path, both of them; what is set has none.
    @Test func aFieldMayBeKeptUnderTwoNames() throws {
        var manifest = ManifestText()
        manifest.schema = "{ id: { type: string }, copied_id: { type: string }, kind: { type: string } }"
        manifest.stream = """
            transformations:
              - type: AddFields
                fields:
                  - { path: [copied_id], value: "{{ record['id'] }}" }
                  - { path: [copied_kind], value: "{{ record['kind'] }}" }
                  - { path: [kind], value: fixed }
            """
        let lines = try manifest.lines()
        #expect(lines.contains("id = { path = \"$.id\", type = \"string\" }"))
        #expect(lines.contains("copied_id = { path = \"$.id\", type = \"string\" }"))
        #expect(lines.contains("copied_kind = { path = \"$.kind\", type = \"json\" }"))
        #expect(lines.contains("kind = { read = false, type = \"string\" }"))
        #expect(lines.contains("set = { kind = \"fixed\" }"))
    }

    @Test func theLastTransformationOfAFieldCounts() throws {
        let remove = "{ type: RemoveFields, field_pointers: [[name]] }"
        let copy = "{ type: AddFields, fields: [{ path: [name], value: \"{{ record.title }}\" }] }"
        let set = "{ type: AddFields, fields: [{ path: [name], value: x }] }"
        let copied = "name = { path = \"$.title\", type = \"string\" }", assigned = "set = { name = \"x\" }"
        let cases: [(transformations: [String], wanted: [String])] = [
            ([remove, copy], [copied]), ([copy, remove], []), ([set, remove], []), ([remove, set], [assigned]), ([set, copy], [copied]),
            ([copy, set], [assigned]), ([copy, remove, copy], [copied]),
        ]
        for (transformations, wanted) in cases {
            var manifest = ManifestText()
            manifest.stream = "transformations: [\(transformations.joined(separator: ", "))]"
            let lines = try manifest.lines()
            #expect([copied, assigned].filter { lines.contains($0) } == wanted, "\(transformations)")
            if wanted.isEmpty { #expect(!lines.contains { $0.hasPrefix("name = {") }, "\(transformations)") }
        }
        var manifest = ManifestText()
        manifest.stream = "transformations: [\(remove), { type: AddFields, fields: [{ path: [title], value: \"{{ record.name }}\" }] }]"
        #expect(try manifest.refusals().map(\.key) == ["AddFields"])
    }

    @Test func whatIsFlattenedIsLookedForInside() throws {
        var manifest = ManifestText()
        manifest.stream = "transformations: [{ type: DpathFlattenFields, field_path: [attributes] }]"
        #expect(try manifest.lines().contains("name = { path = [\"$.attributes.name\", \"$.name\"], type = \"string\" }"))
    }

    @Test(arguments: [
        "{ type: CustomTransformation, class_name: a.B }", "{ type: KeysToSnakeCase }",
        "{ type: AddFields, fields: [{ path: [a, b], value: x }] }", "{ type: AddFields, fields: [{ path: [a], value: \"{{ record.x + 1 }}\" }] }",
        "{ type: AddFields, condition: \"{{ record.x }}\", fields: [{ path: [a], value: x }] }",
        "{ type: AddFields, fields: [{ path: [a], value: \"{{ stream_interval.start_time }}\" }] }",
    ])
    func otherTransformationsLeaveTheStreamOut(_ transformation: String) throws {
        var manifest = ManifestText()
        manifest.stream = "transformations: [\(transformation)]"
        #expect(try !manifest.refusals().isEmpty)
    }

    @Test func aFilterIsSaidOrTheStreamLeftOut() throws {
        var manifest = ManifestText()
        manifest.selector = "record_filter: { type: RecordFilter, condition: \"{{ record.kind == 'x' }}\" }"
        let conversion = try manifest.converted()
        if let toml = conversion.toml {
            #expect(toml.contains("filter = [{ path = \"$.kind\", equals = \"x\" }]"))
        } else {
            #expect(conversion.findings.contains { $0.isLeftOut && $0.reason.hasPrefix("this version cannot say it") })
        }
        for condition in ["{{ record.kind }}", "{{ record.a > record.b }}", "{{ record.a == 1 and record.b == 2 }}", "{{ false }}"] {
            manifest.selector = "record_filter: { type: RecordFilter, condition: \"\(condition)\" }"
            #expect(try manifest.refusals().map(\.key) == ["record_filter.condition"], "\(condition)")
        }
        manifest.selector = "record_filter: { type: RecordFilter, condition: \"{{ true }}\" }"
        #expect(try manifest.converted().findings == [])
    }

    @Test func aFilterAsksForWhatIsThereBeforeTransformationsUnlessTheManifestSaysOtherwise() throws {
        var manifest = ManifestText()
        let filter = "record_filter: { type: RecordFilter, condition: \"{{ record.status == 'open' }}\" }"
        let copy = "{ type: AddFields, fields: [{ path: [status], value: \"{{ record.state }}\" }] }"
        let set = "{ type: AddFields, fields: [{ path: [status], value: open }] }"
        let remove = "{ type: RemoveFields, field_pointers: [[status]] }"
        let flatten = "{ type: DpathFlattenFields, field_path: [attributes] }"
        for transformation in [copy, set, remove, flatten] {
            manifest.stream = "transformations: [\(transformation)]"
            for more in ["", "\ntransform_before_filtering: false"] {
                manifest.selector = filter + more
                #expect(try manifest.lines().contains("filter = [{ path = \"$.status\", equals = \"open\" }]"), "\(transformation)")
            }
            manifest.selector = filter + "\ntransform_before_filtering: true"
            if transformation == copy {
                #expect(try manifest.lines().contains("filter = [{ path = \"$.state\", equals = \"open\" }]"))
            } else {
                #expect(try manifest.refusals().map(\.key) == ["record_filter.condition"], "\(transformation)")
            }
        }
        manifest.schema = "{ id: { type: string }, status: { type: boolean } }"
        manifest.stream = "transformations: [\(copy)]"
        manifest.selector = "record_filter: { type: RecordFilter, condition: \"{{ record.status }}\" }"
        #expect(try manifest.refusals().map(\.key) == ["record_filter.condition"])
    }

    @Test(arguments: ["{ type: XmlDecoder }", "{ type: CustomDecoder, class_name: a.B }", "{ type: GzipDecoder, decoder: { type: GzipDecoder } }"])
    func otherFormatsLeaveTheStreamOut(_ decoder: String) throws {
        var manifest = ManifestText()
        manifest.retriever = "decoder: \(decoder)"
        #expect(try manifest.refusals().map(\.key) == ["decoder"])
    }
}
