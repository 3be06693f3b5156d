/// How widely modules have to be imported: as widely as the widest declaration can be used that names a type of theirs.
struct ImportNeeds {
    private(set) var access: [String: ScannedSource.Access] = [:]

    /// - Parameter modules: those that are imported, or those in which a library keeps its types.
    mutating func add(_ modules: Set<String>, _ access: ScannedSource.Access) {
        let access = min(max(access, .internal), .public)
        for module in modules {
            self.access[Self.imported(module), default: .internal] = max(self.access[Self.imported(module)] ?? .internal, access)
        }
    }

    mutating func add(_ others: ImportNeeds) {
        for (module, access) in others.access { add([module], access) }
    }

    /// CoreData and OpenCoreData are one; so are Foundation and the modules that it consists of.
    static func imported(_ module: String) -> String {
        if module == "OpenCoreData" { return "CoreData" }
        return module.hasPrefix("Foundation") ? "Foundation" : module
    }
}

/// What a generated source imports: what the sources import whose types it names.
///
/// If one import of a module says who may use it, all imports of it in the target have to; so these do as the target's own.
struct ImportList {
    private struct Key: Hashable {
        var attributes: [String]
        var what: String
        var conditions: [String]
    }

    let text: String

    /// - Parameters:
    ///   - sources: all of the target.
    ///   - library: imported in any case, unless a source imports it under its other name.
    ///   - modules: others that are imported in any case.
    init(_ sources: [ScannedSource], library: String, modules: Set<String>, needs: ImportNeeds) {
        let all = sources.flatMap(\.imports)
        let explicit = Set(all.filter { $0.access != nil }.map(\.module))
        let implementation = Set(all.map(\.module)).filter { module in
            all.allSatisfy { $0.module != module || $0.attributes.contains("@_implementationOnly") }
        }
        var seen: Set<Key> = [], items: [(key: Key, module: String)] = []
        for item in sources.filter({ !$0.members.isEmpty }).flatMap(\.imports) {
            var kept = item.attributes.filter { $0.hasPrefix("@testable") || $0.hasPrefix("@_spi") }.sorted()
            if implementation.contains(item.module) { kept.append("@_implementationOnly") }
            let key = Key(attributes: kept, what: item.what, conditions: item.conditions)
            if seen.insert(key).inserted { items.append((key, item.module)) }
        }
        // Seen by all beats seen under a condition.
        items.removeAll { item in
            !item.key.conditions.isEmpty && seen.contains(Key(attributes: item.key.attributes, what: item.key.what, conditions: []))
        }
        let unconditional = Set(items.filter { $0.key.conditions.isEmpty && $0.key.what == $0.module }.map(\.module))
        for module in [library, "Foundation"] where !unconditional.contains(module) {
            if module == library, !unconditional.isDisjoint(with: ["CoreData", "OpenCoreData"]) { continue }
            items.insert((Key(attributes: [], what: module, conditions: []), module), at: 0)
        }
        for module in modules.sorted() where !unconditional.contains(module) {
            items.append((Key(attributes: [], what: module, conditions: []), module))
        }
        // What none of these imports is in reach through one that exports it.
        let known = Set(items.map { ImportNeeds.imported($0.module) })
        let unknown = needs.access.filter { !known.contains($0.key) && $0.key != "Swift" }.values.max() ?? .internal
        text = items.map { item in
            let name = ImportNeeds.imported(item.module)
            let access = max(needs.access[name] ?? .internal, ["CoreData", "Foundation"].contains(name) ? .internal : unknown)
            let isExplicit = explicit.contains(item.module), isHidden = item.key.attributes.contains("@_implementationOnly")
            return Self.text(item.key, isHidden ? nil : access, isExplicit: isExplicit && !isHidden)
        }.joined()
    }

    private static func text(_ key: Key, _ access: ScannedSource.Access?, isExplicit: Bool) -> String {
        let attributes = key.attributes.map { $0 + " " }.joined()
        let plain = "\(attributes)import \(key.what)\n", said = access.map { "\(attributes)\($0) import \(key.what)\n" } ?? plain
        var text = isExplicit ? said : plain
        // Where imports are internal unless they say otherwise, all have to say it.
        if !isExplicit, let access, access > .internal { text = "#if hasFeature(InternalImportsByDefault)\n\(said)#else\n\(plain)#endif\n" }
        return key.conditions.map { "#if \($0)\n" }.joined() + text + key.conditions.map { _ in "#endif\n" }.joined()
    }
}
