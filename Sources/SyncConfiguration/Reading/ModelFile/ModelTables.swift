import Foundation
import ModelFiles

/// What a model of Xcode's editor is as tables of the configuration, for whoever wants to see it before `[model] file` names it.
public struct ModelTables: Sendable {
    /// The version that was read.
    public let version: String
    /// All versions of the package, in the order of their names.
    public let versions: [String]
    /// The tables `[entity.…]`, each setting with its line of the model's file.
    public let resolved: ResolvedConfiguration
    /// What `[model] file` would be told about it: errors as far as nothing else in the configuration mends them, and what is left out.
    public let problems: [ConfigurationProblem]

    /// Reads a version of a model.
    ///
    /// - Parameters:
    ///   - path: a package `….xcdatamodeld`, or one version.
    ///   - version: the name of a version; nil for the current one.
    /// - Throws: ``ConfigurationError`` if there is no model.
    public init(contentsOf path: String, version: String? = nil, files: any ConfigurationFiles = DiskConfigurationFiles()) throws(ConfigurationError)
    {
        let file: ModelFile
        do throws(ModelFileError) {
            let package = try ModelPackage(path, in: files.modelFolders)
            self.version = version ?? package.currentName
            versions = package.versions.keys.sorted()
            file = try package.version(named: self.version)
        } catch {
            throw ConfigurationError(problems: [ConfigurationProblem(error)])
        }
        let complaints = Complaints(mainFile: file.path)
        let document = ModelDocument(file, rank: 0, complaints: complaints).document()
        var assembly = Assembly(document: document, environment: [:], files: files, complaints: complaints)
        _ = assembly.assembleModel(Layer(node: document, subject: .root))
        resolved = ResolvedConfiguration(sections: assembly.resolved.sections.filter { $0.header.hasPrefix("[entity.") })
        problems = complaints.sorted(files: [file.path])
    }
}

extension ConfigurationFiles {
    /// The same files, for models.
    var modelFolders: ModelFolders {
        ModelFolders { path in
            let bytes = try contents(of: path)
            guard bytes.count <= ConfigurationReader.maxFileSize.bytes else {
                throw ConfigurationFileError("it is larger than \(ConfigurationReader.maxFileSize)")
            }
            return Data(bytes)
        } names: { path in
            do {
                return try names(in: path)
            } catch {
                // A file has none.
                if (try? contents(of: path)) != nil { return [] }
                throw error
            }
        }
    }
}

extension ConfigurationProblem {
    /// - Parameter place: where the configuration names the file, for what is wrong with all of it.
    init(_ error: ModelFileError, namedAt place: DocumentNode.Place? = nil) {
        if let place, error.line == nil {
            self.init(
                file: place.file, line: place.line, keyPath: "model.file", subject: "model.file", message: "\(error.path) \(error.message)",
                suggestion: error.suggestion)
        } else {
            self.init(
                file: error.path, line: error.line, keyPath: place == nil ? "" : "model.file", subject: place == nil ? "" : "model.file",
                message: error.message, suggestion: error.suggestion)
        }
    }
}
