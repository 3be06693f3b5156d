extension Codec where Value == BodyValue {
    /// What a JSON body consists of: a table or an array, with anything in it that JSON can say.
    static var json: Codec { body("a table or an array", wrong: ["{ a = [1, nan] }"]) { $0.table != nil || $0.array != nil } }

    /// The variables of a query.
    static var variables: Codec {
        body("a table of variables and values", wrong: ["[1]", "{ \"$first\" = 1 }"], isVariables: true) { $0.table != nil }
    }

    private static func body(
        _ expected: String, wrong: [String], isVariables: Bool = false, isMeant: @escaping (DocumentNode) -> Bool
    ) -> Codec {
        let refused = ["1", "true", "\"a=b\"", "{ a = inf }", "{ a = { b = 2024-01-01 } }", "{ password = \"x\" }", "{ a = [{ token = \"x\" }] }"]
        return Codec(expected: expected, wrong: refused + wrong) { node in
            guard isMeant(node) else { return mismatch(node, expected) }
            if isVariables, let name = node.table?.ordered.first(where: { !GraphQLQuery.isName($0.key) })?.key {
                return .wrong("\"\(name)\" is not the name of a variable", "use letters, digits and \"_\", without \"$\"")
            }
            do {
                return .value(try BodyValue(node, at: isVariables ? "/variables" : ""))
            } catch let refusal as BodyRefusal {
                return .wrong(refusal.message, refusal.suggestion)
            } catch {
                return .wrong("\(error)", nil)
            }
        } toml: {
            $0.toml
        }
    }
}

/// What a value cannot be part of a body for.
private struct BodyRefusal: Error {
    let message: String
    let suggestion: String
}

extension BodyValue {
    /// The value of a node of the file.
    ///
    /// - Parameter place: where it is in the body, as a JSON Pointer; empty: it is all of it.
    fileprivate init(_ node: DocumentNode, at place: String) throws {
        let subject = place.isEmpty ? "" : "\(place): "
        switch node.value {
        case .string(let text): self = .template(Template(text))
        case .integer(let integer): self = .number("\(integer)")
        case .number(let number) where number.isFinite: self = .number("\(number)")
        case .number: throw BodyRefusal(message: "\(subject)JSON has no such number", suggestion: "write a finite number")
        case .boolean(let flag): self = .boolean(flag)
        case .moment: throw BodyRefusal(message: "\(subject)JSON has no dates", suggestion: "write it in quotes")
        case .array(let elements):
            var values: [BodyValue] = []
            for (index, element) in elements.enumerated() { values.append(try BodyValue(element, at: "\(place)/\(index)")) }
            self = .array(values)
        case .table(let table):
            var members: [Member] = []
            for (name, value) in table.ordered {
                let inner = "\(place)/\(name)"
                if RequestName.isSecret(field: name), value.string?.isEmpty == false { throw BodyRefusal(secret: inner) }
                members.append(Member(name, try BodyValue(value, at: inner)))
            }
            self = .object(members)
        }
    }

    /// As TOML, on one line.
    fileprivate var toml: String {
        switch self {
        case .boolean(let flag): "\(flag)"
        case .number(let text): text
        case .text(let text): tomlQuoted(text)
        case .template(let template): tomlQuoted(template.description)
        case .array(let elements): "[" + elements.map(\.toml).joined(separator: ", ") + "]"
        case .object(let members):
            members.isEmpty ? "{}" : "{ " + members.map { "\(tomlKey($0.name)) = \($0.value.toml)" }.joined(separator: ", ") + " }"
        }
    }

    /// The members of an object with those of another laid over them: a name that occurs there is taken from there. Anything else is replaced.
    func overlaid(with later: BodyValue) -> BodyValue {
        guard case .object(let members) = self, case .object(let others) = later else { return later }
        let names = Set(others.map(\.name))
        return .object(members.filter { !names.contains($0.name) } + others)
    }
}

extension BodyRefusal {
    fileprivate init(secret place: String) {
        message = "\(place) carries a secret, which the configuration may not contain"
        suggestion =
            "write secret_fields = { \"\(place)\" = { credential = \"ID\" } }, or auth = { kind = \"bearer\", token = { credential = \"ID\" } } if the service "
            + "takes it in a header"
    }
}

extension Codec where Value == [FormField] {
    /// A table of names and values, as parameters are. A field whose name says that it is a secret may be there without one: it keeps the place.
    static var form: Codec {
        let fields = Codec<[QueryParameter]>.values("a table of field names and values") { name, value in
            if name.isEmpty { return ("a field has no name", "give it one") }
            guard RequestName.isSecret(field: name), value.string?.isEmpty != true else { return nil }
            let refusal = BodyRefusal(secret: name)
            return (refusal.message, refusal.suggestion)
        }
        return Codec(expected: fields.expected, wrong: fields.wrong) { node in
            switch fields.read(node) {
            case .value(let values): return .value(values.map { FormField(name: $0.name, value: $0.value) })
            case .wrong(let message, let suggestion): return .wrong(message, suggestion)
            case .later(let what): return .later(what)
            }
        } toml: { form in
            fields.toml(form.map { QueryParameter(name: $0.name, value: $0.value) })
        }
    }
}

extension [FormField] {
    /// These with others laid over them: a name that occurs there is taken from there.
    func overlaid(with later: [FormField]) -> [FormField] {
        let names = Set(later.map(\.name))
        return (filter { !names.contains($0.name) } + later).enumerated()
            .sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }.map(\.element)
    }
}

extension Codec where Value == String {
    /// The text of a GraphQL query; it may have several lines.
    static var graphQLQuery: Codec {
        let expected = "a GraphQL query such as \"{ items { id } }\""
        return Codec(
            expected: expected, wrong: ["1", "true", "[]", "\"\"", "\"items\"", "\"# { a }\"", "\"mutation { a }\"", "\"{ a\\u0007 }\""]
        ) { node in
            guard let text = node.string else { return mismatch(node, expected) }
            guard let complaint = GraphQLQuery.complaint(text) else { return .value(text) }
            return .wrong(complaint.message, complaint.suggestion)
        } toml: {
            tomlQuoted($0)
        }
    }
}

extension Codec where Value == [RetryConfiguration.Method] {
    /// Methods that are repeated. Of a POST its resource says it.
    static var retriedMethods: Codec {
        let words = Codec.choices(RetryConfiguration.Method.self, isEmptyAllowed: true)
        return Codec(expected: words.expected, wrong: words.wrong + ["[\"GET\", \"POST\"]"]) { node in
            guard node.array?.contains(where: { $0.string == RequestMethod.post.rawValue }) == true else { return words.read(node) }
            return .wrong("whether a POST may be repeated is for its resource to say", "write idempotent = true at the resource")
        } toml: {
            words.toml($0)
        }
    }
}
