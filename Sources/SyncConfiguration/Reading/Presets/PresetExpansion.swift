/// Puts what presets say into the sources that name them. What comes of it is a document as any other: whoever reads on knows no presets.
struct PresetExpansion {
    private let library: PresetLibrary
    private let complaints: Complaints
    /// Every file that was looked for, by name; nil where it is of no use.
    private var known: [String: PresetFile?] = [:]
    private var entities = PresetEntities()
    private var uses: [Use] = []
    /// The paths of the files that were read.
    private(set) var paths: [String] = []

    /// A source with a preset.
    private struct Use {
        let preset: Preset
        let prefix: String
        let server: String
        let place: DocumentNode.Place
        let subject: Subject
    }

    init(_ library: PresetLibrary, _ complaints: Complaints) {
        self.library = library
        self.complaints = complaints
    }

    /// A file in which each source that names a preset, and has no name, is called as the preset is: files are merged by names.
    static func named(_ document: DocumentNode) -> DocumentNode {
        guard var table = document.table, let node = table["source"], let sources = node.array,
            sources.contains(where: { $0.table?["preset"] != nil && $0.table?["name"] == nil })
        else { return document }
        let named = sources.map { source -> DocumentNode in
            guard var table = source.table, table["name"] == nil, let preset = table["preset"], preset.string != nil else { return source }
            table["name"] = preset
            return DocumentNode(value: .table(table), place: source.place)
        }
        table["source"] = DocumentNode(value: .array(named), place: node.place)
        return DocumentNode(value: .table(table), place: document.place)
    }

    /// The document with each source as it is with its preset. One whose preset cannot be used is left out; the complaints say why.
    mutating func expand(_ document: DocumentNode) -> DocumentNode {
        guard var table = document.table, let node = table["source"], let sources = node.array else { return document }
        var expanded: [DocumentNode] = []
        for (index, source) in sources.enumerated() {
            if let source = expand(source, number: index + 1) { expanded.append(source) }
        }
        checkSharing()
        table["source"] = DocumentNode(value: .array(expanded), place: node.place)
        return DocumentNode(value: .table(table), place: document.place)
    }

    /// The entities of presets that the document refers to, as a document that others are merged over; nil: none.
    func entities(for document: DocumentNode) -> DocumentNode? { entities.wanted(by: document) }

    private mutating func expand(_ source: DocumentNode, number: Int) -> DocumentNode? {
        guard let table = source.table else { return source }
        let subject = Subject.root.element("source", table["name"]?.string, number: number)
        let (use, origins) = use(of: source, subject)
        guard let named = table["preset"] else {
            for key in PresetUseTable.names {
                guard let stray = table[key] else { continue }
                complaints.add(
                    at: stray.place, subject, key: key, "\"\(key)\" is for a source with a preset", "write preset = \"NAME\", or remove it")
            }
            return source
        }
        guard let name = use.preset, let file = file(named: name, at: named.place, subject.key("preset")) else { return nil }
        let own = source.keeping { !PresetUseTable.names.contains($0) }.table ?? [:]
        let with = Layer(node: table["with"], subject: subject.key("with"))
        let values = PresetValues(of: file, with, source: source.place, complaints)
        let prefix = use.prefix ?? ""
        let selection = PresetSelection(
            of: file, values, use.resources, at: origins["resources"] ?? source.place, own: own, subject: subject, complaints: complaints)
        let preset = offered(file, selection.resources(), prefix: prefix)
        var merged = PresetMerge.merged(preset, own, at: source.place)
        addCredentials(of: file, to: &merged, Layer(node: source, subject: subject))
        let filled = PresetPlaces(values: values, complaints: complaints, subject: subject).filled(merged)
        entities.add(
            PresetEntities.renamed(file.entities, prefix: prefix), of: name, prefix: prefix, at: named.place, subject, complaints)
        uses.append(
            Use(preset: file.preset, prefix: prefix, server: filled["base_url"]?.string ?? "", place: named.place, subject: subject))
        return DocumentNode(value: .table(filled), place: source.place)
    }

    private func use(of source: DocumentNode, _ subject: Subject) -> (PresetUseTable, [String: DocumentNode.Place]) {
        var table = PresetUseTable()
        var origins: [String: DocumentNode.Place] = [:]
        let keys = source.keeping { $0 != "with" && PresetUseTable.names.contains($0) }
        table.apply(Layer(node: keys, subject: subject), to: complaints, origins: &origins)
        return (table, origins)
    }

    private mutating func file(named name: String, at place: DocumentNode.Place, _ subject: Subject) -> PresetFile? {
        if let file = known[name] { return file }
        // Before all other files, and before the model's: what those say counts.
        let file = library.file(named: name, rank: -1000 + known.count, at: place, subject, complaints)
        known[name] = .some(file)
        if let file { paths.append(file.preset.path) }
        return file
    }

    /// What the preset says of the source, with the resources that are wanted.
    private func offered(_ file: PresetFile, _ resources: [DocumentNode], prefix: String) -> [String: DocumentNode] {
        var source = file.source
        if !prefix.isEmpty {
            let place = DocumentNode.Place(file: file.preset.path, rank: 0)
            let node = DocumentNode(value: .table(source), place: place)
            source = PresetEntities.renamed(node, key: "entity", among: file.entities, prefix: prefix).table ?? source
        }
        let place = file.source["resource"]?.place ?? DocumentNode.Place(file: file.preset.path, rank: 0)
        let renamed = resources.map {
            prefix.isEmpty ? $0 : PresetEntities.renamed($0, key: "entity", among: file.entities, prefix: prefix)
        }
        source["resource"] = DocumentNode(value: .array(renamed), place: place)
        return source
    }

    // MARK: What a source has to add

    /// Complains of each credential that is missing, unless the source authenticates itself in another way.
    private func addCredentials(of file: PresetFile, to source: inout [String: DocumentNode], _ layer: Layer) {
        let meant = file.source["auth"]?.table?["kind"]?.string
        for credential in file.preset.credentials {
            let keys = credential.keyPath.split(separator: ".").map(String.init)
            guard let table = keys.first, let key = keys.last, keys.count == 2 else { continue }
            if table == "auth", source["auth"]?.table?["kind"]?.string != meant { continue }
            guard source[table]?.table?[key] == nil, let place = source[table]?.place ?? layer.node?.place else { continue }
            complaints.add(
                at: layer.node?.place, layer.subject.key(table), key: key, "\"\(credential.keyPath)\" is missing: \(credential.meaning)",
                "write \(credential.keyPath) = { credential = \"ID\" }")
            // Something in its place: it is said once that it is missing.
            let standIn = DocumentNode(value: .table(["credential": DocumentNode(value: .string("x"), place: place)]), place: place)
            var entries = source[table]?.table ?? [:]
            entries[key] = standIn
            source[table] = DocumentNode(value: .table(entries), place: place)
        }
    }

    /// Sources share entities only where one key means one thing.
    private func checkSharing() {
        for (index, use) in uses.enumerated() {
            let earlier = uses[..<index].first { $0.preset.name == use.preset.name && $0.prefix == use.prefix }
            guard let other = earlier, use.preset.uniqueness == .account || other.server != use.server else { continue }
            let scope = use.preset.uniqueness == .account ? "account" : "server"
            complaints.add(
                at: use.place, use.subject, key: "preset",
                "another source has the entities of this preset, whose keys are unique within one \(scope) only",
                "write entity_prefix = \"…\" in one of the two")
        }
    }
}
