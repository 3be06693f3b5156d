import ModelFiles

/// Writes the classes of a model's entities, as Xcode does for `codegen: class` and `category`. Properties read and write the row themselves; there
/// is nothing for a linker to miss.
struct ClassWriter {
    private static let keywords: Set = [
        "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do", "else", "enum", "extension",
        "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "nil",
        "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript",
        "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]

    let classes: ModelClasses
    let own: ModuleTypes
    private(set) var text = ""
    private(set) var complaints: [ClassesComplaint] = []
    private var written: Set<String> = []

    init(classes: ModelClasses, own: ModuleTypes) {
        self.classes = classes
        self.own = own
    }

    mutating func write() {
        for item in classes.entities where classes.isWritten(item) { write(item) }
    }

    private mutating func write(_ item: ModelClasses.Entity) {
        guard let name = item.className else {
            let why = item.foreignName.map { "its class \($0) is not of the module \(classes.module)" } ?? "it has no class"
            return complain(item, "the entity \(item.entity.name) asks for generated code, and \(why); choose a class, or Manual/None as its codegen")
        }
        // Several entities may have one class; the first says what is in it.
        guard written.insert(name).inserted else { return }
        if item.entity.codeGeneration == .category, own[[name]] == nil {
            return complain(
                item,
                "the entity \(item.entity.name) asks for an extension of the class \(name), which \(classes.module) doesn't declare; write it, or "
                    + "choose Class Definition as its codegen")
        }
        let access = access(of: item)
        let isPublic = access >= .public
        if item.entity.codeGeneration == .class {
            text += "\n/// The entity \(item.entity.name).\n\(isPublic ? "public " : "")class \(name): \(superclass(of: item)) {}\n"
        }
        text += "\nextension \(name) {\n"
        let modifier = isPublic ? "public " : ""
        text +=
            "    \(modifier)class func fetchRequest() -> NSFetchRequest<\(name)> { NSFetchRequest<\(name)>(entityName: \"\(item.entity.name)\") }\n"
        for attribute in item.entity.attributes {
            guard let type = attribute.swiftType else { continue }
            property(attribute.property.name, type, modifier)
        }
        for relationship in item.entity.relationships { self.relationship(relationship, of: item, access) }
        text += "}\n"
        if !isIdentifiable(item, name) { text += "\nextension \(name): Identifiable {}\n" }
    }

    private mutating func relationship(_ relationship: ModelFile.Relationship, of item: ModelClasses.Entity, _ access: ScannedSource.Access) {
        let name = relationship.property.name, target = target(of: relationship, item)
        let narrowest = min(access, target.access), modifier = narrowest >= .public ? "public " : ""
        guard relationship.isToMany else { return property(name, "\(target.name)?", modifier) }
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

    private mutating func property(_ name: String, _ type: String, _ modifier: String) {
        text += """
                \(modifier)var \(Self.escaped(name)): \(type) {
                    get { managedValue(forProperty: "\(name)") }
                    set { setManagedValue(newValue, forProperty: "\(name)") }
                }

            """
    }

    private static func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

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
        guard let name = item.className, item.entity.codeGeneration == .class || own[[name]] != nil else { return "NSManagedObject" }
        return name
    }

    private func target(of relationship: ModelFile.Relationship, _ item: ModelClasses.Entity) -> (name: String, access: ScannedSource.Access) {
        guard let entity = classes.entity(relationship.destination, beside: item) else { return ("NSManagedObject", .public) }
        let name = className(of: entity)
        return (name, entity.className == name ? access(of: entity) : .public)
    }

    /// A class that somebody wrote is as visible as they say; a generated one as its superclass.
    private func access(of item: ModelClasses.Entity) -> ScannedSource.Access {
        var item = item, seen: Set<String> = []
        while item.entity.codeGeneration == .class, seen.insert(item.entity.name).inserted {
            guard let parent = item.entity.parent, let entity = classes.entity(parent, beside: item) else { return .public }
            item = entity
        }
        guard let name = item.className else { return .public }
        return own.access(of: [name]) ?? .public
    }

    /// Somebody said so, or an ancestor's class is.
    private func isIdentifiable(_ item: ModelClasses.Entity, _ name: String) -> Bool {
        if own.inherited(by: [name]).contains(where: { $0.last == "Identifiable" }) { return true }
        guard let parent = item.entity.parent, let entity = classes.entity(parent, beside: item), let className = entity.className else {
            return false
        }
        return classes.isWritten(entity) || isIdentifiable(entity, className)
    }

    private mutating func complain(_ item: ModelClasses.Entity, _ message: String) {
        complaints.append(ClassesComplaint(path: item.file.path, line: item.entity.line, message))
    }
}
