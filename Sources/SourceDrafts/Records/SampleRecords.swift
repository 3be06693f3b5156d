import JSONPaths

/// The records of a sample: where they are, and why these.
struct SampleRecords {
    /// From the outermost value; may end in a wildcard.
    let path: JSONPath
    let records: [SampleObject]
    /// Under which name each stands, where they are the members of a map.
    var names: [MemberName]?
    /// The body is one record.
    var isLone = false
    /// What the records are called where they are; empty: nothing says it.
    var name = ""
    /// Elements of the list that are no objects.
    var others = 0
    /// Why, as a sentence.
    let reason: String

    /// Members of the outermost object around lists, by common usage.
    static let envelopes: Set = [
        "data", "items", "results", "result", "records", "rows", "list", "entries", "values", "value", "objects", "content", "hits", "nodes", "edges",
        "features", "elements", "docs", "documents", "resources", "members", "payload", "response", "page", "body", "collection",
    ]

    /// How deep in objects a list is looked for.
    private static let mostLevels = 3

    /// - Throws: ``SourceDraftError`` if there are none.
    static func find(in body: SampleValue) throws(SourceDraftError) -> SampleRecords {
        switch body {
        case .list(let list): return try whole(list)
        case .object(let object): return try within(object)
        case .null, .bool, .number, .text:
            throw SourceDraftError("the document is one value, and no records", advice: "give an address that answers with objects")
        }
    }

    private static func whole(_ list: [SampleValue]) throws(SourceDraftError) -> SampleRecords {
        let objects = list.compactMap(\.object)
        guard !objects.isEmpty else {
            throw SourceDraftError(
                list.isEmpty ? "the list is empty" : "the list has no objects in it",
                advice: "give an answer in which there is at least one record")
        }
        return SampleRecords(
            path: .root, records: objects, others: list.count - objects.count,
            reason: "The answer is a list of \(DraftWriting.count(objects.count, "object", "objects")).")
    }

    private struct Candidate {
        let path: [MemberName]
        let objects: [SampleObject]
        var names: [MemberName]?
        var others = 0

        var isMap: Bool { names != nil }
    }

    private static func within(_ object: SampleObject) throws(SourceDraftError) -> SampleRecords {
        if let names = mapNames(of: object) {
            return map(Candidate(path: [], objects: object.values.compactMap(\.object), names: names))
        }
        var candidates: [Candidate] = []
        collect(object, [], into: &candidates)
        // The first of the longest: outer ones come first.
        guard
            let best = candidates.max(by: { $0.objects.count < $1.objects.count }).flatMap({ longest in
                candidates.first { $0.objects.count == longest.objects.count }
            })
        else {
            if let empty = emptyEnvelope(object) {
                throw SourceDraftError(
                    "the list \(DraftWriting.quoted(empty)) is empty", advice: "give an answer in which there is at least one record")
            }
            guard object.count > 0 else {
                throw SourceDraftError("the object is empty", advice: "give an answer in which there is at least one record")
            }
            return lone(object, "The answer is one object, and has no list of objects in it.")
        }
        let isWrapped = best.path.contains { envelopes.contains($0.text.lowercased()) }
        if !isWrapped, IdentityNames.identity(of: object) != nil {
            return lone(object, "The answer is one object that says its own id; the lists in it belong to it.")
        }
        return best.isMap ? map(best) : list(best)
    }

    private static func lone(_ object: SampleObject, _ reason: String) -> SampleRecords {
        SampleRecords(path: .root, records: [object], isLone: true, reason: reason)
    }

    private static func list(_ found: Candidate) -> SampleRecords {
        let path = JSONPath(keys: found.path.map(\.text))
        let count = DraftWriting.count(found.objects.count, "object", "objects")
        // A connection of GraphQL: the records are inside of its edges.
        let isConnection = found.objects.allSatisfy { $0["node"]?.object != nil && $0.names.allSatisfy { ["node", "cursor"].contains($0.text) } }
        if isConnection, found.others == 0 {
            return SampleRecords(
                path: path.appending(.each).appending(.key("node")), records: found.objects.compactMap { $0["node"]?.object },
                name: name(of: Array(found.path.dropLast())), reason: "The nodes of a connection with \(count).")
        }
        return SampleRecords(
            path: path, records: found.objects, name: name(of: found.path), others: found.others,
            reason: "The longest list of objects in the answer, with \(count).")
    }

    private static func map(_ found: Candidate) -> SampleRecords {
        SampleRecords(
            path: JSONPath(keys: found.path.map(\.text)).appending(.each), records: found.objects, names: found.names, name: name(of: found.path),
            reason: "A map of \(found.objects.count) objects that look alike, each under a name of its own.")
    }

    /// The last name that says something.
    private static func name(of path: [MemberName]) -> String { path.last { !envelopes.contains($0.text.lowercased()) }?.text ?? "" }

    private static func emptyEnvelope(_ object: SampleObject) -> String? {
        for (name, value) in zip(object.names, object.values) where envelopes.contains(name.text.lowercased()) {
            if let list = value.list, list.isEmpty { return name.text }
        }
        return nil
    }

    /// Level by level, so that outer ones come first.
    private static func collect(_ object: SampleObject, _ prefix: [MemberName], into candidates: inout [Candidate]) {
        var level: [(path: [MemberName], object: SampleObject)] = [(prefix, object)]
        for _ in 0..<mostLevels {
            var following: [(path: [MemberName], object: SampleObject)] = []
            for (path, object) in level {
                for (name, value) in zip(object.names, object.values) where MemberPath.isWritable(name.text) {
                    let path = path + [name]
                    if let list = value.list {
                        let objects = list.compactMap(\.object)
                        if !objects.isEmpty { candidates.append(Candidate(path: path, objects: objects, others: list.count - objects.count)) }
                    } else if let inner = value.object {
                        if let names = mapNames(of: inner) {
                            candidates.append(Candidate(path: path, objects: inner.values.compactMap(\.object), names: names))
                        } else {
                            following.append((path, inner))
                        }
                    }
                }
            }
            level = following
        }
    }

    /// The names of an object whose members look alike; nil: it is an object like any other.
    private static func mapNames(of object: SampleObject) -> [MemberName]? {
        guard object.count >= 3 else { return nil }
        let objects = object.values.compactMap(\.object)
        guard objects.count == object.count, object.names.allSatisfy({ !$0.text.isEmpty && $0.text.utf8.count <= 512 }) else { return nil }
        var presence: [MemberName: Int] = [:]
        for inner in objects { for name in inner.names { presence[name, default: 0] += 1 } }
        let total = presence.values.reduce(0, +)
        guard !presence.isEmpty, presence.values.contains(objects.count), total * 10 >= 6 * presence.count * objects.count else { return nil }
        return object.names
    }
}
