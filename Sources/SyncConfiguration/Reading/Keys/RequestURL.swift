import Foundation

/// The form of the URLs requests are made to.
enum RequestURL {
    /// What is wrong with a URL, or nothing.
    static func complaint(_ url: String) -> (message: String, suggestion: String?)? {
        guard let separator = url.range(of: "://") else {
            return ("\"\(url)\" has no scheme", "did you mean \"https://\(url)\"?")
        }
        let scheme = url[..<separator.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { return ("the scheme \"\(scheme)\" is not supported", "use https or http") }
        let rest = url[separator.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if authority.contains("@") {
            return (
                "a URL may not hold a user name or password",
                "write auth = { kind = \"basic\", username = \"…\", password = { credential = \"ID\" } }"
            )
        }
        if let complaint = complaint(characters: url) { return complaint }
        var host = authority
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return ("\"\(url)\" has an unfinished address", "close it with \"]\"") }
            host = authority[...end]
        } else if let colon = authority.firstIndex(of: ":") {
            host = authority[..<colon]
        }
        if host.isEmpty || host == "[]" { return ("\"\(url)\" names no host", "write it as in \"https://api.example.com\"") }
        let port = authority[host.endIndex...]
        if !port.isEmpty {
            let number = Int(port.dropFirst())
            if port.first != ":" || !port.dropFirst().allSatisfy({ $0.isASCII && $0.isNumber }) || !(1...65_535).contains(number ?? 0) {
                return ("\"\(url)\" has no proper port", "a port is a number from 1 to 65535")
            }
        }
        return nil
    }

    /// Characters that never stand in a URL.
    static func complaint(characters text: String) -> (message: String, suggestion: String?)? {
        if text.contains("#") { return ("a fragment (\"#…\") is never sent", "remove it") }
        if let odd = text.unicodeScalars.first(where: { $0.value <= 0x20 || $0.value >= 0x7F || "\"<>\\^`{|}".unicodeScalars.contains($0) }) {
            let encoded = String(odd).utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
            return ("\"\(odd)\" may not stand in a URL", "write it as \(encoded)")
        }
        if let query = text.split(separator: "?", maxSplits: 1).dropFirst().first {
            for pair in query.split(separator: "&") {
                let name = String(pair.prefix { $0 != "=" })
                if !name.isEmpty, let complaint = RequestName.complaint(parameter: name) { return complaint }
            }
        }
        return nil
    }

    /// The URL of a path under a base.
    static func join(_ base: String, _ path: String) -> String {
        guard !path.isEmpty else { return base }
        return (base.hasSuffix("/") ? String(base.dropLast()) : base) + path
    }

    /// The host, in lower case, without brackets.
    static func host(of url: String) -> String {
        guard let separator = url.range(of: "://") else { return "" }
        let authority = url[separator.upperBound...].prefix { $0 != "/" && $0 != "?" }
        if authority.hasPrefix("[") { return String(authority.dropFirst().prefix { $0 != "]" }).lowercased() }
        return String(authority.prefix { $0 != ":" }).lowercased()
    }
}
