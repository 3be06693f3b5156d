import ModelFiles

/// The entities of a target's models, with what their classes are called here.
struct ModelClasses {
    struct Entity {
        var file: ModelFile
        var entity: ModelFile.Entity
        /// As it is called in the module; nil where objects are of `NSManagedObject` or of another module's class.
        var className: String?
        /// The class with its module, if that is another.
        var foreignName: String?

        /// What the developer calls the model: `Shop` for `Shop.xcdatamodeld` in whatever version.
        var modelName: String {
            let folders = file.path.split(separator: "/")
            let name = folders.first { $0.hasSuffix(".xcdatamodeld") } ?? folders.first { $0.hasSuffix(".xcdatamodel") } ?? folders.last ?? ""
            return String(name.prefix { $0 != "." })
        }

        var propertyNames: Set<String> {
            Set((entity.attributes.map(\.property) + entity.relationships.map(\.property) + entity.fetchedProperties.map(\.property)).map(\.name))
        }
    }

    let module: String
    private(set) var entities: [Entity] = []

    init(module: String, files: [ModelFile]) {
        self.module = module
        for file in files {
            for entity in file.entities {
                var item = Entity(file: file, entity: entity)
                if let name = entity.className, name != "NSManagedObject" {
                    let parts = name.split(separator: ".").map(String.init)
                    let isOwn = parts.count == 1 || parts.dropLast().joined(separator: ".") == module
                    if isOwn { item.className = parts.last } else { item.foreignName = name }
                }
                entities.append(item)
            }
        }
    }

    /// The entity of a name, in the same model.
    func entity(_ name: String, beside other: Entity) -> Entity? {
        entities.first { $0.entity.name == name && $0.file.path == other.file.path }
    }

    func isWritten(_ item: Entity) -> Bool { item.entity.codeGeneration != .none }
}

extension ModelFile.Attribute {
    /// Those of `swiftType` that need no import.
    static let standardTypes: Set = ["Int16", "Int32", "Int64", "Double", "Float", "Bool", "String?", "[String: Any]?"]

    /// The Swift type of the property that the model editor's generator declares for the attribute; nil if there is none.
    var swiftType: String? {
        switch (type, usesScalar) {
        case (.integer16, true): "Int16"
        case (.integer32, true): "Int32"
        case (.integer64, true): "Int64"
        case (.double, true): "Double"
        case (.float, true): "Float"
        case (.boolean, true): "Bool"
        case (.date, true): "TimeInterval"
        case (.integer16, _), (.integer32, _), (.integer64, _), (.double, _), (.float, _), (.boolean, _): "NSNumber?"
        case (.decimal, _): "NSDecimalNumber?"
        case (.string, _): "String?"
        case (.date, _): "Date?"
        case (.binary, _): "Data?"
        case (.uuid, _): "UUID?"
        case (.uri, _): "URL?"
        case (.objectID, _): "NSManagedObjectID?"
        case (.transformable, _), (nil, _): "\(valueClass ?? "NSObject")?"
        case (.composite, _): "[String: Any]?"
        }
    }
}
