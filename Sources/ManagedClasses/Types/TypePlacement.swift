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
        /// A type that is another in each branch of `#if`.
        case divided(String)
        /// A type that is out of another file's reach.
        case hidden(String, ScannedSource.Access)
        /// A kind of type that no accessor can have.
        case unfit
    }

    /// From where a type is named.
    struct Place {
        /// The type around it.
        var scope: [String] = []
        /// The modules that its file imports.
        var imports: [String] = []
        var view = ModuleTypes.View()
    }

    struct Placed {
        var type: SwiftType
        /// The modules whose import brings the names into reach: those that are imported, and those that libraries keep their types in.
        var modules: Set<String>
    }

    private static let mostAliases = 32

    let own: ModuleTypes
    /// The types of a module that this one depends on; nil if its sources aren't known.
    let dependency: (String) -> ModuleTypes?
    let hints: [String: SwiftNominal]
    let library = LibraryTypes()

    func resolved(_ syntax: TypeSyntax, at place: Place) throws(Failure) -> Placed {
        let look = Look(placement: self, place: place, types: own)
        let type = try look.resolved(syntax)
        return Placed(type: type, modules: look.used.modules)
    }

    /// The class that an extension or a declaration is about, with who may use it; nil if it isn't known.
    func owner(at place: Place) throws(Failure) -> (nominal: SwiftNominal, access: ScannedSource.Access, modules: Set<String>)? {
        let path = own.local(place.scope)
        if let divided = own.divided(path, from: place.view) { throw .divided(divided.joined(separator: ".")) }
        if let nominal = own.nominal(path, from: place.view) { return (nominal, own.access(of: path, from: place.view) ?? .internal, []) }
        for module in place.imports {
            guard let types = dependency(module), case let path = types.local(path), let nominal = types.nominal(path, from: nil) else { continue }
            return (nominal, types.access(of: path, from: nil) ?? .public, [module])
        }
        if let nominal = hints[path.joined(separator: ".")] ?? library.nominal(path) { return (nominal, .public, [nominal.module]) }
        // An extension of an alias.
        var outside = place
        outside.scope = []
        guard own.declaration(path, from: place.view) != nil,
            case .nominal(let nominal) = try resolved(.named(path.map { .init(name: $0) }), at: outside).type
        else { return nil }
        guard nominal.module == own.module else { return (nominal, .public, [nominal.module]) }
        return (nominal, own.access(of: nominal.path.map(\.name), from: place.view) ?? .internal, [])
    }

    /// One search, from where a type is written.
    private struct Look {
        final class Used { var modules: Set<String> = [] }

        let placement: TypePlacement
        var place: Place
        /// The module in whose sources this is written.
        var types: ModuleTypes
        var aliases = 0
        let used = Used()

        private var isOwn: Bool { types.module == placement.own.module }
        /// Of another module nothing private can be meant.
        private var view: ModuleTypes.View? { isOwn ? place.view : nil }

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
            if path == ["Self"], let nominal = placement.own.nominal(placement.own.local(place.scope), from: place.view) { return .nominal(nominal) }
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
            if let hint = placement.hints[name] {
                used.modules.insert(hint.module)
                return .nominal(hint)
            }
            // In the types around it, and in those that they inherit from.
            let scope = types.local(place.scope)
            for count in stride(from: scope.count, through: 0, by: -1) {
                if let found = try declared(path, within: Array(scope.prefix(count)), seen: []) { return found }
            }
            if path.count > 1, path[0] == types.module, let found = try declared(Array(path.dropFirst()), within: [], seen: []) { return found }
            // OpenCoreData has many sources and declares few types that properties have.
            let coreData: Set = ["CoreData", "OpenCoreData"]
            if let found = try imported(path, place.imports.filter { !coreData.contains($0) }) { return found }
            if let alias = LibraryTypes.aliases[name] {
                if name == "TimeInterval" { used.modules.insert("Foundation") }
                return try resolved(alias)
            }
            if let nominal = placement.library.nominal(path) {
                used.modules.insert(nominal.module)
                return .nominal(nominal)
            }
            if place.imports.contains(where: coreData.contains), let found = try imported(path, ["OpenCoreData"]) { return found }
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
                guard let alias = types.declaration(prefix, from: view), case .alias(let meaning) = alias.meaning else { continue }
                try check(prefix)
                guard aliases < TypePlacement.mostAliases, !alias.isGeneric else { throw .unfit }
                var inner = self
                inner.place = Place(
                    scope: outer, imports: types.imports(of: alias.file),
                    view: .init(file: alias.file, conditions: place.view.conditions + alias.conditions))
                inner.aliases += 1
                let found = try inner.resolved(meaning)
                if count == path.count { return found }
                guard case .nominal(let nominal) = found, nominal.module == types.module else { throw .unknown(path.joined(separator: ".")) }
                return try declared(Array(path.dropFirst(count)), within: nominal.path.map(\.name), seen: [])
            }
            if let nominal = types.nominal(outer + path, from: view) {
                try check(outer + path)
                return .nominal(nominal)
            }
            guard !outer.isEmpty, !seen.contains(outer) else { return nil }
            for parent in types.inherited(by: outer).flatMap(\.names) {
                if let found = try declared(path, within: types.local(parent), seen: seen.union([outer])) { return found }
            }
            return nil
        }

        /// Whether what was found is one type, and one that another file of the module can name.
        private func check(_ path: [String]) throws(Failure) {
            if let divided = types.divided(path, from: view) { throw .divided(divided.joined(separator: ".")) }
            // What an alias stands for is not named where the alias is.
            guard isOwn, aliases == 0, let access = types.access(of: path, from: view), access < .internal else { return }
            throw .hidden(path.joined(separator: "."), access)
        }

        private func imported(_ path: [String], _ modules: [String]) throws(Failure) -> SwiftType? {
            var found: [(module: String, type: SwiftType)] = []
            for module in modules {
                guard let others = placement.dependency(module) else { continue }
                var look = self
                look.types = others
                look.place = Place(view: .init(conditions: place.view.conditions))
                let rest = others.local(path)
                // What isn't public can't be meant.
                guard let access = others.access(of: rest, from: nil), access >= .package else { continue }
                if let type = try look.declared(rest, within: [], seen: []) {
                    found.append((module, type))
                    used.modules.insert(module)
                }
            }
            if found.count > 1, Set(found.map(\.type)).count > 1 {
                throw .ambiguous(path.joined(separator: "."), modules: found.map(\.module))
            }
            return found.first?.type
        }
    }
}
