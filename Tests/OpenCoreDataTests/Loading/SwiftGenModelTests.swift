import Foundation
import ModelFiles
import OpenCoreData
import TestTraits
import Testing

/// The richest of the collected models against what another reader of such files, SwiftGen, says of it.
@Suite(.enabled(if: TestData.has("coredata/swiftgen"), "needs the collected models of the test data (CISTERN_TEST_DATA)"))
struct SwiftGenModelTests {
    private static let fixtures = TestData.directory.appending(path: "coredata/swiftgen/Sources/TestUtils/Fixtures")

    // A3, A4
    @Test func itSaysWhatAnotherReaderSays() throws {
        let package = try ModelPackage(Self.fixtures.appending(path: "Resources/CoreData/Model.xcdatamodeld").path)
        let file = try package.current(), model = try NSManagedObjectModel(readingContentsOf: URL(filePath: package.path))
        let expected = try String(contentsOf: Self.fixtures.appending(path: "StencilContexts/CoreData/defaults.yaml"), encoding: .utf8)
        let told = YAML.map(["models": .list([ModelInYAML(file: file, model: model).whole])]).lines
        let lines = expected.split(separator: "\n").map(String.init)
        #expect(told.count == lines.count)
        for (number, (mine, theirs)) in zip(told, lines).enumerated() where mine != theirs {
            Issue.record("line \(number + 1): \(mine) is not \(theirs)")
        }
    }
}

/// The layout of SwiftGen's description.
private indirect enum YAML {
    case raw(String)
    case text(String)
    case list([YAML])
    case map([String: YAML])

    static func flag(_ value: Bool) -> YAML { .raw(value ? "true" : "false") }

    var lines: [String] {
        switch self {
        case .raw(let text): [text]
        case .text(let text): ["\"\(text)\""]
        case .list(let items):
            items.flatMap { item in
                let lines = item.lines
                return ["- " + (lines.first ?? "")] + lines.dropFirst().map { "  " + $0 }
            }
        case .map(let entries):
            entries.sorted { $0.key < $1.key }.flatMap { key, value -> [String] in
                switch value {
                case .raw, .text: ["\(key): \(value.lines[0])"]
                case .list(let items): items.isEmpty ? ["\(key): []"] : ["\(key):"] + value.lines
                case .map(let inner): inner.isEmpty ? ["\(key): {}"] : ["\(key):"] + value.lines.map { "  " + $0 }
                }
            }
        }
    }
}

/// What stands in the file comes from the file, what follows from it (inverses, configurations, templates) from the model.
private struct ModelInYAML {
    let file: ModelFile
    let model: NSManagedObjectModel

    var whole: YAML {
        var configurations: [String: YAML] = ["Default": .list(model.entities.map { .text($0.name ?? "") })]
        for name in model.configurations {
            configurations[name] = .list((model.entities(forConfigurationName: name) ?? []).map { .text($0.name ?? "") })
        }
        var requests: [String: [YAML]] = [:]
        for request in file.fetchRequests { requests[request.entity, default: []].append(fetchRequest(request)) }
        return .map([
            "configurations": .map(configurations),
            "entities": .map(Dictionary(uniqueKeysWithValues: file.entities.map { ($0.name, entity($0)) })),
            "fetchRequests": .map(requests.mapValues { .list($0) }),
        ])
    }

    private func entity(_ entity: ModelFile.Entity) -> YAML {
        let described = model.entitiesByName[entity.name]
        return .map([
            "attributes": .list(entity.attributes.map(attribute)),
            "className": .text(withoutModule(entity.className ?? "")),
            "fetchedProperties": .list(entity.fetchedProperties.map(fetchedProperty)),
            "isAbstract": .flag(described?.isAbstract == true),
            "name": .text(entity.name),
            "relationships": .list(entity.relationships.map { relationship($0, described) }),
            "shouldGenerateCode": .flag(entity.codeGeneration == .none),
            "superEntity": .text(described?.superentity?.name ?? ""),
            "uniquenessConstraints": .list((described?.uniquenessConstraints as? [[String]] ?? []).map { .list($0.map { .text($0) }) }),
            "userInfo": userInfo(entity.userInfo),
        ])
    }

    private func withoutModule(_ name: String) -> String { name.contains(".") ? String(name.drop { $0 != "." }.dropFirst()) : name }

    private func userInfo(_ entries: [String: String]) -> YAML {
        .map(entries.mapValues { $0 == "true" ? .raw("true") : .text($0) })
    }

    private func attribute(_ attribute: ModelFile.Attribute) -> YAML {
        .map([
            "customClassName": .text(attribute.valueClass ?? ""),
            "isDerived": .flag(attribute.derivation != nil),
            "isIndexed": .flag(attribute.property.isIndexed),
            "isOptional": .flag(attribute.property.isOptional),
            "isTransient": .flag(attribute.property.isTransient),
            "name": .text(attribute.property.name),
            "propertyType": .text("attribute"),
            "type": .text(attribute.type?.rawValue ?? ""),
            "typeName": .text(typeName(attribute.type, attribute.valueClass)),
            "userInfo": userInfo(attribute.property.userInfo),
            "usesScalarValueType": .flag(attribute.usesScalar),
        ])
    }

    private func typeName(_ type: ModelFile.AttributeType?, _ valueClass: String?) -> String {
        switch type {
        case .integer16: "Int16"
        case .integer32: "Int32"
        case .integer64: "Int64"
        case .boolean: "Bool"
        case .decimal: "NSDecimalNumber"
        case .binary: "Data"
        case .uri: "URL"
        case .transformable: valueClass ?? "AnyObject"
        default: type?.rawValue ?? ""
        }
    }

    private func relationship(_ relationship: ModelFile.Relationship, _ entity: NSEntityDescription?) -> YAML {
        let described = entity?.relationshipsByName[relationship.property.name], inverse = described?.inverseRelationship
        return .map([
            "destinationEntity": .text(described?.destinationEntity?.name ?? ""),
            "inverseRelationship": .map(["entityName": .text(inverse?.entity?.name ?? ""), "name": .text(inverse?.name ?? "")]),
            "isIndexed": .flag(described?.isIndexed == true),
            "isOptional": .flag(described?.isOptional == true),
            "isOrdered": .flag(described?.isOrdered == true),
            "isToMany": .flag(described?.isToMany == true),
            "isTransient": .flag(described?.isTransient == true),
            "name": .text(relationship.property.name),
            "propertyType": .text("relationship"),
            "userInfo": userInfo(relationship.property.userInfo),
        ])
    }

    private func fetchedProperty(_ property: ModelFile.FetchedProperty) -> YAML {
        .map([
            "fetchRequest": fetchRequest(property.request),
            "isOptional": .flag(property.property.isOptional),
            "name": .text(property.property.name),
            "propertyType": .text("fetchedProperty"),
            "userInfo": userInfo(property.property.userInfo),
        ])
    }

    private func fetchRequest(_ request: ModelFile.FetchRequest) -> YAML {
        .map([
            "entity": .text(request.entity),
            "fetchBatchSize": .raw("\(request.batchSize)"),
            "fetchLimit": .raw("\(request.limit)"),
            "includePropertyValues": .flag(request.includesPropertyValues),
            "includeSubentities": .flag(request.includesSubentities),
            "includesPendingChanges": .flag(request.includesPendingChanges),
            "name": .text(request.name),
            "predicateString": .text(request.predicate ?? ""),
            "resultType": .text([0: "Object", 1: "Object ID", 2: "Dictionary", 4: "Count"][request.resultType] ?? ""),
            "returnDistinctResults": .flag(request.returnsDistinctResults),
            "returnsObjectsAsFaults": .flag(request.returnsObjectsAsFaults),
            "substitutionVariables": .map(variables(request)),
        ])
    }

    /// The variables, with the types of what they are compared with.
    private func variables(_ request: ModelFile.FetchRequest) -> [String: YAML] {
        guard let predicate = model.fetchRequestTemplate(forName: request.name)?.predicate, let entity = model.entitiesByName[request.entity] else {
            return [:]
        }
        var found: [String: YAML] = [:]
        func visit(_ predicate: NSPredicate) {
            if let compound = predicate as? NSCompoundPredicate {
                for part in compound.subpredicates { visit(part) }
            } else if let comparison = predicate as? OpenCoreData.NSComparisonPredicate, comparison.rightExpression.expressionType == .variable {
                found[comparison.rightExpression.variable] = .text(type(at: comparison.leftExpression.keyPath, of: entity))
            }
        }
        visit(predicate)
        return found
    }

    private func type(at path: String, of entity: NSEntityDescription) -> String {
        var owner = entity
        for step in path.split(separator: ".").dropLast() { owner = owner.relationshipsByName[String(step)]?.destinationEntity ?? owner }
        let attribute = file.entities.first { $0.name == owner.name }?.attributes.first { $0.property.name == path.split(separator: ".").last ?? "" }
        return typeName(attribute?.type, attribute?.valueClass)
    }
}
