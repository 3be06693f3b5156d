import Foundation
import ModelFiles
import Testing

/// What a file of the model editor says, as values.
@Suite struct ModelFileTests {
    private func read(_ elements: String) throws(ModelFileError) -> ModelFile {
        try ModelFile(Data("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<model>\n\(elements)\n</model>".utf8), path: "M/contents")
    }

    private func complaint(_ elements: String) -> String? {
        do throws(ModelFileError) {
            _ = try read(elements)
            return nil
        } catch {
            return error.description
        }
    }

    // A4
    @Test func everyWordOfAnAttributeIsRead() throws {
        let file = try read(
            """
            <entity name="A">
                <attribute name="n" optional="YES" transient="NO" indexed="YES" attributeType="Integer 16" minValueString="-1" maxValueString="7" \
            defaultValueString="3" usesScalarValueType="YES" elementID="m" versionHashModifier="2" preserveAfterDeletion="YES">
                    <userInfo><entry key="a" value="x &quot;y&quot;"/><entry key="b"/></userInfo>
                </attribute>
                <attribute name="d" attributeType="Date" defaultDateTimeInterval="0.5" minDateTimeInterval="0" maxDateTimeInterval="1" \
            defaultValueString="now"/>
                <attribute name="s" attributeType="String" regularExpressionString="[a-z]+"/>
                <attribute name="t" optional="YES" attributeType="Transformable" valueTransformerName="T" customClassName="C"/>
                <attribute name="c" attributeType="Integer 64" derived="YES" derivationExpression="all.@count"/>
                <attribute name="b" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
                <attribute name="u" transient="YES"/>
            </entity>
            """)
        let attributes = file.entities[0].attributes
        let n = attributes[0]
        #expect(n.property.isOptional && !n.property.isTransient && n.property.isIndexed && n.usesScalar && n.preservesAfterDeletion)
        #expect(n.type == .integer16 && n.minimum == "-1" && n.maximum == "7" && n.defaultValue == "3")
        #expect(n.property.renamingIdentifier == "m" && n.property.versionHashModifier == "2" && n.property.userInfo == ["a": "x \"y\"", "b": ""])
        let d = attributes[1]
        #expect(d.defaultValue == "0.5" && d.minimum == "0" && d.maximum == "1" && !d.property.isOptional)
        #expect(attributes[2].regularExpression == "[a-z]+")
        #expect(attributes[3].transformer == "T" && attributes[3].valueClass == "C")
        #expect(attributes[4].derivation == "all.@count" && attributes[5].allowsExternalStorage)
        #expect(attributes[6].type == nil && attributes[6].property.isTransient)
    }

    // A4, A9
    @Test func aCompositeTypeIsReadWithItsElements() throws {
        let file = try read(
            """
            <entity name="A"><attribute name="place" optional="YES" attributeType="Composite" composite="Point"/></entity>
            <composite name="Point">
                <attribute name="lat" attributeType="Double" defaultValueString="0.0" usesScalarValueType="YES"/>
                <element name="lng" optional="YES" attributeType="Double"/>
            </composite>
            """)
        #expect(file.entities[0].attributes[0].composite == "Point" && file.entities[0].attributes[0].type == .composite)
        #expect(file.composites.map(\.name) == ["Point"] && file.composites[0].elements.map(\.property.name) == ["lat", "lng"])
        #expect(file.composites[0].elements[0].defaultValue == "0.0" && file.composites[0].elements[1].property.isOptional)
    }

    // A4
    @Test func everyTypeOfTheEditorIsKnown() throws {
        for type in ModelFile.AttributeType.allCases {
            let file = try read("<entity name=\"A\"><attribute name=\"x\" attributeType=\"\(type.rawValue)\"/></entity>")
            #expect(file.entities[0].attributes[0].type == type)
        }
    }

    // A4
    @Test func everyWordOfARelationshipIsRead() throws {
        let file = try read(
            """
            <entity name="A">
                <relationship name="one" maxCount="1" deletionRule="Cascade" destinationEntity="B" inverseName="many" inverseEntity="C"/>
                <relationship name="many" optional="YES" toMany="YES" minCount="2" maxCount="9" ordered="YES" deletionRule="No Action" \
            destinationEntity="B"/>
                <relationship name="all" toMany="YES" deletionRule="Deny" destinationEntity="B"/>
                <relationship name="bare" destinationEntity="B"/>
            </entity>
            """)
        let relationships = file.entities[0].relationships
        let one = relationships[0]
        #expect(!one.isToMany && one.minCount == 0 && one.maxCount == 1 && one.deletionRule == .cascade)
        #expect(one.destination == "B" && one.inverse == "many" && one.inverseEntity == "C")
        let many = relationships[1]
        #expect(many.isToMany && many.isOrdered && many.minCount == 2 && many.maxCount == 9 && many.deletionRule == .noAction)
        #expect(many.inverse == nil && many.property.isOptional)
        #expect(relationships[2].maxCount == 0 && relationships[2].deletionRule == .deny)
        #expect(relationships[3].maxCount == 1 && relationships[3].deletionRule == .nullify)
    }

    // A4
    @Test func everyWordOfAnEntityIsRead() throws {
        let file = try read(
            """
            <entity name="A" representedClassName=".K" parentEntity="P" isAbstract="YES" elementID="Z" versionHashModifier="3" \
            codeGenerationType="category" syncable="YES">
                <fetchedProperty name="f" optional="YES"><fetchRequest name="r" entity="B" predicateString="x == 1"/></fetchedProperty>
                <fetchIndex name="i">
                    <fetchIndexElement property="x" type="Binary" order="descending"/><fetchIndexElement property="y" type="Binary" order="ascending"/>
                </fetchIndex>
                <compoundIndexes><compoundIndex><index value="x"/><index value="y"/></compoundIndex></compoundIndexes>
                <uniquenessConstraints>
                    <uniquenessConstraint><constraint value="x"/><constraint value="y"/></uniquenessConstraint>
                    <uniquenessConstraint><constraint value="z"/></uniquenessConstraint>
                </uniquenessConstraints>
                <userInfo><entry key="k" value="v"/></userInfo>
            </entity>
            <entity name="B"/>
            """)
        let entity = file.entities[0]
        #expect(entity.line == 3 && entity.className == ".K" && entity.parent == "P" && entity.isAbstract && entity.codeGeneration == .category)
        #expect(entity.renamingIdentifier == "Z" && entity.versionHashModifier == "3" && entity.userInfo == ["k": "v"])
        #expect(entity.fetchedProperties.map(\.request.predicate) == ["x == 1"] && entity.fetchedProperties[0].property.isOptional)
        #expect(entity.indexes.map(\.name) == ["i", "compoundIndex1"])
        #expect(entity.indexes[0].elements.map(\.property) == ["x", "y"] && entity.indexes[0].elements.map(\.isAscending) == [false, true])
        #expect(entity.constraints == [["x", "y"], ["z"]])
        #expect(file.entities[1].className == nil && file.entities[1].codeGeneration == .none && !file.entities[1].isAbstract)
    }

    // A4, F16
    @Test func everyWordOfAFetchRequestIsRead() throws {
        let file = try read(
            """
            <fetchRequest name="r" entity="A" predicateString="x &gt; $X" resultType="2" fetchLimit="5" fetchBatchSize="6" includeSubentities="NO" \
            includePropertyValues="NO" includesPendingChanges="NO" returnObjectsAsFaults="NO" returnDistinctResults="YES"/>
            <fetchRequest name="plain" entity="A"/>
            <configuration name="c"><memberEntity name="A"/></configuration>
            """)
        let request = file.fetchRequests[0], plain = file.fetchRequests[1]
        #expect(request.predicate == "x > $X" && request.resultType == 2 && request.limit == 5 && request.batchSize == 6)
        #expect(!request.includesSubentities && !request.includesPropertyValues && !request.includesPendingChanges)
        #expect(!request.returnsObjectsAsFaults && request.returnsDistinctResults)
        #expect(plain.predicate == nil && plain.resultType == 0 && plain.includesSubentities && plain.includesPropertyValues)
        #expect(plain.includesPendingChanges && plain.returnsObjectsAsFaults && !plain.returnsDistinctResults)
        #expect(file.configurations.map(\.name) == ["c"] && file.configurations[0].members == ["A"])
    }

    // A14
    @Test func theIdentifierOfAVersionIsRead() throws {
        let file = try ModelFile(Data("<model userDefinedModelVersionIdentifier=\"v2\"/>".utf8), path: "M")
        #expect(file.versionIdentifier == "v2" && file.entities.isEmpty)
    }

    // A4: what a later editor may add.
    @Test func whatIsNotKnownIsLeftOut() throws {
        let file = try read(
            "<entity name=\"A\" colour=\"red\"><attribute name=\"x\" attributeType=\"String\" shape=\"round\"><note/></attribute><note/></entity><elements/>"
        )
        #expect(file.entities.map(\.name) == ["A"] && file.entities[0].attributes.map(\.property.name) == ["x"])
    }

    // A3
    @Test(arguments: [
        ("<entity/>", "M/contents:3: an entity has no name; write name=\"…\""),
        ("<entity name=\"A\" isAbstract=\"yes\"/>", "M/contents:3: the entity A has isAbstract=\"yes\"; YES or NO"),
        (
            "\n<entity name=\"A\">\n<attribute name=\"x\" attributeType=\"Int\"/></entity>",
            "M/contents:5: A.x has attributeType=\"Int\"; one of Integer 16"
        ),
        ("<entity name=\"A\"><attribute attributeType=\"String\"/></entity>", "M/contents:3: an attribute of A has no name"),
        ("<entity name=\"A\"><attribute name=\"x\" derived=\"YES\"/></entity>", "the derived attribute A.x has no derivationExpression"),
        ("<entity name=\"A\"><relationship name=\"r\"/></entity>", "A.r has no destinationEntity"),
        ("<entity name=\"A\"><relationship name=\"r\" destinationEntity=\"A\" deletionRule=\"Delete\"/></entity>", "one of No Action, Nullify"),
        ("<entity name=\"A\"><relationship name=\"r\" destinationEntity=\"A\" minCount=\"-1\"/></entity>", "A.r has minCount=\"-1\""),
        ("<entity name=\"A\"><relationship name=\"r\" destinationEntity=\"A\" maxCount=\"3\"/></entity>", "A.r has maxCount=\"3\" and no toMany"),
        ("<entity name=\"A\"><fetchedProperty name=\"f\"/></entity>", "the fetched property A.f has no fetchRequest"),
        ("<entity name=\"A\"><fetchIndex name=\"i\"><fetchIndexElement type=\"Binary\"/></fetchIndex></entity>", "the index i of A has no property"),
        (
            "<entity name=\"A\"><fetchIndex name=\"i\"><fetchIndexElement property=\"x\" type=\"Tree\"/></fetchIndex></entity>",
            "is of the type Tree"
        ),
        ("<fetchRequest name=\"r\"/>", "the fetch request r has no entity"),
        ("<fetchRequest name=\"r\" entity=\"A\" resultType=\"3\"/>", "the fetch request r has resultType=\"3\""),
        ("<configuration name=\"c\"><memberEntity/></configuration>", "a member of the configuration c has no name"),
    ])
    func aMistakeIsToldWithItsPlace(_ elements: String, _ words: String) {
        let complaint = complaint(elements)
        #expect(complaint?.contains(words) == true, "\(complaint ?? "nothing")")
    }

    // A3
    @Test(arguments: [
        ("", "ends too early"),
        ("no XML", "does not begin with a tag"),
        ("<model>\n<entity name=\"A\"\n</model>", "a tag is not closed"),
        ("<model>\n<<<<<<< HEAD\n</model>", "contents:2: is not well-formed XML"),
        ("<model><a></b></model>", "closed by another's tag"),
        ("<model a=\"1\" a=\"2\"/>", "twice in one tag"),
        ("<model", "is not well-formed XML"),
        ("<plist/>", "begins with <plist>, not with <model>"),
        ("bplist00", "is a compiled model or one of Xcode 3"),
    ])
    func whatIsNoModelIsToldSo(_ text: String, _ words: String) {
        do throws(ModelFileError) {
            _ = try ModelFile(Data(text.utf8), path: "M/contents")
            Issue.record("\(text) was read")
        } catch {
            #expect(error.description.contains(words), "\(error)")
        }
    }

    // A3: a model comes from wherever its user has it.
    @Test func aFileReachesNoOther() throws {
        let secret = FileManager.default.temporaryDirectory.appending(path: "secret-\(UUID().uuidString)")
        try Data("<entity name=\"Secret\"/>".utf8).write(to: secret)
        defer { try? FileManager.default.removeItem(at: secret) }
        let text = "<!DOCTYPE model [<!ENTITY other SYSTEM \"file://\(secret.path)\">]>\n<model>&other;</model>"
        #expect((try? ModelFile(Data(text.utf8), path: "M"))?.entities.isEmpty != false)
        let levels = (1...9).map { "<!ENTITY e\($0) \"\(String(repeating: "&e\($0 - 1);", count: 10))\">" }.joined()
        let bomb = "<!DOCTYPE model [<!ENTITY e0 \"aaaaaaaaaa\">\(levels)]>\n<model userDefinedModelVersionIdentifier=\"&e9;\"/>"
        #expect(throws: ModelFileError.self) { try ModelFile(Data(bomb.utf8), path: "M") }
    }

    /// Foundation's parser ends the process at most of these.
    @Test(arguments: [
        "<?x?>\n<model/>", "<model><?x?></model>", "<model a=\"\u{0}\"/>", "<model a='1' a='2'/>", "<model xmlns:a='' a:b='1'/>",
        "<a:model xmlns:a=\"x\" a:b=\"1\" b=\"2\"/>",
        "<!DOCTYPE model [<!NOTATION n SYSTEM \"x\"><!ATTLIST model a CDATA #IMPLIED><!ELEMENT model ANY>]><model/>", "<model>&unknown;</model>",
        "<model a=\"&unknown;\"/>", "<a", "<a b", "<a b=", "<a b=\"", "<a b=\"c\"", "<", "", "<!", "<?", "<!DOCTYPE", "&", "\u{FEFF}",
        "<model></modal>",
    ])
    func noTextEndsTheProcess(text: String) {
        _ = try? ModelFile(Data(text.utf8), path: "M")
        _ = try? ModelFile(text.data(using: .utf16) ?? Data(), path: "M")
    }

    @Test func noByteOfAFileEndsTheProcess() throws {
        let text =
            "<?xml version=\"1.0\"?><!DOCTYPE model SYSTEM \"x\"><model a=\"&lt;&#233;\"><!-- c --><![CDATA[d]]><e:f xmlns:e=\"g\" e:h=\"é\"/></model>"
        for place in 0..<text.utf8.count {
            for byte: UInt8 in [0, 1, 0x20, 0x22, 0x26, 0x3A, 0x3C, 0x3E, 0x3F, 0x5B, 0x80, 0xFF] {
                var data = Data(text.utf8)
                data[place] = byte
                _ = try? ModelFile(data, path: "M")
            }
            _ = try? ModelFile(Data(text.utf8).prefix(place), path: "M")
        }
    }

    /// Entities that multiply, hidden by an encoding, and elements in elements without an end.
    @Test func whatGrowsBeyondTheFileIsRefused() throws {
        let entity = "<!ENTITY e \"\(String(repeating: "a", count: 50_000))\">"
        let many = "<!DOCTYPE model [\(entity)]><model>\(String(repeating: "<entity name=\"&e;\"/>", count: 2_000))</model>"
        let hidden = "<?xml version=\"1.0\" encoding=\"UTF-7\"?>+ADwAIQ-DOCTYPE model [+ADwAIQ-ENTITY e \"a\">]><model a=\"&e;\"/>"
        let deep = String(repeating: "<a>", count: 200_000) + String(repeating: "</a>", count: 200_000)
        for (text, words) in [(many, "declares an entity"), (hidden, "declares an entity"), (deep, "elements in each other")] {
            let error = #expect(throws: ModelFileError.self) { try ModelFile(Data(text.utf8), path: "M") }
            #expect(error?.message.contains(words) == true, "\(error.map { "\($0)" } ?? "")")
        }
    }

    @Test func valuesOfAnyLengthAreRead() throws {
        let long = String(repeating: "x", count: 11_000_000)
        #expect(
            try ModelFile(Data("<model userDefinedModelVersionIdentifier=\"\(long)\"><entity name=\"A\"/></model>".utf8), path: "M").entities.count
                == 1)
    }

    @Test func commentsAndCharacterDataMayHoldAnything() throws {
        let file = try ModelFile(
            Data("\u{FEFF}<?xml version='1.0' encoding='utf-8'?><!-- <?x?> --><model><entity name=\"A\"/><!-- <!DOCTYPE [ --></model>".utf8),
            path: "M")
        #expect(file.entities.map(\.name) == ["A"])
    }
}
