extension DocumentNode {
    /// This file with a later one laid over it, as ``merged(_:named:)`` does with any number of them.
    func merged(with later: DocumentNode) -> DocumentNode {
        Self.merged([self, later])
    }

    /// Files laid over each other in their order: tables key by key; the elements of `source`, and of `resource` within one, by their `name`; anything
    /// else is replaced. All of them at once, as many small files would otherwise copy what is there once each.
    /// - Parameter nodes: at least one.
    static func merged(_ nodes: [DocumentNode], named: String? = nil) -> DocumentNode {
        let layers = nodes.suffix(from: startOfLayers(nodes, named))
        guard let first = layers.first, layers.count > 1 else { return nodes[nodes.count - 1] }
        var result = first
        if first.table != nil {
            var entries: [String: [DocumentNode]] = [:]
            for layer in layers {
                for (key, node) in layer.table ?? [:] { entries[key, default: []].append(node) }
            }
            var table: [String: DocumentNode] = [:]
            for (key, nodes) in entries { table[key] = merged(nodes, named: key) }
            result.value = .table(table)
        } else {
            result.value = .array(mergedElements(layers.map { $0.array ?? [] }))
        }
        return result
    }

    /// What stands before it is replaced; what follows is all of one kind that can be laid over each other.
    private static func startOfLayers(_ nodes: [DocumentNode], _ named: String?) -> Int {
        let mergesArrays = named == "source" || named == "resource"
        var start = nodes.count - 1
        while start > 0 {
            let (earlier, later) = (nodes[start - 1], nodes[start])
            guard (earlier.table != nil && later.table != nil) || (mergesArrays && earlier.array != nil && later.array != nil) else { break }
            start -= 1
        }
        return start
    }

    private static func mergedElements(_ files: [[DocumentNode]]) -> [DocumentNode] {
        var elements: [[DocumentNode]] = []
        var indices: [String: Int] = [:]
        for file in files {
            // A name that stands twice in one file is left for the complaint about duplicates.
            var taken: Set<Int> = []
            let before = elements.count
            for node in file {
                if let name = node.table?["name"]?.string, let index = indices[name], taken.insert(index).inserted {
                    elements[index].append(node)
                } else {
                    elements.append([node])
                }
            }
            for index in before..<elements.count {
                if let name = elements[index][0].table?["name"]?.string, indices[name] == nil { indices[name] = index }
            }
        }
        return elements.map { merged($0) }
    }
}
