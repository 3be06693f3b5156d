/// The file of a preset, taken apart: what it declares, and the source and the entities that it holds.
struct PresetFile {
    private(set) var preset: Preset
    /// Its one source.
    private(set) var source: [String: DocumentNode] = [:]
    /// Its entities, by name.
    private(set) var entities: [String: DocumentNode] = [:]
    /// The values of parameters where a source says none, by name.
    private(set) var defaults: [String: DocumentNode] = [:]
    /// Its resources in the order of the file, with what decides whether each is there.
    private(set) var variants: [Variant] = []

    /// A resource, or one of several of its name, of which at most one is there.
    struct Variant {
        let name: String
        let node: DocumentNode
        let conditions: PresetVariantTable
    }

    /// Takes a file apart. Mistakes go to the complaints.
    ///
    /// - Returns: nil if it is no TOML, or has no source.
    init?(_ name: String, at path: String, _ bytes: [UInt8], rank: Int, _ complaints: Complaints) {
        preset = Preset(name: name, path: path)
        preset.text = String(decoding: bytes, as: UTF8.self)
        let document: DocumentNode
        do throws(ConfigurationError) {
            document = try DocumentParser(file: path, rank: rank).parse(bytes)
        } catch {
            for problem in error.problems { complaints.add(problem) }
            return nil
        }
        let top = Layer(node: document, subject: Subject.root.element("preset", name))
        Self.check(PresetTopTable.self, top, complaints)
        takeHeader(top.table("preset"), complaints)
        guard let source = Self.onlySource(top, complaints) else { return nil }
        self.source = source
        entities = document.table?["entity"]?.table ?? [:]
        takeResources(top, complaints)
        refusePlacesInEntities(top, complaints)
    }

    private static func check<T: ConfigurationTable>(_ type: T.Type, _ layer: Layer, _ complaints: Complaints) {
        _ = read(type, layer, complaints)
    }

    private static func read<T: ConfigurationTable>(_ type: T.Type, _ layer: Layer, _ complaints: Complaints) -> T {
        var value = T()
        var origins: [String: DocumentNode.Place] = [:]
        value.apply(layer, to: complaints, origins: &origins)
        return value
    }

    // MARK: What it declares

    private mutating func takeHeader(_ layer: Layer, _ complaints: Complaints) {
        let header = Self.read(PresetTable.self, layer, complaints)
        preset.summary = header.summary
        preset.documentation = header.documentation ?? ""
        preset.uniqueness = header.uniqueness
        if header.summary.isEmpty {
            complaints.add(at: layer.node?.place, layer.subject, key: "summary", "a preset says what it mirrors", "write summary = \"…\" in [preset]")
        }
        for (name, node) in Self.tables(layer.table("with"), complaints) {
            take(parameter: name, Layer(node: node, subject: layer.subject.key("with").key(name)), complaints)
        }
        let credentials = layer.table("credentials")
        for (keyPath, node) in Self.tables(credentials, complaints) {
            if keyPath.count(where: { $0 == "." }) != 1 {
                complaints.add(
                    at: node.place, credentials.subject.key(keyPath), "\(tomlQuoted(keyPath)) is no key of a table of the source",
                    "write \"auth.token\"")
            }
            let codec = Codec<String>.text("what the service calls it", maxLength: 300)
            switch codec.read(node) {
            case .value(let meaning): preset.credentials.append(.init(keyPath: keyPath, meaning: meaning))
            case .wrong(let message, let suggestion): complaints.add(at: node.place, credentials.subject.key(keyPath), message, suggestion)
            case .later(let what): complaints.add(at: node.place, credentials.subject.key(keyPath), "\(what) is not in this version", "remove it")
            }
        }
    }

    /// The entries of a table, in the order of the file.
    private static func tables(_ layer: Layer, _ complaints: Complaints) -> [(key: String, value: DocumentNode)] {
        guard let node = layer.node else { return [] }
        guard let table = node.table else {
            complaints.add(at: node.place, layer.subject, "expected a table, found \(node.found)", "write { … }")
            return []
        }
        return table.ordered
    }

    private mutating func take(parameter name: String, _ layer: Layer, _ complaints: Complaints) {
        let table = Self.read(PresetParameterTable.self, layer, complaints)
        func complain(_ key: String, _ message: String, _ suggestion: String) {
            complaints.add(at: layer.node?.table?[key]?.place ?? layer.node?.place, layer.subject, key: key, message, suggestion)
        }
        guard Template("{\(name)}").only == Template.Reference(alias: name) else {
            return complaints.add(
                at: layer.node?.place, layer.subject, "\(tomlQuoted(name)) cannot name a parameter",
                "use letters, digits and \"_\", beginning with a letter")
        }
        guard let kind = table.kind else {
            // A type that was refused has been complained about.
            if layer.node?.table?["type"] == nil { complain("type", "\"type\" is missing", "write type = \"text\"") }
            return
        }
        var parameter = PresetParameter(name, kind, meaning: table.meaning)
        parameter.isRequired = table.isRequired
        parameter.choices = table.choices
        if table.meaning.isEmpty { complain("meaning", "\"meaning\" is missing", "write meaning = \"…\", what it is for") }
        if let node = layer.node?.table?["default"] {
            if table.isRequired { complain("default", "what is required has no default", "remove one of them") }
            switch parameter.codec.read(node) {
            case .value(let value):
                parameter.defaultValue = value
                defaults[name] = node
            case .wrong(let message, let suggestion): complain("default", message, suggestion ?? "write \(parameter.codec.expected)")
            case .later(let what): complain("default", "\(what) is not in this version", "write \(parameter.codec.expected)")
            }
        }
        preset.parameters.append(parameter)
    }

    // MARK: What it holds

    private static func onlySource(_ top: Layer, _ complaints: Complaints) -> [String: DocumentNode]? {
        let node = top.node?.table?["source"], sources = node?.array ?? []
        guard sources.count == 1, let table = sources[0].table else {
            complaints.add(
                at: node?.place ?? top.node?.place, top.subject, key: "source", "a preset has one source, and this has \(sources.count)",
                "write [[source]] once")
            return nil
        }
        for key in PresetUseTable.names + ["name"] {
            guard let stray = table[key] else { continue }
            complaints.add(at: stray.place, top.subject.key("source"), key: key, "\"\(key)\" is for the source that names the preset", "remove it")
        }
        return table
    }

    private mutating func takeResources(_ top: Layer, _ complaints: Complaints) {
        let subject = top.subject.key("source")
        let nodes = source["resource"]?.array ?? []
        if nodes.isEmpty {
            complaints.add(at: top.node?.place, subject, key: "resource", "a preset has resources", "write [[source.resource]]")
        }
        let known = preset.parameters.map(\.name)
        for (index, node) in nodes.enumerated() {
            guard let table = node.table, let name = table["name"]?.string else {
                complaints.add(
                    at: node.place, subject.element("resource", nil, number: index + 1), key: "name", "\"name\" is missing", "write name = \"…\"")
                continue
            }
            let subject = subject.element("resource", name)
            let layer = Layer(node: node.keeping { PresetVariantTable.names.contains($0) }, subject: subject)
            let conditions = Self.read(PresetVariantTable.self, layer, complaints)
            for parameter in conditions.whenGiven + conditions.whenMissing where !known.contains(parameter) {
                complaints.add(
                    at: node.place, subject, "the preset has no parameter \"\(parameter)\"",
                    suggestion(for: parameter, among: known, kind: "known parameters"))
            }
            variants.append(Variant(name: name, node: node.keeping { !PresetVariantTable.names.contains($0) }, conditions: conditions))
        }
        takeNames(top.table("preset"), complaints)
    }

    /// The resources by name, and which of them are there where a source does not choose.
    private mutating func takeNames(_ header: Layer, _ complaints: Complaints) {
        let listed = header.node?.table?["resources"], wanted = listed?.array.map { $0.compactMap(\.string) }
        for variant in variants {
            let table = variant.node.table ?? [:], parent = table["for_each"]?.table?["resource"]?.string
            if let index = preset.resources.firstIndex(where: { $0.name == variant.name }) {
                preset.resources[index].parent = preset.resources[index].parent ?? parent
                continue
            }
            preset.resources.append(
                .init(
                    name: variant.name, entity: (table["entity"] ?? source["entity"])?.string ?? "",
                    isDefault: wanted?.contains(variant.name) ?? true, parent: parent))
        }
        let names = preset.resources.map(\.name)
        for stranger in wanted ?? [] where !names.contains(stranger) {
            complaints.add(
                at: listed?.place, header.subject, key: "resources", "the preset has no resource \"\(stranger)\"",
                suggestion(for: stranger, among: names, kind: "its resources"))
        }
    }

    /// Several sources have the same entities, whatever their values are.
    private func refusePlacesInEntities(_ top: Layer, _ complaints: Complaints) {
        guard let place = top.node?.table?["entity"]?.firstText(where: { $0.contains(PresetPlaces.opening) }) else { return }
        complaints.add(
            at: place, top.subject.key("entity"), "an entity has no places for values: sources with other values have it, too",
            "write it out")
    }

    /// The resources that there are with certain values, in the order of the file.
    func resources(_ isGiven: (String) -> Bool) -> [Variant] {
        variants.filter { variant in
            variant.conditions.whenGiven.allSatisfy(isGiven) && !variant.conditions.whenMissing.contains(where: isGiven)
        }
    }
}

extension DocumentNode {
    /// Where the first text in it stands that is as it should be; nil: there is none.
    fileprivate func firstText(where isMeant: (String) -> Bool) -> Place? {
        let inner: [DocumentNode]
        switch value {
        case .string(let text): return isMeant(text) ? place : nil
        case .array(let elements): inner = elements
        case .table(let table): inner = table.ordered.map(\.value)
        case .integer, .number, .boolean, .moment: return nil
        }
        for node in inner {
            if let place = node.firstText(where: isMeant) { return place }
        }
        return nil
    }
}
