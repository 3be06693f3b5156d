/// What the parts of a resource are called: in the expressions of a manifest, and in the templates of a configuration.
struct PartitionPlan {
    let alias: String
    /// The places of templates, without braces, by the fields of a slice.
    var fields: [String: String] = [:]
    /// The same of further fields of the parent's records, by the names that lead to them, divided by dots.
    var extraFields: [String: String] = [:]
    /// The names that lead to objects of the parent's records, by the fields of a slice that are these objects.
    var objects: [String: [String]] = [:]
    /// The places that hold numbers.
    var numbers: Set<String> = []

    func place(_ root: Term.Reference.Root, _ keys: [String]) -> String? {
        let name = keys.joined(separator: ".")
        return switch root {
        case .partition: fields[name]
        case .extraField: extraFields[name]
        default: nil
        }
    }

    func isNumber(_ root: Term.Reference.Root, _ keys: [String]) -> Bool { place(root, keys).map(numbers.contains) ?? false }

    /// A word that templates can use.
    static func alias(_ wanted: String) -> String {
        var name = String(wanted.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }.drop { $0 == "_" })
        if name.first?.isLetter != true { name = "part" + (name.isEmpty ? "" : "_\(name)") }
        return ["since", "until", "now"].contains(name) ? "\(name)_value" : String(name.prefix(60))
    }
}
