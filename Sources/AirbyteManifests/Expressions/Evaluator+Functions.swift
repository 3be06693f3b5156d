/// Functions, methods and filters.
extension Evaluator {
    func call(_ function: JinjaExpression, _ arguments: [JinjaExpression], _ named: [String: JinjaExpression]) throws -> Term {
        switch function {
        case .name(let name):
            var values: [String: Term] = [:]
            for (key, value) in named { values[key] = try term(value) }
            return try macro(name, arguments.map { try term($0) }, values)
        case .member(let base, .text(let method)): return try call(method, on: base, arguments)
        default: throw Unsayable("what is called there is not understood")
        }
    }

    // MARK: Methods

    private func call(_ method: String, on base: JinjaExpression, _ arguments: [JinjaExpression]) throws -> Term {
        let object = try term(base), values = try arguments.map { try term($0) }
        switch (method, object) {
        case ("get", _):
            guard let key = values.first, values.count <= 2 else { throw Unsayable("get() needs a key") }
            return try member(of: object, key, fallback: values.count == 2 ? values[1] : nil)
        case ("strftime", .moment(var moment)):
            guard case .text(let format)? = values.first else { throw Unsayable("strftime() needs a format") }
            moment.format = format
            return .moment(moment)
        case ("timestamp", .moment(var moment)):
            moment.format = "%s"
            return .moment(moment)
        case ("lower", .text(let text)): return .text(text.lowercased())
        case ("upper", .text(let text)): return .text(text.uppercased())
        case ("strip", .text(let text)):
            guard case .text(let characters)? = values.first else { return .text(Substring(text).trimmed) }
            return .text(Self.cut(text.drop { characters.contains($0) }, of: characters))
        case ("rstrip", .text(let text)):
            guard case .text(let characters)? = values.first else { throw Unsayable("rstrip() needs characters") }
            return .text(Self.cut(Substring(text), of: characters))
        case ("replace", .text(let text)): return .text(try replaced(text, values))
        case ("join", .text(let separator)):
            guard case .list(let elements)? = values.first else { throw Unsayable("join() needs a list that is known") }
            return try joined(elements, by: separator)
        default: throw Unsayable("\(method)() is not known here, or not for what it is called on")
        }
    }

    /// A text without some characters at its end.
    private static func cut(_ text: Substring, of characters: String) -> String {
        var rest = text
        while let last = rest.last, characters.contains(last) { rest.removeLast() }
        return String(rest)
    }

    private func replaced(_ text: String, _ values: [Term]) throws -> String {
        guard values.count >= 2, case .text(let old) = values[0], case .text(let new) = values[1], !old.isEmpty else {
            throw Unsayable("replace() needs two texts")
        }
        return text.replacing(old, with: new)
    }

    private func joined(_ elements: [Term], by separator: String) throws -> Term {
        let texts = elements.compactMap(\.constantText)
        guard texts.count == elements.count else { throw Unsayable("join needs a list that is known") }
        return .text(texts.joined(separator: separator))
    }

    // MARK: Functions

    private func macro(_ name: String, _ arguments: [Term], _ named: [String: Term]) throws -> Term {
        switch name {
        case "now_utc": return .moment(.init())
        case "today_utc": return .moment(.init(isDay: true, format: "%Y-%m-%d"))
        case "day_delta":
            guard case .integer(let days)? = arguments.first ?? named["num_days"], abs(days) < 100_000 else {
                throw Unsayable("day_delta() needs a number of days that is known")
            }
            var format = "%Y-%m-%dT%H:%M:%S.%f%z"
            let given = named["format"] ?? (arguments.count > 1 ? arguments[1] : nil)
            if case .text(let text)? = given { format = text }
            return .moment(.init(offset: days * 86_400, format: format))
        case "duration":
            guard case .text(let text)? = arguments.first, let duration = ISODuration(text), !duration.isRough else {
                throw Unsayable("duration() needs days, hours, minutes or seconds as ISO 8601 writes them")
            }
            return .span(duration.seconds)
        case "format_datetime":
            guard let time = arguments.first, case .text(let format)? = arguments.count > 1 ? Optional(arguments[1]) : named["format"] else {
                throw Unsayable("format_datetime() needs a time and a format that is known")
            }
            return try formatted(time, format)
        case "timestamp":
            guard let time = arguments.first else { throw Unsayable("timestamp() needs a time") }
            if case .text(let text) = time, let civil = CivilTime(text) { return .integer(civil.epoch) }
            return try formatted(time, "%s")
        case "str_to_datetime":
            guard let time = arguments.first else { throw Unsayable("str_to_datetime() needs a time") }
            return time
        default: throw Unsayable("\(name)() is not known here")
        }
    }

    private func formatted(_ time: Term, _ format: String) throws -> Term {
        switch time {
        case .moment(var moment):
            moment.format = format
            return .moment(moment)
        case .text(let text):
            guard let civil = CivilTime(text) else {
                throw Unsayable("\"\(ManifestValue.shortened(text, limit: 40))\" is no time that can be read here")
            }
            guard let written = civil.text(format) else { throw Unsayable("the format \"\(format)\" is not known here") }
            return .text(written)
        case .reference(var reference) where (reference.root == .since || reference.root == .until) && reference.steps.isEmpty:
            reference.format = format
            return .reference(reference)
        default: throw Unsayable("a time was expected in format_datetime() or timestamp()")
        }
    }

    // MARK: Filters

    func filter(_ name: String, _ base: Term, _ arguments: [Term]) throws -> Term {
        switch name {
        case "string": return base.constantText.map { .text($0) } ?? base
        case "trim":
            guard case .text(let text) = base else { return base }
            return .text(Substring(text).trimmed)
        case "int":
            switch base {
            case .integer: return base
            case .number(let value) where abs(value) < 1e15: return .integer(Int(value))
            case .text(let text):
                guard let value = Int(Substring(text).trimmed) else {
                    throw Unsayable("\"\(ManifestValue.shortened(text, limit: 40))\" is no integer")
                }
                return .integer(value)
            // Seconds since 1970 are whole anyway.
            case .moment(let moment) where moment.format == "%s": return base
            default: throw Unsayable("what int makes of it is known only in a run")
            }
        case "default", "d":
            let other = arguments.first ?? .text("")
            if base == Term.none { return other }
            if case .reference(let reference) = base, !reference.isAlwaysThere, other.truth != false {
                throw Unsayable("another value in place of one that is missing cannot be said")
            }
            return base
        case "lower", "upper":
            guard case .text(let text) = base else { throw Unsayable("\(name) is worked out for known texts only") }
            return .text(name == "lower" ? text.lowercased() : text.uppercased())
        case "join":
            guard case .list(let elements) = base else { throw Unsayable("join needs a list that is known") }
            return try joined(elements, by: arguments.first?.constantText ?? "")
        case "replace":
            guard case .text(let text) = base else { throw Unsayable("replace is worked out for known texts only") }
            return .text(try replaced(text, arguments))
        case "first", "last":
            guard case .list(let elements) = base else { throw Unsayable("\(name) is worked out for known lists only") }
            return (name == "first" ? elements.first : elements.last) ?? Term.none
        default: throw Unsayable("the filter \"\(name)\" is not known here")
        }
    }
}
