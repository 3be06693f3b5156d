import Foundation

extension ModelArchive {
    /// What `newer` has that this has not, and the other way round, in sentences without a full stop.
    func differences(to newer: ModelArchive) -> [String] {
        var result: [String] = []
        let old = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { _, last in last })
        let new = Dictionary(newer.entities.map { ($0.name, $0) }, uniquingKeysWith: { _, last in last })
        for name in Set(old.keys).union(new.keys).sorted() {
            switch (old[name], new[name]) {
            case (nil, _?): result.append("entity \(name) is only in the model")
            case (_?, nil): result.append("entity \(name) is only in the store")
            case (let before?, let after?): result += before.differences(to: after)
            case (nil, nil): break
            }
        }
        return result
    }
}

extension ModelArchive.Entity {
    fileprivate func differences(to newer: Self) -> [String] {
        var result: [String] = []
        let old = Dictionary(properties.map { ($0.name, $0.words) }, uniquingKeysWith: { _, last in last })
        let new = Dictionary(newer.properties.map { ($0.name, $0.words) }, uniquingKeysWith: { _, last in last })
        for key in Set(old.keys).union(new.keys).sorted() {
            switch (old[key], new[key]) {
            case (nil, let words?): result.append("\(name).\(key) (\(words)) is only in the model")
            case (let words?, nil): result.append("\(name).\(key) (\(words)) is only in the store")
            case (let was?, let now?) where was != now: result.append("\(name).\(key) was \(was) and is now \(now)")
            default: break
            }
        }
        if parent != newer.parent { result.append("the superentity of \(name) changed") }
        if isAbstract != newer.isAbstract { result.append("\(name) changed between abstract and concrete") }
        if constraints != newer.constraints { result.append("the uniqueness constraints of \(name) changed") }
        return result
    }
}

extension ModelArchive.Property {
    /// What the version hash depends on, in words: "String, optional", "to-many Pet, inverse owner".
    fileprivate var words: String {
        var words: [String] = []
        if let relationship {
            words.append("\(relationship.isToMany ? "to-many" : "to-one") \(relationship.destination)")
            if let inverse = relationship.inverse { words.append("inverse \(inverse)") }
            if relationship.isToMany && relationship.isOrdered { words.append("ordered") }
        } else if let attribute {
            words.append(attribute.ownKind ?? NSAttributeType(rawValue: attribute.type).map { AttributeKind[$0].name } ?? "Undefined")
            if let elements = attribute.elements {
                words.append("of " + elements.map { "\($0.name) (\($0.words))" }.sorted().joined(separator: ", "))
            }
            if let transformer = attribute.transformer { words.append("transformer \(transformer)") }
        }
        if isOptional { words.append("optional") }
        if let versionHashModifier { words.append("modifier \(versionHashModifier)") }
        return words.joined(separator: ", ")
    }
}
