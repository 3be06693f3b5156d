/// What the names of a template stand for, and what comes of an expression then.
///
/// Times that only a client knows are marks in it: texts that a rendered template is searched for (``Mark``).
struct TemplateScope {
    /// A place in a text that is not known beforehand.
    enum Mark: Character, CaseIterable {
        /// The present time, however it is written.
        case now = "\u{E000}"
        /// From where on.
        case since = "\u{E001}"
        /// Up to where.
        case until = "\u{E002}"
        /// What says which page is meant.
        case page = "\u{E003}"

        var text: String { String(rawValue) }
    }

    var names: [String: DataValue]

    init(_ names: [String: DataValue] = [:]) {
        self.names = names
    }

    /// The same with something added, or put into another's place.
    func with(_ more: [String: DataValue]) -> TemplateScope {
        TemplateScope(names.merging(more) { $1 })
    }

    func value(_ expression: TemplateExpression) -> DataValue {
        switch expression {
        case .literal(let value): return value
        case .name(let name): return names[name] ?? .null
        case .member(let base, let step): return member(value(base), value(step))
        case .call(let name, let arguments): return call(name, arguments.map(value))
        case .method(let base, let name, let arguments): return method(value(base), name, arguments.map(value))
        case .filter(let base, let name, let arguments): return filter(value(base), name, arguments.map(value))
        case .not(let inner): return .bool(!isTrue(value(inner)))
        case .negative(let inner):
            if let number = value(inner).int { return .int(-number) }
            return value(inner).number.map { .double(-$0) } ?? .null
        case .binary("or", let one, let two):
            let first = value(one)
            return isTrue(first) ? first : value(two)
        case .binary("and", let one, let two):
            let first = value(one)
            return isTrue(first) ? value(two) : first
        case .binary(let sign, let one, let two): return binary(sign, value(one), value(two))
        case .test(let inner, let test): return .bool(Self.test(value(inner), test))
        case .conditional(let condition, let first, let second): return isTrue(value(condition)) ? value(first) : value(second)
        case .list(let elements): return .list(elements.map(value))
        }
    }

    /// As Python takes a value in a condition.
    func isTrue(_ value: DataValue) -> Bool {
        switch value {
        case .null: false
        case .bool(let flag): flag
        case .int(let number): number != 0
        case .double(let number): number != 0
        case .text(let text): !text.isEmpty
        case .list(let list): !list.isEmpty
        case .object(let members): !members.isEmpty
        }
    }

    private func member(_ base: DataValue, _ step: DataValue) -> DataValue {
        if case .list(let list) = base, case .int(let index) = step {
            let place = index < 0 ? list.count + index : index
            return list.indices.contains(place) ? list[place] : .null
        }
        return base[step.shown] ?? .null
    }

    private func call(_ name: String, _ arguments: [DataValue]) -> DataValue {
        switch name {
        case "now_utc", "today_utc", "day_delta", "today_with_timezone": .text(Mark.now.text)
        // What is written otherwise is the same moment: a mark stays a mark.
        case "format_datetime", "str_to_datetime", "timestamp": arguments.first ?? .null
        case "max", "min": arguments.first ?? .null
        default: .null
        }
    }

    private func method(_ base: DataValue, _ name: String, _ arguments: [DataValue]) -> DataValue {
        let first = arguments.first ?? .null
        switch name {
        case "get":
            let found = member(base, first)
            return found.isNull ? (arguments.count > 1 ? arguments[1] : .null) : found
        case "strftime", "timestamp", "isoformat": return base
        case "lower": return .text(base.shown.lowercased())
        case "upper": return .text(base.shown.uppercased())
        case "strip": return .text(base.shown)
        case "startswith": return .bool(base.shown.hasPrefix(first.shown))
        case "endswith": return .bool(base.shown.hasSuffix(first.shown))
        case "replace":
            let other = arguments.count > 1 ? arguments[1].shown : ""
            return .text(base.shown.replacing(first.shown, with: other))
        case "split":
            guard !first.shown.isEmpty else { return .list(base.shown.split(separator: " ").map { .text(String($0)) }) }
            return .list(base.shown.split(separator: first.shown, omittingEmptySubsequences: false).map { .text(String($0)) })
        default: return .null
        }
    }

    private func filter(_ base: DataValue, _ name: String, _ arguments: [DataValue]) -> DataValue {
        let list = base.list ?? []
        switch name {
        case "first": return list.first ?? .null
        case "last": return list.last ?? .null
        case "list": return base
        case "length": return .int(base.list?.count ?? base.members?.count ?? base.shown.count)
        case "int": return Int(base.shown).map { .int($0) } ?? .int(0)
        case "string": return .text(base.shown)
        case "regex_search":
            // The first group of what is found, or nothing.
            guard let pattern = arguments.first?.text, let regex = try? Regex(pattern), let found = base.text?.firstMatch(of: regex)?.output,
                found.count > 1
            else { return .text("") }
            return .text(found[1].substring.map { String($0) } ?? "")
        case "default": return base.isNull ? arguments.first ?? .null : base
        case "selectattr":
            guard arguments.count == 3 else { return .null }
            return .list(list.filter { member($0, arguments[0]).isSame(as: arguments[2]) })
        case "map":
            guard case .list(let named)? = arguments.first, named.count == 2 else { return .null }
            return .list(list.map { member($0, named[1]) })
        default: return .null
        }
    }

    private func binary(_ sign: String, _ one: DataValue, _ two: DataValue) -> DataValue {
        switch sign {
        case "==": return .bool(one.isSame(as: two))
        case "!=": return .bool(!one.isSame(as: two))
        case "in":
            if let list = two.list { return .bool(list.contains { $0.isSame(as: one) }) }
            if two.members != nil { return .bool(two[one.shown] != nil) }
            return .bool(two.text.map { $0.contains(one.shown) } ?? false)
        case "~": return .text(one.shown + two.shown)
        case "<", "<=", ">", ">=": return compare(sign, one, two)
        default: return calculate(sign, one, two)
        }
    }

    /// Numbers with numbers, texts with texts; of anything else nothing is true.
    private func compare(_ sign: String, _ one: DataValue, _ two: DataValue) -> DataValue {
        let isLess: Bool, isSame: Bool
        if let first = one.number, let second = two.number {
            isLess = first < second
            isSame = first == second
        } else if let first = one.text, let second = two.text {
            // What is not known yet is before everything.
            isLess = !Self.hasMark(second) && first < second
            isSame = first == second
        } else if let second = two.text, Self.hasMark(second), one.number != nil {
            isLess = false
            isSame = false
        } else {
            return .bool(false)
        }
        switch sign {
        case "<": return .bool(isLess && !isSame)
        case "<=": return .bool(isLess || isSame)
        case ">": return .bool(!isLess && !isSame)
        default: return .bool(!isLess || isSame)
        }
    }

    private func calculate(_ sign: String, _ one: DataValue, _ two: DataValue) -> DataValue {
        // A time that is not known, earlier or later, is one that is not known.
        if let text = one.text, Self.hasMark(text) { return one }
        if sign == "+", let first = one.text, let second = two.text { return .text(first + second) }
        guard let first = one.number, let second = two.number else { return .null }
        let result: Double
        switch sign {
        case "+": result = first + second
        case "-": result = first - second
        case "*": result = first * second
        case "/": return second == 0 ? .null : .double(first / second)
        case "//": result = second == 0 ? 0 : (first / second).rounded(.down)
        default: result = second == 0 ? 0 : first.truncatingRemainder(dividingBy: second)
        }
        return one.int != nil && two.int != nil ? .int(Int(result)) : .double(result)
    }

    private static func test(_ value: DataValue, _ test: String) -> Bool {
        switch test {
        case "defined": !value.isNull
        case "undefined", "none": value.isNull
        case "true": value == .bool(true)
        case "false": value == .bool(false)
        case "string": value.text != nil
        case "number": value.number != nil
        case "mapping": value.members != nil
        default: false
        }
    }

    static func hasMark(_ text: String) -> Bool { text.contains { Mark(rawValue: $0) != nil } }
}
