import Foundation
import PackagePlugin

/// What the tool is told of a target.
struct ManagedClassesWork {
    let module: String
    let sources: [URL]
    let models: [URL]
    /// What the output follows from.
    let inputs: [URL]
    private let dependencies: [(module: String, folder: URL)]

    /// - Parameter leftOut: the name of a source that is the tool's own.
    init(_ target: any SourceModuleTarget, in package: Package, leavingOut leftOut: String? = nil) {
        module = target.moduleName
        sources = target.sourceFiles(withSuffix: ".swift").map(\.url).filter { $0.lastPathComponent != leftOut }
        models = Self.models(in: target.directoryURL)
        let others = target.recursiveTargetDependencies.compactMap { $0 as? any SourceModuleTarget }
        dependencies = others.map { ($0.moduleName, $0.directoryURL) }
        let own = Set(package.targets.map(\.id))
        let near = others.filter { own.contains($0.id) && !["CoreData", "OpenCoreData"].contains($0.moduleName) }
        inputs = sources + models.flatMap(Self.files) + near.flatMap { $0.sourceFiles(withSuffix: ".swift").map(\.url) }
    }

    func arguments(output: URL) -> [String] {
        let library = dependencies.contains { $0.module == "CoreData" } ? "CoreData" : "OpenCoreData"
        return ["--module", module, "--output", output.path, "--library", library] + models.flatMap { ["--model", $0.path] }
            + dependencies.flatMap { ["--dependency", $0.module, $0.folder.path] } + sources.map(\.path)
    }

    /// SwiftPM on Linux doesn't know models, and may leave them out of a target's files.
    private static func models(in folder: URL) -> [URL] {
        var found: [URL] = []
        let entries = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: [.isDirectoryKey])) ?? []
        for entry in entries.sorted(by: { $0.path < $1.path }) where entry.hasDirectoryPath {
            if ["xcdatamodeld", "xcdatamodel"].contains(entry.pathExtension) {
                found.append(entry)
            } else if !entry.lastPathComponent.hasPrefix(".") {
                found += models(in: entry)
            }
        }
        return found
    }

    private static func files(in folder: URL) -> [URL] {
        let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return names.sorted().map { folder.appending(path: $0) }.filter {
            !$0.hasDirectoryPath && ["contents", ".xccurrentversion"].contains($0.lastPathComponent)
        }
    }
}
