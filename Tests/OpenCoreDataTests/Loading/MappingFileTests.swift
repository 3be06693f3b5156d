import Foundation
import ModelFiles
import OpenCoreData
import TestTraits
import Testing

/// Mappings of Xcode's editor: the ones that were collected, with the models they belong to.
@Suite(.enabled(if: TestData.has("coredata/objcio-moody"), "needs the collected models of the test data (CISTERN_TEST_DATA)"))
struct RealMappingTests {
    private static let moody = TestData.directory.appending(path: "coredata/objcio-moody/Migrations/Migrations")

    private func mapping(_ name: String) throws -> NSMappingModel {
        try NSMappingModel(readingContentsOf: Self.moody.appending(path: "\(name).xcmappingmodel"))
    }

    // G4
    @Test func everyMappingOfTheEditorIsRead() throws {
        let root = TestData.directory.appending(path: "coredata")
        let folders = try FileManager.default.subpathsOfDirectory(atPath: root.path).filter { $0.hasSuffix(".xcmappingmodel") }
        #expect(folders.count == 6)
        for folder in folders {
            let model = try NSMappingModel(readingContentsOf: root.appending(path: folder))
            #expect(!model.entityMappings.isEmpty && Set(model.entityMappings.map(\.name)).count == model.entityMappings.count)
        }
        let second = try mapping("Moody 2-Moody 3")
        #expect(second.entityMappings.map(\.name) == ["MoodToMood", "CountryToCountry", "ContinentToContinent"])
        let mood = try #require(second.entityMappingsByName["MoodToMood"])
        #expect(mood.attributeMappings?.count == 9 && mood.mappingType == .transformEntityMappingType)
        let fourth = try mapping("Moody 4-Moody 5")
        let continent = fourth.entityMappingsByName["CountryToCountry"]?.attributeMappings?.first { $0.name == "isoContinent" }
        #expect(continent?.valueExpression?.description == "$source.continent.numericISO3166Code")
        let fifth = try mapping("Moody 5-Moody 6")
        #expect(fifth.entityMappingsByName["CountryToCountry"]?.entityMigrationPolicyClassName == "Migrations.Country5ToCountry6Policy")
        #expect(fifth.entityMappingsByName["Continent"]?.mappingType == .addEntityMappingType)
    }

    private func open(_ version: String, _ file: URL) throws -> (NSManagedObjectContext, NSPersistentStore) {
        let models = try NSManagedObjectModel.versions(inPackageAt: Self.moody.appending(path: "Moody.xcdatamodeld"))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try #require(models[version]))
        let store = try coordinator.addPersistentStore(type: .sqlite, at: file)
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return (context, store)
    }

    /// What is there, by entity.
    private func counts(_ context: NSManagedObjectContext) throws -> [String: Int] {
        try context.performAndWait {
            var counts: [String: Int] = [:]
            for entity in context.persistentStoreCoordinator?.managedObjectModel.entities ?? [] where !entity.isAbstract {
                counts[entity.name ?? ""] = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: entity.name ?? ""))
            }
            return counts
        }
    }

    // G4: as the program did that the models are of, from version to version.
    @Test func theCollectedMappingsMigrate() throws {
        let folder = try ModelFolder.empty(),
            models = try NSManagedObjectModel.versions(inPackageAt: Self.moody.appending(path: "Moody.xcdatamodeld"))
        var file = folder.url.appending(path: "2.sqlite")
        let (context, store) = try open("Moody 2", file)
        try context.performAndWait {
            func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                for (key, value) in values { object.setValue(value, forKey: key) }
                return object
            }
            let now = Date(timeIntervalSinceReferenceDate: 0)
            let europe = insert("Continent", ["numericISO3166Code": 150, "updatedAt": now])
            for code in [276, 250] {
                let country = insert("Country", ["numericISO3166Code": code, "updatedAt": now, "continent": europe])
                for number in 0..<3 {
                    _ = insert("Mood", ["date": now, "country": country, "remoteID": "\(code).\(number)", "rating": number, "latitude": 0.5])
                }
            }
            try context.save()
        }
        try context.persistentStoreCoordinator?.remove(store)
        for (old, new) in [("2", "3"), ("3", "4"), ("4", "5")] {
            let manager = NSMigrationManager(
                sourceModel: try #require(models["Moody \(old)"]), destinationModel: try #require(models["Moody \(new)"]))
            let next = folder.url.appending(path: "\(new).sqlite")
            try manager.migrateStore(
                from: file, sourceType: NSSQLiteStoreType, options: nil, with: mapping("Moody \(old)-Moody \(new)"), toDestinationURL: next,
                destinationType: NSSQLiteStoreType, destinationOptions: nil)
            file = next
            let (context, store) = try open("Moody \(new)", file)
            let found = try counts(context)
            #expect(found["Mood"] == 6 && found["Country"] == 2, "Moody \(new): \(found)")
            try context.performAndWait {
                let moods = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Mood"))
                #expect(Set(moods.compactMap { $0.value(forKey: "remoteID") as? String }).count == 6)
                let related = moods.filter { ($0.value(forKeyPath: "country.numericISO3166Code") as? Int).map { [276, 250].contains($0) } == true }
                #expect(related.count == 6, "Moody \(new)")
                if new == "5" {
                    let countries = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Country"))
                    #expect(countries.map { $0.value(forKey: "isoContinent") as? Int } == [150, 150])
                }
            }
            try context.persistentStoreCoordinator?.remove(store)
        }
    }
}

final class UnknownExpression: NSObject, NSCoding {
    override init() { super.init() }
    init?(coder: NSCoder) { nil }
    func encode(with coder: NSCoder) { coder.encode(-1, forKey: "NSExpressionType") }
}

/// What a file of mappings says, and what it gets wrong.
@Suite struct MappingFileTests {
    private func mapping(_ objects: String) throws(ModelFileError) -> MappingFile {
        try MappingFile(Data("<?xml version=\"1.0\"?>\n<database>\n\(objects)\n</database>".utf8), path: "M/xcmapping.xml")
    }

    private func entity(_ attributes: String, _ references: String = "", id: String = "z1", model: String = "z9") -> String {
        "<object type=\"XDDEVENTITYMAPPING\" id=\"\(id)\">\(attributes)<relationship name=\"mappingmodel\" idrefs=\"\(model)\"/>\(references)</object>"
    }

    private func attribute(_ name: String, _ value: String) -> String { "<attribute name=\"\(name)\" type=\"string\">\(value)</attribute>" }

    // G4
    @Test func mappingsAreInTheirOrderAndDeletedOnesAreNone() throws {
        let file = try mapping(
            entity(attribute("sourcename", "B") + attribute("mappingnumber", "2"), id: "z1")
                + entity(attribute("destinationname", "A") + attribute("mappingnumber", "1"), id: "z2")
                + entity(attribute("sourcename", "Gone"), id: "z3", model: ""))
        #expect(file.entityMappings.map(\.name) == ["A", "B"])
        #expect(file.entityMappings[0].source == nil && file.entityMappings[1].destination == nil)
    }

    // G4
    @Test(arguments: [
        ("", "maps no entity"),
        (
            "<object type=\"XDDEVENTITYMAPPING\" id=\"z1\"><relationship name=\"mappingmodel\" idrefs=\"z9\"/></object>",
            "neither a source nor a destination"
        ),
        (
            "<object type=\"XDDEVENTITYMAPPING\" id=\"z1\"><attribute name=\"sourcename\">A</attribute><relationship name=\"mappingmodel\" idrefs=\"z9\"/>"
                + "<relationship name=\"attributemappings\" idrefs=\"z5\"/></object>", "refers to z5, which is no mapping of a property"
        ),
    ])
    func aMistakeIsTold(_ objects: String, _ words: String) {
        do throws(ModelFileError) {
            _ = try mapping(objects)
            Issue.record("it was read")
        } catch {
            #expect(error.description.contains(words) && error.path == "M/xcmapping.xml", "\(error)")
        }
    }

    // G4: what the editor makes of a name alone.
    @Test func whatTheSourceDoesNotHaveKeepsItsDefault() throws {
        let folder = ModelFolder(), x = "<attribute name=\"x\" attributeType=\"Integer 64\"/>"
        try folder.add("<entity name=\"A\">\(x)</entity>", version: "Model")
        let package = try folder.add(
            "<entity name=\"A\">\(x)<attribute name=\"y\" attributeType=\"Integer 64\" defaultValueString=\"7\"/>"
                + "<relationship name=\"all\" optional=\"YES\" toMany=\"YES\" destinationEntity=\"A\"/></entity>", version: "Model 2")
        let models = try NSManagedObjectModel.versions(inPackageAt: package)
        let old = try #require(models["Model"]), new = try #require(models["Model 2"])
        func property(_ id: String, _ type: String, _ name: String) -> String {
            "<object type=\"XDDEV\(type)MAPPING\" id=\"\(id)\">\(attribute("name", name))</object>"
        }
        let objects = entity(
            attribute("sourcename", "A") + attribute("destinationname", "A"),
            "<relationship name=\"attributemappings\" idrefs=\"z5 z6\"/><relationship name=\"relationshipmappings\" idrefs=\"z7\"/>")
        let file = folder.url.appending(path: "M.xcmappingmodel")
        let properties = property("z5", "ATTRIBUTE", "x") + property("z6", "ATTRIBUTE", "y") + property("z7", "RELATIONSHIP", "all")
        try Data("<database>\(objects)\(properties)</database>".utf8).write(to: file)
        func open(_ model: NSManagedObjectModel, _ name: String) throws -> NSManagedObjectContext {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(type: .sqlite, at: folder.url.appending(path: name))
            let context = NSManagedObjectContext(.privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            return context
        }
        let before = try open(old, "old.sqlite")
        try before.performAndWait {
            NSEntityDescription.insertNewObject(forEntityName: "A", into: before).setValue(3, forKey: "x")
            try before.save()
        }
        try NSMigrationManager(sourceModel: old, destinationModel: new).migrateStore(
            from: folder.url.appending(path: "old.sqlite"), sourceType: NSSQLiteStoreType, options: nil,
            with: NSMappingModel(readingContentsOf: file),
            toDestinationURL: folder.url.appending(path: "new.sqlite"), destinationType: NSSQLiteStoreType, destinationOptions: nil)
        let after = try open(new, "new.sqlite")
        try after.performAndWait {
            let found = try after.fetch(NSFetchRequest<NSManagedObject>(entityName: "A"))
            #expect(found.map { [$0.value(forKey: "x") as? Int, $0.value(forKey: "y") as? Int] } == [[3, 7]])
        }
    }

    // G4
    @Test func whatIsNoMappingIsToldSo() throws {
        #expect(NSMappingModel(contentsOf: nil) == nil && NSMappingModel(contentsOf: URL(filePath: "/nowhere.xcmappingmodel")) == nil)
        let folder = try ModelFolder.empty(), file = folder.url.appending(path: "M.xcmappingmodel")
        try Data("<model/>".utf8).write(to: file)
        #expect(throws: ModelFileError.self) { try NSMappingModel(readingContentsOf: file) }
        let objects = entity(
            attribute("sourcename", "A") + attribute("destinationname", "A"), "<relationship name=\"attributemappings\" idrefs=\"z5\"/>")
        // An expression of a kind that there is not, an object of another class, one that is no expression, and no archive at all.
        func archive(_ object: NSObject, as name: String?) -> Data {
            let archiver = NSKeyedArchiver(requiringSecureCoding: false)
            if let name { archiver.setClassName(name, for: UnknownExpression.self) }
            archiver.encode(object, forKey: NSKeyedArchiveRootObjectKey)
            archiver.finishEncoding()
            return archiver.encodedData
        }
        // One that is its own operand, a list that is an element of itself, and lists in lists.
        func archive(_ objects: [Any]) throws -> Data {
            let list: [String: Any] = [
                "$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": ["root": ["CF$UID": 1]], "$objects": ["$null"] + objects,
            ]
            return try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
        }
        let function: [String: Any] = ["$classname": "NSFunctionExpression", "$classes": ["NSFunctionExpression", "NSExpression", "NSObject"]]
        let array: [String: Any] = ["$classname": "NSArray", "$classes": ["NSArray", "NSObject"]]
        var endless = try [
            archive([
                ["$class": ["CF$UID": 2], "NSExpressionType": 4, "NSSelectorName": ["CF$UID": 3], "NSOperand": ["CF$UID": 1]] as [String: Any],
                function,
                "valueForKey:",
            ]),
            archive([["$class": ["CF$UID": 2], "NS.objects": [["CF$UID": 1]]] as [String: Any], array]),
            archive((1...5_000).map { ["$class": ["CF$UID": 5_001], "NS.objects": [["CF$UID": $0 % 5_000 + 1]]] as [String: Any] } + [array]),
        ]
        // Lists that hold the next list twice, fifty deep.
        let aggregate: [String: Any] = ["$classname": "NSAggregateExpression", "$classes": ["NSAggregateExpression", "NSExpression", "NSObject"]]
        let doubled = (0..<50).flatMap { level -> [Any] in
            let next = ["CF$UID": 2 * level + 3]
            return [
                ["$class": ["CF$UID": 102], "NSExpressionType": 14, "NSCollection": ["CF$UID": 2 * level + 2]] as [String: Any],
                ["$class": ["CF$UID": 103], "NS.objects": [next, next]] as [String: Any],
            ]
        }
        endless.append(try archive(doubled + ["end", aggregate, array]))
        let archives =
            endless + [
                archive(UnknownExpression(), as: "NSConstantValueExpression"), archive(UnknownExpression(), as: nil), archive(NSString("x"), as: nil),
                Data("ABC".utf8),
            ]
        for data in archives {
            let words = attribute("name", "x") + attribute("valueexpressiondata", data.base64EncodedString())
            let junk = "<object type=\"XDDEVATTRIBUTEMAPPING\" id=\"z5\">\(words)</object>"
            try Data("<database>\(objects)\(junk)</database>".utf8).write(to: file)
            do throws(ModelFileError) {
                _ = try NSMappingModel(readingContentsOf: file)
                Issue.record("it was read")
            } catch {
                #expect(error.description.contains("the expression of x can't be read"), "\(error)")
                #expect(error.description.contains("holds itself") == endless.contains(data), "\(error)")
            }
        }
    }

    // G4
    @Test func aLongExpressionIsRead() throws {
        // x + 1 + 1 …, forty-nine times, which is as deep as the parser goes: each level is an expression and the list of its arguments.
        let levels = 49, first = 2 * levels + 1
        func id(_ number: Int) -> [String: Any] { ["CF$UID": number] }
        var objects: [Any] = ["$null"]
        for level in 0..<levels {
            objects += [
                ["$class": id(first + 3), "NSExpressionType": 4, "NSSelectorName": id(first + 2), "NSArguments": id(2 * level + 2)] as [String: Any],
                ["$class": id(first + 4), "NS.objects": [id(2 * level + 3), id(first + 1)]] as [String: Any],
            ]
        }
        func kind(_ name: String) -> [String: Any] { ["$classname": name, "$classes": [name, "NSExpression", "NSObject"]] }
        objects += [
            ["$class": id(first + 5), "NSExpressionType": 3, "NSKeyPath": id(first + 6)] as [String: Any],
            ["$class": id(first + 7), "NSExpressionType": 0, "NSConstantValue": id(first + 8)] as [String: Any], "add:to:",
            kind("NSFunctionExpression"),
            ["$classname": "NSArray", "$classes": ["NSArray", "NSObject"]] as [String: Any], kind("NSKeyPathExpression"), "x",
            kind("NSConstantValueExpression"), 1,
        ]
        let list: [String: Any] = ["$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": ["root": id(1)], "$objects": objects]
        let data = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
        let folder = try ModelFolder.empty(), file = folder.url.appending(path: "M.xcmappingmodel")
        let words = attribute("name", "y") + attribute("valueexpressiondata", data.base64EncodedString())
        let mapped = entity(
            attribute("sourcename", "A") + attribute("destinationname", "A"), "<relationship name=\"attributemappings\" idrefs=\"z5\"/>")
        try Data("<database>\(mapped)<object type=\"XDDEVATTRIBUTEMAPPING\" id=\"z5\">\(words)</object></database>".utf8).write(to: file)
        let read = try NSMappingModel(readingContentsOf: file).entityMappings.first?.attributeMappings?.first?.valueExpression
        #expect(read?.description.components(separatedBy: "1").count == levels + 1, "\(read?.description ?? "")")
    }
}
