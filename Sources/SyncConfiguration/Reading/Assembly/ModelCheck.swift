/// Checks between the entities: targets that exist, inverses that point back, keys, and names that do not clash.
struct ModelCheck {
    let complaints: Complaints
    /// Where entities, their keys, properties and keys of properties stand: `[entity]`, `[entity, property]`, `[entity, property, key]`.
    var places: [[String]: DocumentNode.Place] = [:]
    private var index = ModelIndex(ModelConfiguration())

    init(complaints: Complaints) {
        self.complaints = complaints
    }

    /// Checks the model as a whole and fills in what follows from it: undeclared keys, and inverses that only the other side declares.
    mutating func finish(_ model: inout ModelConfiguration) {
        index = ModelIndex(model)
        checkEntityNames(model)
        checkFormerNames(model)
        for index in model.entities.indices {
            fillKey(&model.entities[index])
            checkVersion(model.entities[index])
            checkPropertyNames(model.entities[index])
            checkClaims(model.entities[index])
        }
        for entity in model.entities {
            for relationship in entity.relationships { checkRelationship(relationship, of: entity, model) }
        }
        fillInverses(&model)
    }

    private func subject(_ entity: String) -> Subject { Subject.root.element("entity", entity) }

    private func subject(_ entity: EntityConfiguration, _ property: String) -> Subject {
        index.relationship(property, of: entity.name) != nil
            ? subject(entity.name).element("relationship", property, keyed: "relationships")
            : subject(entity.name).element("attribute", property, keyed: "attributes")
    }

    /// Whose rows are meant by a name must be clear.
    private func checkFormerNames(_ model: ModelConfiguration) {
        var taken: [String: String] = [:]
        for entity in model.entities {
            guard let former = model.renamed[entity.name] else { continue }
            let place = places[[entity.name]], subject = subject(entity.name)
            if model.entity(named: former) != nil {
                complaints.add(
                    at: place, subject, key: "renamed_from", "\"\(former)\" is an entity of its own",
                    "remove renamed_from once the store has been brought to the new name; exchange names in two steps")
            } else if let other = taken.updateValue(entity.name, forKey: former) {
                complaints.add(at: place, subject, key: "renamed_from", "\"\(other)\" was called \"\(former)\" as well", "say it of one of them")
            }
        }
    }

    private func checkEntityNames(_ model: ModelConfiguration) {
        var seen: [String: String] = [:]
        for entity in model.entities {
            let place = places[[entity.name]]
            let upper = entity.name.uppercased()
            if !Self.isIdentifier(entity.name) {
                complaints.add(
                    at: place, subject(entity.name), "\"\(entity.name)\" is not a name",
                    "use letters, digits and \"_\", beginning with a letter")
            } else if upper.hasPrefix("Z_") || upper.hasPrefix("CISTERN") || upper.hasPrefix("SQLITE_") {
                complaints.add(
                    at: place, subject(entity.name), "names beginning with Z_, cistern and sqlite_ are reserved for the database",
                    "use another name")
            }
            if let other = seen[upper] {
                complaints.add(at: place, subject(entity.name), "the name differs from \"\(other)\" only in case", "rename one of them")
            }
            seen[upper] = entity.name
        }
        for entity in model.entities {
            guard let other = seen["Z" + entity.name.uppercased()] else { continue }
            complaints.add(
                at: places[[other]], subject(other), "the table of \"\(entity.name)\" already has this name", "use another name")
        }
    }

    static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.utf8.first, (0x41...0x5A).contains(first) || (0x61...0x7A).contains(first), name.utf8.count <= 128 else {
            return false
        }
        return name.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == 0x5F
        }
    }

    /// The attribute `id`, else `remoteID`, is the key of an entity that names none.
    private func fillKey(_ entity: inout EntityConfiguration) {
        let keySubject = subject(entity.name).key("key")
        if places[[entity.name, "key"]] == nil {
            if let name = ["id", "remoteID"].first(where: { index.attribute($0, of: entity.name) != nil }) {
                entity.key = [name]
            } else {
                let guess = entity.attributes.first { $0.type.mayBeKey }.map { "[\"\($0.name)\"]" } ?? "[\"id\"], and declare the attribute"
                complaints.add(
                    at: places[[entity.name]], keySubject, "there is no key, and no attribute \"id\" or \"remoteID\"",
                    "write key = \(guess)")
                return
            }
        }
        checkKey(entity, keySubject)
    }

    private func checkKey(_ entity: EntityConfiguration, _ subject: Subject) {
        let document = DocumentNode(value: .table([:]), place: .init(file: complaints.mainFile, rank: 0))
        Assembly(document: document, environment: [:], files: ConfigurationTexts([:]), complaints: complaints)
            .checkKey(entity.key, of: entity, index, at: places[[entity.name, "key"]] ?? places[[entity.name]], subject)
    }

    /// How new a record is has to be said by it, and to have an order.
    private func checkVersion(_ entity: EntityConfiguration) {
        guard let name = entity.versionField else { return }
        let place = places[[entity.name, "", "version_field"]] ?? places[[entity.name]], subject = subject(entity.name).key("version_field")
        guard let attribute = entity.attribute(named: name) else {
            let known = entity.attributes.filter(\.type.mayBeVersion).map(\.name)
            complaints.add(
                at: place, subject, "\"\(entity.name)\" has no attribute \"\(name)\"",
                known.isEmpty ? "declare it, as a date, a number or a text" : suggestion(for: name, among: known, kind: "its attributes"))
            return
        }
        if !attribute.type.mayBeVersion {
            complaints.add(
                at: place, subject, "\"\(name)\" is of the type \(attribute.type), which does not say what is later",
                "name an attribute of the type date, int16, int32, int64, decimal or string")
        } else if entity.key.contains(name) {
            complaints.add(
                at: place, subject, "\"\(name)\" is of the key: two records that differ in it are two rows", "name another attribute, or remove it")
        } else if !attribute.isRead {
            complaints.add(at: place, subject, "\"\(name)\" has read = false, so that no record says it", "remove one of them")
        }
    }

    private func checkPropertyNames(_ entity: EntityConfiguration) {
        var seen: [String: String] = [:]
        for name in entity.attributes.map(\.name) + entity.relationships.map(\.name) {
            if entity.derivedKey != nil, name == EntityConfiguration.keyAttribute { continue }
            let place = places[[entity.name, name]]
            let subject = subject(entity, name)
            if !Self.isIdentifier(name) {
                complaints.add(
                    at: place, subject, "\"\(name)\" is not a name",
                    "use letters, digits and \"_\", beginning with a letter, and a path for the JSON key")
            } else if NameMatch.objectWords.contains(name) {
                let better = entity.name.prefix(1).lowercased() + entity.name.dropFirst() + name.prefix(1).uppercased() + name.dropFirst()
                complaints.add(
                    at: place, subject, "every object already has a property \"\(name)\"",
                    "call it \"\(better)\", which matches the JSON key \"\(name)\" as well")
            } else if name.lowercased().hasPrefix("cistern") {
                complaints.add(
                    at: place, subject, "names beginning with cistern are reserved for the bookkeeping of every row",
                    "use another name, and a path for the JSON key")
            }
            if let other = seen[name.lowercased()] {
                complaints.add(at: place, subject, "the name differs from \"\(other)\" only in case", "rename one of them")
            }
            seen[name.lowercased()] = name
        }
    }

    /// A property without a path may not match a key that another property takes.
    private func checkClaims(_ entity: EntityConfiguration) {
        var claims: [String: (property: String, byName: Bool)] = [:]
        let properties = entity.readProperties
        var reported: Set<String> = []
        for (name, paths) in properties {
            let byName = paths.isEmpty
            let keys = byName ? NameMatch.candidates(for: name, in: entity) : paths.compactMap(\.singleKey)
            for key in keys {
                guard let other = claims[key], other.property != name else {
                    claims[key] = (name, byName)
                    continue
                }
                if byName || other.byName, reported.insert(name).inserted {
                    let place = places[[entity.name, name]]
                    complaints.add(
                        at: place, subject(entity, name), "\"\(name)\" and \"\(other.property)\" both claim the JSON key \"\(key)\"",
                        "write a path at \(byName && other.byName ? "both" : "\"\(byName ? name : other.property)\"")")
                }
            }
        }
    }

    private func checkRelationship(_ relationship: RelationshipConfiguration, of entity: EntityConfiguration, _ model: ModelConfiguration) {
        let subject = subject(entity, relationship.name)
        func place(_ key: String) -> DocumentNode.Place? {
            places[[entity.name, relationship.name, key]] ?? places[[entity.name, relationship.name]]
        }
        guard let target = index.entity(relationship.destination).map({ model.entities[$0] }) else {
            complaints.add(
                at: place("to"), subject.key("to"), "there is no entity \"\(relationship.destination)\"",
                suggestion(for: relationship.destination, among: model.entities.map(\.name), kind: "known entities"))
            return
        }
        if relationship.match == .key || relationship.match == .keys, target.key.count > 1 {
            complaints.add(
                at: place("match"), subject.key("match"),
                "\"\(target.name)\" has a key of \(target.key.count) attributes, which one value cannot supply",
                "use match = \"embedded\", or a key of one attribute")
        }
        if let kind = target.derivedKey, relationship.match == .key || relationship.match == .keys {
            complaints.add(
                at: place("match"), subject.key("match"), "\"\(target.name)\" has key = \"\(kind.rawValue)\", which no value can name",
                "use match = \"embedded\", or set the relationship from the other side")
        }
        guard case .declared(let name) = relationship.inverse else { return }
        guard let inverse = index.relationship(name, of: target.name).map({ target.relationships[$0] }) else {
            complaints.add(
                at: place("inverse"), subject.key("inverse"), "\"\(target.name)\" has no relationship \"\(name)\"",
                target.relationships.isEmpty
                    ? "declare it: [entity.\(target.name).relationships] \(tomlKey(name)) = { to = \"\(entity.name)\" }"
                    : suggestion(for: name, among: target.relationships.map(\.name), kind: "its relationships"))
            return
        }
        if inverse.destination != entity.name {
            complaints.add(
                at: place("inverse"), subject.key("inverse"),
                "\"\(target.name).\(name)\" leads to \"\(inverse.destination)\", not back to \"\(entity.name)\"",
                "name a relationship of \"\(target.name)\" that leads to \"\(entity.name)\"")
        } else if case .declared(let back) = inverse.inverse, back != relationship.name {
            complaints.add(
                at: place("inverse"), subject.key("inverse"), "\"\(target.name).\(name)\" has the inverse \"\(back)\"",
                "make both sides name each other")
        }
    }

    /// Gives a side without an inverse the one that the other side declares; two that claim the same one are an error.
    private func fillInverses(_ model: inout ModelConfiguration) {
        for entity in model.entities {
            for relationship in entity.relationships {
                guard case .declared(let name) = relationship.inverse,
                    let target = index.entity(relationship.destination), let index = index.relationship(name, of: relationship.destination)
                else { continue }
                let inverse = model.entities[target].relationships[index]
                guard inverse.destination == entity.name else { continue }
                switch inverse.inverse {
                case .none: model.entities[target].relationships[index].inverse = .implied(relationship.name)
                case .implied(let other) where other != relationship.name:
                    complaints.add(
                        at: places[[entity.name, relationship.name, "inverse"]], subject(entity, relationship.name).key("inverse"),
                        "\"\(relationship.destination).\(name)\" is already the inverse of \"\(other)\"", "name another, or none")
                default: break
                }
            }
        }
    }
}
