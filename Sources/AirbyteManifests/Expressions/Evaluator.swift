/// Works expressions out as far as that is possible before a run.
struct Evaluator {
    let settings: ConnectorSettings
    /// Those of the component that the expression stands in.
    var parameters: [String: ManifestValue]
    /// What the beginning and the end of an increment are called.
    var intervalNames = (start: "start_time", end: "end_time")
    /// What is asked is only the first request of a listing: there is no token of a next page yet.
    var isFirstPage = false
    /// Texts of the user's are kept secret, whatever the manifest says.
    var keepsSettingsSecret = false

    /// A text of the manifest, or another value of it.
    func term(_ value: ManifestValue) throws -> Term {
        guard let text = value.text else { return Term(value) }
        return try term(of: text)
    }

    func term(of text: String) throws -> Term {
        guard text.contains("{{") || text.contains("{%") || text.contains("{#") else { return .text(text) }
        let interpolation = try Interpolation(text)
        if let only = interpolation.only { return try complete(term(only)) }
        return .joined(
            try interpolation.parts.map { part -> Term in
                switch part {
                case .text(let text): return .text(text)
                case .expression(let expression): return try complete(term(expression))
                }
            })
    }

    /// The one expression that a text consists of; nil: it has none, or is more than that.
    static func expression(_ text: String) throws -> JinjaExpression? {
        guard text.contains("{{") || text.contains("{%") else { return nil }
        return try Interpolation(text).only
    }

    /// What is no value yet is none.
    private func complete(_ term: Term) throws -> Term {
        guard case .reference(let reference) = term, reference.root == .configuration else { return term }
        throw Unsayable("config\(reference.keys.map { "." + $0.joined(separator: ".") } ?? "") is not one value")
    }

    func term(_ expression: JinjaExpression) throws -> Term {
        switch expression {
        case .none: return Term.none
        case .bool(let flag): return .bool(flag)
        case .integer(let value): return .integer(value)
        case .number(let value): return .number(value)
        case .text(let text): return .text(text)
        case .list(let elements): return .list(try elements.map { try term($0) })
        case .mapping(let keys, let values):
            var members: [String: Term] = [:]
            for (key, value) in zip(keys, values) {
                guard let name = try term(key).constantText else { throw Unsayable("the keys of a mapping have to be known") }
                members[name] = try term(value)
            }
            return .mapping(members)
        case .name(let name): return try root(name)
        case .member(let base, let key): return try member(of: term(base), term(key))
        case .call(let function, let arguments, let named): return try call(function, arguments, named)
        case .filter(let name, let base, let arguments): return try filter(name, term(base), arguments.map { try term($0) })
        case .test(let name, let base): return try test(name, term(base))
        case .not(let inner):
            guard let truth = try truth(of: inner) else { throw Unsayable("it depends on what only a run knows") }
            return .bool(!truth)
        case .negative(let inner):
            switch try term(inner) {
            case .integer(let value): return .integer(-value)
            case .number(let value): return .number(-value)
            case .span(let seconds): return .span(-seconds)
            default: throw Unsayable("a minus stands before something that is no number")
            }
        case .binary(let sign, let left, let right): return try binary(sign, left, right)
        case .conditional(let condition, let then, let other): return try conditional(condition, then, other)
        }
    }

    // MARK: Names and members

    private func root(_ name: String) throws -> Term {
        switch name {
        case "config": return .reference(.init(.configuration))
        case "parameters", "options": return .mapping(parameters.mapValues { Term($0) })
        case "response": return .reference(.init(.response))
        case "headers": return .reference(.init(.headers))
        case "record": return .reference(.init(.record))
        case "last_record": return .reference(.init(.lastRecord))
        case "last_records": return .reference(.init(.lastRecords))
        case "stream_interval": return .reference(.init(.interval))
        case "stream_slice": return .reference(.init(.slice))
        case "stream_partition": return .reference(.init(.partition))
        case "next_page_token": return isFirstPage ? Term.none : .reference(.init(.nextPageToken))
        case "last_page_size": return .reference(.init(.lastPageSize))
        case "last_page_token_value": return .reference(.init(.lastPageToken))
        case "stream_state": throw Unsayable("the state of earlier runs has no place in a request but through \"incremental\"")
        default: throw Unsayable("\"\(name)\" is not known in expressions here")
        }
    }

    /// - Parameter fallback: what counts where there is nothing.
    func member(of base: Term, _ key: Term, fallback: Term? = nil) throws -> Term {
        switch base {
        case .reference(let reference): return try member(of: reference, key, fallback: fallback)
        case .mapping(let members):
            guard let name = key.constantText else { throw Unsayable("which member is meant is known only in a run") }
            return members[name] ?? fallback ?? Term.none
        case .list(let elements):
            guard case .integer(let index) = key else { throw Unsayable("which element is meant is known only in a run") }
            let place = index < 0 ? elements.count + index : index
            return elements.indices.contains(place) ? elements[place] : fallback ?? Term.none
        case .none: return fallback ?? Term.none
        default: throw Unsayable("a member of a text is not understood")
        }
    }

    private func member(of reference: Term.Reference, _ key: Term, fallback: Term?) throws -> Term {
        var reference = reference
        switch key {
        case .text(let name): reference.steps.append(.key(name))
        case .integer(let index): reference.steps.append(.index(index))
        default: throw Unsayable("which member is meant is known only in a run")
        }
        if reference.root == .configuration { return try setting(reference, fallback: fallback) }
        reference = normal(reference)
        // What is always there needs no other value; elsewhere nothing, or what counts as nothing, is as good as an absent one.
        if let fallback, !reference.isAlwaysThere, fallback.truth != false {
            throw Unsayable("another value in place of one that is missing cannot be said")
        }
        return .reference(reference)
    }

    private func setting(_ reference: Term.Reference, fallback: Term?) throws -> Term {
        guard let path = reference.keys else { throw Unsayable("an element of a list of the user's is not understood") }
        switch settings.answer(path) {
        case .secret: return .secret(path)
        case .value(let term):
            if keepsSettingsSecret, case .text = term { return .secret(path) }
            return term
        case .fields: return .reference(reference)
        case .unset: return fallback ?? Term.none
        case .unknown:
            if let fallback { return fallback }
            throw Unsayable("the manifest's spec has no field \(path.joined(separator: "."))")
        }
    }

    /// One name for what several lead to.
    private func normal(_ reference: Term.Reference) -> Term.Reference {
        guard case .key(let first)? = reference.steps.first else {
            if reference.root == .lastRecords, case .index(-1)? = reference.steps.first {
                return .init(.lastRecord, Array(reference.steps.dropFirst()))
            }
            return reference
        }
        let rest = Array(reference.steps.dropFirst())
        switch (reference.root, first) {
        case (.interval, intervalNames.start), (.slice, intervalNames.start): return .init(.since, rest)
        case (.interval, intervalNames.end), (.slice, intervalNames.end): return .init(.until, rest)
        case (.slice, "cursor_slice") where rest.isEmpty: return .init(.interval)
        case (.slice, "partition") where rest.isEmpty: return .init(.partition)
        case (.slice, "extra_fields"), (.partition, "extra_fields"): return .init(.extraField, rest)
        case (.slice, "parent_slice"), (.partition, "parent_slice"): return .init(.parentSlice, rest)
        case (.slice, _): return .init(.partition, reference.steps)
        default: return reference
        }
    }

    // MARK: Operators

    /// Whether something holds; nil: that is known only in a run.
    func truth(of expression: JinjaExpression) throws -> Bool? {
        switch expression {
        case .not(let inner): return try truth(of: inner).map { !$0 }
        case .binary("and", let left, let right):
            let a = try truth(of: left), b = try truth(of: right)
            if a == false || b == false { return false }
            return a == nil || b == nil ? nil : true
        case .binary("or", let left, let right):
            let a = try truth(of: left), b = try truth(of: right)
            if a == true || b == true { return true }
            return a == nil || b == nil ? nil : false
        case .binary("==", let left, let right): return try areEqual(left, right)
        case .binary("!=", let left, let right): return try areEqual(left, right).map { !$0 }
        case .binary("in", let left, let right):
            let needle = try term(left), stack = try term(right)
            guard needle.isConstant else { return nil }
            switch stack {
            case .list(let elements): return stack.isConstant ? elements.contains(needle) : nil
            case .text(let text): return needle.constantText.map { text.contains($0) }
            case .mapping(let members): return needle.constantText.map { members[$0] != nil }
            case .reference(let reference) where reference.root == .configuration:
                guard let path = reference.keys, let name = needle.constantText else { return nil }
                switch settings.answer(path + [name]) {
                case .unset, .unknown: return false
                case .secret, .value, .fields: return true
                }
            default: return nil
            }
        default: return try term(expression).truth
        }
    }

    private func areEqual(_ left: JinjaExpression, _ right: JinjaExpression) throws -> Bool? {
        let a = try term(left), b = try term(right)
        return a.isConstant && b.isConstant ? a == b : nil
    }

    private func conditional(_ condition: JinjaExpression, _ then: JinjaExpression, _ other: JinjaExpression) throws -> Term {
        if let truth = try truth(of: condition) { return try term(truth ? then : other) }
        // `x if x else ''` is x.
        let isItself = condition == then || isThere(condition, then)
        if isItself, try term(other).truth == false { return try term(then) }
        throw Unsayable("it depends on what only a run knows")
    }

    /// Whether a condition says no more than that a value is there.
    private func isThere(_ condition: JinjaExpression, _ value: JinjaExpression) -> Bool {
        switch condition {
        case .test("defined", let inner): inner == value
        case .not(.test("none", let inner)): inner == value
        default: false
        }
    }

    private func binary(_ sign: String, _ left: JinjaExpression, _ right: JinjaExpression) throws -> Term {
        switch sign {
        case "or":
            let first = try term(left)
            guard let truth = first.truth else {
                if try term(right).truth == false { return first }
                throw Unsayable("another value in place of one that is missing cannot be said")
            }
            if truth { return first }
            return try term(right)
        case "and":
            let first = try term(left)
            guard let truth = first.truth else { throw Unsayable("it depends on what only a run knows") }
            if !truth { return first }
            return try term(right)
        case "==", "!=", "in":
            guard let truth = try truth(of: .binary(sign, left, right)) else { throw Unsayable("it depends on what only a run knows") }
            return .bool(truth)
        case "~": return .joined([try complete(term(left)), try complete(term(right))])
        default: return try arithmetic(sign, complete(term(left)), complete(term(right)))
        }
    }

    private func arithmetic(_ sign: String, _ left: Term, _ right: Term) throws -> Term {
        switch (sign, left, right) {
        case ("+", .integer(let a), .integer(let b)): return .integer(a &+ b)
        case ("-", .integer(let a), .integer(let b)): return .integer(a &- b)
        case ("*", .integer(let a), .integer(let b)): return .integer(a &* b)
        case ("+", .moment(var moment), .span(let seconds)):
            moment.offset += seconds
            return .moment(moment)
        case ("-", .moment(var moment), .span(let seconds)):
            moment.offset -= seconds
            return .moment(moment)
        case ("+", .text, _), ("+", _, .text), ("+", .pieces, _), ("+", _, .pieces): return .joined([left, right])
        default: throw Unsayable("\(sign) is not worked out for what stands beside it")
        }
    }

    private func test(_ name: String, _ base: Term) throws -> Term {
        let isNone = base == Term.none
        switch name {
        case "none", "None", "undefined":
            if case .reference(let reference) = base, !reference.isAlwaysThere { throw Unsayable("it depends on what only a run knows") }
            return .bool(isNone)
        case "defined":
            if case .reference(let reference) = base, !reference.isAlwaysThere { throw Unsayable("it depends on what only a run knows") }
            return .bool(!isNone)
        default: throw Unsayable("the test \"\(name)\" is not known here")
        }
    }
}
