import JSONPaths

/// Paths as a configuration writes them.
enum MemberPath {
    /// Whether a path can lead to a member of this name.
    static func isWritable(_ name: String) -> Bool {
        guard name.utf8.count <= 256, name.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else { return false }
        let path = JSONPath(keys: [name])
        guard let parsed = try? JSONPath(parsing: path.description), let segment = parsed.segments.first, parsed.segments.count == 1,
            case .key(let key) = segment
        else { return false }
        // By bytes: what looks the same may be another name.
        return key.utf8.elementsEqual(name.utf8)
    }

    /// As TOML.
    static func quoted(_ path: [String]) -> String { DraftWriting.quoted(JSONPath(keys: path).description) }
}
