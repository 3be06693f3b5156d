/// Which protocols the classes of a module have, as far as sources say.
struct Conformances {
    let own: ModuleTypes
    let dependency: (String) -> ModuleTypes?

    private struct Step {
        var path: [String]
        var types: ModuleTypes
        var conditions: [String]
    }

    /// The conditions under which a type has a protocol, by itself, by another protocol or by its superclass; an empty list in it for always, nothing
    /// if no source says so.
    ///
    /// - Parameter isKnown: whether a class of the module is known to have it.
    func conditions(of path: [String], for name: String, where isKnown: ([String]) -> Bool) -> [[String]] {
        var found: [[String]] = [], seen: Set<[String]> = [], next = [Step(path: own.local(path), types: own, conditions: [])]
        while let step = next.popLast() {
            guard seen.insert([step.types.module] + step.path + step.conditions).inserted else { continue }
            if step.path.last == name || (step.types.module == own.module && step.path != own.local(path) && isKnown(step.path)) {
                found.append(step.conditions)
                continue
            }
            next += steps(after: step)
        }
        return found
    }

    private func steps(after step: Step) -> [Step] {
        step.types.inherited(by: step.path).flatMap { inheritance in
            inheritance.names.flatMap { name in
                declared(name, near: step, inheritance.view).map { path, types in
                    Step(path: path, types: types, conditions: step.conditions + inheritance.view.conditions)
                }
            }
        } + aliased(step)
    }

    /// What an alias stands for.
    private func aliased(_ step: Step) -> [Step] {
        step.types.declarations(step.path, from: nil).flatMap { type -> [Step] in
            guard case .alias(let meaning) = type.meaning else { return [] }
            let members = if case .composition(let members) = meaning { members } else { [meaning] }
            return members.flatMap { member -> [Step] in
                guard case .named(let names) = member else { return [] }
                return declared(names.map(\.name), near: step, .init(file: type.file)).map { path, types in
                    Step(path: path, types: types, conditions: step.conditions + type.conditions)
                }
            }
        }
    }

    /// Where a name is declared: in the module that says it, or in one that the file imports. A name of the libraries stays as it is.
    private func declared(_ name: [String], near step: Step, _ view: ModuleTypes.View) -> [(path: [String], types: ModuleTypes)] {
        let local = step.types.local(name)
        for count in stride(from: step.path.count - 1, through: 0, by: -1) {
            let path = step.path.prefix(count) + local
            if !step.types.declarations(Array(path), from: view).isEmpty { return [(Array(path), step.types)] }
        }
        for module in step.types.imports(of: view.file) where !["CoreData", "OpenCoreData", "Foundation"].contains(module) {
            guard let others = dependency(module), case let path = others.local(name) else { continue }
            if !others.declarations(path, from: nil).isEmpty { return [(path, others)] }
        }
        return [(local, step.types)]
    }
}
