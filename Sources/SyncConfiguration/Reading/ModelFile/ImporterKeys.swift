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
    /// Of an entity the attribute, or the key of a record that fills it; of an attribute whether it belongs to the key, or the key of a record.
    private static let remotePrimaryKey = "remotePrimaryKey"
    private static let identityKeys = ["identityAttributes", "identityAttribute"]
    private static let relatedKey = "relatedByAttribute"
    private static let dateFormatKeys = ["dateFormat"] + (0...9).map { "dateFormat.\($0)" }
    /// Words of the same importers that are not read.
    private static let unreadKeys = [
        "sync.valueTransformer", "hyper.valueTransformer", "JSONTransformerName", "entityMapperName", "importClassName", "excludeFromImport",
        "useDefaultValueWhenNotPresent", "attributeValueClassName", "distinctAttribute",
    ]

    /// Names of attributes, and the line that says so.
    typealias EntityKey = (names: [String], line: Int)

    /// What one word says of an entity's key.
    private struct KeyClaim {
        let word: String
        let names: [String]
        let line: Int

        /// Without a full stop: "relatedByAttribute names cod, which is no attribute of City"; nil if it names attributes.
        func complaint(_ entity: ModelFile.Entity, among attributes: Set<String>) -> String? {
            let missing = names.filter { !attributes.contains($0) }
            if missing.isEmpty { return nil }
            return "\(word) names \(missing.joined(separator: ", ")), which \(missing.count == 1 ? "is no attribute" : "are no attributes") of "
                + entity.name
        }
    }

    /// Why an entity has no key, and the line that says so; nil if the model says by what its objects are recognised, or they have an attribute that is
    /// taken for that where nobody says.
    ///
    /// - Parameter attributes: the names of those that its table has.
    func lackOfKey(_ entity: ModelFile.Entity, _ lineage: [ModelFile.Entity], among attributes: Set<String>) -> (reason: String, line: Int)? {
        let claims = claims(of: entity, lineage, among: attributes), complaints = claims.compactMap { $0.complaint(entity, among: attributes) }
        // Another key than the one that is meant is worse than none.
        if let first = claims.first, complaints.count == claims.count { return (complaints[0], first.line) }
        let isSaid = !claims.isEmpty || constraint(lineage) != nil || ["id", "remoteID"].contains { attributes.contains($0) }
        return isSaid ? nil : ("nothing says by what its objects are recognised", entity.line)
    }

    /// By what objects are recognised; nil if the model does not say. What names no attribute counts only where nothing else is said.
    ///
    /// - Parameters:
    ///   - attributes: the names of those that its table has.
    ///   - isSaid: whether the configuration says it, so that it does not matter what the model says.
    func key(of entity: ModelFile.Entity, _ lineage: [ModelFile.Entity], among attributes: Set<String>, isSaid: Bool) -> EntityKey? {
        let subject = Subject.root.element("entity", entity.name).key("key"), claims = claims(of: entity, lineage, among: attributes)
        guard let first = claims.first(where: { $0.complaint(entity, among: attributes) == nil }) else {
            if let stray = claims.first { return (stray.names, stray.line) }
            return constraint(lineage).map { ($0, entity.line) }
        }
        for claim in claims where !isSaid {
            if let complaint = claim.complaint(entity, among: attributes) {
                complaints.add(
                    .warning, at: place(claim.line), subject, "\(complaint): it says nothing of the key",
                    "\(first.word) makes it \(first.names.joined(separator: ", "))")
            } else if Set(first.names) != Set(claim.names) {
                complaints.add(
                    at: place(claim.line), subject,
                    "\(first.word) makes the key \(first.names.joined(separator: ", ")), \(claim.word) makes it "
                        + claim.names.joined(separator: ", "),
                    "leave one of them in the model, or write key = […] here")
            }
        }
        return (first.names, first.line)
    }

    private func constraint(_ lineage: [ModelFile.Entity]) -> [String]? { lineage.flatMap(\.constraints).first { !$0.isEmpty } }

    private func claims(of entity: ModelFile.Entity, _ lineage: [ModelFile.Entity], among attributes: Set<String>) -> [KeyClaim] {
        var claims: [KeyClaim] = []
        func take(_ word: String, _ names: [String], _ line: Int) {
            if !names.isEmpty { claims.append(KeyClaim(word: word, names: names, line: line)) }
        }
        for word in Self.identityKeys {
            // A subentity's come in addition to those of its parent.
            let names = lineage.flatMap { ($0.userInfo[word] ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) } }
            take(word, names.filter { !$0.isEmpty }, entity.line)
        }
        let related = lineage.reversed().compactMap { $0.userInfo[Self.relatedKey] }.first { !$0.isEmpty }
        take(Self.relatedKey, [related].compactMap(\.self), entity.line)
        let own = lineage.flatMap(\.attributes).map(\.property)
        for word in Self.primaryKeys {
            let marked = own.filter { Self.isTrue($0.userInfo[word]) }
            take(word, marked.map(\.name), marked.first?.line ?? entity.line)
        }
        if let name = lineage.reversed().compactMap({ $0.userInfo[Self.remotePrimaryKey] }).first(where: Self.says) {
            let filled = Self.attribute(filledBy: name, of: entity, own.filter { attributes.contains($0.name) })
            take(Self.remotePrimaryKey, [filled ?? name], entity.line)
        }
        let marked = own.filter { $0.userInfo[Self.remotePrimaryKey].map(Self.says) ?? false }
        take(
            "\(Self.remotePrimaryKey) of \(marked.map(\.name).joined(separator: ", "))", marked.map(\.name), marked.first?.line ?? entity.line)
        for owner in file.entities {
            for relationship in owner.relationships where relationship.destination == entity.name {
                guard let name = relationship.property.userInfo[Self.relatedKey], !name.isEmpty else { continue }
                take("\(Self.relatedKey) of \(owner.name).\(relationship.property.name)", [name], relationship.property.line)
            }
        }
        return claims
    }

    /// The attribute that a key of a record fills, or that is called so.
    private static func attribute(filledBy key: String, of entity: ModelFile.Entity, _ attributes: [ModelFile.Property]) -> String? {
        if let told = attributes.first(where: { keysSaid($0, isAttribute: true).contains { $0.keys.contains(key) } }) { return told.name }
        if attributes.contains(where: { $0.name == key }) { return key }
        let untold = attributes.map { (name: $0.name, isTold: !keysSaid($0, isAttribute: true).isEmpty) }.filter { !$0.isTold }.map(\.name)
        return untold.first { NameMatch.candidates(for: $0, in: entity.name).contains(key) }
            ?? (key == "id" ? untold.first { $0 == "remoteID" || $0 == "remote_id" } : nil)
    }

    /// Whether only properties with a path of their own are filled: so Groot reads an entity in which one has a path.
    func mapsByPathsOnly(_ lineage: [ModelFile.Entity]) -> Bool {
        lineage.contains { entity in
            entity.attributes.contains { $0.property.userInfo["JSONKeyPath"] != nil }
                || entity.relationships.contains { $0.property.userInfo["JSONKeyPath"] != nil }
        }
    }

    /// The keys of a record that fill a property, word by word.
    private static func keysSaid(_ property: ModelFile.Property, isAttribute: Bool) -> [(word: String, keys: [String])] {
        var said = pathKeys.map { (word: $0, keys: [property.userInfo[$0]].compactMap(\.self)) }
        said.append((mappedKey, ([mappedKey] + (0...9).map { "\(mappedKey).\($0)" }).compactMap { property.userInfo[$0] }))
        if isAttribute, let key = property.userInfo[remotePrimaryKey], says(key), !isTrue(key) { said.append((remotePrimaryKey, [key])) }
        return said.map { (word: $0.word, keys: $0.keys.filter { !$0.isEmpty }) }.filter { !$0.keys.isEmpty }
    }

    /// The paths into a record, of which the first that exists counts; none if the model does not say.
    ///
    /// - Parameter isSaid: whether the configuration says them.
    func paths(_ property: ModelFile.Property, isAttribute: Bool, isSaid: Bool, _ subject: Subject) -> [String] {
        var found: (word: String, paths: [String])?
        for (word, keys) in Self.keysSaid(property, isAttribute: isAttribute) {
            let paths = keys.map { JSONPath(keys: $0.split(separator: ".").map(String.init)).description }
            guard let first = found else {
                found = (word, paths)
                continue
            }
            guard first.paths != paths, !isSaid else { continue }
            complaints.add(
                at: place(property.line), subject.key("path"),
                "\(first.word) leads to \(first.paths.joined(separator: ", ")), \(word) to \(paths.joined(separator: ", "))",
                "leave one of them in the model, or write path = \"…\" here")
        }
        return found?.paths ?? []
    }

    /// How a date is written, as the configuration says it: the first of the model's formats that can be said here; nil if there is none.
    func dateFormat(_ property: ModelFile.Property, _ subject: Subject) -> String? {
        var taken: (word: String, format: String)?
        for word in Self.dateFormatKeys {
            guard let text = property.userInfo[word], !text.isEmpty else { continue }
            if let taken {
                complaints.add(
                    .warning, at: place(property.line), subject.key("format"),
                    "\(word) \"\(text)\" is not read: an attribute has one format, and \(taken.word) is taken",
                    "write format = \"…\" here if it is another one")
            } else if let format = Self.format(of: text) {
                taken = (word, format)
            } else {
                complaints.add(
                    .warning, at: place(property.line), subject.key("format"), "\(word) \"\(text)\" can't be said in this configuration's words",
                    "write format = \"…\" here")
            }
        }
        return taken?.format
    }

    /// `UnixTime` is MagicalRecord's word for milliseconds.
    private static func format(of text: String) -> String? { text == "UnixTime" ? "unix-ms" : directives(of: text) }

    /// Says what is not read.
    func warnOfOthers(_ userInfo: [String: String], _ line: Int, _ subject: Subject) {
        for word in Self.unreadKeys where userInfo[word] != nil {
            complaints.add(.warning, at: place(line), subject, "\(word) is not read", "values are taken as the record has them")
        }
    }

    private func place(_ line: Int) -> DocumentNode.Place { .init(file: file.path, rank: rank, line: line) }

    private static func isTrue(_ text: String?) -> Bool { ["true", "yes", "1"].contains((text ?? "").lowercased()) }

    /// Whether a text is true, or a name.
    private static func says(_ text: String) -> Bool { !["", "false", "no", "0"].contains(text.lowercased()) }

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
