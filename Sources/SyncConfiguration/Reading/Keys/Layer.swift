/// A table of the files and what to call it in complaints. Several of them, laid over each other, make one value.
struct Layer {
    var node: DocumentNode?
    var subject: Subject

    /// The table under a key; no table when the key is absent.
    func table(_ name: String) -> Layer {
        Layer(node: node?.table?[name], subject: subject.key(name))
    }
}

extension ConfigurationTable {
    /// Takes what a table says, key by key. What is wrong goes to the complaints and changes nothing.
    mutating func apply(_ layer: Layer, to complaints: Complaints, origins: inout [String: DocumentNode.Place]) {
        guard let node = layer.node else { return }
        guard let table = node.table else {
            complaints.add(
                at: node.place, layer.subject, "expected a table, found \(node.found)",
                "write [\(layer.subject.keyPath)] on a line of its own, or { … }")
            return
        }
        let keys = complaints.keyTables.keys(of: Self.self)
        for (name, value) in table.ordered {
            guard let key = keys[name] else {
                var known: [String] { keys.all.filter { $0.status == .settable || $0.status == .structural }.map(\.name) }
                complaints.add(
                    at: value.place, layer.subject, key: name, "unknown key \"\(name)\"",
                    suggestion(for: name, among: known, kind: "known keys"))
                continue
            }
            switch key.status {
            case .structural: continue
            case .later:
                complaints.add(at: value.place, layer.subject, key: name, "\"\(name)\" is not in this version", key.hint)
            case .inForce:
                complaints.add(
                    at: value.place, layer.subject, key: name, "setting \"\(name)\" is not in this version",
                    "remove it; \(key.toml(Self()) ?? "the built-in value") is in force")
            case .settable:
                let subject = layer.subject.key(name)
                switch key.set(value, &self) {
                case .done: origins[name] = value.place
                case .wrong(let message, let suggestion):
                    let standing = key.toml(Self()).map { "; the default is \($0)" } ?? ""
                    complaints.add(at: value.place, subject, message, suggestion ?? "write \(key.expected)" + standing)
                case .later(let what):
                    complaints.add(at: value.place, subject, "\(what) is not in this version", "write \(key.expected)")
                }
            }
        }
    }
}
