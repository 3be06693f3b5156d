import JSONPaths

/// What a POST sends: `json`, `form`, or what `query` and `variables` make.
///
/// It is shown as it is, so secrets do not belong into it: these are put in when it is sent. The texts of its leaves are templates, as the values of parameters are, until
/// ``filled(_:)`` has filled them.
public enum RequestBody: Sendable, Hashable {
    /// JSON (`application/json`).
    case json(BodyValue)
    /// The fields of a form (`application/x-www-form-urlencoded`), in order.
    case form([FormField])

    /// Its templates, in order: the texts of `json` or `variables`, or the values of `form`.
    public var templates: [Template] {
        switch self {
        case .json(let value): value.templates
        case .form(let fields): fields.map { Template($0.value) }
        }
    }

    /// The same with values in place of all of its templates: texts, numbers or truth values, which in a form are what JSON writes. Rethrows what `value`
    /// throws.
    public func filled(_ value: (Template) throws -> BodyValue) rethrows -> RequestBody {
        switch self {
        case .json(let outermost): return .json(try outermost.filled(value))
        case .form(let fields): return .form(try fields.map { FormField(name: $0.name, value: try value(Template($0.value)).plainText ?? "") })
        }
    }

    /// The same with a value at a place; objects that are missing on the way are made, and so is a list whose first element is meant.
    ///
    /// - Parameters:
    ///   - value: a text or a number; it replaces what is there.
    ///   - place: in JSON a JSON Pointer (RFC 6901) or a path, or else the name of a member of the outermost object; in a form the name of a field.
    /// - Returns: nil where there can be no such place: what stands in the way is neither an object nor a list that reaches so far.
    public func setting(_ value: BodyValue, at place: String) -> RequestBody? {
        switch self {
        case .form(let fields):
            guard let text = value.plainText else { return nil }
            return .form(fields.filter { $0.name != place } + [FormField(name: place, value: text)])
        case .json(let outermost):
            guard let path = try? Self.path(of: place), !path.segments.isEmpty else { return nil }
            return outermost.setting(value, at: path.segments[...]).map { .json($0) }
        }
    }

    /// What a place in JSON means.
    private static func path(of place: String) throws(JSONPathError) -> JSONPath {
        guard place.hasPrefix("/") || place.hasPrefix("$") else { return JSONPath(keys: [place]) }
        return try JSONPath(parsing: place)
    }

    /// Whether two places are the same, however they are written, or one of them is inside of the other: what is set at one replaces the other.
    func hasOverlap(of first: String, _ second: String) -> Bool {
        guard case .json = self, let one = try? Self.path(of: first).segments, let other = try? Self.path(of: second).segments,
            !one.isEmpty, !other.isEmpty
        else { return first == second }
        return zip(one, other).allSatisfy { $0.name == $1.name }
    }

    /// Whether two places are the same, however they are written.
    func isSamePlace(_ first: String, _ second: String) -> Bool {
        guard case .json = self, let one = try? Self.path(of: first).segments, let other = try? Self.path(of: second).segments else {
            return first == second
        }
        return one.map(\.name) == other.map(\.name)
    }

    /// Whether something is written at a place. An empty text is none: it keeps the place for what is still to come.
    func hasValue(at place: String) -> Bool {
        switch self {
        case .form(let fields): return fields.contains { $0.name == place && !$0.value.isEmpty }
        case .json(var value):
            guard let path = try? Self.path(of: place) else { return false }
            for step in path.segments {
                guard let inner = value.inner(step) else { return false }
                value = inner
            }
            switch value {
            case .text(let text): return !text.isEmpty
            case .template(let template): return !template.description.isEmpty
            case .boolean, .number, .array, .object: return true
            }
        }
    }

    /// What is wrong with a place, and what to do about it; nil: a value can be set there.
    func complaint(place: String) -> (message: String, suggestion: String)? {
        guard case .json = self else { return nil }
        let pointer = "write a JSON Pointer such as \"/paging/after\""
        do throws(JSONPathError) {
            if try Self.path(of: place).segments.isEmpty { return ("\"\(place)\" is the whole body", pointer) }
        } catch {
            switch error.problem {
            case .malformed(let reason): return ("\"\(place)\" is no place in the body: at character \(error.position), \(reason)", pointer)
            case .notInThisVersion(let what): return ("\(what) is not in this version", pointer)
            }
        }
        if setting(.number("0"), at: place) != nil { return nil }
        return (
            "the body has no place \"\(place)\": what is on the way there is neither an object nor a list that reaches so far",
            "name another place, or change the body"
        )
    }
}

/// A value of a JSON body. TOML has no null, and neither has it.
public indirect enum BodyValue: Sendable, Hashable {
    /// True or false.
    case boolean(Bool)
    /// A number, as JSON writes it. An integer of the file is one, and a number with a fraction keeps it: `1.0` is `1.0`.
    case number(String)
    /// A text that is meant as it stands.
    case text(String)
    /// A text with places to be filled.
    case template(Template)
    /// A list.
    case array([BodyValue])
    /// An object; its members in the order in which they are written.
    case object([Member])

    /// A member of an object.
    public struct Member: Sendable, Hashable {
        /// Its key; unique in its object.
        public var name: String
        /// Its value.
        public var value: BodyValue

        /// A member, nothing checked.
        public init(_ name: String, _ value: BodyValue) {
            self.name = name
            self.value = value
        }
    }

    /// The text or the digits; nil where it is something else.
    public var plainText: String? {
        switch self {
        case .number(let text), .text(let text): text
        case .boolean(let flag): "\(flag)"
        case .template, .array, .object: nil
        }
    }

    /// The value of a member of the object that it is; nil: there is none.
    public func member(_ name: String) -> BodyValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The value one step down; nil: there is none.
    fileprivate func inner(_ step: JSONPath.Segment) -> BodyValue? {
        switch self {
        case .object: return member(step.name)
        case .array(let elements):
            guard case .index(let index) = step, index < elements.count else { return nil }
            return elements[index]
        case .boolean, .number, .text, .template: return nil
        }
    }

    /// The templates in it, in order.
    var templates: [Template] {
        switch self {
        case .boolean, .number, .text: []
        case .template(let template): [template]
        case .array(let elements): elements.flatMap(\.templates)
        case .object(let members): members.flatMap(\.value.templates)
        }
    }

    fileprivate func filled(_ value: (Template) throws -> BodyValue) rethrows -> BodyValue {
        switch self {
        case .boolean, .number, .text: return self
        case .template(let template): return try value(template)
        case .array(let elements): return .array(try elements.map { try $0.filled(value) })
        case .object(let members): return .object(try members.map { Member($0.name, try $0.value.filled(value)) })
        }
    }

    fileprivate func setting(_ value: BodyValue, at path: ArraySlice<JSONPath.Segment>) -> BodyValue? {
        guard let step = path.first else { return value }
        let rest = path.dropFirst()
        switch self {
        case .object(var members):
            let name = step.name
            if let index = members.firstIndex(where: { $0.name == name }) {
                guard let inner = members[index].value.setting(value, at: rest) else { return nil }
                members[index].value = inner
            } else {
                guard let inner = Self.made(around: value, at: rest) else { return nil }
                members.append(Member(name, inner))
            }
            return .object(members)
        case .array(var elements):
            guard case .index(let index) = step, index <= elements.count else { return nil }
            if index < elements.count {
                guard let inner = elements[index].setting(value, at: rest) else { return nil }
                elements[index] = inner
            } else {
                guard let inner = Self.made(around: value, at: rest) else { return nil }
                elements.append(inner)
            }
            return .array(elements)
        case .boolean, .number, .text, .template: return nil
        }
    }

    /// What stands where nothing was: the value, inside of what its path leads through.
    private static func made(around value: BodyValue, at path: ArraySlice<JSONPath.Segment>) -> BodyValue? {
        switch path.first {
        case nil: value
        case .key?: BodyValue.object([]).setting(value, at: path)
        case .index?: BodyValue.array([]).setting(value, at: path)
        case .each?: nil
        }
    }
}

/// A field of a form.
public struct FormField: Sendable, Hashable {
    /// Its name; several fields may have it.
    public var name: String
    /// Its value: a template until the body is filled.
    public var value: String

    /// A field, nothing checked.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// `method`: how requests for pages are made.
public enum RequestMethod: String, Sendable, Hashable, CaseIterable {
    /// The default: it asks for what is at an address, sends nothing and may be made again at any time.
    case get = "GET"
    /// For services that read with it, as searches and GraphQL do. It sends a body, and is made again only where that is said (RFC 9110, 9.3.3).
    case post = "POST"
}

extension JSONPath.Segment {
    /// The key that it is in an object.
    fileprivate var name: String {
        switch self {
        case .key(let key): key
        case .index(let index): "\(index)"
        case .each: "*"
        }
    }
}
