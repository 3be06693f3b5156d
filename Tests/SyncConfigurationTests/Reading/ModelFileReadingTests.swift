import Foundation
import Testing

@testable import SyncConfiguration

/// `[model] file`: entities out of a model of Xcode's editor.
@Suite struct ModelFileReadingTests: ModelFileReading {
    @Test func everyTypeOfTheEditorHasOneHere() throws {
        let types: [(String, AttributeType)] = [
            ("Integer 16", .int16), ("Integer 32", .int32), ("Integer 64", .int64), ("Decimal", .decimal), ("Double", .double), ("Float", .double),
            ("String", .string), ("Boolean", .bool), ("Date", .date), ("Binary", .data(.base64)), ("UUID", .uuid), ("URI", .uri),
            ("Transformable", .json),
        ]
        for (word, type) in types {
            let model = try model(entity(attribute("optional=\"YES\" attributeType=\"\(word)\"")))
            #expect(model.entity(named: "A")?.attribute(named: "x")?.type == type)
        }
    }

    @Test func anAttributeSaysWhatItSaysInXcode() throws {
        let model = try model(
            entity(
                attribute("attributeType=\"String\" indexed=\"YES\" defaultValueString=\"\" elementID=\"y\"")
                    + attribute("optional=\"YES\" attributeType=\"Integer 16\" defaultValueString=\"7\"", name: "number")
                    + attribute("attributeType=\"Boolean\" defaultValueString=\"YES\"", name: "flag")
                    + attribute("attributeType=\"Date\" defaultDateTimeInterval=\"0.5\"", name: "date")
                    + attribute("attributeType=\"Decimal\" defaultValueString=\"0.1\"", name: "price")
                    + attribute("optional=\"YES\" transient=\"YES\" attributeType=\"String\"", name: "gone")
                    + "<fetchIndex name=\"i\"><fetchIndexElement property=\"number\" type=\"Binary\" order=\"ascending\"/></fetchIndex>"))
        let a = try #require(model.entity(named: "A"))
        #expect(a.attributes.map(\.name) == ["id", "x", "number", "flag", "date", "price"] && a.key == ["id"])
        let x = try #require(a.attribute(named: "x"))
        #expect(!x.isOptional && x.isIndexed && x.defaultValue == .string("") && model.renamed["A.x"] == "y")
        #expect(a.attribute(named: "number")?.isOptional == true && a.attribute(named: "number")?.isIndexed == true)
        #expect(a.attribute(named: "number")?.defaultValue == .integer(7) && a.attribute(named: "flag")?.defaultValue == .bool(true))
        #expect(a.attribute(named: "date")?.defaultValue == .date(Date(timeIntervalSinceReferenceDate: 0.5)))
        #expect(a.attribute(named: "price")?.defaultValue == Decimal(string: "0.1").map { .decimal($0) })
    }

    @Test func relationshipsKeepTheirInversesOrderAndRules() throws {
        let model = try model(
            entity(
                "<relationship name=\"bs\" optional=\"YES\" toMany=\"YES\" ordered=\"YES\" deletionRule=\"Cascade\" destinationEntity=\"B\" "
                    + "inverseName=\"a\" inverseEntity=\"B\"/>")
                + entity(
                    "<relationship name=\"a\" maxCount=\"1\" deletionRule=\"Nullify\" destinationEntity=\"A\" inverseName=\"bs\" inverseEntity=\"A\"/>"
                        + "<relationship name=\"other\" maxCount=\"1\" deletionRule=\"No Action\" destinationEntity=\"B\" elementID=\"former\"/>",
                    name: "B", "elementID=\"Old\""))
        let bs = try #require(model.entity(named: "A")?.relationship(named: "bs")),
            a = try #require(model.entity(named: "B")?.relationship(named: "a"))
        #expect(bs.destination == "B" && bs.isToMany && bs.isOrdered && bs.onDelete == .cascade && bs.inverse == .declared("a"))
        #expect(!a.isToMany && a.onDelete == .nullify && a.inverse == .declared("bs"))
        let other = try #require(model.entity(named: "B")?.relationship(named: "other"))
        #expect(other.onDelete == .noAction && other.inverse == .none && model.renamed["B.other"] == "former" && model.renamed["B"] == "Old")
    }

    @Test func anEntityHasWhatItInherits() throws {
        let elements =
            "<entity name=\"Base\" isAbstract=\"YES\">\(attribute("attributeType=\"Integer 64\"", name: "code"))"
            + "<relationship name=\"owner\" maxCount=\"1\" destinationEntity=\"C\" inverseName=\"owned\" inverseEntity=\"C\"/>"
            + "<uniquenessConstraints><uniquenessConstraint><constraint value=\"code\"/></uniquenessConstraint></uniquenessConstraints></entity>"
            + "<entity name=\"B\" parentEntity=\"Base\">\(attribute("attributeType=\"String\""))</entity>"
            + entity(
                "<relationship name=\"owned\" toMany=\"YES\" destinationEntity=\"Base\" inverseName=\"owner\" inverseEntity=\"Base\"/>", name: "C")
            + entity("", name: "D", "parentEntity=\"C\"").replacing("<attribute name=\"id\"", with: "<attribute name=\"more\"")
        let reading = reading(elements)
        let model = try #require(reading.configuration?.model, "\(reading.problems)")
        #expect(model.entities.map(\.name) == ["B", "C", "D"])
        let b = try #require(model.entity(named: "B"))
        #expect(b.attributes.map(\.name).sorted() == ["code", "x"] && b.key == ["code"] && b.relationship(named: "owner")?.inverse == .some(.none))
        #expect(model.entity(named: "D")?.attributes.map(\.name).sorted() == ["id", "more"])
        let warnings = reading.warnings.map(\.description)
        #expect(warnings.contains { $0.contains("it leads to Base, which becomes no table: it is left out") })
        #expect(warnings.contains { $0.contains("D inherits from C, which has objects of its own") })
    }

    @Test func whatTablesCannotSayIsLeftOutWithAWarning() throws {
        let reading = reading(
            entity(
                attribute("optional=\"YES\" attributeType=\"String\" derived=\"YES\" derivationExpression=\"canonical:(id)\"", name: "derived")
                    + attribute("optional=\"YES\" attributeType=\"Composite\"", name: "composite")
                    + attribute("optional=\"YES\" attributeType=\"String\" maxValueString=\"5\"", name: "bounded")
                    + attribute("optional=\"YES\" attributeType=\"String\"", ["JSONTransformerName": "T"], name: "transformed")))
        let model = try #require(reading.configuration?.model, "\(reading.problems)")
        #expect(model.entities[0].attributes.map(\.name) == ["id", "bounded", "transformed"])
        for (name, words) in [
            ("derived", "the attribute is derived"), ("composite", "has the type Composite"), ("bounded", "the model bounds its values"),
            ("transformed", "JSONTransformerName is not read"),
        ] {
            #expect(
                reading.warnings.contains { $0.subject.contains("\"\(name)\"") && $0.message.contains(words) && $0.file.hasSuffix("contents") },
                "\(reading.warnings)")
        }
    }

    @Test(arguments: [
        ("sync.remoteKey", "remote_name", "$.remote_name"), ("hyper.remoteKey", "a.b", "$.a.b"), ("JSONKeyPath", "real_name", "$.real_name"),
        ("mappedKeyName", "attributeValue.nested value", "$.attributeValue['nested value']"),
    ])
    func anImporterFindsItsPath(_ word: String, _ value: String, _ path: String) throws {
        // In an entity in which one property has a JSONKeyPath, all must.
        let id = attribute("attributeType=\"Integer 64\"", word == "JSONKeyPath" ? [word: "id"] : [:], name: "id")
        let model = try model("<entity name=\"A\">\(id)\(attribute("attributeType=\"String\"", [word: value]))</entity>")
        #expect(model.entities[0].attribute(named: "x")?.paths.map(\.description) == [path])
    }

    @Test func furtherMappedNamesAreTriedInOrder() throws {
        let model = try model(
            entity(attribute("attributeType=\"String\"", ["mappedKeyName": "a", "mappedKeyName.1": "c.d", "mappedKeyName.0": "b"])))
        #expect(model.entities[0].attribute(named: "x")?.paths.map(\.description) == ["$.a", "$.b", "$.c.d"])
    }

    @Test func anEntityThatNothingRecognisesIsLeftOutUnlessATableSaysHow() throws {
        let elements =
            entity("<relationship name=\"note\" maxCount=\"1\" destinationEntity=\"Note\"/>")
            + "<entity name=\"Note\">\(attribute("attributeType=\"String\"", name: "text"))</entity>"
        let reading = reading(elements)
        #expect(reading.configuration?.model.entities.map(\.name) == ["A"])
        #expect(reading.configuration?.model.entities[0].relationships.isEmpty == true)
        #expect(reading.warnings.contains { $0.message == "nothing says by what its objects are recognised: it is left out" })
        #expect(reading.warnings.contains { $0.message == "it leads to Note, which becomes no table: it is left out" })
        let named = try model(elements, "[entity.Note]\nkey = [\"text\"]")
        #expect(named.entities.map(\.name) == ["A", "Note"] && named.entity(named: "A")?.relationship(named: "note")?.destination == "Note")
    }

    @Test func inAnEntityWithPathsWhatHasNoneIsNotRead() throws {
        let reading = reading(
            "<entity name=\"A\">\(attribute("attributeType=\"Integer 64\"", ["JSONKeyPath": "id"], name: "id"))\(attribute("attributeType=\"String\""))</entity>"
        )
        let a = try #require(reading.configuration?.model.entities[0], "\(reading.problems)")
        #expect(a.attribute(named: "id")?.isRead == true && a.attribute(named: "x")?.isRead == false)
        let elements =
            "<entity name=\"A\">\(attribute("attributeType=\"Integer 64\"", ["JSONKeyPath": "id"], name: "id"))\(attribute("attributeType=\"String\""))"
            + "<relationship name=\"others\" toMany=\"YES\" destinationEntity=\"A\"/></entity>"
        #expect(try model(elements).entities[0].relationship(named: "others")?.isRead == false)
        let said = try model(elements, "[entity.A]\nattributes.x = { path = \"$.y\" }\nrelationships.others = { path = \"$.z\" }").entities[0]
        #expect(said.attribute(named: "x")?.isRead == true && said.relationship(named: "others")?.isRead == true)
        #expect(said.attribute(named: "x")?.paths.map(\.description) == ["$.y"])
    }

    @Test(arguments: [
        (["sync.isPrimaryKey": "YES"], "", ["x"]), (["hyper.isPrimaryKey": "true"], "", ["x"]),
        ([:], "<userInfo><entry key=\"identityAttributes\" value=\"x, id\"/></userInfo>", ["x", "id"]),
        ([:], "<userInfo><entry key=\"identityAttribute\" value=\"x\"/></userInfo>", ["x"]),
        ([:], "<userInfo><entry key=\"relatedByAttribute\" value=\"x\"/></userInfo>", ["x"]),
        ([:], "<uniquenessConstraints><uniquenessConstraint><constraint value=\"x\"/></uniquenessConstraint></uniquenessConstraints>", ["x"]),
        ([:], "", ["id"]),
    ])
    func anImporterFindsItsKey(_ userInfo: [String: String], _ contents: String, _ key: [String]) throws {
        let model = try model(entity(attribute("attributeType=\"String\"", userInfo) + contents))
        #expect(model.entities[0].key == key)
    }

    @Test func aRelationshipMaySayByWhatItsTargetIsFound() throws {
        let model = try model(
            entity(
                "<relationship name=\"b\" maxCount=\"1\" destinationEntity=\"B\"><userInfo><entry key=\"relatedByAttribute\" value=\"x\"/>"
                    + "<entry key=\"mappedKeyName\" value=\"b_code\"/></userInfo></relationship>")
                + entity(attribute("attributeType=\"String\""), name: "B"))
        #expect(model.entity(named: "B")?.key == ["x"])
        #expect(model.entity(named: "A")?.relationship(named: "b")?.paths.map(\.description) == ["$.b_code"])
    }

    @Test func wordsThatDisagreeAreNamedBoth() {
        let keys = reading(
            entity(
                attribute("attributeType=\"String\"", ["sync.isPrimaryKey": "YES"])
                    + "<userInfo><entry key=\"relatedByAttribute\" value=\"id\"/></userInfo>"))
        #expect(
            keys.errors.map(\.description) == [
                "/c/Model.xcdatamodel/contents:3: entity \"A\": key: relatedByAttribute makes the key id, sync.isPrimaryKey makes it x; "
                    + "leave one of them in the model, or write key = […] here"
            ])
        let paths = reading(entity(attribute("attributeType=\"String\"", ["sync.remoteKey": "a", "mappedKeyName": "b"])))
        #expect(paths.errors.map(\.message) == ["sync.remoteKey leads to $.a, mappedKeyName to $.b"])
    }

    @Test func whatATableSaysEndsADisagreement() throws {
        let elements = entity(
            attribute("attributeType=\"String\"", ["sync.isPrimaryKey": "YES", "sync.remoteKey": "a", "mappedKeyName": "b"])
                + "<userInfo><entry key=\"relatedByAttribute\" value=\"id\"/></userInfo>")
        let model = try model(elements, "[entity.A]\nkey = [\"x\"]\nattributes.x = { path = \"$.c\" }")
        #expect(model.entities[0].key == ["x"] && model.entities[0].attribute(named: "x")?.paths.map(\.description) == ["$.c"])
    }

    @Test func aDateOfAnImporterMayBecomeSomethingElseHere() throws {
        let elements = entity(attribute("attributeType=\"Date\"", ["dateFormat": "yyyy"]))
        let text = try model(elements, "[entity.A.attributes]\nx = { type = \"string\" }").entities[0].attribute(named: "x")
        #expect(text?.type == .string)
        #expect(try model(elements, "[entity.A.attributes]\nx = { format = \"unix\" }").entities[0].attribute(named: "x")?.format == .unix)
    }

    @Test(arguments: [
        ("-63113904000", "0001-01-01T00:00:00.000Z"), ("-978307200.5", "1969-12-31T23:59:59.500Z"), ("0", "2001-01-01T00:00:00.000Z"),
        ("478137600", "2016-02-26T00:00:00.000Z"), ("478483199.25", "2016-02-29T23:59:59.250Z"), ("252423993599", "9999-12-31T23:59:59.000Z"),
        ("-13197686400", "1582-10-14T00:00:00.000Z"),
    ])
    func aMomentIsTheSameWhicheverWayItIsWritten(_ seconds: String, _ text: String) throws {
        let date = Date(timeIntervalSinceReferenceDate: try #require(Double(seconds)))
        #expect(AttributeDefault.text(of: date) == text && AttributeDefault.date(text) == date)
        let model = try model(entity(attribute("attributeType=\"Date\" defaultDateTimeInterval=\"\(seconds)\"")))
        #expect(model.entities[0].attribute(named: "x")?.defaultValue == .date(date))
    }

    @Test(arguments: ["nan", "inf", "-inf", "1e300", "soon", "252423993600", "-63114076800"]) func aMomentThatIsNoneIsRefused(_ seconds: String) {
        let reading = reading(entity(attribute("attributeType=\"Date\" defaultDateTimeInterval=\"\(seconds)\"")))
        #expect(reading.errors.map(\.message) == ["expected a date, found the text \"\(seconds)\""])
    }

    @Test func twoPropertiesOfOneNameAreRefused() {
        let twice = reading(entity(attribute("attributeType=\"Decimal\"") + attribute("attributeType=\"Double\"")))
        #expect(twice.errors.map(\.message) == ["it has two properties named x"])
        let inherited = reading(
            "<entity name=\"P\" isAbstract=\"YES\">\(attribute("attributeType=\"String\""))</entity>"
                + entity(attribute("attributeType=\"Double\""), "parentEntity=\"P\""))
        #expect(inherited.errors.map(\.message) == ["it has two properties named x"])
    }

    @Test func anInverseThatIsLeftOutOrDroppedIsNone() throws {
        func elements(_ words: String) -> String {
            entity("<relationship name=\"bs\" \(words) toMany=\"YES\" destinationEntity=\"B\" inverseName=\"a\" inverseEntity=\"B\"/>")
                + entity(
                    "<relationship name=\"a\" maxCount=\"1\" destinationEntity=\"A\" inverseName=\"bs\" inverseEntity=\"A\"/>", name: "B")
        }
        let transient = try model(elements("transient=\"YES\""))
        #expect(transient.entity(named: "B")?.relationship(named: "a")?.inverse == .some(.none))
        let dropped = try model(elements(""), "[entity.A.relationships]\nbs = { drop = true }")
        #expect(dropped.entity(named: "B")?.relationship(named: "a")?.inverse == .some(.none))
    }

    @Test func aRelationshipThatATableLeadsElsewhereHasNoInverseOfTheModel() throws {
        let elements =
            entity("<relationship name=\"bs\" toMany=\"YES\" destinationEntity=\"B\" inverseName=\"a\" inverseEntity=\"B\"/>")
            + entity("<relationship name=\"a\" maxCount=\"1\" destinationEntity=\"A\" inverseName=\"bs\" inverseEntity=\"A\"/>", name: "B")
            + entity("", name: "C")
        let model = try model(elements, "[entity.A.relationships]\nbs = { to = \"C\" }")
        #expect(model.entity(named: "A")?.relationship(named: "bs")?.inverse == .some(.none))
        #expect(model.entity(named: "B")?.relationship(named: "a")?.inverse == .some(.none))
    }

    @Test func anEntityThatATableDropsIsNone() throws {
        let reading = reading(
            entity("<relationship name=\"note\" maxCount=\"1\" destinationEntity=\"Note\"/>") + entity("", name: "Note"),
            "[entity.Note]\ndrop = true")
        let model = try #require(reading.configuration?.model, "\(reading.problems)")
        #expect(model.entities.map(\.name) == ["A"] && model.dropped == ["Note"] && model.entities[0].relationships.isEmpty)
        #expect(reading.warnings.contains { $0.message == "it leads to Note, which becomes no table: it is left out" })
    }

    @Test func aConstraintThatIsNotTheKeyIsTold() {
        func constraint(_ name: String) -> String { "<uniquenessConstraint><constraint value=\"\(name)\"/></uniquenessConstraint>" }
        let reading = reading(
            entity(attribute("attributeType=\"String\"") + "<uniquenessConstraints>\(constraint("id"))\(constraint("x"))</uniquenessConstraints>"))
        #expect(reading.warnings.contains { $0.message == "that x is unique is not kept" && $0.suggestion == "the key is id" })
        #expect(reading.warnings.count { $0.message.contains("is unique is not kept") } == 1)
        let said = self.reading(
            entity(attribute("attributeType=\"String\"") + "<uniquenessConstraints>\(constraint("id"))</uniquenessConstraints>"),
            "[entity.A]\nkey = [\"x\"]")
        #expect(said.warnings.filter { $0.message.contains("is unique is not kept") }.map(\.suggestion) == ["the key is x"])
    }

    @Test func anIndexOfASubentityOverWhatItInheritsIsOne() throws {
        let model = try model(
            "<entity name=\"P\" isAbstract=\"YES\">\(attribute("attributeType=\"String\""))</entity>"
                + entity(
                    "<fetchIndex name=\"i\"><fetchIndexElement property=\"x\" type=\"Binary\" order=\"ascending\"/></fetchIndex>",
                    "parentEntity=\"P\""))
        #expect(model.entities[0].attribute(named: "x")?.isIndexed == true)
    }

    @Test func whatIsNotReadHasNoPathAndIsNoKey() {
        let text = "[entity.A]\n[entity.A.attributes]\nid = { type = \"int64\", read = false }\nx = { path = \"$.x\", type = \"bool\", read = false }"
        let found = errors(text)
        #expect(
            found.contains { $0.contains("it has a path, and read = false") } && found.contains { $0.contains("\"id\" has read = false") }, "\(found)"
        )
    }

    @Test(
        arguments: [
            ("UnixTime", "unix-ms"), ("yyyy-MM-dd HH:mm:ssX", nil), ("yyyy-MM-dd HH:mm:ssXX", "%Y-%m-%d %H:%M:%S%z"),
            ("yyyy-MM-dd'T'HH:mm:ss'Z'", "%Y-%m-%dT%H:%M:%SZ"), ("EEE MMM dd HH:mm:ss ZZZ yyyy", "%a %b %d %H:%M:%S %z %Y"),
            ("d. MMMM yy, h 'o''clock' a", "%d. %B %y, %I o'clock %p"), ("dd/MM/yyyy 100%", "%d/%m/%Y 100%%"), ("QQQ yyyy", nil), ("yyyy 'open", nil),
        ] as [(String, String?)])
    func datesOfAnImporterAreReadAsTheyAreWritten(_ cocoa: String, _ format: String?) throws {
        let reading = reading(entity(attribute("attributeType=\"Date\"", ["dateFormat": cocoa.replacing("'", with: "&apos;")])))
        let attribute = try #require(reading.configuration?.model.entities[0].attribute(named: "x"), "\(reading.problems)")
        #expect(attribute.format.description == format ?? "rfc3339")
        #expect(reading.warnings.contains { $0.message.contains("can't be said in this configuration's words") } == (format == nil))
    }

    @Test func tablesComeAfterTheModel() throws {
        let model = try model(
            entity(attribute("attributeType=\"String\"", ["sync.remoteKey": "a"]) + attribute("attributeType=\"String\"", name: "y")),
            """
            [entity.A]
            key = ["x"]
            [entity.A.attributes]
            x = { path = "$.b" }
            y = { drop = true }
            z = { type = "bool" }
            [entity.Own.attributes]
            id = { type = "int64" }
            """)
        #expect(model.entities.map(\.name) == ["A", "Own"])
        let a = try #require(model.entity(named: "A"))
        #expect(a.key == ["x"] && a.attributes.map(\.name) == ["id", "x", "z"] && a.attribute(named: "x")?.paths.map(\.description) == ["$.b"])
        #expect(a.attribute(named: "x")?.type == .string && model.dropped == ["A.y"])
    }

    @Test func aMistakeInTheModelIsToldWithItsLine() {
        #expect(
            reading("<entity name=\"A\">\n<attribute name=\"x\" attributeType=\"Int\"/></entity>").errors.map(\.description)[0].hasPrefix(
                "/c/Model.xcdatamodel/contents:4: model.file: A.x has attributeType=\"Int\"; one of Integer 16"))
        let reading = reading(entity("\n<relationship name=\"r\" maxCount=\"1\" destinationEntity=\"B\"/>"))
        #expect(reading.errors.map { "\($0.file):\($0.line ?? 0): \($0.message)" } == ["/c/Model.xcdatamodel/contents:4: there is no entity \"B\""])
        let other = self.reading("<entity name=\"A\" parentEntity=\"B\"/>")
        #expect(other.errors.map(\.message) == ["A has the parent B, which is not in the model"])
        #expect(self.reading("<entity name=\"A\" parentEntity=\"A\"/>").errors.map(\.message) == ["A has the parent A, which is its own descendant"])
    }

    @Test func aModelThatIsNotThereIsToldSo() {
        let files = ConfigurationTexts(["/c/cisternd.toml": "[model]\nfile = \"Model.xcdatamodeld\""])
        let errors = ConfigurationReader(path: "/c/cisternd.toml", files: files).read().errors.map(\.description)
        #expect(
            errors == [
                "/c/cisternd.toml:2: model.file: /c/Model.xcdatamodeld can't be read: no such file; give a package ….xcdatamodeld or a folder ….xcdatamodel"
            ])
    }

    @Test func theModelIsOneOfTheFilesRead() throws {
        let reading = reading(entity(""))
        #expect(reading.files == ["/c/cisternd.toml", "/c/Model.xcdatamodel/contents"])
        let key = try #require(reading.resolved?.settings.first { $0.keyPath == "entity.A.attributes.id" })
        #expect("\(key.origin)" == "/c/Model.xcdatamodel/contents:3")
        #expect(reading.resolved?.settings.first { $0.keyPath == "model.file" }?.value == "\"Model.xcdatamodel\"")
    }

    // On disk, relative to the configuration, the current one of several versions.
    @Test func aPackageLiesBesideTheConfiguration() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "model-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        func write(_ text: String, _ path: String) throws {
            let file = folder.appending(path: path)
            try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        try write("[model]\nfile = \"M.xcdatamodeld\"", "c.toml")
        for name in ["One", "Two"] { try write("<model>\(entity("", name: name))</model>", "M.xcdatamodeld/\(name).xcdatamodel/contents") }
        try write("<plist><dict><key>_XCCurrentVersionName</key><string>Two.xcdatamodel</string></dict></plist>", "M.xcdatamodeld/.xccurrentversion")
        let reading = ConfigurationReader(path: folder.appending(path: "c.toml").path).read()
        #expect(reading.configuration?.model.entities.map(\.name) == ["Two"], "\(reading.problems)")
        let tables = try ModelTables(contentsOf: folder.appending(path: "M.xcdatamodeld").path, version: "One")
        #expect(tables.version == "One" && tables.versions == ["One", "Two"] && tables.problems.isEmpty)
        #expect(tables.resolved.toml().contains("[entity.One.attributes]\nid = { type = \"int64\", optional = false, index = false }"))
        #expect(throws: ConfigurationError.self) { try ModelTables(contentsOf: folder.path) }
    }
}
