extension Codec where Value == String {
    /// A text without control characters. `check` says what is wrong with one.
    static func text(
        _ expected: String = "a text", isEmptyAllowed: Bool = false, maxLength: Int = 4096, wrong: [String] = [],
        check: @escaping (String) -> (message: String, suggestion: String?)? = { _ in nil }
    ) -> Codec {
        Codec(expected: expected, wrong: ["1", "true", "\"\\u0007\""] + (isEmptyAllowed ? [] : ["\"\""]) + wrong) { node in
            guard let text = node.string else { return mismatch(node, expected, Self.quoted(node)) }
            if text.isEmpty { return isEmptyAllowed ? .value("") : .wrong("it is empty", "write \(expected)") }
            if text.utf8.count > maxLength { return .wrong("it is longer than \(maxLength) bytes", "write \(expected)") }
            if text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
                return .wrong("it contains control characters", "write \(expected)")
            }
            if let complaint = check(text) { return .wrong(complaint.message, complaint.suggestion) }
            return .value(text)
        } toml: {
            tomlQuoted($0)
        }
    }

    private static func quoted(_ node: DocumentNode) -> String? {
        switch node.value {
        case .integer(let integer): "write it in quotes: \"\(integer)\""
        case .number(let number): "write it in quotes: \"\(number)\""
        case .boolean(let flag): "write it in quotes: \"\(flag)\""
        default: nil
        }
    }

    /// The name of a source or resource.
    static var name: Codec {
        text("a name of letters, digits, \".\", \"_\" and \"-\"", maxLength: 64, wrong: ["\"a b\"", "\"a/b\"", "\"-a\""]) { name in
            let isName = name.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || ".-_".utf8.contains(byte)
            }
            if isName, name.first != "-", name.first != "." { return nil }
            return ("\"\(name)\" is not a name", "use letters, digits, \".\", \"_\" and \"-\", beginning with a letter or digit")
        }
    }

    /// An absolute path, which may begin with `$STATE_DIRECTORY` or `$RUNTIME_DIRECTORY`.
    static var path: Codec {
        text("an absolute path", wrong: ["\"relative/path\"", "\"$HOME/x\""]) { path in
            if path.hasPrefix("/") { return nil }
            for variable in ConfiguredPath.variables where path == variable || path.hasPrefix(variable + "/") { return nil }
            if path.hasPrefix("$") {
                return (
                    "\"\(path)\" names another variable", "only \(ConfiguredPath.variables.joined(separator: " and ")) may be used in a path"
                )
            }
            return ("\"\(path)\" is not an absolute path", "write it from the root, as in \"/var/lib/cistern\"")
        }
    }
}

extension Codec where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// A word of a list.
    static func choice(_ type: Value.Type, later: [String] = []) -> Codec {
        let words = Value.allCases.map(\.rawValue)
        let expected = words.count == 1 ? "\"\(words[0])\"" : "one of " + words.map { "\"\($0)\"" }.joined(separator: ", ")
        return Codec(expected: expected, wrong: ["1", "true", "\"no-such-word\"", "[]"]) { node in
            guard let text = node.string else { return mismatch(node, expected) }
            if let choice = Value(rawValue: text) { return .value(choice) }
            if later.contains(text) { return .later("\"\(text)\"") }
            return mismatch(node, expected, SyncConfiguration.suggestion(for: text, among: words, kind: "known words"))
        } toml: {
            "\"\($0.rawValue)\""
        }
    }
}

extension Codec {
    /// A list of words, each once.
    static func choices<Choice: RawRepresentable & CaseIterable & Hashable>(_ type: Choice.Type, isEmptyAllowed: Bool, later: [String] = [])
        -> Codec
    where Choice.RawValue == String, Value == [Choice] {
        let one = Codec<Choice>.choice(type, later: later)
        let expected = "a list of " + Choice.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        return Codec.list(of: one, expected: expected, isEmptyAllowed: isEmptyAllowed)
    }

    /// A list of values, each once.
    static func list<Element: Hashable>(of one: Codec<Element>, expected: String, isEmptyAllowed: Bool) -> Codec where Value == [Element] {
        Codec(
            expected: expected,
            wrong: ["1", "\"word\"", "true"] + one.wrong.prefix(3).map { "[\($0)]" } + (isEmptyAllowed ? [] : ["[]"])
        ) { node in
            guard let array = node.array else { return mismatch(node, expected, "write it in brackets: [ … ]") }
            if array.isEmpty, !isEmptyAllowed { return .wrong("the list is empty", "write \(expected)") }
            var values: [Element] = []
            var seen: Set<Element> = []
            for element in array {
                switch one.read(element) {
                case .value(let value):
                    if !seen.insert(value).inserted { return .wrong("\(one.toml(value) ?? "") appears twice in the list", "remove one of them") }
                    values.append(value)
                case .wrong(let message, let suggestion): return .wrong(message, suggestion)
                case .later(let what): return .later(what)
                }
            }
            return .value(values)
        } toml: {
            "[" + $0.compactMap(one.toml).joined(separator: ", ") + "]"
        }
    }

    /// A text with a form of its own.
    static func parsed(
        _ expected: String, wrong: [String], read: @escaping (String) -> Value?, print: @escaping (Value) -> String
    ) -> Codec {
        Codec(expected: expected, wrong: ["1", "true", "[]", "\"\""] + wrong) { node in
            guard let text = node.string, let value = read(text) else { return mismatch(node, expected) }
            return .value(value)
        } toml: {
            tomlQuoted(print($0))
        }
    }

    /// The same with an absent value.
    func optional() -> Codec<Value?> {
        Codec<Value?>(expected: expected, wrong: wrong) { node in
            switch read(node) {
            case .value(let value): .value(value)
            case .wrong(let message, let suggestion): .wrong(message, suggestion)
            case .later(let what): .later(what)
            }
        } toml: {
            $0.flatMap(toml)
        }
    }
}
