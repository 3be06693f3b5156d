/// What a preset's source says, with what a configuration's own says laid over it: the latter counts, also where it speaks of all resources and the
/// preset of one.
enum PresetMerge {
    /// Tables that one kind governs, and the kind that is meant where none is written.
    private static let governed: [String: String?] = ["auth": nil, "pages": nil, "incremental": "time"]
    /// What is sent is one of these.
    private static let bodies = [["json"], ["form"], ["query", "variables"], ["query_file", "variables"]]
    /// What is said of a source as a whole, and not of its resources.
    private static let general: Set<String> = ["name", "resource", "enabled", "url", "base_url", "path", "entity", "key"]

    /// One source made of two.
    static func merged(_ preset: [String: DocumentNode], _ own: [String: DocumentNode], at place: DocumentNode.Place) -> [String: DocumentNode] {
        var preset = yielding(preset, to: own)
        let shared = own.filter { !general.contains($0.key) }
        let others = named(own["resource"])
        if let node = preset["resource"], let resources = node.array {
            let yielded = resources.map { resource -> DocumentNode in
                guard var table = resource.table else { return resource }
                table = without(shared, yielding(table, to: shared))
                if let other = table["name"]?.string.flatMap({ others[$0]?.table }) { table = yielding(table, to: other) }
                return DocumentNode(value: .table(table), place: resource.place)
            }
            preset["resource"] = DocumentNode(value: .array(yielded), place: node.place)
        }
        let layers = [preset, own].map { DocumentNode(value: .table($0), place: place) }
        return DocumentNode.merged(layers).table ?? [:]
    }

    /// Resources by name.
    static func named(_ node: DocumentNode?) -> [String: DocumentNode] {
        let pairs = (node?.array ?? []).compactMap { resource in resource.table?["name"]?.string.map { ($0, resource) } }
        return Dictionary(pairs) { first, _ in first }
    }

    /// A table without what another one makes obsolete as a whole: tables of another kind, bodies of another kind, another `for_each`, and when polls are due,
    /// if that is said in another way.
    private static func yielding(_ table: [String: DocumentNode], to own: [String: DocumentNode]) -> [String: DocumentNode] {
        var result = table
        for (key, unwritten) in governed {
            guard let kind = own[key]?.table?["kind"] else { continue }
            let known = table[key]?.table?["kind"]?.string ?? unwritten
            if kind.string != known { result[key] = nil }
        }
        if let parts = own["for_each"]?.table, parts["resource"] != nil || parts["values"] != nil { result["for_each"] = nil }
        if let schedule = own["schedule"] { result["schedule"] = table["schedule"]?.yieldingTimes(to: schedule) }
        if let body = bodies.first(where: { own[$0[0]] != nil }) {
            for key in bodies.joined() where !body.contains(key) { result[key] = nil }
        }
        return result
    }

    /// A table without the keys that another one has; of tables in it, without the keys of those.
    private static func without(_ own: [String: DocumentNode], _ table: [String: DocumentNode]) -> [String: DocumentNode] {
        var result = table
        for (key, node) in own {
            if let inner = node.table, let mine = table[key]?.table {
                result[key]?.value = .table(without(inner, mine))
            } else {
                result[key] = nil
            }
        }
        return result
    }
}
