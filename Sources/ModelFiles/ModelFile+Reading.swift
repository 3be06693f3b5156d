import Foundation

extension ModelFile {
    /// What a file says that Xcode's model editor wrote: `contents` in a folder `….xcdatamodel`.
    ///
    /// What the editor keeps for itself (positions, tools) is left out; attributes of XML that are not known are not looked at.
    ///
    /// - Parameter path: where the data come from, for errors.
    package init(_ data: Data, path: String) throws(ModelFileError) {
        if data.starts(with: Data("bplist".utf8)) {
            throw ModelFileError(
                path: path, "is a compiled model or one of Xcode 3", suggestion: "give the package ….xcdatamodeld of Xcode 4 or later")
        }
        let root = try Markup(data, path: path)
        guard root.name == "model" else {
            throw ModelFileError(
                path: path, line: root.line, "begins with <\(root.name)>, not with <model>", suggestion: "give a file that Xcode's model editor wrote"
            )
        }
        self.path = path
        versionIdentifier = root.attributes["userDefinedModelVersionIdentifier"]
        let reader = ElementReader(path: path)
        for element in root.children {
            switch element.name {
            case "entity": entities.append(try reader.entity(element))
            case "fetchRequest": fetchRequests.append(try reader.fetchRequest(element))
            case "configuration": configurations.append(try reader.configuration(element))
            case "composite": composites.append(try reader.composite(element))
            default: break
            }
        }
    }
}

/// Elements of one file as values.
private struct ElementReader {
    let path: String

    func entity(_ element: Markup) throws(ModelFileError) -> ModelFile.Entity {
        let name = try required("name", element, "an entity")
        let what = "the entity \(name)"
        var entity = ModelFile.Entity(line: element.line, name: name)
        entity.className = element.attributes["representedClassName"]
        entity.parent = element.attributes["parentEntity"]
        entity.isAbstract = try flag("isAbstract", element, what)
        entity.renamingIdentifier = element.attributes["elementID"]
        entity.versionHashModifier = element.attributes["versionHashModifier"]
        entity.codeGeneration = try word("codeGenerationType", element, what) ?? .none
        entity.userInfo = try userInfo(element)
        for child in element.children {
            switch child.name {
            case "attribute": entity.attributes.append(try attribute(child, of: name))
            case "relationship": entity.relationships.append(try relationship(child, of: name))
            case "fetchedProperty": entity.fetchedProperties.append(try fetchedProperty(child, of: name))
            case "fetchIndex": entity.indexes.append(try fetchIndex(child, of: name))
            case "compoundIndexes":
                for (number, index) in child.all("compoundIndex").enumerated() {
                    entity.indexes.append(try compoundIndex(index, number: number + 1, of: name))
                }
            case "uniquenessConstraints":
                for constraint in child.all("uniquenessConstraint") {
                    entity.constraints.append(try values("constraint", constraint, "a uniqueness constraint of \(name)"))
                }
            default: break
            }
        }
        return entity
    }

    private func property(_ element: Markup, _ kind: String, of entity: String) throws(ModelFileError) -> (ModelFile.Property, what: String) {
        let name = try required("name", element, "\(kind) of \(entity)")
        let what = "\(entity).\(name)"
        var property = ModelFile.Property(line: element.line, name: name)
        property.isOptional = try flag("optional", element, what)
        property.isTransient = try flag("transient", element, what)
        property.isIndexed = try flag("indexed", element, what)
        property.renamingIdentifier = element.attributes["elementID"]
        property.versionHashModifier = element.attributes["versionHashModifier"]
        property.userInfo = try userInfo(element)
        return (property, what)
    }

    private func attribute(_ element: Markup, of entity: String) throws(ModelFileError) -> ModelFile.Attribute {
        let (property, what) = try property(element, "an attribute", of: entity)
        var attribute = ModelFile.Attribute(property: property)
        if element.attributes["attributeType"] != "Undefined" { attribute.type = try word("attributeType", element, what) }
        attribute.usesScalar = try flag("usesScalarValueType", element, what)
        attribute.allowsExternalStorage = try flag("allowsExternalBinaryDataStorage", element, what)
        attribute.preservesAfterDeletion = try flag("preserveAfterDeletion", element, what)
        // A date has its own spellings; what stands in the common ones beside them is the editor's ("now").
        let isDate = attribute.type == .date
        attribute.defaultValue = element.attributes[isDate ? "defaultDateTimeInterval" : "defaultValueString"]
        attribute.minimum = element.attributes[isDate ? "minDateTimeInterval" : "minValueString"]
        attribute.maximum = element.attributes[isDate ? "maxDateTimeInterval" : "maxValueString"]
        attribute.regularExpression = element.attributes["regularExpressionString"]
        attribute.transformer = element.attributes["valueTransformerName"]
        attribute.valueClass = element.attributes["customClassName"]
        attribute.composite = element.attributes["composite"]
        if try flag("derived", element, what) {
            attribute.derivation = try required("derivationExpression", element, "the derived attribute \(what)")
        }
        return attribute
    }

    func composite(_ element: Markup) throws(ModelFileError) -> ModelFile.Composite {
        let name = try required("name", element, "a composite type")
        var composite = ModelFile.Composite(line: element.line, name: name)
        for child in element.children where child.name == "attribute" || child.name == "element" {
            composite.elements.append(try attribute(child, of: name))
        }
        return composite
    }

    private func relationship(_ element: Markup, of entity: String) throws(ModelFileError) -> ModelFile.Relationship {
        let (property, what) = try property(element, "a relationship", of: entity)
        var relationship = ModelFile.Relationship(property: property, destination: try required("destinationEntity", element, what))
        relationship.inverse = element.attributes["inverseName"]
        relationship.inverseEntity = element.attributes["inverseEntity"]
        relationship.deletionRule = try word("deletionRule", element, what) ?? .nullify
        relationship.isToMany = try flag("toMany", element, what)
        relationship.isOrdered = try flag("ordered", element, what)
        relationship.minCount = try count("minCount", element, what) ?? 0
        relationship.maxCount = try count("maxCount", element, what) ?? (relationship.isToMany ? 0 : 1)
        // As Core Data counts: one at most is a to-one, whatever else is said.
        if relationship.maxCount == 1 { relationship.isToMany = false }
        if !relationship.isToMany, relationship.maxCount != 1 {
            throw fail(element, "\(what) has maxCount=\"\(relationship.maxCount)\" and no toMany", "write toMany=\"YES\", or maxCount=\"1\"")
        }
        return relationship
    }

    private func fetchedProperty(_ element: Markup, of entity: String) throws(ModelFileError) -> ModelFile.FetchedProperty {
        let (property, what) = try property(element, "a fetched property", of: entity)
        guard let request = element.all("fetchRequest").first else {
            throw fail(element, "the fetched property \(what) has no fetchRequest", "choose what it fetches")
        }
        return ModelFile.FetchedProperty(property: property, request: try fetchRequest(request))
    }

    func fetchRequest(_ element: Markup) throws(ModelFileError) -> ModelFile.FetchRequest {
        let name = try required("name", element, "a fetch request")
        let what = "the fetch request \(name)"
        var request = ModelFile.FetchRequest(line: element.line, name: name, entity: try required("entity", element, what))
        request.predicate = element.attributes["predicateString"]
        request.resultType = try count("resultType", element, what) ?? 0
        guard [0, 1, 2, 4].contains(request.resultType) else {
            throw fail(element, "\(what) has resultType=\"\(request.resultType)\"", "0 is for objects, 1 for IDs, 2 for dictionaries, 4 for a count")
        }
        request.limit = try count("fetchLimit", element, what) ?? 0
        request.batchSize = try count("fetchBatchSize", element, what) ?? 0
        request.includesSubentities = try flag("includeSubentities", element, what, otherwise: true)
        request.includesPropertyValues = try flag("includePropertyValues", element, what, otherwise: true)
        request.includesPendingChanges = try flag("includesPendingChanges", element, what, otherwise: true)
        request.returnsObjectsAsFaults = try flag("returnObjectsAsFaults", element, what, otherwise: true)
        request.returnsDistinctResults = try flag("returnDistinctResults", element, what)
        return request
    }

    func configuration(_ element: Markup) throws(ModelFileError) -> ModelFile.Configuration {
        let name = try required("name", element, "a configuration")
        var configuration = ModelFile.Configuration(line: element.line, name: name)
        for member in element.all("memberEntity") {
            configuration.members.append(try required("name", member, "a member of the configuration \(name)"))
        }
        return configuration
    }

    private func fetchIndex(_ element: Markup, of entity: String) throws(ModelFileError) -> ModelFile.Index {
        let name = try required("name", element, "an index of \(entity)")
        var index = ModelFile.Index(line: element.line, name: name)
        index.predicate = element.attributes["partialIndexPredicate"]
        for part in element.all("fetchIndexElement") {
            let what = "the index \(name) of \(entity)"
            let isExpression = part.attributes["property"] == nil && part.attributes["expression"] != nil
            let type = (part.attributes["type"] ?? "Binary").lowercased()
            guard ["binary", "rtree"].contains(type) else {
                throw fail(part, "\(what) is of the type \(part.attributes["type"] ?? "")", "Binary or RTree")
            }
            let order = part.attributes["order"] ?? "ascending"
            guard ["ascending", "descending"].contains(order) else { throw fail(part, "\(what) has order=\"\(order)\"", "ascending or descending") }
            index.elements.append(
                .init(
                    property: try required(isExpression ? "expression" : "property", part, what), isAscending: order == "ascending",
                    isExpression: isExpression, isRTree: type == "rtree"))
        }
        return index
    }

    /// Of before Xcode 9: they have no names, so they are numbered.
    private func compoundIndex(_ element: Markup, number: Int, of entity: String) throws(ModelFileError) -> ModelFile.Index {
        var index = ModelFile.Index(line: element.line, name: "compoundIndex\(number)")
        for name in try values("index", element, "a compound index of \(entity)") { index.elements.append(.init(property: name, isAscending: true)) }
        return index
    }

    // MARK: Values

    private func values(_ name: String, _ element: Markup, _ what: String) throws(ModelFileError) -> [String] {
        var values: [String] = []
        for child in element.all(name) { values.append(try required("value", child, what)) }
        return values
    }

    private func userInfo(_ element: Markup) throws(ModelFileError) -> [String: String] {
        var result: [String: String] = [:]
        for entry in element.all("userInfo").flatMap({ $0.all("entry") }) {
            result[try required("key", entry, "an entry of user info")] = entry.attributes["value"] ?? ""
        }
        return result
    }

    private func required(_ key: String, _ element: Markup, _ what: String) throws(ModelFileError) -> String {
        guard let value = element.attributes[key], !value.isEmpty else { throw fail(element, "\(what) has no \(key)", "write \(key)=\"…\"") }
        return value
    }

    private func flag(_ key: String, _ element: Markup, _ what: String, otherwise: Bool = false) throws(ModelFileError) -> Bool {
        switch element.attributes[key] {
        case nil: otherwise
        case "YES": true
        case "NO": false
        case let value?: throw fail(element, "\(what) has \(key)=\"\(value)\"", "YES or NO")
        }
    }

    private func count(_ key: String, _ element: Markup, _ what: String) throws(ModelFileError) -> Int? {
        guard let text = element.attributes[key] else { return nil }
        guard let value = Int(text), value >= 0 else { throw fail(element, "\(what) has \(key)=\"\(text)\"", "a whole number that is not negative") }
        return value
    }

    private func word<Word: RawRepresentable<String> & CaseIterable>(
        _ key: String, _ element: Markup, _ what: String
    ) throws(ModelFileError) -> Word? {
        guard let text = element.attributes[key] else { return nil }
        guard let value = Word(rawValue: text) else {
            throw fail(element, "\(what) has \(key)=\"\(text)\"", "one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return value
    }

    private func fail(_ element: Markup, _ message: String, _ suggestion: String) -> ModelFileError {
        ModelFileError(path: path, line: element.line, message, suggestion: suggestion)
    }
}
