/// What a generated source imports: what the sources import whose types it names.
struct ImportList {
    let text: String

    /// - Parameter library: imported in any case, unless a source imports it under its other name.
    init(_ sources: [ScannedSource], library: String) {
        var widest: [String: ScannedSource.Import] = [:], order: [String] = []
        for item in sources.flatMap(\.imports) {
            let key = Self.withoutAccess(item.text)
            guard let known = widest[key] else {
                order.append(key)
                widest[key] = item
                continue
            }
            // Seen by all beats seen under a condition; who writes an access needs the widest.
            if !known.conditions.isEmpty, item.conditions.isEmpty { widest[key] = item }
            if let access = item.access, access > known.access ?? .private, item.conditions == known.conditions { widest[key] = item }
        }
        var lines: [String] = []
        let unconditional = Set(widest.values.filter(\.conditions.isEmpty).map(\.module))
        for module in ["Foundation", library] where !unconditional.contains(module) {
            if module == library, !unconditional.isDisjoint(with: ["CoreData", "OpenCoreData"]) { continue }
            lines.append("import \(module)")
        }
        for item in order.compactMap({ widest[$0] }) {
            lines += item.conditions.map { "#if \($0)" } + [item.text] + item.conditions.map { _ in "#endif" }
        }
        text = lines.joined(separator: "\n") + "\n"
    }

    private static func withoutAccess(_ text: String) -> String {
        text.split(separator: " ").filter { ScannedSource.Access(word: String($0)) == nil }.joined(separator: " ")
    }
}
