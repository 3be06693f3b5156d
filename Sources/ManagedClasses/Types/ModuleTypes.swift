/// The types that the sources of one module declare, by the names that lead to them.
struct ModuleTypes: Sendable {
    /// From where a name is looked for: who looks may see what is private, and knows which branches of `#if` hold.
    struct View: Sendable {
        /// The path of a source; empty for none.
        var file = ""
        var conditions: [String] = []
    }

    /// What a type says that it inherits or conforms to, and where it says so.
    struct Inheritance: Sendable {
        var names: [[String]]
        var view: View
    }

    let module: String
    private var declared: [[String]: [ScannedSource.DeclaredType]] = [:]
    private var inheritances: [[String]: [Inheritance]] = [:]
    private var imports: [String: [String]] = [:]

    init(module: String, sources: [ScannedSource]) {
        self.module = module
        for source in sources { imports[source.path, default: []] += source.imports.map(\.module) }
        add(sources.flatMap(\.types))
        for one in sources.flatMap(\.conformances) {
            inheritances[local(one.type), default: []].append(
                .init(names: one.protocols, view: .init(file: one.file, conditions: one.conditions)))
        }
    }

    private mutating func add(_ types: [ScannedSource.DeclaredType]) {
        for var type in types {
            type.path = local(type.path)
            declared[type.path, default: []].append(type)
            inheritances[type.path, default: []].append(.init(names: type.inherited, view: .init(file: type.file, conditions: type.conditions)))
        }
    }

    /// The same with types that no source declares.
    func adding(_ types: [ScannedSource.DeclaredType]) -> ModuleTypes {
        var result = self
        result.add(types.filter { declared[$0.path] == nil })
        return result
    }

    /// A path without the name of this module, which may stand before it.
    func local(_ path: [String]) -> [String] {
        path.count > 1 && path[0] == module && declared[[module]] == nil ? Array(path.dropFirst()) : path
    }

    /// What files import.
    func imports(of file: String) -> [String] { imports[file] ?? [] }

    /// The declarations of a type that can be meant: one, or several that differ and stand in branches of `#if` that exclude each other.
    ///
    /// - Parameter view: nil sees all but what is private.
    func declarations(_ path: [String], from view: View?) -> [ScannedSource.DeclaredType] {
        let all = (declared[path] ?? []).filter { $0.access >= .internal || view?.file == $0.file }
        guard all.count > 1 else { return all }
        let known = Set(view?.conditions ?? [])
        if let here = all.first(where: { !$0.conditions.isEmpty && known.isSuperset(of: $0.conditions) }) { return [here] }
        let first = all[0]
        return all.allSatisfy { $0.meaning == first.meaning && $0.access == first.access } ? [first] : all
    }

    func declaration(_ path: [String], from view: View?) -> ScannedSource.DeclaredType? { declarations(path, from: view).first }

    /// What a type says that it inherits and conforms to.
    func inherited(by path: [String]) -> [Inheritance] { inheritances[path] ?? [] }

    /// A declared type as a symbol names it; nil for an alias, and for what stands in one.
    func nominal(_ path: [String], from view: View?) -> SwiftNominal? {
        var nominal = SwiftNominal(module: module, path: [])
        for count in 1...max(path.count, 1) where count <= path.count {
            guard case .nominal(let kind)? = declaration(Array(path.prefix(count)), from: view)?.meaning else { return nil }
            nominal.path.append(.init(name: path[count - 1], kind: kind))
        }
        return nominal.path.isEmpty ? nil : nominal
    }

    /// Who may use a type: no more than may use what it stands in.
    func access(of path: [String], from view: View?) -> ScannedSource.Access? {
        (1...max(path.count, 1)).compactMap { declaration(Array(path.prefix($0)), from: view)?.access }.min()
    }

    /// The first step of a path that stands in several branches of `#if` and differs there.
    func divided(_ path: [String], from view: View?) -> [String]? {
        (1...max(path.count, 1)).lazy.map { Array(path.prefix($0)) }.first { declarations($0, from: view).count > 1 }
    }
}
