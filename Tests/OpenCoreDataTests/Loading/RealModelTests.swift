import Foundation
import ModelFiles
import OpenCoreData
import TestTraits
import Testing

/// Models of other projects, as Xcode wrote them.
@Suite(.enabled(if: TestData.has("coredata"), "needs the collected models of the test data (CISTERN_TEST_DATA)"))
struct RealModelTests {
    private static func packages() throws -> [String] {
        let files = try FileManager.default.subpathsOfDirectory(atPath: TestData.directory.appending(path: "coredata").path)
        return files.filter { $0.hasSuffix(".xcdatamodeld") || $0.hasSuffix(".xcdatamodel") && !$0.contains(".xcdatamodeld/") }.sorted()
    }

    private static func url(_ path: String) -> URL { TestData.directory.appending(path: "coredata").appending(path: path) }

    /// A value that an attribute may have, another one for each number.
    private func value(_ attribute: NSAttributeDescription, _ number: Int) -> Any {
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: number
        case .doubleAttributeType, .floatAttributeType: Double(number) + 0.5
        case .decimalAttributeType: Decimal(string: "0.1") ?? 0
        case .stringAttributeType: "text \(number)"
        case .booleanAttributeType: true
        case .dateAttributeType: Date(timeIntervalSinceReferenceDate: 1)
        case .binaryDataAttributeType: Data([1])
        case .UUIDAttributeType: UUID()
        case .URIAttributeType: URL(filePath: "/")
        default: NSArray()
        }
    }

    /// One object of every entity that may have objects, with every required value, and required to-ones leading to one of them.
    private func fill(_ coordinator: NSPersistentStoreCoordinator) throws -> [String: Int] {
        let context = NSManagedObjectContext(.privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            var objects: [NSManagedObject] = []
            for (number, entity) in coordinator.managedObjectModel.entities.enumerated() where !entity.isAbstract {
                let object = NSManagedObject(entity: entity, insertInto: context)
                for (name, attribute) in entity.attributesByName where attribute.type != .undefined {
                    object.setValue(value(attribute, number), forKey: name)
                }
                objects.append(object)
            }
            for object in objects {
                for (name, relationship) in object.entity.relationshipsByName where !relationship.isOptional {
                    let targets = objects.filter { target in relationship.destinationEntity.map { target.entity.isKindOf(entity: $0) } == true }
                    let target = try #require(targets.first)
                    if !relationship.isToMany {
                        object.setValue(target, forKey: name)
                    } else if relationship.isOrdered {
                        object.mutableOrderedSetValue(forKey: name).add(target)
                    } else {
                        object.mutableSetValue(forKey: name).add(target)
                    }
                }
            }
            try context.save()
            return try counts(context)
        }
    }

    private func counts(_ context: NSManagedObjectContext) throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for entity in context.persistentStoreCoordinator?.managedObjectModel.entities ?? [] {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
            request.includesSubentities = false
            counts[entity.name ?? ""] = try context.count(for: request)
        }
        return counts
    }

    /// What a model's own program would register: here an archive of whatever the value is.
    // Without state.
    private final class Archiving: ValueTransformer, @unchecked Sendable {
        override func transformedValue(_ value: Any?) -> Any? {
            value.flatMap { try? NSKeyedArchiver.archivedData(withRootObject: $0, requiringSecureCoding: false) }
        }

        override func reverseTransformedValue(_ value: Any?) -> Any? {
            (value as? Data).flatMap { try? NSKeyedUnarchiver(forReadingFrom: $0) }?.decodeObject(forKey: NSKeyedArchiveRootObjectKey)
        }
    }

    private static func registerTransformers(of model: NSManagedObjectModel) {
        for case let name? in model.entities.flatMap({ $0.attributesByName.values.map(\.valueTransformerName) }) {
            let known = NSValueTransformerName(name)
            if ValueTransformer(forName: known) == nil { ValueTransformer.setValueTransformer(Archiving(), forName: known) }
        }
    }

    // A3, A4
    @Test func everyVersionOfEveryModelIsReadAndKeepsObjects() throws {
        let packages = try Self.packages()
        #expect(packages.count == 19)
        var versions = 0, attributes = 0
        for path in packages {
            for (name, model) in try NSManagedObjectModel.versions(inPackageAt: Self.url(path)) {
                versions += 1
                attributes += model.entities.flatMap(\.declaredProperties).count
                let folder = try ModelFolder.empty()
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
                Self.registerTransformers(of: model)
                let store = try coordinator.addPersistentStore(type: .sqlite, at: folder.url.appending(path: "store.sqlite"))
                let filled = try fill(coordinator)
                #expect(filled.values.allSatisfy { $0 <= 1 } && filled.values.contains(1), "\(path) \(name)")
                try coordinator.remove(store)
            }
        }
        #expect(versions == 31 && attributes > 250, "\(versions) versions, \(attributes) properties")
    }

    // G2, G3: from each version of a model to the next ones, as far as no mapping model is needed.
    @Test(arguments: [
        ("restkit/Tests/Models/VersionedModel.xcdatamodeld", ["VersionedModel", "VersionedModel 2", "VersionedModel 3", "VersionedModel 4"]),
        ("encrypted-core-data/IncrementalStore/Migration.xcdatamodeld", ["Migration", "New"]),
        ("objcio-moody/Migrations/Migrations/Moody.xcdatamodeld", ["Moody", "Moody 2"]),
    ])
    func aStoreMigratesFromVersionToVersion(_ path: String, _ names: [String]) throws {
        let folder = try ModelFolder.empty(), file = folder.url.appending(path: "store.sqlite")
        var before: [String: Int] = [:]
        for name in names {
            let model = try #require(NSManagedObjectModel.versions(inPackageAt: Self.url(path))[name])
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            Self.registerTransformers(of: model)
            let options = [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
            let store = try coordinator.addPersistentStore(type: .sqlite, at: file, options: options)
            if name == names.first {
                before = try fill(coordinator)
            } else {
                let context = NSManagedObjectContext(.privateQueueConcurrencyType)
                context.persistentStoreCoordinator = coordinator
                let after = try context.performAndWait { try counts(context) }
                #expect(after.values.reduce(0, +) == before.values.reduce(0, +), "\(name): \(before) became \(after)")
            }
            try coordinator.remove(store)
        }
    }
}
