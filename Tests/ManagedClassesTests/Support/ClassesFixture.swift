import Foundation

@testable import ManagedClasses

/// A module in a folder, with what is generated for it.
final class ClassesFixture {
    let folder: TemporaryFolder
    private var sources: [String] = []
    private var models: [String] = []

    private var dependencies: [ManagedClasses.Dependency] = []

    /// - Parameters:
    ///   - models: more models, by name.
    ///   - modules: sources of modules that this one depends on.
    init(_ sources: [String: String], model: String? = nil, models others: [String: String] = [:], modules: [String: String] = [:]) throws {
        folder = try TemporaryFolder()
        for (name, text) in sources.sorted(by: { $0.key < $1.key }) { self.sources.append(try folder.write(text, to: name).path) }
        for (name, text) in others.merging(model.map { ["Model": $0] } ?? [:], uniquingKeysWith: { $1 }) {
            try folder.write("<model>\(text)</model>", to: "\(name).xcdatamodel/contents")
            models.append(folder.url.appending(path: "\(name).xcdatamodel").path)
        }
        for (module, text) in modules {
            dependencies.append(.init(module: module, path: try folder.write(text, to: "\(module)/\(module).swift").path))
        }
    }

    func generated(module: String = "App") -> Result<String, ClassesComplaints> {
        ManagedClasses(module: module, sources: sources, models: models, dependencies: dependencies, library: "CoreData").generated()
    }

    /// Each with its file's name alone.
    var complaints: [String] {
        guard case .failure(let complaints) = generated() else { return [] }
        return complaints.all.map { "\($0.path.split(separator: "/").last ?? ""):\($0.line): \($0.message)" }
    }
}
