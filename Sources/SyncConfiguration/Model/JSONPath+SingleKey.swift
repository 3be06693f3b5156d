import JSONPaths

extension JSONPath {
    /// The key of the record this path names, if it is one step to a key and nothing more.
    var singleKey: String? {
        if segments.count == 1, case .key(let key) = segments[0] { key } else { nil }
    }
}
