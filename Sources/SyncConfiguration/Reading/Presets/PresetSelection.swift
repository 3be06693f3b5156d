/// Which resources of a preset a source has: those that it names, or the preset's own choice, and those whose objects others have parts for.
struct PresetSelection {
    private let file: PresetFile
    /// What there is with the source's values, in the order of the file.
    private let offered: [PresetFile.Variant]
    /// What the source names; nil: nothing.
    private let wanted: [String]?
    private let place: DocumentNode.Place
    /// What the source itself says of resources, by name.
    private let own: [String: DocumentNode]
    private let sourceName: String
    private let subject: Subject
    private let complaints: Complaints

    /// - Parameters:
    ///   - wanted: the key `resources`; nil: it is not there.
    ///   - place: where that is.
    ///   - own: the source's own table.
    init(
        of file: PresetFile, _ values: PresetValues, _ wanted: [String]?, at place: DocumentNode.Place, own: [String: DocumentNode], subject: Subject,
        complaints: Complaints
    ) {
        self.file = file
        offered = file.resources { values[$0] != nil }
        self.wanted = wanted
        self.place = place
        self.own = PresetMerge.named(own["resource"])
        sourceName = own["name"]?.string ?? ""
        self.subject = subject
        self.complaints = complaints
    }

    /// The resources, in the order of the preset's file. Mistakes go to the complaints.
    func resources() -> [DocumentNode] {
        checkNames()
        var chosen = Set(own.keys)
        if let wanted { chosen.formUnion(wanted) } else { chosen.formUnion(file.preset.resources.filter(\.isDefault).map(\.name)) }
        let nodes = Dictionary(offered.map { ($0.name, $0.node) }) { first, _ in first }
        var open = Array(chosen)
        while let name = open.popLast() {
            guard let parent = parent(of: name, nodes), nodes[parent] != nil, chosen.insert(parent).inserted else { continue }
            open.append(parent)
        }
        var taken: Set<String> = []
        return offered.filter { chosen.contains($0.name) && taken.insert($0.name).inserted }.map(\.node)
    }

    private func checkNames() {
        guard let wanted else { return }
        let names = file.preset.resources.map(\.name)
        for name in wanted where !names.contains(name) && own[name] == nil {
            complaints.add(
                at: place, subject, key: "resources", "the preset \(file.preset.name) has no resource \"\(name)\"",
                suggestion(for: name, among: names, kind: "its resources"))
        }
        for (name, node) in own.sorted(by: { $0.key < $1.key }) where names.contains(name) && !wanted.contains(name) {
            complaints.add(
                at: node.place, subject.element("resource", name), "the resource is not among resources",
                "add \"\(name)\" there, or remove this table")
        }
    }

    /// The resource of the same source whose objects another one has parts for; nil: it has none.
    private func parent(of name: String, _ nodes: [String: DocumentNode]) -> String? {
        let mine = own[name]?.table?["for_each"]?.table, theirs = nodes[name]?.table?["for_each"]?.table
        if mine?["values"] != nil { return nil }
        guard let parent = (mine?["resource"] ?? theirs?["resource"])?.string else { return nil }
        let prefix = sourceName + "/"
        return parent.hasPrefix(prefix) ? String(parent.dropFirst(prefix.count)) : parent
    }
}
