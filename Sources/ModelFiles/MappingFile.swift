import Foundation

/// What a file of Xcode's mapping editor says: `xcmapping.xml` in a folder `….xcmappingmodel`.
///
/// The file is a database of objects with attributes and references. The models that are archived in it are left alone.
package struct MappingFile: Equatable, Sendable {
    package let path: String
    /// In the order in which they are carried out.
    package var entityMappings: [EntityMapping] = []
    /// Where the editor found the models, in its own words: `App/City.xcdatamodeld/City 2.xcdatamodel`. Nil where it does not say.
    package var sourceModelPath: String?
    package var destinationModelPath: String?

    package struct EntityMapping: Equatable, Sendable {
        package let line: Int
        /// Its place among the mappings.
        package var number = 0
        /// Nil for an entity that is new.
        package var source: String?
        /// Nil for an entity that is no more.
        package var destination: String?
        package var policyClass: String?
        package var attributes: [PropertyMapping] = []
        package var relationships: [PropertyMapping] = []

        /// As the editor names a mapping.
        package var name: String {
            switch (source, destination) {
            case (let source?, let destination?): "\(source)To\(destination)"
            default: destination ?? source ?? ""
            }
        }
    }

    package struct PropertyMapping: Equatable, Sendable {
        package let line: Int
        /// The property of the destination.
        package var name: String
        /// An archived expression; nil where the editor makes one from the name.
        package var expression: Data?
        /// Of a relationship: where its objects come from, `$source.city`, and the mapping that has made what they are now.
        package var sourcePath: String?
        package var sourceMapping: String?
    }

    /// - Parameter path: a folder `….xcmappingmodel`, or its file `xcmapping.xml`.
    package init(_ path: String, in folders: ModelFolders = .disk) throws(ModelFileError) {
        let isFolder = try folders.list(path).contains(Self.fileName)
        let file = isFolder ? "\(path)/\(Self.fileName)" : path
        try self.init(folders.file(file), path: file)
    }

    private static let fileName = "xcmapping.xml"

    package init(_ data: Data, path: String) throws(ModelFileError) {
        let root = try Markup(data, path: path)
        guard root.name == "database" else {
            throw ModelFileError(
                path: path, line: root.line, "begins with <\(root.name)>, not with <database>",
                suggestion: "give a folder ….xcmappingmodel that Xcode's mapping editor wrote")
        }
        self.path = path
        let objects = MappingObjects(root, path: path)
        // Those that were deleted in the editor may still be there, and belong to no model any more.
        for mapping in objects.all("XDDEVENTITYMAPPING") where objects.refers("mappingmodel", from: mapping) {
            entityMappings.append(try objects.entityMapping(mapping))
        }
        if let model = objects.all("XDDEVMAPPINGMODEL").first {
            sourceModelPath = objects.value("sourcemodelpath", of: model)
            destinationModelPath = objects.value("destinationmodelpath", of: model)
        }
        guard !entityMappings.isEmpty else { throw ModelFileError(path: path, line: root.line, "maps no entity") }
        entityMappings.sort { ($0.number, $0.line) < ($1.number, $1.line) }
    }
}

/// The objects of a database in XML.
private struct MappingObjects {
    private let objects: [Markup]
    private let byID: [String: Markup]
    private let path: String

    init(_ root: Markup, path: String) {
        objects = root.all("object")
        byID = Dictionary(objects.compactMap { object in object.attributes["id"].map { ($0, object) } }) { first, _ in first }
        self.path = path
    }

    func all(_ type: String) -> [Markup] { objects.filter { $0.attributes["type"] == type } }

    /// Nil for an empty one.
    func value(_ name: String, of object: Markup) -> String? {
        let text = object.all("attribute").first { $0.attributes["name"] == name }?.text.trimmingCharacters(in: .whitespacesAndNewlines)
        return text?.isEmpty == false ? text : nil
    }

    private func references(_ name: String, from object: Markup) -> [String] {
        let ids = object.all("relationship").first { $0.attributes["name"] == name }?.attributes["idrefs"] ?? ""
        return ids.split(separator: " ").map(String.init)
    }

    func refers(_ name: String, from object: Markup) -> Bool { !references(name, from: object).isEmpty }

    func entityMapping(_ object: Markup) throws(ModelFileError) -> MappingFile.EntityMapping {
        var mapping = MappingFile.EntityMapping(line: object.line)
        mapping.number = Int(value("mappingnumber", of: object) ?? "") ?? 0
        mapping.source = value("sourcename", of: object)
        mapping.destination = value("destinationname", of: object)
        mapping.policyClass = value("migrationpolicyclassname", of: object)
        if mapping.source == nil, mapping.destination == nil {
            throw ModelFileError(path: path, line: object.line, "a mapping names neither a source nor a destination")
        }
        mapping.attributes = try properties("attributemappings", of: object)
        mapping.relationships = try properties("relationshipmappings", of: object)
        return mapping
    }

    private func properties(_ name: String, of object: Markup) throws(ModelFileError) -> [MappingFile.PropertyMapping] {
        var result: [MappingFile.PropertyMapping] = []
        for id in references(name, from: object) {
            guard let found = byID[id], let property = value("name", of: found) else {
                throw ModelFileError(path: path, line: object.line, "a mapping refers to \(id), which is no mapping of a property")
            }
            var mapping = MappingFile.PropertyMapping(line: found.line, name: property)
            if let text = value("valueexpressiondata", of: found) {
                guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
                    throw ModelFileError(path: path, line: found.line, "the expression of \(property) is not in Base64")
                }
                mapping.expression = data
            }
            mapping.sourcePath = value("sourcekeypath", of: found)
            mapping.sourceMapping = value("sourcemappingname", of: found)
            result.append(mapping)
        }
        return result.sorted { $0.name < $1.name }
    }
}
