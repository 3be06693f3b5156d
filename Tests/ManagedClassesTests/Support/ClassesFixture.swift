import Foundation

@testable import ManagedClasses

/// A module in a folder, with what is generated for it.
final class ClassesFixture {
    let folder: TemporaryFolder
    private var sources: [String] = []
    private var models: [String] = []

    init(_ sources: [String: String], model: String? = nil) throws {
        folder = try TemporaryFolder()
        for (name, text) in sources.sorted(by: { $0.key < $1.key }) { self.sources.append(try folder.write(text, to: name).path) }
        if let model {
            try folder.write("<model>\(model)</model>", to: "Model.xcdatamodel/contents")
            models = [folder.url.appending(path: "Model.xcdatamodel").path]
        }
    }

    func generated(module: String = "App") -> Result<String, ClassesComplaints> {
        ManagedClasses(module: module, sources: sources, models: models, dependencies: [], library: "CoreData").generated()
    }

    /// Each with its file's name alone.
    var complaints: [String] {
        guard case .failure(let complaints) = generated() else { return [] }
        return complaints.all.map { "\($0.path.split(separator: "/").last ?? ""):\($0.line): \($0.message)" }
    }
}
