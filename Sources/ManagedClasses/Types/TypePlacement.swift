/// Finds out what the types in declarations are, and of which module.
///
/// A name is looked for where Swift does: among the types that its class declares or inherits, in the module, in the modules that the file imports,
/// and last in the libraries. What somebody said in a comment `// managed-type: enum Module.Name` comes first.
struct TypePlacement {
    enum Failure: Error {
        /// No type of that name is known.
        case unknown(String)
        /// A name of several modules.
        case ambiguous(String, modules: [String])
        /// A kind of type that no accessor can have.
        case unfit
    }

    private static let mostAliases = 32

    let own: ModuleTypes
    /// The types of a module that this one depends on; nil if its sources aren't known.
    let dependency: (String) -> ModuleTypes?
    let hints: [String: SwiftNominal]
    let library = LibraryTypes()

    /// - Parameters:
    ///   - scope: the type in which it is written.
    ///   - imports: the modules that its file imports.
    func resolved(_ syntax: TypeSyntax, in scope: [String], imports: [String]) throws(Failure) -> SwiftType {
        try Look(placement: self, scope: scope, imports: imports, types: own).resolved(syntax)
    }

    /// The class that an extension or a declaration is about, with who may use it; nil if it isn't known.
    func owner(_ path: [String], imports: [String]) -> (nominal: SwiftNominal, access: ScannedSource.Access)? {
        if let nominal = own.nominal(path) { return (nominal, own.access(of: path) ?? .internal) }
        for module in imports {
            if let types = dependency(module), let nominal = types.nominal(path) { return (nominal, types.access(of: path) ?? .public) }
        }
        return (hints[path.joined(separator: ".")] ?? library.nominal(path)).map { ($0, .public) }
    }

    /// One search, from where a type is written.
    private struct Look {
        let placement: TypePlacement
        var scope: [String]
        let imports: [String]
        /// The module in whose sources this is written.
        var types: ModuleTypes
        var aliases = 0

        func resolved(_ syntax: TypeSyntax) throws(Failure) -> SwiftType {
            switch syntax {
            case .void: return .void
            case .other: throw .unfit
            case .optional(let wrapped): return .optional(try resolved(wrapped))
            case .array(let element): return .array(try resolved(element))
            case .dictionary(let key, let value): return .dictionary(try resolved(key), try resolved(value))
            case .composition(let members): return try existential(members)
            case .named(let names): return try named(names)
            }
        }

        private func existential(_ members: [TypeSyntax]) throws(Failure) -> SwiftType {
            var protocols: Set<SwiftNominal> = []
            for member in members {
                guard case .existential(let more) = try resolved(member) else { throw .unfit }
                protocols.formUnion(more)
            }
            return .existential(protocols.sorted { ($0.module, $0.name) < ($1.module, $1.name) })
        }

        private func named(_ names: [TypeSyntax.Name]) throws(Failure) -> SwiftType {
            let path = names.map(\.name), arguments = names.flatMap(\.arguments)
            if path == ["Any"] { return .existential([]) }
            if path == ["AnyObject"] { return .anyObject }
            // Arguments of an outer type belong elsewhere in a symbol.
            guard names.dropLast().allSatisfy({ $0.arguments.isEmpty }) else { throw .unfit }
            if path == ["Self"], let nominal = placement.own.nominal(scope) { return .nominal(nominal) }
            let found = try found(path)
            switch (found, arguments.count) {
            case (.nominal(let nominal), 1) where nominal == SwiftType.standard("Optional", .enumeration):
                return .optional(try resolved(arguments[0]))
            case (.nominal(let nominal), 1...):
                var types: [SwiftType] = []
                for argument in arguments { types.append(try resolved(argument)) }
                return .generic(nominal, types)
            case (.nominal(let nominal), 0) where nominal.kind == .protocol: return .existential([nominal])
            case (_, 0): return found
            default: throw .unfit
            }
        }

        private func found(_ path: [String]) throws(Failure) -> SwiftType {
            let name = path.joined(separator: ".")
            if let hint = placement.hints[name] { return .nominal(hint) }
            // In the types around it, and in those that they inherit from.
            for count in stride(from: scope.count, through: 0, by: -1) {
                if let found = try declared(path, within: Array(scope.prefix(count)), seen: []) { return found }
            }
            if path.count > 1, path[0] == types.module, let found = try declared(Array(path.dropFirst()), within: [], seen: []) { return found }
            // OpenCoreData has many sources and declares few types that properties have.
            let coreData: Set = ["CoreData", "OpenCoreData"]
            if let found = try imported(path, imports.filter { !coreData.contains($0) }) { return found }
            if let alias = LibraryTypes.aliases[name] { return try resolved(alias) }
            if let nominal = placement.library.nominal(path) { return .nominal(nominal) }
            if imports.contains(where: coreData.contains), let found = try imported(path, ["OpenCoreData"]) { return found }
            throw .unknown(name)
        }

        private func resolved(_ text: String) throws(Failure) -> SwiftType {
            var parser = TypeParser(tokens: SwiftTokens(text).tokens, index: 0)
            guard let type = parser.type() else { throw .unfit }
            return try resolved(type)
        }

        private func declared(_ path: [String], within outer: [String], seen: Set<[String]>) throws(Failure) -> SwiftType? {
            // An alias may stand anywhere on the way.
            for count in 1...path.count {
                let prefix = outer + path.prefix(count)
                guard case .alias(let meaning)? = types[prefix]?.meaning else { continue }
                guard aliases < TypePlacement.mostAliases, types[prefix]?.isGeneric == false else { throw .unfit }
                var inner = self
                inner.scope = outer
                inner.aliases += 1
                let found = try inner.resolved(meaning)
                if count == path.count { return found }
                guard case .nominal(let nominal) = found, nominal.module == types.module else { throw .unknown(path.joined(separator: ".")) }
                return try declared(Array(path.dropFirst(count)), within: nominal.path.map(\.name), seen: [])
            }
            if let nominal = types.nominal(outer + path) { return .nominal(nominal) }
            guard !outer.isEmpty, !seen.contains(outer) else { return nil }
            for parent in types.inherited(by: outer) {
                if let found = try declared(path, within: parent, seen: seen.union([outer])) { return found }
            }
            return nil
        }

        private func imported(_ path: [String], _ modules: [String]) throws(Failure) -> SwiftType? {
            var found: [(module: String, type: SwiftType)] = []
            for module in modules {
                guard let others = placement.dependency(module) else { continue }
                var look = self
                look.types = others
                look.scope = []
                let rest = path.count > 1 && path[0] == module ? Array(path.dropFirst()) : path
                // What isn't public can't be meant.
                guard let access = others.access(of: rest), access >= .package else { continue }
                if let type = try look.declared(rest, within: [], seen: []) { found.append((module, type)) }
            }
            if found.count > 1, Set(found.map(\.type)).count > 1 {
                throw .ambiguous(path.joined(separator: "."), modules: found.map(\.module))
            }
            return found.first?.type
        }
    }
}
