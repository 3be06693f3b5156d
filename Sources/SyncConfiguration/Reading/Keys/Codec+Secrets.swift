import JSONPaths

extension Codec where Value == SecretText {
    /// A text, or a reference to a secret. `check` says what is wrong with a text.
    static func textOrSecret(
        _ expected: String, isEmptyAllowed: Bool = false, maxLength: Int = 4096, wrong: [String] = [],
        check: @escaping (String) -> (message: String, suggestion: String?)? = { _ in nil }
    ) -> Codec {
        let plain = Codec<String>.text(expected, isEmptyAllowed: isEmptyAllowed, maxLength: maxLength, wrong: wrong, check: check)
        return Codec(expected: expected, wrong: plain.wrong + ["{ credential = 1 }", "{}"]) { node in
            if node.table != nil {
                switch Codec<SecretReference>.secret.read(node) {
                case .value(let secret): return .value(.secret(secret))
                case .wrong(let message, let suggestion): return .wrong(message, suggestion)
                case .later(let what): return .later(what)
                }
            }
            switch plain.read(node) {
            case .value(let text): return .value(.text(text))
            case .wrong(let message, let suggestion): return .wrong(message, suggestion)
            case .later(let what): return .later(what)
            }
        } toml: {
            $0.toml
        }
    }

    /// A reference to a password, or `""` for an empty one, which is no secret.
    static var password: Codec {
        let secret = Codec<SecretReference>.secret
        return Codec(expected: "\(secret.expected), or \"\" for an empty password", wrong: secret.wrong) { node in
            if node.string == "" { return .value(.text("")) }
            switch secret.read(node) {
            case .value(let reference): return .value(.secret(reference))
            case .wrong(let message, let suggestion): return .wrong(message, suggestion)
            case .later(let what): return .later(what)
            }
        } toml: {
            $0.toml
        }
    }
}

extension SecretText {
    /// As TOML writes it.
    fileprivate var toml: String {
        switch self {
        case .text(let text): tomlQuoted(text)
        case .secret(let secret): secret.description
        }
    }
}

extension Codec where Value == JSONPath {
    /// Reads a text that stands where a key does.
    fileprivate func outcome(ofText text: String) -> Outcome { read(DocumentNode(value: .string(text), place: .init(file: "", rank: 0))) }
}

extension Codec where Value == [SecretField] {
    /// A table of names with texts or references: the fields of a form, the parameters of a login.
    static var secretFields: Codec {
        table(
            "a table of names with texts or references", wrong: ["1", "\"a=b\"", "{ a = [] }", "{ \"\" = \"x\" }", "{ a = { credential = 1 } }"]
        ) { name, value in
            if name.isEmpty { return .wrong("a field has no name", "give it one") }
            switch value.value {
            case .integer(let integer): return .value(.text("\(integer)"))
            case .boolean(let flag): return .value(.text("\(flag)"))
            default: return Codec<SecretText>.textOrSecret("a text or a reference", isEmptyAllowed: true).read(value)
            }
        }
    }

    /// A table of header names with references to secrets.
    static var secretHeaders: Codec {
        table(
            "a table of header names with references, as in { X-Key = { credential = \"ID\" } }",
            wrong: [
                "1", "\"X-Key\"", "{ X-Key = \"hunter2\" }", "{ X-Key = 1 }", "{ \"A B\" = { credential = \"x\" } }",
                "{ Host = { credential = \"x\" } }",
            ]
        ) { name, value in
            if let complaint = RequestName.complaint(header: name, mayBeSecret: true) { return .wrong(complaint.message, complaint.suggestion) }
            return reference(value)
        }
    }

    /// A table of header names with texts or references: what a login says of itself besides.
    static var loginHeaders: Codec {
        table(
            "a table of header names with texts or references, as in { X-Key = { credential = \"ID\" } }",
            wrong: [
                "1", "\"X-Key\"", "{ X-Api-Key = \"hunter2\" }", "{ X-Key = [] }", "{ X-Key = \"ä\" }", "{ \"A B\" = \"x\" }", "{ Host = \"x\" }",
                "{ X-Key = { credential = 1 } }",
            ]
        ) { name, value in
            if let complaint = RequestName.complaint(header: name, mayBeSecret: true) { return .wrong(complaint.message, complaint.suggestion) }
            if value.table == nil, let complaint = RequestName.complaint(header: name) {
                return .wrong(complaint.message, "write \(tomlKey(name)) = { credential = \"ID\" }")
            }
            return Codec<SecretText>.textOrSecret("a text or a reference", isEmptyAllowed: true) { text in
                RequestName.isHeaderValue(text) ? nil : ("a header may only hold printable ASCII characters", "remove the others")
            }.read(value)
        }
    }

    /// A table of parameter names with references to secrets.
    static var secretParameters: Codec {
        table(
            "a table of parameter names with references, as in { key = { credential = \"ID\" } }",
            wrong: ["1", "\"key\"", "{ key = \"hunter2\" }", "{ key = 1 }", "{ \"\" = { credential = \"x\" } }"]
        ) { name, value in
            if name.isEmpty { return .wrong("a parameter has no name", "give it one") }
            return reference(value)
        }
    }

    /// A table of places in a body with references to secrets.
    static var secretBodyFields: Codec {
        table(
            "a table of places in the body with references, as in { \"/auth/key\" = { credential = \"ID\" } }",
            wrong: [
                "1", "\"/key\"", "{ \"/key\" = \"hunter2\" }", "{ \"/key\" = 1 }", "{ \"\" = { credential = \"x\" } }",
                "{ \"/a~2\" = { credential = \"x\" } }",
            ]
        ) { place, value in
            if place.isEmpty { return .wrong("the place is the whole body", "write a JSON Pointer such as \"/auth/key\", or the name of a field") }
            if place.hasPrefix("/") || place.hasPrefix("$"),
                case .wrong(let message, let suggestion) = Codec<JSONPath>.jsonPath.outcome(ofText: place)
            {
                return .wrong(message, suggestion)
            }
            return reference(value)
        }
    }

    private static func reference(_ node: DocumentNode) -> Codec<SecretText>.Outcome {
        switch Codec<SecretReference>.secret.read(node) {
        case .value(let reference): .value(.secret(reference))
        case .wrong(let message, let suggestion): .wrong(message, suggestion)
        case .later(let what): .later(what)
        }
    }

    private static func table(
        _ expected: String, wrong: [String], _ read: @escaping (String, DocumentNode) -> Codec<SecretText>.Outcome
    ) -> Codec {
        Codec(expected: expected, wrong: wrong) { node in
            guard let table = node.table else { return mismatch(node, expected) }
            var fields: [SecretField] = []
            var names: Set<String> = []
            for (name, value) in table.ordered {
                switch read(name, value) {
                case .value(let text): fields.append(SecretField(name: name, value: text))
                case .wrong(let message, let suggestion): return .wrong(name.isEmpty ? message : "\(name): \(message)", suggestion)
                case .later(let what): return .later(what)
                }
                if !names.insert(name).inserted { return .wrong("\(name) appears twice", "remove one of them") }
            }
            return .value(fields.sorted { $0.name < $1.name })
        } toml: { fields in
            fields.isEmpty ? "{}" : "{ " + fields.map { "\(tomlKey($0.name)) = \($0.value.toml)" }.joined(separator: ", ") + " }"
        }
    }
}

extension [SecretField] {
    /// These with others laid over them: a name that occurs there is taken from there.
    ///
    /// - Parameter isCaseSensitive: false for the names of headers.
    func overlaid(with later: [SecretField], isCaseSensitive: Bool) -> [SecretField] {
        func key(_ field: SecretField) -> String { isCaseSensitive ? field.name : field.name.lowercased() }
        let names = Set(later.map(key))
        return (filter { !names.contains(key($0)) } + later).sorted { key($0) < key($1) }
    }
}

extension Codec where Value == SecretJSON {
    /// An object or a list whose texts may be references.
    static var json: Codec {
        let expected = "a table that becomes a JSON object, as in { user = \"me\", password = { credential = \"ID\" } }"
        return Codec(
            expected: expected, wrong: ["1", "\"{}\"", "true", "{ a = { credential = 1 } }", "{ a = 1979-05-27 }", "{ a = [nan] }"]
        ) { node in
            guard node.table != nil || node.array != nil else { return mismatch(node, expected) }
            return tree(of: node)
        } toml: {
            $0.toml
        }
    }

    /// Any value that JSON has.
    static func tree(of node: DocumentNode) -> Outcome {
        switch node.value {
        case .string(let text): return .value(.text(.text(text)))
        case .integer(let integer): return .value(.number("\(integer)"))
        case .number(let number) where number.isFinite: return .value(.number("\(number)"))
        case .boolean(let flag): return .value(.bool(flag))
        case .number, .moment: return .wrong("JSON has no such value as \(node.found)", "write it as a text")
        case .array(let elements):
            var values: [SecretJSON] = []
            for element in elements {
                let outcome = tree(of: element)
                guard case .value(let value) = outcome else { return outcome }
                values.append(value)
            }
            return .value(.array(values))
        case .table(let table):
            if table.count == 1, let form = table.keys.first, ["credential", "file", "env"].contains(form) {
                switch Codec<SecretReference>.secret.read(node) {
                case .value(let secret): return .value(.text(.secret(secret)))
                case .wrong(let message, let suggestion): return .wrong(message, suggestion)
                case .later(let what): return .later(what)
                }
            }
            var members: [SecretJSON.Member] = []
            for (name, node) in table.sorted(by: { $0.key < $1.key }) {
                let outcome = tree(of: node)
                guard case .value(let value) = outcome else {
                    if case .wrong(let message, let suggestion) = outcome { return .wrong("\(name): \(message)", suggestion) }
                    return outcome
                }
                members.append(.init(name: name, value: value))
            }
            return .value(.object(members))
        }
    }
}

extension SecretJSON {
    /// As TOML writes it.
    var toml: String {
        switch self {
        case .text(let text): text.toml
        case .number(let digits): digits
        case .bool(let flag): "\(flag)"
        case .array(let values): "[" + values.map(\.toml).joined(separator: ", ") + "]"
        case .object(let members):
            members.isEmpty ? "{}" : "{ " + members.map { "\(tomlKey($0.name)) = \($0.value.toml)" }.joined(separator: ", ") + " }"
        }
    }
}

extension Codec where Value == [String] {
    /// What a token may be used for (RFC 6749, 3.3).
    static var scopes: Codec {
        let one = Codec<String>.text("a scope such as \"read:items\"", maxLength: 512, wrong: ["\"a b\"", "\"ä\""]) { scope in
            scope.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
                ? nil : ("\"\(scope)\" is not one scope", "write each scope as a text of its own, without blanks")
        }
        return .list(of: one, expected: "a list of scopes, as in [\"read\", \"write\"]", isEmptyAllowed: true)
    }
}

extension Codec where Value == String {
    /// The name of a header.
    static var headerName: Codec {
        text("the name of a header", maxLength: 128, wrong: ["\"A B\""]) { name in
            RequestName.isToken(name) ? nil : ("\"\(name)\" is not the name of a header", "use letters, digits and \"-\"")
        }
    }

    /// What carries a secret: the name of a header, parameter or cookie, or a place in a body. Where it is decides which names there are.
    static var carrierName: Codec { text("the name of a header, or a place in the body", maxLength: 512) }

    /// What stands before a secret in a header.
    static var headerPrefix: Codec {
        text("a text such as \"Token \"", isEmptyAllowed: true, maxLength: 64, wrong: ["\"ä\""]) { text in
            RequestName.isHeaderValue(text) ? nil : ("a header may only hold printable ASCII characters", "remove the others")
        }
    }

    /// A URL that secrets are sent to: encrypted, or on this machine.
    static var encryptedURL: Codec {
        let url = Codec<String>.url
        return Codec(
            expected: "an https URL",
            wrong: url.wrong + ["\"http://login.example.com/token\"", "\"http://127.example.com/\"", "\"https://a.example/{x}\""]
        ) { node in
            let outcome = url.read(node)
            guard case .value(let text) = outcome else { return outcome }
            if !Template(text).references.isEmpty { return .wrong("there is nothing that a template could stand for here", "write it out") }
            if !RequestURL.isEncryptedOrHere(text) {
                return .wrong("secrets would be sent without encryption to \(RequestURL.host(of: text))", "use https")
            }
            return outcome
        } toml: {
            url.toml($0)
        }
    }
}
