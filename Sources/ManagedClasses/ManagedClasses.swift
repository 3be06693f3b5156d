import Foundation
import ModelFiles

/// The classes of a target: those that its models ask for, and what its own classes leave to Core Data.
package struct ManagedClasses {
    /// A module that the target may use, and a source of it or a folder of sources.
    package struct Dependency: Hashable, Sendable {
        package let module: String
        package let path: String

        package init(module: String, path: String) {
            self.module = module
            self.path = path
        }
    }

    /// The module that is built.
    package let module: String
    /// Paths of its Swift sources.
    package let sources: [String]
    /// Paths of packages `….xcdatamodeld`, and single versions.
    package let models: [String]
    /// Where types may come from.
    package let dependencies: [Dependency]
    /// What is imported if no source says more: `CoreData` or `OpenCoreData`.
    package let library: String

    package init(module: String, sources: [String], models: [String], dependencies: [Dependency], library: String) {
        self.module = module
        self.sources = sources
        self.models = models
        self.dependencies = dependencies
        self.library = library
    }

    /// The source of the classes and accessors, or all that stands in the way.
    package func generated() -> Result<String, ClassesComplaints> {
        var complaints: [ClassesComplaint] = []
        let scanned = sources.sorted().compactMap { scan($0, &complaints) }
        let files = models.sorted().compactMap { read($0, &complaints) }
        let hints = hints(of: scanned, &complaints)
        let own = ModuleTypes(module: module, sources: scanned)

        let dependency = dependencyTypes()

        var classes = ClassWriter(classes: ModelClasses(module: module, files: files), own: own, dependency: dependency)
        classes.write()
        let placement = TypePlacement(own: own.adding(classes.generatedTypes), dependency: dependency, hints: hints)
        var accessors = AccessorWriter(module: module, placement: placement)
        for source in scanned { accessors.write(source) }

        complaints += classes.complaints + accessors.complaints
        if !complaints.isEmpty { return .failure(ClassesComplaints(all: complaints)) }
        var needs = classes.imports
        needs.add(accessors.imports)
        let imports = ImportList(scanned, library: library, modules: classes.foreignModules, needs: needs)
        return .success(
            "// Generated from the models and the sources of \(module); changes are lost.\n\n\(imports.text)\(classes.text)\(accessors.text)")
    }

    private func scan(_ path: String, _ complaints: inout [ClassesComplaint]) -> ScannedSource? {
        do {
            return ManagedSourceScanner.scan(try String(contentsOfFile: path, encoding: .utf8), path: path)
        } catch {
            complaints.append(
                ClassesComplaint(path: path, line: 1, "can't be read: \((error as NSError).localizedDescription); it has to be there, in UTF-8"))
            return nil
        }
    }

    private func read(_ path: String, _ complaints: inout [ClassesComplaint]) -> ModelFile? {
        do throws(ModelFileError) {
            return try ModelPackage(path).current()
        } catch {
            complaints.append(
                ClassesComplaint(path: error.path, line: error.line ?? 1, error.message + (error.suggestion.map { "; \($0)" } ?? "")))
            return nil
        }
    }

    /// Reads the sources of a module when it is first asked for.
    private func dependencyTypes() -> (String) -> ModuleTypes? {
        final class Cache { var known: [String: ModuleTypes?] = [:] }
        let cache = Cache(), places = Dictionary(grouping: dependencies, by: \.module)
        return { module in
            if let known = cache.known[module] { return known }
            let paths = (places[module] ?? []).flatMap { Self.swiftFiles(at: $0.path) }
            let types: ModuleTypes? =
                paths.isEmpty
                ? nil
                : ModuleTypes(
                    module: module,
                    sources: paths.compactMap { path in
                        // A source that can't be read declares nothing here; its own build says so.
                        (try? String(contentsOfFile: path, encoding: .utf8)).map { ManagedSourceScanner.scan($0, path: path) }
                    })
            cache.known[module] = .some(types)
            return types
        }
    }

    private static func swiftFiles(at path: String) -> [String] {
        if path.hasSuffix(".swift") { return [path] }
        let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return names.filter { $0.hasSuffix(".swift") }.sorted().map { path + "/" + $0 }
    }

    /// `managed-type: enum Module.Outer.Name`: the name is known as `Name`, `Outer.Name` and with its module.
    private func hints(of sources: [ScannedSource], _ complaints: inout [ClassesComplaint]) -> [String: SwiftNominal] {
        let kinds: [String: SwiftNominal.Kind] = [
            "struct": .structure, "class": .class, "actor": .class, "enum": .enumeration, "protocol": .protocol,
        ]
        var hints: [String: SwiftNominal] = [:]
        for (place, text) in sources.flatMap(\.hints) {
            let words = text.split(separator: " "), path = words.last?.split(separator: ".").map(String.init) ?? []
            let steps = words.dropLast().compactMap { kinds[String($0)] }
            guard path.count > 1, steps.count == words.count - 1, steps.count == path.count - 1 else {
                complaints.append(
                    ClassesComplaint(place, "managed-type says one kind for each type in the name: // managed-type: struct enum Module.Outer.Inner"))
                continue
            }
            let nominal = SwiftNominal(module: path[0], path: zip(path.dropFirst(), steps).map { .init(name: $0, kind: $1) })
            for start in path.indices { hints[path[start...].joined(separator: ".")] = nominal }
        }
        return hints
    }
}
