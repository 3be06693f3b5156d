/// The types that the sources of one module declare, by the names that lead to them.
struct ModuleTypes {
    let module: String
    private var declared: [[String]: ScannedSource.DeclaredType]
    private var inherited: [[String]: [[String]]]

    init(module: String, sources: [ScannedSource]) {
        self.module = module
        var declared: [[String]: ScannedSource.DeclaredType] = [:], inherited: [[String]: [[String]]] = [:]
        for type in sources.flatMap(\.types) where declared[type.path] == nil {
            declared[type.path] = type
            inherited[type.path] = type.inherited
        }
        for (type, protocols) in sources.flatMap(\.conformances) { inherited[type, default: []] += protocols }
        self.declared = declared
        self.inherited = inherited
    }

    /// The same with types that no source declares.
    func adding(_ types: [ScannedSource.DeclaredType]) -> ModuleTypes {
        var result = self
        for type in types where declared[type.path] == nil {
            result.declared[type.path] = type
            result.inherited[type.path, default: []] += type.inherited
        }
        return result
    }

    subscript(path: [String]) -> ScannedSource.DeclaredType? { declared[path] }

    /// What a type says that it inherits and conforms to.
    func inherited(by path: [String]) -> [[String]] { inherited[path] ?? [] }

    /// A declared type as a symbol names it; nil for an alias, and for what stands in one.
    func nominal(_ path: [String]) -> SwiftNominal? {
        var nominal = SwiftNominal(module: module, path: [])
        for count in 1...max(path.count, 1) where count <= path.count {
            guard case .nominal(let kind)? = declared[Array(path.prefix(count))]?.meaning else { return nil }
            nominal.path.append(.init(name: path[count - 1], kind: kind))
        }
        return nominal.path.isEmpty ? nil : nominal
    }

    /// Who may use a type: no more than may use what it stands in.
    func access(of path: [String]) -> ScannedSource.Access? {
        (1...max(path.count, 1)).compactMap { declared[Array(path.prefix($0))]?.access }.min()
    }
}
