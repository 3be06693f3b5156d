import Foundation
import OpenCoreData
import Testing

/// OpenCoreDataTestSupport has one of the name, too.
final class Twofold: NSManagedObject {}

final class LoadedCity: NSManagedObject {
    @Managed var name: String?
}

/// What a model's file says, as descriptions.
@Suite struct ModelLoadingTests {
    // A9
    @Test func aCompositeTypeOfAFileIsRead() throws {
        let model = try ModelFolder.model(
            """
            <entity name="Quake">
                <attribute name="magnitude" optional="YES" attributeType="Composite" composite="Magnitude"/>
                <fetchIndex name="byValue"><fetchIndexElement property="magnitude.felt.reports" type="Binary" order="descending"/></fetchIndex>
            </entity>
            <composite name="Magnitude">
                <attribute name="richter" attributeType="Double" defaultValueString="1.5" maxValueString="10"/>
                <attribute name="felt" optional="YES" attributeType="Composite" composite="Felt"/>
            </composite>
            <composite name="Felt"><attribute name="reports" optional="YES" attributeType="Integer 32"/></composite>
            """)
        let quake = try #require(model.entitiesByName["Quake"])
        let magnitude = try #require(quake.attributesByName["magnitude"] as? NSCompositeAttributeDescription)
        #expect(magnitude.isOptional && magnitude.elements.map(\.name) == ["richter", "felt"])
        #expect(magnitude.elements[0].defaultValue as? Double == 1.5 && magnitude.elements[0].maximumValue == 10)
        #expect((magnitude.elements[1] as? NSCompositeAttributeDescription)?.elements.map(\.type) == [.integer32])
        #expect(quake.indexes[0].elements[0].property === (magnitude.elements[1] as? NSCompositeAttributeDescription)?.elements[0])
    }

    @Test(arguments: [
        ("", "Quake.magnitude is composite and names no composite type"),
        ("composite=\"None\"", "Quake.magnitude is of the composite type None, which the model does not have"),
        ("composite=\"Self\"", "the composite type Self contains itself"), ("composite=\"Empty\"", "the composite type Empty has no elements"),
    ])
    func aCompositeTypeThatMakesNoSenseIsToldWithItsLine(words: String, complaint: String) throws {
        let error = try #require(
            #expect(throws: (any Error).self) {
                try ModelFolder.model(
                    """
                    <entity name="Quake"><attribute name="magnitude" optional="YES" attributeType="Composite" \(words)/></entity>
                    <composite name="Self"><attribute name="inner" attributeType="Composite" composite="Self"/></composite>
                    <composite name="Empty"></composite>
                    """)
            })
        #expect("\(error)".contains(complaint), "\(error)")
    }

    // A3, A4
    @Test func attributesAreDescribed() throws {
        let model = try ModelFolder.model(
            """
            <entity name="A">
                <attribute name="i16" attributeType="Integer 16" defaultValueString="-3" minValueString="-5" maxValueString="7"/>
                <attribute name="i32" optional="YES" indexed="YES" attributeType="Integer 32" defaultValueString="0.0"/>
                <attribute name="i64" attributeType="Integer 64" defaultValueString="9007199254740993" maxValueString="9007199254740993"/>
                <attribute name="dec" attributeType="Decimal" defaultValueString="0.1" minValueString="0.1"/>
                <attribute name="dbl" attributeType="Double" defaultValueString="0.5" minValueString="0.25"/>
                <attribute name="flt" attributeType="Float" defaultValueString="1.5"/>
                <attribute name="str" attributeType="String" defaultValueString="" minValueString="1" maxValueString="3" regularExpressionString="[a-z]*"/>
                <attribute name="yes" attributeType="Boolean" defaultValueString="YES"/>
                <attribute name="no" attributeType="Boolean" defaultValueString="NO"/>
                <attribute name="date" attributeType="Date" defaultDateTimeInterval="3600" minDateTimeInterval="0" defaultValueString="now"/>
                <attribute name="uuid" attributeType="UUID" defaultValueString="6F9619FF-8B86-D011-B42D-00CF4FC964FF"/>
                <attribute name="noUUID" attributeType="UUID" defaultValueString=""/>
                <attribute name="uri" attributeType="URI" defaultValueString="https://example.com/a"/>
                <attribute name="bin" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
                <attribute name="any" optional="YES" attributeType="Transformable" valueTransformerName="T" customClassName="NSArray"/>
                <attribute name="tmp" optional="YES" transient="YES"/>
                <attribute name="old" optional="YES" attributeType="String" elementID="former" versionHashModifier="2" preserveAfterDeletion="YES">
                    <userInfo><entry key="unit" value="m"/></userInfo>
                </attribute>
            </entity>
            """)
        let a = try #require(model.entitiesByName["A"]?.attributesByName)
        #expect(
            a["i16"]?.defaultValue as? Int16 == -3 && a["i16"]?.minimumValue == -5 && a["i16"]?.maximumValue == 7 && a["i16"]?.isOptional == false)
        #expect(a["i32"]?.defaultValue as? Int32 == 0 && a["i32"]?.isIndexed == true && a["i32"]?.isOptional == true)
        #expect(a["i64"]?.defaultValue as? Int64 == 9_007_199_254_740_993 && a["i64"]?.maximumDecimal == Decimal(9_007_199_254_740_993))
        #expect(a["i64"]?.maximumValue == nil)
        #expect(a["dec"]?.defaultValue as? Decimal == Decimal(string: "0.1") && a["dec"]?.minimumDecimal == Decimal(string: "0.1"))
        #expect(a["dbl"]?.defaultValue as? Double == 0.5 && a["dbl"]?.minimumValue == 0.25 && a["flt"]?.defaultValue as? Float == 1.5)
        #expect(a["str"]?.defaultValue as? String == "" && a["str"]?.minimumValue == 1 && a["str"]?.regularExpression == "[a-z]*")
        #expect(a["yes"]?.defaultValue as? Bool == true && a["no"]?.defaultValue as? Bool == false)
        #expect(a["date"]?.defaultValue as? Date == Date(timeIntervalSinceReferenceDate: 3600) && a["date"]?.minimumValue == 0)
        #expect((a["uuid"]?.defaultValue as? UUID)?.uuidString == "6F9619FF-8B86-D011-B42D-00CF4FC964FF" && a["noUUID"]?.defaultValue == nil)
        #expect((a["uri"]?.defaultValue as? URL)?.absoluteString == "https://example.com/a")
        #expect(a["bin"]?.allowsExternalBinaryDataStorage == true && a["bin"]?.attributeValueClassName == "NSData")
        #expect(a["any"]?.valueTransformerName == "T" && a["any"]?.attributeValueClassName == "NSArray" && a["any"]?.type == .transformable)
        #expect(a["tmp"]?.isTransient == true && a["tmp"]?.type == .undefined)
        #expect(a["old"]?.renamingIdentifier == "former" && a["old"]?.versionHashModifier == "2" && a["old"]?.userInfo?["unit"] as? String == "m")
        #expect(a["old"]?.preservesValueInHistoryOnDeletion == true)
    }

    // A3, A4
    @Test func entitiesAndRelationshipsLeadToEachOther() throws {
        let model = try ModelFolder.model(
            """
            <entity name="Base" isAbstract="YES" elementID="Root">
                <attribute name="id" attributeType="Integer 64"/>
                <relationship name="tags" optional="YES" toMany="YES" ordered="YES" maxCount="4" deletionRule="Nullify" destinationEntity="Tag" \
            inverseName="owners" inverseEntity="Tag"/>
                <userInfo><entry key="k" value="v"/></userInfo>
            </entity>
            <entity name="City" representedClassName=".LoadedCity" parentEntity="Base">
                <attribute name="name" attributeType="String"/>
                <fetchIndex name="byID"><fetchIndexElement property="id" type="Binary" order="descending"/></fetchIndex>
                <compoundIndexes><compoundIndex><index value="id"/><index value="name"/></compoundIndex></compoundIndexes>
                <uniquenessConstraints><uniquenessConstraint><constraint value="id"/></uniquenessConstraint></uniquenessConstraints>
            </entity>
            <entity name="Tag">
                <relationship name="owners" optional="YES" toMany="YES" deletionRule="Deny" destinationEntity="Base" inverseName="tags" \
            inverseEntity="Base"/>
                <relationship name="main" maxCount="1" deletionRule="No Action" destinationEntity="City"/>
            </entity>
            <configuration name="Places"><memberEntity name="City"/><memberEntity name="Base"/></configuration>
            """)
        let base = try #require(model.entitiesByName["Base"]), city = try #require(model.entitiesByName["City"])
        let tag = try #require(model.entitiesByName["Tag"])
        #expect(base.isAbstract && base.renamingIdentifier == "Root" && base.userInfo?["k"] as? String == "v" && base.managedObjectModel === model)
        #expect(city.superentity === base && city.propertiesByName.keys.sorted() == ["id", "name", "tags"])
        let tags = try #require(base.relationshipsByName["tags"]), owners = try #require(tag.relationshipsByName["owners"])
        #expect(tags.inverseRelationship === owners && owners.inverseRelationship === tags && tags.destinationEntity === tag)
        #expect(tags.isOrdered && tags.maxCount == 4 && tags.isToMany && owners.deleteRule == .denyDeleteRule && owners.maxCount == 0)
        let main = try #require(tag.relationshipsByName["main"])
        #expect(!main.isToMany && !main.isOptional && main.deleteRule == .noActionDeleteRule && main.inverseRelationship == nil)
        #expect(city.indexes.map(\.name) == ["byID", "compoundIndex1"] && city.indexes[0].elements.map(\.isAscending) == [false])
        #expect(city.indexes[1].elements.map(\.propertyName) == ["id", "name"])
        #expect(city.uniquenessConstraints as? [[String]] == [["id"]])
        #expect(model.configurations == ["Places"] && model.entities(forConfigurationName: "Places")?.map(\.name) == ["City", "Base"])
    }

    // F16, A4
    @Test func fetchRequestsBecomeTemplatesAndFetchedProperties() throws {
        let model = try ModelFolder.model(
            """
            <entity name="A">
                <attribute name="x" attributeType="Integer 64"/>
                <fetchedProperty name="larger" optional="YES">
                    <fetchRequest name="f" entity="B" predicateString="x &gt; $FETCH_SOURCE.x" fetchLimit="3"/>
                    <userInfo><entry key="k" value="v"/></userInfo>
                </fetchedProperty>
            </entity>
            <entity name="B"><attribute name="x" attributeType="Integer 64"/></entity>
            <fetchRequest name="above" entity="A" predicateString="x &gt; $LIMIT" fetchLimit="5" fetchBatchSize="6" includeSubentities="NO"/>
            <fetchRequest name="ids" entity="A" resultType="1"/>
            """)
        let above = try #require(model.fetchRequestFromTemplate(withName: "above", substitutionVariables: ["LIMIT": 7]))
        #expect(above.predicate?.canonicalFormat == "x > 7" && above.fetchLimit == 5 && above.fetchBatchSize == 6 && !above.includesSubentities)
        #expect(model.fetchRequestTemplate(forName: "ids")?.resultType == .managedObjectIDResultType)
        let larger = try #require(model.entitiesByName["A"]?.propertiesByName["larger"] as? NSFetchedPropertyDescription)
        #expect(larger.fetchRequest?.entityName == "B" && larger.fetchRequest?.fetchLimit == 3 && larger.userInfo?["k"] as? String == "v")
        #expect(larger.fetchRequest?.predicate?.canonicalFormat == "x > $FETCH_SOURCE.x")
    }

    // A4: the editor leaves the least count out.
    @Test func aRequiredToManyOfAFileHasAtLeastOneMember() throws {
        let folder = ModelFolder()
        let package = try folder.add(
            """
            <entity name="City">
                <relationship name="parts" toMany="YES" deletionRule="Cascade" destinationEntity="City" inverseName="whole" inverseEntity="City"/>
                <relationship name="others" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="City"/>
                <relationship name="whole" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="City" inverseName="parts" \
            inverseEntity="City"/>
            </entity>
            """)
        let city = try #require(NSManagedObjectModel(contentsOf: package)?.entitiesByName["City"])
        #expect(city.relationshipsByName["parts"]?.minCount == 1 && city.relationshipsByName["others"]?.minCount == 0)
    }

    // A3, O1: through a file, with objects of the class that the file names.
    @Test func aLoadedModelKeepsObjects() throws {
        let folder = ModelFolder()
        let package = try folder.add(
            """
            <entity name="City" representedClassName=".LoadedCity">
                <attribute name="name" attributeType="String" defaultValueString="?"/>
                <relationship name="parts" optional="YES" toMany="YES" deletionRule="Cascade" destinationEntity="City" inverseName="whole" \
            inverseEntity="City"/>
                <relationship name="whole" optional="YES" minCount="1" maxCount="1" deletionRule="Nullify" destinationEntity="City" \
            inverseName="parts" inverseEntity="City"/>
            </entity>
            """)
        let file = folder.url.appending(path: "cities.sqlite")
        for round in 0..<2 {
            let model = try #require(NSManagedObjectModel(contentsOf: package))
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(type: .sqlite, at: file)
            let context = NSManagedObjectContext(.privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                if round == 0 {
                    let whole = LoadedCity(context: context), part = LoadedCity(context: context)
                    part.name = "Altstadt"
                    part.setValue(whole, forKey: "whole")
                    try context.save()
                }
                let cities = try context.fetch(NSFetchRequest<LoadedCity>(entityName: "City"))
                #expect(Set(cities.map(\.name)) == ["?", "Altstadt"])
                #expect(cities.first { $0.name == "?" }?.value(forKeyPath: "parts.@count") as? Int == 1)
            }
            try coordinator.remove(store)
        }
    }

    @Test func aClassOfSeveralModulesIsThatOfTheModelsOwn() throws {
        let text = "<model><entity name=\"City\" representedClassName=\"Twofold\"/></model>", folder = try ModelFolder.empty()
        for (target, module) in [("OpenCoreDataTests", "OpenCoreDataTests"), ("OpenCoreDataTestSupport", "OpenCoreDataTestSupport"), ("Other", nil)] {
            let file = folder.url.appending(path: "my_package_\(target).resources/Cities.xcdatamodel/contents")
            try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
            let model = try NSManagedObjectModel(readingContentsOf: file.deletingLastPathComponent())
            #expect(model.entitiesByName["City"]?.managedObjectClassName == (module.map { $0 + ".Twofold" } ?? "Twofold"))
        }
    }

    // A3
    @Test func classesAreFoundWithoutTheirModule() throws {
        for name in [".LoadedCity", "LoadedCity", "OpenCoreDataTests.LoadedCity"] {
            let model = try ModelFolder.model("<entity name=\"City\" representedClassName=\"\(name)\"/>")
            #expect(model.entitiesByName["City"]?.managedObjectClassName == "OpenCoreDataTests.LoadedCity")
        }
        // As with Core Data: objects of an entity whose class the program lacks are plain ones.
        let model = try ModelFolder.model("<entity name=\"City\" representedClassName=\"Elsewhere.City\"/>")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.performAndWait {
            let city = NSEntityDescription.insertNewObject(forEntityName: "City", into: context)
            #expect(type(of: city) == NSManagedObject.self && city.entity.managedObjectClassName == "Elsewhere.City")
        }
        // Nor does the model that a store keeps stop the program.
        let folder = try ModelFolder.empty(), file = folder.url.appending(path: "cities.sqlite")
        try coordinator.remove(coordinator.addPersistentStore(type: .sqlite, at: file))
        let kept = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: file)
        let other = NSPersistentStoreCoordinator(managedObjectModel: kept), again = NSManagedObjectContext(.privateQueueConcurrencyType)
        try other.addPersistentStore(type: .sqlite, at: file)
        again.persistentStoreCoordinator = other
        again.performAndWait {
            #expect(type(of: NSEntityDescription.insertNewObject(forEntityName: "City", into: again)) == NSManagedObject.self)
        }
    }

    // A3
    @Test func whoWantsNoErrorGetsNil() throws {
        #expect(NSManagedObjectModel(contentsOf: URL(filePath: "/nowhere.xcdatamodeld")) == nil)
        let folder = ModelFolder(), package = try folder.add("<entity name=\"A\"/>", attributes: "userDefinedModelVersionIdentifier=\"v2\"")
        #expect(NSManagedObjectModel(contentsOf: package)?.versionIdentifiers == ["v2"])
    }

    // A3
    @Test func everyVersionOfAPackageIsAModel() throws {
        let folder = ModelFolder()
        try folder.add("<entity name=\"A\"/>")
        let package = try folder.add("<entity name=\"A\"/><entity name=\"B\"/>", version: "Model 2")
        #expect(NSManagedObjectModel(contentsOf: package)?.entities.count == 1)
        try folder.setCurrent("Model 2")
        #expect(NSManagedObjectModel(contentsOf: package)?.entities.count == 2)
        #expect(try NSManagedObjectModel.versions(inPackageAt: package).mapValues(\.entities.count) == ["Model": 1, "Model 2": 2])
    }

    // A8: it can be read, and is never a value that nobody computes.
    @Test func aModelWithADerivedAttributeIsReadAndRefusedByStores() throws {
        let model = try ModelFolder.model(
            """
            <entity name="A">
                <attribute name="s" attributeType="String"/>
                <attribute name="d" optional="YES" attributeType="String" derived="YES" derivationExpression="canonical(s)"/>
            </entity>
            """)
        let derived = try #require(model.entitiesByName["A"]?.attributesByName["d"] as? NSDerivedAttributeDescription)
        #expect(derived.derivationExpression?.description == "canonical(s)" && derived.type == .string)
        let copy = try #require((model.copy() as? NSManagedObjectModel)?.entitiesByName["A"]?.attributesByName["d"] as? NSDerivedAttributeDescription)
        #expect(copy.derivationExpression?.description == "canonical(s)" && copy.versionHash == derived.versionHash)
        derived.derivationExpression = NSExpression(format: "lowercase:(s)")
        #expect(copy.versionHash != derived.versionHash)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        #expect {
            try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        } throws: { error in
            (error as NSError).code == 134020 && error.localizedDescription.contains("A.d is a derived attribute")
        }
        // Inherited from an entity that the configuration does not name.
        let part = try ModelFolder.model(
            """
            <entity name="A" isAbstract="YES"><attribute name="d" optional="YES" attributeType="Date" derived="YES" derivationExpression="now()"/></entity>
            <entity name="B" parentEntity="A"/>
            <configuration name="Part"><memberEntity name="B"/></configuration>
            """)
        #expect(throws: CocoaError.self) {
            try NSPersistentStoreCoordinator(managedObjectModel: part).addPersistentStore(
                ofType: NSInMemoryStoreType, configurationName: "Part", at: nil)
        }
    }

    // A14
    @Test func theWordsBesideAModelAreRead() throws {
        func words(_ text: String?, in place: String = "") throws -> [String: String]? {
            let folder = ModelFolder(), package = try folder.add("<entity name=\"City\"/>", package: "Map")
            let strings = folder.url.appending(path: place).appending(path: "MapModel.strings")
            try FileManager.default.createDirectory(at: strings.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.map { try Data($0.utf8).write(to: strings) }
            return try NSManagedObjectModel(readingContentsOf: package).localizationDictionary
        }
        let text = "/* for people */\n\"Entity/City\" = \"Town\";\n"
        #expect(try words(text) == ["Entity/City": "Town"])
        #expect(try words(text, in: "en.lproj") == ["Entity/City": "Town"])
        #expect(try words(nil) == nil)
        #expect(try words("{{{") == nil)
    }

    // A4, X4
    @Test func everyWordOfAnIndexIsRead() throws {
        let city = try ModelFolder.model(
            """
            <entity name="City">
                <attribute name="name" attributeType="String"/><attribute name="area" attributeType="Integer 64"/>
                <fetchIndex name="large" partialIndexPredicate="area &gt; 5">
                    <fetchIndexElement property="area" type="RTree" order="descending"/>
                    <fetchIndexElement expression="lowercase:(name)" expressionType="String" type="Binary" order="ascending"/>
                </fetchIndex>
            </entity>
            """
        ).entities[0]
        let index = try #require(city.indexes.first), computed = try #require(index.elements[1].property as? NSExpressionDescription)
        #expect(index.partialIndexPredicate?.canonicalFormat == "area > 5" && index.entity === city)
        #expect(index.elements.map(\.collationType) == [.rTree, .binary] && index.elements.map(\.isAscending) == [false, true])
        #expect(computed.expression?.function == "lowercase:" && index.elements[1].propertyName == "lowercase:(name)")
        for mistake in ["partialIndexPredicate=\"area &gt;\"><fetchIndexElement property=\"area\"/>", "><fetchIndexElement expression=\"a +\"/>"] {
            #expect(throws: ModelFileError.self) {
                _ = try ModelFolder.model(
                    "<entity name=\"City\"><attribute name=\"area\" attributeType=\"Integer 64\"/><fetchIndex name=\"i\" \(mistake)</fetchIndex></entity>"
                )
            }
        }
    }

    // A10, A14
    @Test func theChecksumsOfAllVersionsAreTold() throws {
        let folder = ModelFolder()
        try folder.add("<entity name=\"A\"/>", version: "One")
        let package = try folder.add("<entity name=\"B\"/>", version: "Two")
        try folder.setCurrent("Two")
        let versions = try NSManagedObjectModel.versions(inPackageAt: package)
        #expect(try NSManagedObjectModel.checksumsForVersionedModel(at: package) == versions.mapValues(\.versionChecksum))
        #expect(throws: ModelFileError.self) { try NSManagedObjectModel.checksumsForVersionedModel(at: folder.url.appending(path: "none")) }
    }

    // A3
    @Test(arguments: ["momd", "mom", "omo"]) func aCompiledModelIsRefusedWithWhatToGiveInstead(_ ending: String) throws {
        let folder = try ModelFolder.empty(), file = folder.url.appending(path: "Model.\(ending)")
        try Data("bplist00".utf8).write(to: file)
        #expect(NSManagedObjectModel(contentsOf: file) == nil)
        let error = #expect(throws: ModelFileError.self) { try NSManagedObjectModel(readingContentsOf: file) }
        #expect(error?.description.contains("is a compiled model") == true && error?.description.contains("….xcdatamodeld") == true)
    }
}
