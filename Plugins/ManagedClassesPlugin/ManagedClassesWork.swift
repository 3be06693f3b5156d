import Foundation
import PackagePlugin

/// What the tool is told of a target.
struct ManagedClassesWork {
    let module: String
    let sources: [URL]
    let models: [URL]
    /// What the output follows from, beside what the tool was told.
    let inputs: [URL]
    private let dependencies: [(module: String, sources: [URL])]

    /// - Parameter leftOut: the name of a source that is the tool's own.
    init(_ target: any SourceModuleTarget, leavingOut leftOut: String? = nil) {
        module = target.moduleName
        sources = target.sourceFiles(withSuffix: ".swift").map(\.url).filter { $0.lastPathComponent != leftOut }
        models = Self.models(in: target.directoryURL)
        // The files of each target, as its package says: two targets may share a folder, and leave files out.
        let others = target.recursiveTargetDependencies.compactMap { $0 as? any SourceModuleTarget }
        dependencies = others.map { ($0.moduleName, $0.sourceFiles(withSuffix: ".swift").map(\.url)) }
        inputs = sources + models.flatMap(Self.files) + dependencies.flatMap(\.sources)
    }

    /// - Parameter list: a file from `writeList`.
    func arguments(output: URL, list: URL) -> [String] {
        let library = dependencies.contains { $0.module == "CoreData" } ? "CoreData" : "OpenCoreData"
        return ["--module", module, "--output", output.path, "--library", library] + models.flatMap { ["--model", $0.path] }
            + ["--dependencies", list.path] + sources.map(\.path)
    }

    /// Lists the dependencies' sources in a file: a command with all of them may be longer than the system lets it be.
    func writeList(in folder: URL) throws -> URL {
        let text = dependencies.map { dependency in dependency.sources.map { "\(dependency.module)\t\($0.path)\n" }.joined() }.joined()
        let list = folder.appending(path: "\(module).dependencies")
        // Written anew only if it says something else, so that nothing is built again.
        if (try? String(contentsOf: list, encoding: .utf8)) != text {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: list, options: .atomic)
        }
        return list
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
