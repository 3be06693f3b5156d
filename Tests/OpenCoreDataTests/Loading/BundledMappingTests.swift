import Foundation
import OpenCoreData
import Testing

/// Two versions of a model, and a mapping between them as Xcode's editor writes one, among resources. Its entity is nobody else's.
///
/// Version 1 has a name; version 2 a title and a code, both made of it. The code is required, so that nothing can be inferred.
final class BundledMappings {
    let entity: String
    private let package: String
    /// Where the packages are.
    let folder: URL
    private let made = ModelFolder()

    /// - Parameters:
    ///   - areInMain: among the resources of the program; they come and go at once, since other tests look there.
    ///   - hasOthers: besides, there is an entity Other, which the configuration "alone" is without.
    ///   - hasEarlier: there is a version 0, in which nothing but Other was another.
    ///   - wasUnique: version 1 has a title, too, and keeps it unique.
    ///   - package: what the package is called; nil: as the entity.
    init(
        inMain areInMain: Bool = false, hasOthers: Bool = false, hasEarlier: Bool = false, wasUnique: Bool = false, package name: String? = nil,
        entity: String = "Mapped\(UUID().uuidString.prefix(8))"
    ) throws {
        self.entity = entity
        package = name ?? entity
        let elements =
            hasOthers ? "<entity name=\"Other\"/><configuration name=\"alone\"><memberEntity name=\"\(entity)\"/></configuration>" : ""
        let attribute = { (name: String, isOptional: Bool) in
            "<attribute name=\"\(name)\"\(isOptional ? " optional=\"YES\"" : "") attributeType=\"String\"/>"
        }
        let unique = "<uniquenessConstraints><uniquenessConstraint><constraint value=\"title\"/></uniquenessConstraint></uniquenessConstraints>"
        let first = "<entity name=\"\(entity)\">\(attribute("name", true) + (wasUnique ? attribute("title", true) + unique : ""))</entity>\(elements)"
        try made.add(first, package: package, version: "First")
        if hasEarlier {
            let other = "<entity name=\"Other\">\(attribute("note", true))</entity>"
            try made.add(first.replacing("<entity name=\"Other\"/>", with: other), package: package, version: "Before")
        }
        try made.add(
            "<entity name=\"\(entity)\">\(attribute("title", true))\(attribute("code", false))</entity>\(elements)", package: package,
            version: "Second")
        try made.setCurrent("Second", package: package)
        let path = "App/\(package).xcdatamodeld"
        try Self.write(
            Self.mapping(entity, expressions: ["title", "code"], from: "\(path)/First.xcdatamodel", to: "\(path)/Second.xcdatamodel"),
            to: made.url.appending(path: "FirstToSecond.xcmappingmodel"))
        guard areInMain else {
            folder = made.url
            return
        }
        folder = try #require(Bundle.main.resourceURL).appending(path: "\(entity).resources")
        try FileManager.default.moveItem(at: made.url, to: folder)
    }

    deinit { try? FileManager.default.moveItem(at: folder, to: made.url) }

    static func write(_ text: String, to mapping: URL) throws {
        try FileManager.default.createDirectory(at: mapping, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: mapping.appending(path: "xcmapping.xml"))
    }

    /// Each property is what the source has as its name.
    static func mapping(_ entity: String, expressions properties: [String], from source: String, to destination: String) throws -> String {
        func id(_ number: Int) -> [String: Any] { ["CF$UID": number] }
        let kind: [String: Any] = ["$classname": "NSKeyPathExpression", "$classes": ["NSKeyPathExpression", "NSExpression", "NSObject"]]
        let objects: [Any] = ["$null", ["$class": id(2), "NSExpressionType": 3, "NSKeyPath": id(3)] as [String: Any], kind, "name"]
        let list: [String: Any] = ["$version": 100_000, "$archiver": "NSKeyedArchiver", "$top": ["root": id(1)], "$objects": objects]
        let expression = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0).base64EncodedString()
        func attribute(_ name: String, _ value: String) -> String { "<attribute name=\"\(name)\" type=\"string\">\(value)</attribute>" }
        let mappings = properties.enumerated().map { number, name in
            "<object type=\"XDDEVATTRIBUTEMAPPING\" id=\"z\(number + 10)\">\(attribute("name", name) + attribute("valueexpressiondata", expression))</object>"
        }
        let references = properties.indices.map { "z\($0 + 10)" }.joined(separator: " ")
        return """
            <database>
            <object type="XDDEVENTITYMAPPING" id="z1">\(attribute("sourcename", entity) + attribute("destinationname", entity))
            <relationship name="mappingmodel" idrefs="z2"/><relationship name="attributemappings" idrefs="\(references)"/></object>
            <object type="XDDEVMAPPINGMODEL" id="z2">\(attribute("sourcemodelpath", source) + attribute("destinationmodelpath", destination))</object>
            \(mappings.joined())
            </database>
            """
    }

    func bundle() throws -> Bundle { try #require(Bundle(path: folder.path)) }

    /// Version 1 or 2.
    func model(_ number: Int) throws -> NSManagedObjectModel {
        let versions = try NSManagedObjectModel.versions(inPackageAt: folder.appending(path: "\(package).xcdatamodeld"))
        return try #require(versions[number == 1 ? "First" : "Second"])
    }
}

/// Mappings among the resources of bundles.
@Suite struct BundledMappingTests {
    // G4
    @Test func aMappingIsFoundByTheVersionsThatItWasMadeFor() throws {
        let mappings = try BundledMappings(), bundles = [try mappings.bundle()], old = try mappings.model(1), new = try mappings.model(2)
        let found = try #require(NSMappingModel(from: bundles, forSourceModel: old, destinationModel: new))
        let mapping = try #require(found.entityMappings.first)
        #expect(found.entityMappings.count == 1 && mapping.attributeMappings?.compactMap(\.name) == ["code", "title"])
        #expect(mapping.sourceEntityVersionHash == old.entities[0].versionHash)
        #expect(mapping.destinationEntityVersionHash == new.entities[0].versionHash)
        #expect(NSMappingModel(from: bundles, forSourceModel: new, destinationModel: old) == nil)
        #expect(NSMappingModel(from: bundles, forSourceModel: old, destinationModel: old) == nil)
        #expect(NSMappingModel(from: bundles, forSourceModel: nil, destinationModel: new) == nil)
        let empty = try ModelFolder.empty()
        #expect(try NSMappingModel(from: [#require(Bundle(path: empty.url.path))], forSourceModel: old, destinationModel: new) == nil)
        // A model that has more than the version is another.
        let more = try #require(old.copy() as? NSManagedObjectModel), other = NSEntityDescription()
        other.name = "Other"
        more.entities += [other]
        #expect(NSMappingModel(from: bundles, forSourceModel: more, destinationModel: new) == nil)
    }

    // G4
    @Test func withoutAVersionThatItNamesAMappingIsNotTheOne() throws {
        let mappings = try BundledMappings(), old = try mappings.model(1), new = try mappings.model(2)
        try FileManager.default.removeItem(at: mappings.folder.appending(path: "\(mappings.entity).xcdatamodeld/First.xcdatamodel"))
        #expect(try NSMappingModel(from: [mappings.bundle()], forSourceModel: old, destinationModel: new) == nil)
    }

    // G4
    @Test func amongPackagesOfOneNameThoseBesideTheMappingAreMeant() throws {
        let one = try BundledMappings(package: "Model"), two = try BundledMappings(hasOthers: true, package: "Model", entity: one.entity)
        let away = try ModelFolder.empty(), bundles = try [one.bundle(), two.bundle(), #require(Bundle(path: away.url.path))]
        func isFound(_ mappings: BundledMappings) throws -> Bool {
            try NSMappingModel(from: bundles, forSourceModel: mappings.model(1), destinationModel: mappings.model(2)) != nil
        }
        #expect(try isFound(one) && isFound(two))
        // One that has no packages beside it is for whichever has its versions. That of others is not, whatever the names of their entities.
        let moved = away.url.appending(path: "FirstToSecond.xcmappingmodel")
        try FileManager.default.moveItem(at: two.folder.appending(path: "FirstToSecond.xcmappingmodel"), to: moved)
        #expect(try isFound(one) && isFound(two))
        try FileManager.default.removeItem(at: moved)
        #expect(try isFound(one) && !isFound(two))
        // A mapping of entities that the versions do not have is not for them.
        let path = "App/Model.xcdatamodeld"
        try BundledMappings.write(
            BundledMappings.mapping("Else", expressions: ["title"], from: "\(path)/First.xcdatamodel", to: "\(path)/Second.xcdatamodel"), to: moved)
        #expect(try isFound(one) && !isFound(two))
    }

    // G4
    @Test func amongMappingsThatCannotBeReadNoneIsFound() throws {
        let mappings = try BundledMappings(), old = try mappings.model(1), new = try mappings.model(2)
        try BundledMappings.write("<model/>", to: mappings.folder.appending(path: "A.xcmappingmodel"))
        #expect(try NSMappingModel(from: [mappings.bundle()], forSourceModel: old, destinationModel: new) == nil)
    }
}
