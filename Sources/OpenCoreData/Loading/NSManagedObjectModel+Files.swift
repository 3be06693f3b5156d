import Foundation
// Of what is public in it, `ModelFileError`, everyone who reads a model may want the line.
@_exported import ModelFiles

/// Models that Xcode's model editor wrote. There is no compiler of models here: the packages themselves are read.
extension NSManagedObjectModel {
    /// The model in a file; nil if it can't be read, for which `init(readingContentsOf:)` gives the reason.
    public convenience init?(contentsOf url: URL) {
        try? self.init(readingContentsOf: url)
    }

    /// The model in a file: of a package `….xcdatamodeld` its current version, or one version, a folder `….xcdatamodel`.
    ///
    /// An entity's class is looked for by the name in the file: `Module.Class`, or `.Class` and `Class`, for which any module of the program will do.
    /// If the program has none or several of the name, objects are of `NSManagedObject`; `setManagedObjectClass(_:)` says otherwise.
    ///
    /// The `localizationDictionary` is what a file `CityModel.strings` beside a model `City` says, or in a folder of a language (`de.lproj`) beside it.
    ///
    /// - Throws: `ModelFileError`, which names file and line, for everything for which a coordinator would refuse the model.
    public convenience init(readingContentsOf url: URL) throws(ModelFileError) {
        try self.init(file: ModelPackage(url.path).current())
        localizationDictionary = Self.words(besides: url)
    }

    /// What a file `CityModel.strings` beside a model `City` says, in the language of the user; nil if there is none that can be read.
    private static func words(besides url: URL) -> [String: String]? {
        let name = url.deletingPathExtension().lastPathComponent + "Model"
        guard let strings = Bundle(path: url.deletingLastPathComponent().path)?.url(forResource: name, withExtension: "strings"),
            let data = try? Data(contentsOf: strings)
        else { return nil }
        return try? PropertyListSerialization.propertyList(from: data, format: nil) as? [String: String]
    }

    /// All versions in a package `….xcdatamodeld`, by name: `Model 2` for the folder `Model 2.xcdatamodel`.
    public static func versions(inPackageAt url: URL) throws(ModelFileError) -> [String: NSManagedObjectModel] {
        let package = try ModelPackage(url.path)
        var models: [String: NSManagedObjectModel] = [:]
        for name in package.versions.keys { models[name] = try NSManagedObjectModel(file: package.version(named: name)) }
        return models
    }

    /// The checksums (`versionChecksum`) of all versions in a package `….xcdatamodeld`, by name: `Model 2` for the folder `Model 2.xcdatamodel`.
    ///
    /// - Throws: `ModelFileError`, which names file and line.
    public class func checksumsForVersionedModel(at modelURL: URL) throws -> [String: String] {
        try versions(inPackageAt: modelURL).mapValues(\.versionChecksum)
    }

    /// All versions of a package with a name, or the version of that name. What can't be read is not the one.
    static func versions(at url: URL, named name: String) -> [NSManagedObjectModel] {
        guard let package = try? ModelPackage(url.path) else { return [] }
        let isWhole = url.deletingPathExtension().lastPathComponent == name
        return package.versions.keys.sorted().filter { isWhole || $0 == name }.compactMap { version in
            (try? package.version(named: version)).flatMap { try? NSManagedObjectModel(file: $0) }
        }
    }

    convenience init(file: ModelFile) throws(ModelFileError) {
        self.init()
        try ModelAssembly(file).fill(self)
    }

    /// One model of all packages `….xcdatamodeld`, and single versions `….xcdatamodel`, that bundles hold among their resources; for nil, the main
    /// bundle.
    /// Traps if two of them have different entities of one name.
    /// - Returns: nil if there is none, or one can't be read.
    public class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? {
        let urls = (bundles ?? [Bundle.main]).flatMap(\.modelURLs)
        var models: [NSManagedObjectModel] = []
        for url in urls {
            guard let model = NSManagedObjectModel(contentsOf: url) else { return nil }
            models.append(model)
        }
        return NSManagedObjectModel(byMerging: models)
    }

    /// Of the versions that bundles hold, one model of those whose entities are in a store with this metadata, as they are there; for nil, the main
    /// bundle.
    /// - Returns: nil if the store has an entity that none of them has in this version.
    public class func mergedModel(from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]) -> NSManagedObjectModel? {
        let urls = (bundles ?? [Bundle.main]).flatMap(\.modelURLs)
        var models: [NSManagedObjectModel] = []
        for package in urls.compactMap({ try? ModelPackage($0.path) }) {
            // A version that can't be read is not the one.
            models += package.versions.keys.sorted().compactMap { name in
                (try? package.version(named: name)).flatMap { try? NSManagedObjectModel(file: $0) }
            }
        }
        return NSManagedObjectModel(byMerging: models, forStoreMetadata: metadata)
    }

    /// One model of those entities of these models, which stay as they are, that are in a store with this metadata.
    /// - Returns: nil if the store has an entity that none of them has in this version.
    public convenience init?(byMerging models: [NSManagedObjectModel], forStoreMetadata metadata: [String: Any]) {
        guard let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data] else { return nil }
        // A version that has all of them is the one; entities of several versions may not fit each other.
        if let whole = models.first(where: { model in hashes.allSatisfy { model.entitiesByName[$0.key]?.versionHash == $0.value } }) {
            self.init(byMerging: [whole])
            return
        }
        var chosen: [NSManagedObjectModel] = [], missing = hashes
        for model in models {
            let entities = model.entitiesByName
            // Of a package's versions only one may be taken: the others have entities of the same names.
            guard entities.keys.allSatisfy({ name in hashes[name] == nil || hashes[name] == entities[name]?.versionHash }),
                entities.keys.contains(where: { missing[$0] != nil })
            else { continue }
            chosen.append(model)
            for name in entities.keys { missing[name] = nil }
        }
        guard missing.isEmpty else { return nil }
        self.init(byMerging: chosen)
    }
}

extension Bundle {
    /// Where models are in it, in the order of their paths: among its resources, and for a program also in the folders `….resources` beside it, where
    /// SwiftPM puts the resources of the targets that it builds there.
    var modelURLs: [URL] { resources("xcdatamodeld", "xcdatamodel") }

    /// Where resources with these extensions are in it, as above.
    func resources(_ extensions: String...) -> [URL] {
        guard let root = resourceURL else { return [] }
        let entries = Self.entries(of: root)
        let packages = self == Bundle.main ? entries.filter { $0.pathExtension == "resources" } : []
        return (entries + packages.flatMap(Self.entries)).filter { extensions.contains($0.pathExtension) }
    }

    private static func entries(of folder: URL) -> [URL] {
        // A folder that can't be read holds no model. Names alone: what goes meanwhile takes nothing else with it.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        return names.sorted().map { folder.appendingPathComponent($0) }
    }

    /// The packages, and single versions, of that name.
    func models(named name: String) -> [URL] {
        modelURLs.filter { $0.deletingPathExtension().lastPathComponent == name }
    }
}
