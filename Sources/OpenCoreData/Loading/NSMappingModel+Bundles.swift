import Foundation
import ModelFiles

/// Mappings among the resources of bundles.
extension NSMappingModel {
    /// The first of the mappings `….xcmappingmodel` among the resources of bundles that was made for these two models; nil: the main bundle and all others
    /// that the program has loaded.
    ///
    /// A mapping names the versions that it was made for, `City.xcdatamodeld/City 2.xcdatamodel`; these must be among the resources of the same bundles, and
    /// have the version hashes of the models. Where there are several packages of that name, those beside the mapping are meant. Compiled mappings
    /// (`….cdm`) are not read.
    /// - Returns: nil if there is none, or one can't be read.
    public convenience init?(
        from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?, destinationModel: NSManagedObjectModel?
    ) {
        guard let sourceModel, let destinationModel,
            let found = try? BundledMappings(bundles ?? Bundle.loaded).mapping(
                to: destinationModel, from: { $0.entityVersionHashesByName == sourceModel.entityVersionHashesByName })
        else { return nil }
        self.init()
        entityMappings = found.mapping.entityMappings
    }
}

/// The mappings and the versions of models that bundles hold.
struct BundledMappings {
    private let mappings: [URL]
    private let packages: [URL]

    init(_ bundles: [Bundle]) {
        mappings = bundles.flatMap { $0.resources("xcmappingmodel") }
        packages = mappings.isEmpty ? [] : bundles.flatMap(\.modelURLs)
    }

    var isEmpty: Bool { mappings.isEmpty }

    /// A mapping, and the version of the model that it was made from.
    struct Found {
        let source: NSManagedObjectModel
        let mapping: NSMappingModel
    }

    /// The first that was made for `destination`, from a version that `isSource` takes, with the version hashes of their entities; nil if there is none.
    /// One that has both versions beside it was made for these and for none of the same names elsewhere, and comes before one that has not.
    ///
    /// - Throws: `ModelFileError` for a mapping that can't be read: it may be the one.
    func mapping(to destination: NSManagedObjectModel, from isSource: (NSManagedObjectModel) -> Bool) throws(ModelFileError) -> Found? {
        let hashes = destination.entityVersionHashesByName
        var distant: (file: MappingFile, source: NSManagedObjectModel)?
        for url in mappings {
            let file: MappingFile
            do throws(ModelFileError) { file = try MappingFile(url.path) } catch {
                // One that was taken away meanwhile is none.
                if distant == nil, FileManager.default.fileExists(atPath: url.path) { throw error }
                continue
            }
            let sources = versions(file.sourceModelPath), destinations = versions(file.destinationModelPath)
            func isBeside(_ version: Version) -> Bool { version.package.deletingLastPathComponent().path == url.deletingLastPathComponent().path }
            func isDestination(_ version: Version) -> Bool { version.model.entityVersionHashesByName == hashes }
            if let source = sources.first(where: isBeside), let destination = destinations.first(where: isBeside) {
                if isDestination(destination), isSource(source.model) { return try found(file, source.model, destination.model) }
            } else if distant == nil, let made = destinations.first(where: isDestination),
                let source = sources.first(where: { isSource($0.model) && file.names(entitiesOf: $0.model, and: made.model) })
            {
                distant = (file, source.model)
            }
        }
        guard let distant else { return nil }
        return try found(distant.file, distant.source, destination)
    }

    private func found(_ file: MappingFile, _ source: NSManagedObjectModel, _ destination: NSManagedObjectModel) throws(ModelFileError) -> Found {
        let made = NSMappingModel(), old = source.entityVersionHashesByName, new = destination.entityVersionHashesByName
        try made.fill(file)
        for mapping in made.entityMappings {
            mapping.sourceEntityVersionHash = mapping.sourceEntityName.flatMap { old[$0] }
            mapping.destinationEntityVersionHash = mapping.destinationEntityName.flatMap { new[$0] }
        }
        return Found(source: source, mapping: made)
    }

    private struct Version {
        let package: URL
        let model: NSManagedObjectModel
    }

    /// Those that may be the version that the editor had at a path: every package of that name has one. What can't be read is none.
    private func versions(_ path: String?) -> [Version] {
        let parts = (path ?? "").split(separator: "/").map(String.init)
        guard let folder = parts.last, folder.hasSuffix(".xcdatamodel") else { return [] }
        let name = String(folder.dropLast(".xcdatamodel".count))
        let wanted = parts.dropLast().last { $0.hasSuffix(".xcdatamodeld") } ?? folder
        return packages.filter { $0.lastPathComponent == wanted }.compactMap { url in
            guard let package = try? ModelPackage(url.path), let file = try? package.version(named: name),
                let model = try? NSManagedObjectModel(file: file)
            else { return nil }
            return Version(package: url, model: model)
        }
    }
}

extension MappingFile {
    /// Whether all entities that it maps are there.
    fileprivate func names(entitiesOf source: NSManagedObjectModel, and destination: NSManagedObjectModel) -> Bool {
        let old = source.entitiesByName, new = destination.entitiesByName
        return entityMappings.allSatisfy { mapping in
            (mapping.source.map { old[$0] != nil } ?? true) && (mapping.destination.map { new[$0] != nil } ?? true)
        }
    }
}

extension Bundle {
    /// The main bundle, and whatever else the program has loaded.
    static var loaded: [Bundle] { [Bundle.main] + Bundle.allBundles.filter { $0 != Bundle.main } }
}
