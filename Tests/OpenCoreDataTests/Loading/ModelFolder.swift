import Foundation
import OpenCoreData

/// A folder with packages of models; gone with it.
final class ModelFolder {
    let url = FileManager.default.temporaryDirectory.appending(path: "models-\(UUID().uuidString)")

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Writes a version: elements of a model, `<entity …>`.
    @discardableResult
    func add(_ elements: String, package: String = "Model", version: String = "Model", attributes: String = "") throws -> URL {
        let package = url.appending(path: "\(package).xcdatamodeld"), folder = package.appending(path: "\(version).xcdatamodel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<model \(attributes)>\n\(elements)\n</model>"
        try Data(text.utf8).write(to: folder.appending(path: "contents"))
        return package
    }

    func setCurrent(_ version: String, package: String = "Model") throws {
        let list = ["_XCCurrentVersionName": "\(version).xcdatamodel"]
        let data = try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0)
        try data.write(to: url.appending(path: "\(package).xcdatamodeld/.xccurrentversion"))
    }

    /// The model that these elements are.
    static func model(_ elements: String) throws -> NSManagedObjectModel {
        let folder = ModelFolder()
        return try NSManagedObjectModel(readingContentsOf: folder.add(elements))
    }
}
