/// What a complaint is about: a place in the configuration, for people (`source "github": schedule.every`) and for machines
/// (`source.github.schedule.every`).
struct Subject: Sendable, Hashable {
    private var elements: [String] = []
    private var keys: [String] = []
    private(set) var keyPath = ""

    static let root = Subject()

    /// A key of a table.
    func key(_ name: String) -> Subject {
        var result = self
        result.keys.append(name)
        result.keyPath += (keyPath.isEmpty ? "" : ".") + tomlKey(name)
        return result
    }

    /// A named thing, such as a source; without a name, its number.
    func element(_ kind: String, _ name: String?, number: Int = 0, keyed: String? = nil) -> Subject {
        var result = self
        if !keys.isEmpty { result.elements.append(keys.joined(separator: ".")) }
        result.keys = []
        result.elements.append(name.map { "\(kind) \"\($0)\"" } ?? "\(kind) \(number)")
        result.keyPath += (keyPath.isEmpty ? "" : ".") + (keyed ?? kind) + "." + (name.map(tomlKey) ?? "\(number)")
        return result
    }

    var text: String {
        (elements + (keys.isEmpty ? [] : [keys.joined(separator: ".")])).joined(separator: ": ")
    }
}
