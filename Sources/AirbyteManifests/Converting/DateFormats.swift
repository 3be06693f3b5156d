import SyncConfiguration

/// How connectors write times, in the words of a configuration.
enum DateFormats {
    /// For requests.
    /// - Throws: `Unsayable` for a format that is not known here.
    static func forRequests(_ pattern: String) throws -> String {
        // Milliseconds are cut off, which asks for no less than was meant.
        try counted(pattern) ?? checked(pattern.replacing("%_ms", with: "000"))
    }

    /// For records, of which each may be written in any of some formats.
    ///
    /// - Returns: the format, and whether it leaves out some of what may come.
    static func forRecords(_ patterns: [String]) throws -> (format: String, isNarrow: Bool) {
        guard let first = patterns.first else { throw Unsayable("it is not said how times are written") }
        if patterns.allSatisfy(isISO) {
            guard patterns.contains(where: { $0.hasSuffix("%z") }) else { return ("rfc3339", false) }
            // A zone may be written without a colon.
            let endings = Set(patterns.map { $0.replacing("%_ms", with: "%f").replacing("%z", with: "Z") })
            if endings.count == 1, let only = endings.first { return ("\(only.dropLast())%z", false) }
            return ("rfc3339", true)
        }
        let format = try counted(first) ?? checked(first.replacing("%_ms", with: "%f"))
        return (format, Set(patterns).count > 1)
    }

    private static func counted(_ pattern: String) -> String? {
        switch pattern {
        case "%s": "unix"
        case "%ms": "unix-ms"
        case "%epoch_microseconds": "unix-us"
        case "%s_as_float": "%s.%f"
        default: nil
        }
    }

    private static func checked(_ pattern: String) throws -> String {
        guard pattern.contains("%"), DateFormat(pattern) != nil else {
            throw Unsayable("the format \"\(ManifestValue.shortened(pattern, limit: 40))\" is not known here")
        }
        return pattern
    }

    /// Whether a pattern is one of those that RFC 3339 has, a zone that is written otherwise aside.
    private static func isISO(_ pattern: String) -> Bool {
        guard pattern.hasPrefix("%Y-%m-%d") else { return false }
        var rest = pattern.dropFirst("%Y-%m-%d".count)
        if rest.isEmpty { return true }
        guard rest.hasPrefix("T%H:%M:%S") || rest.hasPrefix(" %H:%M:%S") else { return false }
        rest = rest.dropFirst("T%H:%M:%S".count)
        for fraction in [".%f", ".%_ms"] where rest.hasPrefix(fraction) { rest = rest.dropFirst(fraction.count) }
        return ["", "Z", "%z"].contains(rest)
    }
}
