import Foundation
import OpenCoreData
import Testing

/// Models among the resources of bundles.
@Suite struct BundledModelTests {
    private func bundle(_ folder: ModelFolder) throws -> Bundle { try #require(Bundle(path: folder.url.path)) }

    // A11
    @Test func theModelsOfBundlesBecomeOne() throws {
        let first = ModelFolder(), second = ModelFolder()
        try first.add("<entity name=\"A\"/><fetchRequest name=\"as\" entity=\"A\"/>", package: "One")
        try first.add("<entity name=\"B\"/>", package: "Two")
        try second.add("<entity name=\"C\"/><configuration name=\"c\"><memberEntity name=\"C\"/></configuration>")
        let model = try #require(NSManagedObjectModel.mergedModel(from: [bundle(first), bundle(second)]))
        #expect(model.entities.compactMap(\.name).sorted() == ["A", "B", "C"] && model.configurations == ["c"])
        #expect(model.fetchRequestTemplate(forName: "as") != nil)
        #expect(try NSManagedObjectModel.mergedModel(from: [bundle(ModelFolder.empty())]) == nil)
        try second.add("<entity/>", package: "Broken")
        #expect(try NSManagedObjectModel.mergedModel(from: [bundle(second)]) == nil)
    }

    // A11, G1: of several versions the one that the store was written with.
    @Test func theVersionThatAStoreWasWrittenWithIsFound() throws {
        let folder = ModelFolder()
        for (version, type) in [("Model", "Integer 64"), ("Model 2", "String"), ("Model 3", "Date")] {
            try folder.add("<entity name=\"A\"><attribute name=\"x\" optional=\"YES\" attributeType=\"\(type)\"/></entity>", version: version)
        }
        try folder.add("<entity name=\"B\"/>", package: "Other")
        let versions = try NSManagedObjectModel.versions(inPackageAt: folder.url.appending(path: "Model.xcdatamodeld"))
        let other = try #require(NSManagedObjectModel(contentsOf: folder.url.appending(path: "Other.xcdatamodeld")))
        for (name, version) in versions {
            let file = folder.url.appending(path: "\(name).sqlite")
            let both = try #require(NSManagedObjectModel(byMerging: [version, other]))
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: both)
            try coordinator.remove(coordinator.addPersistentStore(type: .sqlite, at: file))
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: file)
            let found = try #require(NSManagedObjectModel.mergedModel(from: [bundle(folder)], forStoreMetadata: metadata))
            #expect(found.entityVersionHashesByName == both.entityVersionHashesByName)
            #expect(found.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
            #expect(NSManagedObjectModel(byMerging: [other], forStoreMetadata: metadata) == nil)
        }
        #expect(NSManagedObjectModel(byMerging: [other], forStoreMetadata: [:]) == nil)
        // A version that can't be read is not the one.
        try folder.add("<entity/>", version: "Model 0")
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: folder.url.appending(path: "Model 2.sqlite"))
        #expect(try NSManagedObjectModel.mergedModel(from: [bundle(folder)], forStoreMetadata: metadata) != nil)
    }

    // O1
    @Test func aContainerFindsTheModelAmongTheResourcesOfTheProgram() throws {
        let name = "Bundled-\(UUID().uuidString)"
        let root = try #require(Bundle.main.resourceURL), folder = ModelFolder()
        let resources = root.appending(path: "\(name).resources")
        try FileManager.default.createDirectory(at: resources, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: resources) }
        let package = try folder.add("<entity name=\"A\"/>", package: name)
        try FileManager.default.copyItem(at: package, to: resources.appending(path: "\(name).xcdatamodeld"))
        #expect(NSPersistentContainer(name: name).managedObjectModel.entities.map(\.name) == ["A"])
    }
}

extension ModelFolder {
    /// One that is there and holds nothing.
    static func empty() throws -> ModelFolder {
        let folder = ModelFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        return folder
    }
}
