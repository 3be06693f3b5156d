import Foundation
import JSONPaths
import ModelFiles

/// What a model's user info says to importers of JSON: which keys of a record fill a property, by what an object is recognised, and how dates are
/// written. The words are those of Sync, MagicalRecord and Groot.
struct ImporterKeys {
    let file: ModelFile
    let rank: Int
    let complaints: Complaints

    private static let pathKeys = ["sync.remoteKey", "hyper.remoteKey", "JSONKeyPath"]
    private static let mappedKey = "mappedKeyName"
    private static let primaryKeys = ["sync.isPrimaryKey", "hyper.isPrimaryKey"]
    private static let identityKeys = ["identityAttributes", "identityAttribute"]
    private static let relatedKey = "relatedByAttribute"
    private static let dateFormatKey = "dateFormat"
    /// Words of the same importers that are not read.
    private static let unreadKeys = [
        "sync.valueTransformer", "hyper.valueTransformer", "JSONTransformerName", "entityMapperName", "importClassName", "excludeFromImport",
        "useDefaultValueWhenNotPresent", "attributeValueClassName", "distinctAttribute", "dateFormat.1",
    ]

    /// Names of attributes, and the line that says so.
    typealias EntityKey = (names: [String], line: Int)

    /// Whether the model says by what objects are recognised, or they have an attribute that is taken for that where nobody says.
    func hasKey(_ entity: ModelFile.Entity, _ lineage: [ModelFile.Entity]) -> Bool {
        key(of: entity, lineage, isSaid: true) != nil
            || lineage.flatMap(\.attributes).contains {
                ["id", "remoteID"].contains($0.property.name) && !$0.property.isTransient && $0.derivation == nil
            }
    }

    /// By what objects are recognised; nil if the model does not say.
    ///
    /// - Parameter isSaid: whether the configuration says it, so that it does not matter what the model says.
    func key(of entity: ModelFile.Entity, _ lineage: [ModelFile.Entity], isSaid: Bool = false) -> EntityKey? {
        let subject = Subject.root.element("entity", entity.name).key("key")
        var found: (word: String, key: EntityKey)?
        func take(_ word: String, _ names: [String], _ line: Int) {
            guard !names.isEmpty else { return }
            guard let first = found else {
                found = (word, (names, line))
                return
            }
            guard Set(first.key.names) != Set(names), !isSaid else { return }
            complaints.add(
                at: place(line), subject,
                "\(first.word) makes the key \(first.key.names.joined(separator: ", ")), \(word) makes it \(names.joined(separator: ", "))",
                "leave one of them in the model, or write key = […] here")
        }
        for word in Self.identityKeys {
            // A subentity's come in addition to those of its parent.
            let names = lineage.flatMap { ($0.userInfo[word] ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) } }
            take(word, names.filter { !$0.isEmpty }, entity.line)
        }
        if let name = lineage.reversed().compactMap({ $0.userInfo[Self.relatedKey] }).first { take(Self.relatedKey, [name], entity.line) }
        for word in Self.primaryKeys {
            let attributes = lineage.flatMap(\.attributes).map(\.property).filter { Self.isTrue($0.userInfo[word]) }
            take(word, attributes.map(\.name), attributes.first?.line ?? entity.line)
        }
        for owner in file.entities {
            for relationship in owner.relationships where relationship.destination == entity.name {
                guard let name = relationship.property.userInfo[Self.relatedKey] else { continue }
                take("\(Self.relatedKey) of \(owner.name).\(relationship.property.name)", [name], relationship.property.line)
            }
        }
        if let found { return found.key }
        guard let constraint = lineage.flatMap(\.constraints).first(where: { !$0.isEmpty }) else { return nil }
        return (constraint, entity.line)
    }

    /// Whether only properties with a path of their own are filled: so Groot reads an entity in which one has a path.
    func mapsByPathsOnly(_ lineage: [ModelFile.Entity]) -> Bool {
        lineage.contains { entity in
            entity.attributes.contains { $0.property.userInfo["JSONKeyPath"] != nil }
                || entity.relationships.contains { $0.property.userInfo["JSONKeyPath"] != nil }
        }
    }

    /// The paths into a record, of which the first that exists counts; none if the model does not say.
    ///
    /// - Parameter isSaid: whether the configuration says them.
    func paths(_ property: ModelFile.Property, isSaid: Bool, _ subject: Subject) -> [String] {
        var found: (word: String, paths: [String])?
        func take(_ word: String, _ values: [String]) {
            guard !values.isEmpty else { return }
            let paths = values.map { JSONPath(keys: $0.split(separator: ".").map(String.init)).description }
            guard let first = found else {
                found = (word, paths)
                return
            }
            guard first.paths != paths, !isSaid else { return }
            complaints.add(
                at: place(property.line), subject.key("path"),
                "\(first.word) leads to \(first.paths.joined(separator: ", ")), \(word) to \(paths.joined(separator: ", "))",
                "leave one of them in the model, or write path = \"…\" here")
        }
        for word in Self.pathKeys { take(word, [property.userInfo[word]].compactMap(\.self).filter { !$0.isEmpty }) }
        let words = [Self.mappedKey] + (0...9).map { "\(Self.mappedKey).\($0)" }
        take(Self.mappedKey, words.compactMap { property.userInfo[$0] }.filter { !$0.isEmpty })
        return found?.paths ?? []
    }

    /// How a date is written, as the configuration says it; nil if the model does not say, or not in a way that can be said here.
    func dateFormat(_ property: ModelFile.Property, _ subject: Subject) -> String? {
        guard let text = property.userInfo[Self.dateFormatKey], !text.isEmpty else { return nil }
        // MagicalRecord's word for milliseconds.
        if text == "UnixTime" { return "unix-ms" }
        if let pattern = Self.directives(of: text) { return pattern }
        complaints.add(
            .warning, at: place(property.line), subject.key("format"),
            "\(Self.dateFormatKey) \"\(text)\" can't be said in this configuration's words",
            "write format = \"…\" here")
        return nil
    }

    /// Says what is not read.
    func warnOfOthers(_ userInfo: [String: String], _ line: Int, _ subject: Subject) {
        for word in Self.unreadKeys where userInfo[word] != nil {
            complaints.add(.warning, at: place(line), subject, "\(word) is not read", "values are taken as the record has them")
        }
    }

    private func place(_ line: Int) -> DocumentNode.Place { .init(file: file.path, rank: rank, line: line) }

    private static func isTrue(_ text: String?) -> Bool { ["true", "yes", "1"].contains((text ?? "").lowercased()) }

    /// The pattern of a formatter of Cocoa (Unicode TR 35) in directives of `strptime`; nil if it has a field that there is none for.
    static func directives(of pattern: String) -> String? {
        var result = "", rest = Substring(pattern)
        while let letter = rest.first {
            if letter == "'" {
                guard let literal = literal(&rest) else { return nil }
                result += literal.replacing("%", with: "%%")
            } else if letter.isASCII, letter.isLetter {
                let field = rest.prefix { $0 == letter }
                guard let directive = directive(letter, count: field.count) else { return nil }
                result += directive
                rest = rest.dropFirst(field.count)
            } else {
                result += letter == "%" ? "%%" : String(letter)
                rest = rest.dropFirst()
            }
        }
        return result
    }

    /// For a letter that stands so often in a row.
    private static func directive(_ letter: Character, count: Int) -> String? {
        switch (letter, count) {
        case ("y", 2): "%y"
        case ("y", 1), ("y", 4): "%Y"
        case ("M", 1...2): "%m"
        case ("M", 3): "%b"
        case ("M", 4): "%B"
        case ("d", 1...2): "%d"
        case ("E", 1...3): "%a"
        case ("E", 4): "%A"
        case ("H", 1...2): "%H"
        case ("h", 1...2): "%I"
        case ("m", 1...2): "%M"
        case ("s", 1...2): "%S"
        case ("S", 1...9): "%f"
        case ("a", 1): "%p"
        case ("Z", 1...3), ("Z", 5), ("X", 2...3), ("x", 2...3): "%z"
        default: nil
        }
    }

    /// What stands between quotes, of which two in a row are one, within and without; nil if there is no end.
    private static func literal(_ rest: inout Substring) -> String? {
        rest = rest.dropFirst()
        if rest.first == "'" {
            rest = rest.dropFirst()
            return "'"
        }
        var literal = ""
        while let end = rest.firstIndex(of: "'") {
            literal += rest[..<end]
            rest = rest[rest.index(after: end)...]
            guard rest.first == "'" else { return literal }
            literal += "'"
            rest = rest.dropFirst()
        }
        return nil
    }
}
