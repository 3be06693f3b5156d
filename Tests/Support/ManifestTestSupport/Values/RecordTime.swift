/// Times as records hold them.
public enum RecordTime {
    /// Milliseconds since 1970.
    /// - Parameter format: `rfc3339`, `unix`, `unix-ms`, or a pattern.
    public static func milliseconds(_ value: DataValue, format: String) -> Int? {
        switch format {
        case "unix": return Double(value.shown).map { Int(($0 * 1000).rounded()) }
        case "unix-ms": return Double(value.shown).map { Int($0) }
        case "rfc3339":
            let patterns = ["%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%dT%H:%M:%S.%f%z", "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"]
            return patterns.lazy.compactMap { TimePattern(source: $0).milliseconds(value.shown) }.first
        default: return TimePattern(source: format).milliseconds(value.shown)
        }
    }
}
