import Foundation
import JSONPaths

extension Codec where Value == Percentage {
    static var percentage: Codec {
        .parsed("a percentage such as \"10%\"", wrong: ["0.1", "\"10\"", "\"101%\"", "\"-1%\""]) {
            Percentage($0)
        } print: {
            "\($0)"
        }
    }
}

extension Codec where Value == MaximumAge {
    static var maximumAge: Codec {
        .parsed(
            "an age such as \"3 intervals\" or \"2h\"", wrong: ["3", "\"3\"", "\"0 intervals\"", "\"0s\"", "\"old\""]
        ) {
            MaximumAge($0)
        } print: {
            "\($0)"
        }
    }
}

extension Codec where Value == MinimumSpeed? {
    static var minimumSpeed: Codec {
        .parsed(
            "a speed such as \"256B/s over 30s\", or \"off\"", wrong: ["256", "\"256B/s\"", "\"0B/s over 30s\"", "\"slow\""]
        ) {
            $0 == "off" ? .some(nil) : MinimumSpeed($0).map { .some($0) }
        } print: {
            $0?.description ?? "off"
        }
    }
}

extension Codec where Value == String? {
    /// A text, or `"auto"` for the built-in one.
    static var automatic: Codec {
        let text = Codec<String>.text("a text, or \"auto\"", maxLength: 512)
        return Codec(expected: text.expected, wrong: text.wrong) { node in
            switch text.read(node) {
            case .value(let value): .value(value == "auto" ? nil : value)
            case .wrong(let message, let suggestion): .wrong(message, suggestion)
            case .later(let what): .later(what)
            }
        } toml: {
            tomlQuoted($0 ?? "auto")
        }
    }
}

extension Codec where Value == [Int] {
    /// A list of HTTP statuses.
    static func statuses(_ range: ClosedRange<Int> = 400...599, isEmptyAllowed: Bool = false) -> Codec {
        .list(
            of: .integer(range), expected: "a list of statuses from \(range.lowerBound) to \(range.upperBound)",
            isEmptyAllowed: isEmptyAllowed)
    }

    /// Statuses that may say that something is gone.
    static var goneStatuses: Codec {
        let plain = statuses(400...499)
        return Codec(expected: plain.expected, wrong: plain.wrong + ["[401]", "[403]", "[429]", "[500]"]) { node in
            let outcome = plain.read(node)
            if case .value(let statuses) = outcome, let meant = statuses.first(where: { [401, 403, 407, 408, 429].contains($0) }) {
                return .wrong("\(meant) says something else than that nothing is there", "remove it")
            }
            return outcome
        } toml: {
            plain.toml($0)
        }
    }

    /// Statuses that may stand for a list without records.
    static var emptyStatuses: Codec {
        let plain = statuses(200...499, isEmptyAllowed: true)
        return Codec(expected: plain.expected, wrong: plain.wrong + ["[304]", "[401]", "[429]"]) { node in
            let outcome = plain.read(node)
            if case .value(let statuses) = outcome, let meant = statuses.first(where: { [304, 401, 429].contains($0) }) {
                return .wrong("\(meant) says something else than that there are no records", "remove it")
            }
            return outcome
        } toml: {
            plain.toml($0)
        }
    }
}

extension Codec where Value == [Int]? {
    /// Statuses that mean that a token has ended, or `"auto"` for those that do so by themselves.
    static var refreshedStatuses: Codec {
        let plain = Codec<[Int]>.statuses(400...499, isEmptyAllowed: true), expected = plain.expected + ", or \"auto\""
        return Codec(expected: expected, wrong: plain.wrong + ["[429]", "[500]", "\"always\""]) { node in
            if node.string == "auto" { return .value(nil) }
            if node.array == nil { return mismatch(node, expected, "write [401], or \"auto\"") }
            switch plain.read(node) {
            case .value(let statuses) where statuses.contains(429):
                return .wrong("429 says that there were too many requests, and a new token would be one more", "remove it")
            case .value(let statuses): return .value(statuses)
            case .wrong(let message, let suggestion): return .wrong(message, suggestion)
            case .later(let what): return .later(what)
            }
        } toml: {
            $0.flatMap(plain.toml) ?? tomlQuoted("auto")
        }
    }
}

extension Codec where Value == HTTPConfiguration.PrivateNetworks {
    static var privateNetworks: Codec {
        let expected = "\"auto\", true or false"
        return Codec(expected: expected, wrong: ["1", "\"yes\"", "[]"]) { node in
            switch node.value {
            case .string("auto"): .value(.auto)
            case .boolean(let flag): .value(flag ? .allow : .refuse)
            default: mismatch(node, expected)
            }
        } toml: {
            switch $0 {
            case .auto: "\"auto\""
            case .allow: "true"
            case .refuse: "false"
            }
        }
    }
}

extension Codec where Value == TLSConfiguration.CertificateAuthority {
    static var certificateAuthority: Codec {
        let expected = "\"system\", the path of a PEM file, or { credential = \"…\" }"
        return Codec(expected: expected, wrong: ["1", "true", "\"relative.pem\"", "{ env = \"CA\" }"]) { node in
            if let text = node.string {
                if text == "system" { return .value(.system) }
                if text.hasPrefix("/") { return .value(.file(text)) }
                return .wrong("\"\(text)\" is neither \"system\" nor an absolute path", "write \(expected)")
            }
            guard node.table != nil else { return mismatch(node, expected) }
            switch Codec<SecretReference>.secret.read(node) {
            case .value(.credential(let id)): return .value(.credential(id))
            case .value(.file(let path)): return .value(.file(path))
            case .value(.environment): return .wrong("a certificate does not come from the environment", "write \(expected)")
            case .wrong(let message, let suggestion): return .wrong(message, suggestion)
            case .later(let what): return .later(what)
            }
        } toml: {
            switch $0 {
            case .system: "\"system\""
            case .file(let path): tomlQuoted(path)
            case .credential(let id): "\(SecretReference.credential(id))"
            }
        }
    }
}

extension Codec where Value == String {
    /// The name that a server has in its certificate.
    static var serverName: Codec {
        text(
            "a host name such as \"api.example.com\", or \"\"", isEmptyAllowed: true, maxLength: 253,
            wrong: [
                "\"10.0.0.5\"", "\"::1\"", "\"*.example.com\"", "\"a_b.example\"", "\"a.example:443\"", "\"https://a.example\"", "\"a.example.\"",
            ]
        ) { name in
            let labels = name.split(separator: ".", omittingEmptySubsequences: false), isName = labels.allSatisfy(isLabel)
            // What ends in a number is an address.
            if isName, labels.last?.first?.isNumber == false { return nil }
            return ("\"\(name)\" is not a host name", "write the name that the server's certificate is for, without scheme, port and \"*\"")
        }
    }

    private static func isLabel(_ label: Substring) -> Bool {
        guard (1...63).contains(label.utf8.count), label.first != "-", label.last != "-" else { return false }
        return label.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "-")
        }
    }
}

extension Codec where Value == [String] {
    /// Public keys, by their SHA-256.
    static var pins: Codec {
        let expected = "a list of SHA-256 of public keys in base64, 44 characters each"
        let one = Codec<String>.text(expected, maxLength: 128) { text in
            if Data(base64Encoded: text)?.count == 32 { return nil }
            return (
                "\"\(text)\" is not a SHA-256 in base64",
                "make it with openssl x509 -in cert.pem -noout -pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | base64"
            )
        }
        var list = Codec.list(of: one, expected: expected, isEmptyAllowed: true)
        list.wrong += ["[\"AAAA\"]", "[\"sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\"]", "[\"\(String(repeating: "0", count: 64))\"]"]
        return list
    }
}

extension Codec where Value == SecretReference {
    /// Where PEM text is kept: a file, or a credential.
    static var pem: Codec {
        let expected = "the path of a PEM file, or { credential = \"…\" }"
        return Codec(expected: expected, wrong: ["1", "true", "\"\"", "\"relative.pem\"", "{ env = \"CERT\" }", "{}"]) { node in
            if let text = node.string {
                if text.hasPrefix("/") { return .value(.file(text)) }
                return .wrong("\"\(text)\" is not an absolute path", "write \(expected)")
            }
            guard node.table != nil else { return mismatch(node, expected) }
            let outcome = secret.read(node)
            if case .value(.environment) = outcome { return .wrong("PEM text does not come from the environment", "write \(expected)") }
            return outcome
        } toml: {
            if case .file(let path) = $0 { tomlQuoted(path) } else { $0.description }
        }
    }

    /// A reference to a secret; the secret itself is refused, and not repeated in the complaint.
    static var secret: Codec {
        let expected = "{ credential = \"ID\" }, { file = \"/path\" } or { env = \"NAME\" }"
        return Codec(
            expected: expected,
            wrong: [
                "\"hunter2\"", "1", "{}", "{ credential = \"\" }", "{ file = \"relative\" }", "{ env = \"A-B\" }", "{ credentail = \"x\" }",
                "{ credential = \"a\", env = \"B\" }", "{ credential = 1 }", "{ credential = \"a/b\" }",
            ]
        ) { node in
            if node.string != nil {
                return .wrong("the configuration may not contain a secret", "write \(expected), and change the secret that was here")
            }
            guard let table = node.table else { return mismatch(node, expected) }
            guard table.count == 1, let (form, value) = table.first else {
                return .wrong("exactly one of credential, file and env is needed", "write \(expected)")
            }
            guard ["credential", "file", "env"].contains(form) else {
                return .wrong(
                    "unknown key \"\(form)\"", suggestion(for: form, among: ["credential", "file", "env"], kind: "known keys"))
            }
            guard let text = value.string, !text.isEmpty else {
                return .wrong("\(form): expected a text, found \(value.found)", "write \(expected)")
            }
            switch form {
            case "credential":
                let isName =
                    text.utf8.count <= 255 && !text.contains("/") && text != "." && text != ".."
                    && text.unicodeScalars.allSatisfy { $0.isASCII && $0.value > 0x20 && $0.value < 0x7F && $0 != ":" }
                return isName
                    ? .value(.credential(text))
                    : .wrong("\"\(text)\" is not the name of a credential", "use letters, digits, \"_\" and \".\"")
            case "file":
                if text.hasPrefix("/") { return .value(.file(text)) }
                return .wrong("\"\(text)\" is not an absolute path", "write it from the root")
            default:
                let isName = text.utf8.allSatisfy {
                    (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F
                }
                if isName, text.first?.isNumber == false { return .value(.environment(text)) }
                return .wrong("\"\(text)\" is not the name of an environment variable", "use letters, digits and \"_\"")
            }
        } toml: {
            $0.description
        }
    }
}

extension Codec where Value == JSONPath {
    static var jsonPath: Codec { path(allowsWildcards: false) }

    /// Where records are: a path that may go over lists and maps.
    static var recordsPath: Codec { path(allowsWildcards: true) }

    private static func path(allowsWildcards: Bool) -> Codec {
        let expected = "a path such as \"$.data\" or \"/data\""
        return Codec(expected: expected, wrong: ["1", "true", "\"\"", "\"data\"", "\"$.\"", "\"$[\"", "\"$['a\"", "\"/a~2\""]) { node in
            guard let text = node.string else { return mismatch(node, expected) }
            // As a JSON Pointer, the empty text is the whole document; in a configuration file it is more likely an omission.
            if text.isEmpty { return .wrong("the path is empty", "write \"$\" for the whole, or \(expected)") }
            do throws(JSONPathError) {
                return .value(try JSONPath(parsing: text, allowsWildcards: allowsWildcards))
            } catch {
                switch error.problem {
                case .notInThisVersion(let what): return .later(what)
                case .malformed(let reason):
                    return .wrong("\"\(text)\" is not a path: at character \(error.position), \(reason)", "write \(expected)")
                }
            }
        } toml: {
            tomlQuoted($0.description)
        }
    }
}

extension Codec where Value == [JSONPath] {
    /// One path, or a list of which the first that exists counts.
    static var jsonPaths: Codec {
        let one = Codec<JSONPath>.jsonPath
        let list = Codec.list(of: one, expected: "a path or a list of paths", isEmptyAllowed: false)
        return Codec(expected: "\(one.expected), or a list of them", wrong: one.wrong + ["[]", "[1]"]) { node in
            guard node.array == nil else { return list.read(node) }
            switch one.read(node) {
            case .value(let path): return .value([path])
            case .wrong(let message, let suggestion): return .wrong(message, suggestion)
            case .later(let what): return .later(what)
            }
        } toml: {
            $0.isEmpty ? nil : $0.count == 1 ? one.toml($0[0]) : list.toml($0)
        }
    }
}

extension Codec where Value == SecretReference? {
    /// As `pem`; an empty text takes back what a table below says.
    static var pemOrNone: Codec {
        let pem = Codec<SecretReference>.pem
        return Codec(expected: "\(pem.expected), or \"\" for none", wrong: pem.wrong.filter { $0 != "\"\"" }) { node in
            if node.string == "" { return .value(nil) }
            switch pem.read(node) {
            case .value(let reference): return .value(reference)
            case .wrong(let message, let suggestion): return .wrong(message, suggestion)
            case .later(let what): return .later(what)
            }
        } toml: { reference in
            reference.flatMap { pem.toml($0) }
        }
    }
}
