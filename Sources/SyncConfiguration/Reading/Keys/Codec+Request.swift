import Foundation

extension Codec where Value == [HeaderField] {
    /// A table of header names and values, without those that carry secrets or belong to the transport.
    static var headers: Codec {
        let expected = "a table of header names and texts"
        return Codec(
            expected: expected,
            wrong: [
                "1", "\"Accept: text/html\"", "{ Accept = 1 }", "{ \"A B\" = \"x\" }", "{ Accept = \"a\\nb\" }",
                "{ Authorization = \"x\" }", "{ Host = \"x\" }",
            ]
        ) { node in
            guard let table = node.table else { return mismatch(node, expected) }
            var fields: [HeaderField] = []
            var names: Set<String> = []
            for (name, value) in table.ordered {
                if let complaint = RequestName.complaint(header: name) { return .wrong(complaint.message, complaint.suggestion) }
                guard let text = value.string else { return .wrong("\(name): expected a text, found \(value.found)", "write it in quotes") }
                if !RequestName.isHeaderValue(text) {
                    return .wrong("\(name): a header may only hold printable ASCII characters", "remove the others")
                }
                if !names.insert(name.lowercased()).inserted { return .wrong("\(name) appears twice", "remove one of them") }
                fields.append(HeaderField(name: name, value: text))
            }
            return .value(fields.sorted { $0.name.lowercased() < $1.name.lowercased() })
        } toml: { fields in
            fields.isEmpty ? "{}" : "{ " + fields.map { "\(tomlKey($0.name)) = \(tomlQuoted($0.value))" }.joined(separator: ", ") + " }"
        }
    }
}

extension [HeaderField] {
    /// These with others laid over them, compared without case.
    func overlaid(with later: [HeaderField]) -> [HeaderField] {
        let names = Set(later.map { $0.name.lowercased() })
        return (filter { !names.contains($0.name.lowercased()) } + later).sorted { $0.name.lowercased() < $1.name.lowercased() }
    }
}

extension Codec where Value == [QueryParameter] {
    /// A table of names and values: texts, numbers, truth values, or lists of them for a parameter that occurs several times.
    static var parameters: Codec {
        values("a table of parameter names and values") { name, _ in RequestName.complaint(parameter: name) }
    }

    /// - Parameter complaint: what is wrong with a name that has this value.
    static func values(
        _ expected: String, complaint: @escaping (_ name: String, _ value: DocumentNode) -> (message: String, suggestion: String)?
    ) -> Codec {
        Codec(
            expected: expected, wrong: ["1", "\"a=b\"", "{ a = {} }", "{ a = [[1]] }", "{ access_token = \"x\" }", "{ \"\" = 1 }"]
        ) { node in
            guard let table = node.table else { return mismatch(node, expected) }
            var parameters: [QueryParameter] = []
            for (name, value) in table.sorted(by: { $0.key < $1.key }) {
                if let complaint = complaint(name, value) { return .wrong(complaint.message, complaint.suggestion) }
                for element in value.array ?? [value] {
                    switch element.value {
                    case .string(let text): parameters.append(QueryParameter(name: name, value: text))
                    case .integer(let integer): parameters.append(QueryParameter(name: name, value: "\(integer)"))
                    case .number(let number) where number.isFinite: parameters.append(QueryParameter(name: name, value: "\(number)"))
                    case .boolean(let flag): parameters.append(QueryParameter(name: name, value: "\(flag)"))
                    default:
                        return .wrong("\(name): expected a text, number or truth value, found \(element.found)", "write \(expected)")
                    }
                }
            }
            return .value(parameters)
        } toml: { parameters in
            var entries: [String] = []
            var written: Set<String> = []
            for parameter in parameters where written.insert(parameter.name).inserted {
                let values = parameters.filter { $0.name == parameter.name }.map { tomlQuoted($0.value) }
                let text = values.count == 1 ? values[0] : "[" + values.joined(separator: ", ") + "]"
                entries.append("\(tomlKey(parameter.name)) = \(text)")
            }
            return entries.isEmpty ? "{}" : "{ " + entries.joined(separator: ", ") + " }"
        }
    }
}

extension [QueryParameter] {
    /// These with others laid over them: a name that occurs there is taken from there.
    func overlaid(with later: [QueryParameter]) -> [QueryParameter] {
        let names = Set(later.map(\.name))
        return (filter { !names.contains($0.name) } + later).enumerated()
            .sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }.map(\.element)
    }
}

extension Codec where Value == [String] {
    /// Media types, with `*` for a part of a name.
    static var mediaTypes: Codec {
        let one = Codec<String>.text(
            "a media type such as \"application/json\"", maxLength: 128, wrong: ["\"json\"", "\"a/b/c\"", "\"a/\"", "\"a/b; c=d\""]
        ) { text in
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            if parts.count == 2, parts.allSatisfy({ RequestName.isToken(String($0)) && $0.count { $0 == "*" } < 2 }) { return nil }
            return (
                "\"\(text)\" is not a media type", "write it without parameters, as in \"text/html\"; \"*\" may stand for a part once on each side"
            )
        }
        return .list(of: one, expected: "a list of media types, as in [\"application/json\", \"text/html\"]", isEmptyAllowed: false)
    }
}

/// Which names are allowed in a request.
enum RequestName {
    private static let secretHeaders: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "apikey", "x-auth-token", "x-access-token",
        "private-token",
    ]
    private static let transportHeaders: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer", "expect", "accept-encoding",
        "if-none-match", "if-modified-since", "range", "user-agent",
    ]
    private static let secretParameters: Set<String> = [
        "access_token", "api_key", "apikey", "api-key", "auth_token", "client_secret", "password", "secret", "token",
    ]

    /// Whether a field of a body with this name likely carries a secret.
    static func isSecret(field name: String) -> Bool {
        secretParameters.contains(name.lowercased()) || secretHeaders.contains(name.lowercased())
    }

    static func isToken(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
    }

    static func isHeaderValue(_ value: String) -> Bool {
        value.utf8.count <= 8192 && value.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x09 }
    }

    /// - Parameter mayBeSecret: the value is a reference, so that the header may carry a secret.
    static func complaint(header name: String, mayBeSecret: Bool = false) -> (message: String, suggestion: String)? {
        let lower = name.lowercased()
        if !isToken(name) { return ("\"\(name)\" is not the name of a header", "use letters, digits and \"-\"") }
        if secretHeaders.contains(lower), !mayBeSecret {
            let kind = lower == "authorization" ? "kind = \"bearer\", token" : "kind = \"api-key\", name = \"\(name)\", value"
            return (
                "the header \(name) carries a secret, which the configuration may not contain",
                "write auth = { \(kind) = { credential = \"ID\" } }"
            )
        }
        if lower == "user-agent" { return ("User-Agent is not set here", "use user_agent") }
        if transportHeaders.contains(lower) { return ("the header \(name) is set by the program itself", "remove it") }
        return nil
    }

    static func complaint(parameter name: String) -> (message: String, suggestion: String)? {
        if name.isEmpty { return ("a parameter has no name", "give it one") }
        if secretParameters.contains(name.lowercased()) {
            return (
                "the parameter \(name) carries a secret, which the configuration may not contain",
                "write auth = { kind = \"api-key\", in = \"query\", name = \"\(name)\", value = { credential = \"ID\" } }"
            )
        }
        return nil
    }
}

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
        if host.isEmpty || host == "[]" { return ("\"\(url)\" has no host", "write it as in \"https://api.example.com\"") }
        let port = authority[host.endIndex...]
        if !port.isEmpty {
            let number = Int(port.dropFirst())
            if port.first != ":" || !port.dropFirst().allSatisfy({ $0.isASCII && $0.isNumber }) || !(1...65_535).contains(number ?? 0) {
                return ("\"\(url)\" has an invalid port", "a port is a number from 1 to 65535")
            }
        }
        return nil
    }

    /// Characters that a URL never contains.
    static func complaint(characters text: String) -> (message: String, suggestion: String?)? {
        if text.contains("#") { return ("a fragment (\"#…\") is never sent", "remove it") }
        if let odd = text.unicodeScalars.first(where: { $0.value <= 0x20 || $0.value >= 0x7F || "\"<>\\^`{|}".unicodeScalars.contains($0) }) {
            let encoded = String(odd).utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
            return ("\"\(odd)\" is not allowed in a URL", "write it as \(encoded)")
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

    /// Scheme, host and port of a URL, as they are written.
    static func origin(of url: String) -> String? {
        guard let separator = url.range(of: "://") else { return nil }
        return String(url[..<separator.upperBound] + url[separator.upperBound...].prefix { $0 != "/" && $0 != "?" })
    }

    /// Whether a URL leads to this machine, as far as it says so itself.
    static func isLoopback(_ url: String) -> Bool {
        let host = host(of: url)
        return host == "localhost" || host == "::1" || (host.hasPrefix("127.") && host.allSatisfy { $0 == "." || ("0"..."9").contains($0) })
    }

    /// Whether what is sent to a URL cannot be read on its way: it is encrypted, or stays on this machine.
    static func isEncryptedOrHere(_ url: String) -> Bool { !url.lowercased().hasPrefix("http:") || isLoopback(url) }

    /// The host, in lower case, without brackets.
    static func host(of url: String) -> String {
        guard let separator = url.range(of: "://") else { return "" }
        let authority = url[separator.upperBound...].prefix { $0 != "/" && $0 != "?" }
        if authority.hasPrefix("[") { return String(authority.dropFirst().prefix { $0 != "]" }).lowercased() }
        return String(authority.prefix { $0 != ":" }).lowercased()
    }
}
