import ModelFiles

/// Writes the classes of a model's entities, as Xcode does for `codegen: class` and `category`. Properties read and write the row themselves; there
/// is nothing for a linker to miss.
struct ClassWriter {
    let classes: ModelClasses
    let own: ModuleTypes
    /// The types of a module that this one depends on.
    let dependency: (String) -> ModuleTypes?
    private(set) var text = ""
    private(set) var complaints: [ClassesComplaint] = []
    /// How widely modules have to be imported for what is public here.
    private(set) var imports = ImportNeeds()
    /// Modules whose classes are named here.
    private(set) var foreignModules: Set<String> = []
    private var written: [String: ModelClasses.Entity] = [:]

    init(classes: ModelClasses, own: ModuleTypes, dependency: @escaping (String) -> ModuleTypes?) {
        self.classes = classes
        self.own = own
        self.dependency = dependency
    }

    mutating func write() {
        for item in classes.entities where classes.isWritten(item) { write(item) }
    }

    private mutating func write(_ item: ModelClasses.Entity) {
        guard let name = item.className else {
            let why = item.foreignName.map { "its class \($0) is not of the module \(classes.module)" } ?? "it has no class"
            return complain(item, "the entity \(item.entity.name) asks for generated code, and \(why); choose a class, or Manual/None as its codegen")
        }
        if let first = written[name] { return repeated(item, after: first, name) }
        written[name] = item
        let declared = own.declaration([name], from: nil)
        if item.entity.codeGeneration == .class, let declared, declared.conditions.isEmpty {
            return complain(
                item,
                "the entity \(item.entity.name) asks for the class \(name), which \(declared.file) declares; choose Manual/None or Category/Extension "
                    + "as its codegen, or delete the class")
        }
        if item.entity.codeGeneration == .category, declared == nil {
            return complain(
                item,
                "the entity \(item.entity.name) asks for an extension of the class \(name), which \(classes.module) doesn't declare; write it, or "
                    + "choose Class Definition as its codegen")
        }
        let access = access(of: item)
        let isPublic = access >= .public
        imports.add(["CoreData"], access)
        if let parent = item.entity.parent, let foreign = classes.entity(parent, beside: item)?.foreignName {
            self.name(module(of: foreign), access)
        }
        if item.entity.codeGeneration == .class {
            text +=
                "\n/// The entity \(item.entity.name).\n\(isPublic ? "public " : "")class \(SwiftName.escaped(name)): \(superclass(of: item)) {}\n"
        }
        text += "\nextension \(SwiftName.escaped(name)) {\n"
        let modifier = isPublic ? "public " : ""
        text +=
            "    \(modifier)class func fetchRequest() -> NSFetchRequest<\(name)> { NSFetchRequest<\(name)>(entityName: \"\(item.entity.name)\") }\n"
        for attribute in item.entity.attributes {
            guard let type = attribute.swiftType else { continue }
            property(attribute.property.name, type, modifier)
            if !ModelFile.Attribute.standardTypes.contains(type) { imports.add(["Foundation"], access) }
        }
        for relationship in item.entity.relationships { self.relationship(relationship, of: item, access) }
        for property in item.entity.fetchedProperties { fetched(property, of: item, access) }
        text += "}\n"
        let identifiable = conditionsOfIdentity(item, name)
        guard !identifiable.contains([]) else { return }
        let others = identifiable.map { "(" + $0.map { "(\($0))" }.joined(separator: " && ") + ")" }.joined(separator: " || ")
        let extensionText = "extension \(SwiftName.escaped(name)): Identifiable {}\n"
        text += others.isEmpty ? "\n\(extensionText)" : "\n#if !(\(others))\n\(extensionText)#endif\n"
    }

    /// Several entities of a model may have one class, if the first has all that the others have.
    private mutating func repeated(_ item: ModelClasses.Entity, after first: ModelClasses.Entity, _ name: String) {
        if item.file.path != first.file.path {
            return complain(
                item,
                "the entity \(item.entity.name) of the model \(item.modelName) and the entity \(first.entity.name) of the model \(first.modelName) "
                    + "both ask for the class \(name); give one of them another class, or choose Manual/None as the codegen of one")
        }
        let missing = item.propertyNames.subtracting(first.propertyNames).sorted()
        guard !missing.isEmpty else { return }
        complain(
            item,
            "the entity \(item.entity.name) asks for the class \(name) as \(first.entity.name) does, which has no \(missing.joined(separator: ", ")); "
                + "give it another class, or choose Manual/None as its codegen and write its properties")
    }

    private mutating func relationship(_ relationship: ModelFile.Relationship, of item: ModelClasses.Entity, _ access: ScannedSource.Access) {
        let name = relationship.property.name, target = target(relationship.destination, item)
        let narrowest = min(access, target.access), modifier = narrowest >= .public ? "public " : ""
        if let module = target.module { self.name(module, narrowest) }
        guard relationship.isToMany else { return property(name, "\(target.name)?", modifier) }
        imports.add(["Foundation"], access)
        let set = relationship.isOrdered ? "NSOrderedSet" : "NSSet"
        property(name, "\(set)?", access >= .public ? "public " : "")
        let key = name.prefix(1).uppercased() + name.dropFirst()
        text += "\n    // \(name)\n"
        var lines: [(declaration: String, call: String)] = []
        if relationship.isOrdered {
            lines += [
                ("insertInto\(key)(_ value: \(target.name), at idx: Int)", "insertManagedMember(value, intoProperty: \"\(name)\", at: idx)"),
                ("removeFrom\(key)(at idx: Int)", "removeManagedMember(fromProperty: \"\(name)\", at: idx)"),
                (
                    "insertInto\(key)(_ values: [\(target.name)], at indexes: NSIndexSet)",
                    "insertManagedMembers(values, intoProperty: \"\(name)\", at: indexes)"
                ),
                ("removeFrom\(key)(at indexes: NSIndexSet)", "removeManagedMembers(fromProperty: \"\(name)\", at: indexes)"),
                ("replace\(key)(at idx: Int, with value: \(target.name))", "replaceManagedMember(ofProperty: \"\(name)\", at: idx, with: value)"),
                (
                    "replace\(key)(at indexes: NSIndexSet, with values: [\(target.name)])",
                    "replaceManagedMembers(ofProperty: \"\(name)\", at: indexes, with: values)"
                ),
            ]
        }
        for (parameter, type) in [("value", target.name), ("values", set)] {
            lines.append(("addTo\(key)(_ \(parameter): \(type))", "addManagedMembers(\(parameter), toProperty: \"\(name)\")"))
            lines.append(("removeFrom\(key)(_ \(parameter): \(type))", "removeManagedMembers(\(parameter), fromProperty: \"\(name)\")"))
        }
        for line in lines { text += "    \(modifier)func \(line.declaration) { \(line.call) }\n" }
    }

    /// What is found can't be set.
    private mutating func fetched(_ fetched: ModelFile.FetchedProperty, of item: ModelClasses.Entity, _ access: ScannedSource.Access) {
        let name = fetched.property.name, target = target(fetched.request.entity, item), narrowest = min(access, target.access)
        if let module = target.module { self.name(module, narrowest) }
        let declaration = "var \(SwiftName.escaped(name)): [\(target.name)]?"
        text += "    \(narrowest >= .public ? "public " : "")\(declaration) { value(forKey: \"\(name)\") as? [\(target.name)] }\n"
    }

    private mutating func property(_ name: String, _ type: String, _ modifier: String) {
        text += """
                \(modifier)var \(SwiftName.escaped(name)): \(type) {
                    get { managedValue(forProperty: "\(name)") }
                    set { setManagedValue(newValue, forProperty: "\(name)") }
                }

            """
    }

    // MARK: Classes around it

    /// What is declared by what was written, for the types of other declarations.
    var generatedTypes: [ScannedSource.DeclaredType] {
        classes.entities.compactMap { item in
            guard item.entity.codeGeneration == .class, let name = item.className else { return nil }
            return .init(
                path: [name], meaning: .nominal(.class), access: access(of: item), isGeneric: false, inherited: [[superclass(of: item)]])
        }
    }

    private func superclass(of item: ModelClasses.Entity) -> String {
        guard let parent = item.entity.parent, let entity = classes.entity(parent, beside: item) else { return "NSManagedObject" }
        return className(of: entity)
    }

    /// A class of nobody's is `NSManagedObject`, as it is when the model is read.
    private func className(of item: ModelClasses.Entity) -> String {
        if let foreign = item.foreignName { return foreign }
        guard let name = item.className, item.entity.codeGeneration == .class || own.declaration([name], from: nil) != nil else {
            return "NSManagedObject"
        }
        return name
    }

    private func target(_ destination: String, _ item: ModelClasses.Entity) -> (name: String, access: ScannedSource.Access, module: String?) {
        guard let entity = classes.entity(destination, beside: item) else { return ("NSManagedObject", .public, nil) }
        let name = className(of: entity)
        return (name, entity.className == name ? access(of: entity) : .public, entity.foreignName.map(module))
    }

    /// Remembers that a class of another module is named.
    private mutating func name(_ module: String, _ access: ScannedSource.Access) {
        foreignModules.insert(module)
        imports.add([module], access)
    }

    private func module(of className: String) -> String { String(className.prefix { $0 != "." }) }

    /// A class that somebody wrote is as visible as they say; a generated one as its superclass.
    private func access(of item: ModelClasses.Entity) -> ScannedSource.Access {
        var item = item, seen: Set<String> = []
        while item.entity.codeGeneration == .class, seen.insert(item.entity.name).inserted {
            guard let parent = item.entity.parent, let entity = classes.entity(parent, beside: item) else { return .public }
            item = entity
        }
        guard let name = item.className else { return .public }
        return own.access(of: [name], from: nil) ?? .public
    }

    /// When the class is identifiable without a word of ours: somebody said so, or it is so by its superclass.
    private func conditionsOfIdentity(_ item: ModelClasses.Entity, _ name: String) -> [[String]] {
        let generated = Set(classes.entities.filter(classes.isWritten).compactMap(\.className)).subtracting([name])
        let conformances = Conformances(own: own.adding(generatedTypes), dependency: dependency)
        let said = conformances.conditions(of: [name], for: "Identifiable") { $0.count == 1 && generated.contains($0[0]) }
        guard said.isEmpty, item.entity.codeGeneration == .class, let parent = item.entity.parent,
            let foreign = classes.entity(parent, beside: item)?.foreignName, let types = dependency(module(of: foreign))
        else { return said }
        return Conformances(own: types, dependency: dependency).conditions(of: foreign.split(separator: ".").map(String.init), for: "Identifiable") {
            _ in
            false
        }
    }

    private mutating func complain(_ item: ModelClasses.Entity, _ message: String) {
        complaints.append(ClassesComplaint(path: item.file.path, line: item.entity.line, message))
    }
}
