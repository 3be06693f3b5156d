extension DocumentNode {
    /// This file with a later one laid over it: tables key by key; the elements of `source`, and of `resource` within one, by their
    /// `name`; anything else is replaced.
    func merged(with later: DocumentNode, named: String? = nil) -> DocumentNode {
        switch (value, later.value) {
        case (.table(let old), .table(let new)):
            var result = self
            var entries = old
            for (key, node) in new {
                entries[key] = old[key].map { $0.merged(with: node, named: key) } ?? node
            }
            result.value = .table(entries)
            return result
        case (.array(let old), .array(let new)) where named == "source" || named == "resource":
            var result = self
            var elements = old
            // A name that stands twice in the later file is left for the complaint about duplicates.
            var taken: Set<Int> = []
            for node in new {
                let name = node.table?["name"]?.string
                let index = old.firstIndex { name != nil && $0.table?["name"]?.string == name }
                if let index, taken.insert(index).inserted {
                    elements[index] = elements[index].merged(with: node)
                } else {
                    elements.append(node)
                }
            }
            result.value = .array(elements)
            return result
        default: return later
        }
    }
}
