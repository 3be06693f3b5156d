import Foundation

/// Where models are read from.
package struct ModelFolders: Sendable {
    /// The bytes of a file; throws why there are none, in words.
    package var contents: @Sendable (_ path: String) throws -> Data
    /// The names in a folder; none if there is no such folder.
    package var names: @Sendable (_ path: String) throws -> [String]

    package init(contents: @escaping @Sendable (String) throws -> Data, names: @escaping @Sendable (String) throws -> [String]) {
        self.contents = contents
        self.names = names
    }

    /// The disk.
    package static let disk = ModelFolders { path in
        do {
            return try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw Unreadable(description: (error as NSError).localizedDescription)
        }
    } names: { path in
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory), isDirectory.boolValue else { return [] }
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path)
        } catch {
            throw Unreadable(description: (error as NSError).localizedDescription)
        }
    }

    private struct Unreadable: Error, CustomStringConvertible {
        let description: String
    }

    func file(_ path: String) throws(ModelFileError) -> Data {
        do {
            return try contents(path)
        } catch {
            throw ModelFileError(path: path, "can't be read: \(error)", suggestion: "give a package ….xcdatamodeld or a folder ….xcdatamodel")
        }
    }

    func list(_ path: String) throws(ModelFileError) -> [String] {
        do {
            return try names(path)
        } catch {
            throw ModelFileError(path: path, "can't be read: \(error)", suggestion: "check its owner and mode")
        }
    }
}

/// The versions of a model: a package `….xcdatamodeld`, or one version by itself.
package struct ModelPackage: Sendable {
    /// The package, or the version.
    package let path: String
    /// The files of the versions by name, `Model 2` for the folder `Model 2.xcdatamodel`.
    package let versions: [String: String]
    /// The one that is in use.
    package let currentName: String
    private let folders: ModelFolders

    private static let versionExtension = ".xcdatamodel"

    /// Looks at what is there and reads no model yet.
    ///
    /// - Parameter path: a package `….xcdatamodeld`, a folder `….xcdatamodel`, or its file `contents`.
    package init(_ path: String, in folders: ModelFolders = .disk) throws(ModelFileError) {
        self.path = path
        self.folders = folders
        if [".momd", ".mom", ".omo"].contains(where: path.hasSuffix) {
            throw ModelFileError(path: path, "is a compiled model", suggestion: "give the package ….xcdatamodeld that it was compiled from")
        }
        let names = try folders.list(path)
        if names.isEmpty {
            // Whether it is there shows when it is read.
            _ = try folders.file(path)
            let folder = Self.folder(of: path)
            currentName = folder.hasSuffix(Self.versionExtension) ? Self.name(of: folder) : Self.name(of: path)
            versions = [currentName: path]
        } else if names.contains("contents") {
            currentName = Self.name(of: path)
            versions = [currentName: path + "/contents"]
        } else {
            versions = try Self.versions(in: path, names, folders)
            currentName = try Self.current(of: path, names, among: versions, folders)
        }
    }

    /// Reads the version in use.
    package func current() throws(ModelFileError) -> ModelFile { try version(named: currentName) }

    /// Reads a version.
    package func version(named name: String) throws(ModelFileError) -> ModelFile {
        guard let file = versions[name] else {
            throw ModelFileError(path: path, "has no version \"\(name)\"", suggestion: "it has \(versions.keys.sorted().joined(separator: ", "))")
        }
        return try ModelFile(folders.file(file), path: file)
    }

    private static func versions(in package: String, _ names: [String], _ folders: ModelFolders) throws(ModelFileError) -> [String: String] {
        var versions: [String: String] = [:], isOfXcode3 = names.contains("elements")
        for folder in names where folder.hasSuffix(versionExtension) {
            if try folders.list("\(package)/\(folder)").contains("contents") {
                versions[name(of: folder)] = "\(package)/\(folder)/contents"
            } else {
                isOfXcode3 = true
            }
        }
        guard versions.isEmpty else { return versions }
        throw ModelFileError(
            path: package, isOfXcode3 ? "holds no version of Xcode 4 or later" : "holds no version of a model",
            suggestion: isOfXcode3 ? "open it in Xcode and save it" : "give a package ….xcdatamodeld or a folder ….xcdatamodel")
    }

    /// What `.xccurrentversion` says; without it the only version, or the one that has the package's name, with which the editor begins.
    private static func current(
        of package: String, _ names: [String], among versions: [String: String], _ folders: ModelFolders
    ) throws(ModelFileError) -> String {
        let known = versions.keys.sorted().joined(separator: ", ")
        if names.contains(".xccurrentversion") {
            let file = package + "/.xccurrentversion", data = try folders.file(file)
            guard let list = try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any] else {
                throw ModelFileError(
                    path: file, "is not a property list of the model editor", suggestion: "choose the current version in Xcode again")
            }
            if let folder = list["_XCCurrentVersionName"] as? String {
                let name = name(of: folder)
                if versions[name] != nil { return name }
                throw ModelFileError(path: file, "names the version \"\(name)\", which is not in the package", suggestion: "it has \(known)")
            }
        }
        if versions.count == 1, let only = versions.first { return only.key }
        let first = name(of: package)
        if versions[first] != nil { return first }
        throw ModelFileError(
            path: package, "does not say which of its versions is the current one: \(known)",
            suggestion: "choose one in Xcode, or give the folder of one")
    }

    private static func folder(of path: String) -> String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "" }

    /// Without folder and extension.
    private static func name(of path: String) -> String {
        let file = path.split(separator: "/").last ?? ""
        return String(file.lastIndex(of: ".").map { file[..<$0] } ?? file)
    }
}
