import Foundation
import ModelFiles

/// Mappings among the resources of bundles.
extension NSMappingModel {
    /// The first of the mappings `….xcmappingmodel` among the resources of bundles that was made for these two models; nil: the main bundle and all others
    /// that the program has loaded.
    ///
    /// A mapping names the versions that it was made for, `City.xcdatamodeld/City 2.xcdatamodel`; these must be among the resources of the same bundles, and
    /// have the version hashes of the models. Compiled mappings (`….cdm`) are not read.
    /// - Returns: nil if there is none, or one can't be read.
    public convenience init?(
        from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?, destinationModel: NSManagedObjectModel?
    ) {
        guard let sourceModel, let destinationModel,
            let found = try? BundledMappings(bundles ?? Bundle.loaded).mapping(from: sourceModel, to: destinationModel)
        else { return nil }
        self.init()
        entityMappings = found.entityMappings
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

    /// The first that was made for these models, with the version hashes of their entities; nil if there is none.
    ///
    /// - Throws: `ModelFileError` for a mapping that can't be read: it may be the one.
    func mapping(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) throws(ModelFileError) -> NSMappingModel? {
        let old = source.entityVersionHashesByName, new = destination.entityVersionHashesByName
        for url in mappings {
            let file: MappingFile
            do throws(ModelFileError) { file = try MappingFile(url.path) } catch {
                // One that was taken away meanwhile is none.
                if FileManager.default.fileExists(atPath: url.path) { throw error }
                continue
            }
            guard hashes(of: file.sourceModelPath) == old, hashes(of: file.destinationModelPath) == new else { continue }
            let made = NSMappingModel()
            try made.fill(file)
            for mapping in made.entityMappings {
                mapping.sourceEntityVersionHash = mapping.sourceEntityName.flatMap { old[$0] }
                mapping.destinationEntityVersionHash = mapping.destinationEntityName.flatMap { new[$0] }
            }
            return made
        }
        return nil
    }

    /// Those of the version that the editor had at a path; nil if it is not here, or can't be read.
    private func hashes(of path: String?) -> [String: Data]? {
        let parts = (path ?? "").split(separator: "/").map(String.init)
        guard let folder = parts.last, folder.hasSuffix(".xcdatamodel") else { return nil }
        let version = String(folder.dropLast(".xcdatamodel".count))
        let wanted = parts.dropLast().last { $0.hasSuffix(".xcdatamodeld") } ?? folder
        for url in packages where url.lastPathComponent == wanted {
            guard let package = try? ModelPackage(url.path), let file = try? package.version(named: version),
                let model = try? NSManagedObjectModel(file: file)
            else { continue }
            return model.entityVersionHashesByName
        }
        return nil
    }
}

extension Bundle {
    /// The main bundle, and whatever else the program has loaded.
    static var loaded: [Bundle] { [Bundle.main] + Bundle.allBundles.filter { $0 != Bundle.main } }
}
