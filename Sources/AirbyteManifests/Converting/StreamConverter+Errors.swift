import JSONPaths

/// What answers mean that are no success.
extension StreamConverter {
    /// What the program asks again for anyway.
    private static let retried: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

    /// What the filters of a handler come to.
    private struct Verdicts {
        /// The action of the first filter that names a status.
        var claimed: [Int: String] = [:]
        var empty: Set<Int> = []
        var success: Set<Int> = [200]
        var retried = StreamConverter.retried
        var conditions: [String: [TOMLValue]] = [:]
        /// What the conditions so far are about, by their keys.
        var statuses: [String: Set<Int>] = [:]
        /// A condition to ask again could not be said: such answers are judged by what comes after it.
        var isRetryUnsaid = false
    }

    func convertErrors(of requester: Component) throws {
        guard let handler = try requester.component("error_handler", "DefaultErrorHandler") else { return }
        var verdicts = Verdicts()
        try take(handler, &verdicts)
        if !verdicts.empty.isEmpty { draft.extras["empty_statuses"] = .array(verdicts.empty.sorted().map { .integer($0) }) }
        if verdicts.success.count > 1 { draft.extras["success"] = .array(verdicts.success.sorted().map { .integer($0) }) }
        if verdicts.retried != Self.retried { draft.retry["statuses"] = .array(verdicts.retried.sorted().map { .integer($0) }) }
        for (key, tables) in verdicts.conditions.sorted(by: { $0.key < $1.key }) {
            draft.extras[key] = .array(tables)
            // Without the others a run fails and says so; without this one an error would pass for an answer.
            if key != "fail_if" { draft.dispensable.insert(key) }
        }
    }

    private func take(_ handler: Component, _ verdicts: inout Verdicts) throws {
        switch handler.type {
        case "CompositeErrorHandler":
            expect(handler, handled: ["error_handlers"])
            for inner in try handler.components("error_handlers", "DefaultErrorHandler") { try take(inner, &verdicts) }
            return
        case "DefaultErrorHandler": expect(handler, handled: ["response_filters", "backoff_strategies", "max_retries", "max_time"])
        default:
            findings.remark("error_handler", named(handler), "what this program makes of errors is not carried over: they are judged by their status")
        }
        for filter in try handler.components("response_filters", "HttpResponseFilter") {
            _ = findings.refusing("error_handler.response_filters", line: filter.line) { try take(filter: filter, &verdicts) }
        }
        for strategy in try handler.components("backoff_strategies", "BackoffStrategy") { try takeWait(strategy) }
        if let count = findings.refusing("error_handler.max_retries", line: handler.line, { try integer("max_retries", in: handler) }) ?? nil {
            draft.retry["attempts"] = .integer(min(max(count, 0) + 1, 100))
        }
    }

    // MARK: Filters

    private func take(filter: Component, _ verdicts: inout Verdicts) throws {
        expect(filter, handled: ["action", "http_codes", "error_message", "error_message_contains", "predicate", "failure_type"])
        // Without an action it is only about a message.
        guard let value = try filter.value("action"), let action = value.text?.uppercased() else { return }
        // The first filter that fits decides. What was to be asked for again must not count as empty because its condition cannot be said.
        if action == "IGNORE", verdicts.isRetryUnsaid {
            throw Unsayable("an earlier filter asks again on a condition that cannot be said, and what it is about would be ignored")
        }
        for code in try filter.value("http_codes")?.list ?? [] {
            guard let status = Int(code.scalar ?? ""), verdicts.claimed[status] == nil else { continue }
            verdicts.claimed[status] = action
            try take(status, action, code, &verdicts)
        }
        guard let key = Self.conditions[action] else {
            let others = ["error_message_contains", "predicate"].compactMap { try? filter.value($0) }.filter(\.isTruthy)
            if !others.isEmpty { findings.refuse("response_filters.action", value, "this action cannot be said for what an answer says") }
            return
        }
        if let text = try filter.value("error_message_contains"), text.isTruthy {
            try takeText(text, action, key, in: filter, &verdicts)
        }
        if let predicate = try filter.value("predicate"), predicate.isTruthy {
            try takePredicate(predicate, action, key, in: filter, &verdicts)
        }
    }

    private static let conditions = [
        "RETRY": "retry_if", "RATE_LIMITED": "rate_limited_if", "IGNORE": "ignore_if", "FAIL": "fail_if",
    ]

    private func take(_ status: Int, _ action: String, _ value: ManifestValue, _ verdicts: inout Verdicts) throws {
        switch action {
        case "IGNORE":
            if (200...499).contains(status), ![304, 401, 429].contains(status) {
                verdicts.empty.insert(status)
            } else {
                findings.remark(
                    "response_filters.http_codes", value, "a run that is answered \(status) fails, and is not taken for one without records")
            }
        case "RETRY", "RATE_LIMITED", "REFRESH_TOKEN_THEN_RETRY":
            // 401 is asked once more anyway where there is a token that can be fetched.
            if status == 401 || status == 403, action == "REFRESH_TOKEN_THEN_RETRY" { return }
            if status == 401 { return findings.remark("response_filters.http_codes", value, "401 is not tried again with the same secret") }
            guard (400...599).contains(status) else { throw Unsayable("an answer with status \(status) cannot be asked for again") }
            verdicts.retried.insert(status)
        case "FAIL":
            guard !(200...399).contains(status) else { throw Unsayable("an answer with status \(status) cannot be taken for an error") }
            verdicts.retried.remove(status)
        case "SUCCESS":
            guard (200...299).contains(status) else { throw Unsayable("an answer with status \(status) cannot be taken for a success") }
            verdicts.success.insert(status)
        default: throw Unsayable("action: \(action) cannot be said")
        }
    }

    /// A text of an error's message. The whole body is searched here, and a record of a success may have the text in it.
    private func takeText(_ value: ManifestValue, _ action: String, _ key: String, in filter: Component, _ verdicts: inout Verdicts) throws {
        let table = TOMLTable([("contains", .text(try constant(value, in: filter)))])
        let isIgnored = key == "ignore_if"
        try add(table, key, action, classes: isIgnored ? [4] : [4, 5], &verdicts)
        findings.remark(
            "response_filters.error_message_contains", value,
            "it is looked for in all that an answer with a status of \(isIgnored ? "4xx" : "4xx or 5xx") says, and not in successes")
    }

    private func takePredicate(_ value: ManifestValue, _ action: String, _ key: String, in filter: Component, _ verdicts: inout Verdicts) throws {
        var tables: [TOMLTable] = []
        do {
            guard let text = value.text, let expression = try Evaluator.expression(text) else { throw Unsayable("a condition was expected") }
            for test in try evaluator(for: filter).alternatives(expression) { tables.append(try answerTable(test)) }
        } catch let error as Unsayable where key != "fail_if" {
            if key != "ignore_if" { verdicts.isRetryUnsaid = true }
            return findings.remark("response_filters.predicate", value, "\(error.reason); such an answer is judged by its status")
        }
        for table in tables { try add(table, key, action, classes: key == "ignore_if" ? [2, 4] : [2, 4, 5], &verdicts) }
    }

    /// In which order the program asks whether conditions hold, whatever their order in the manifest is.
    private static let order = ["rate_limited_if", "retry_if", "ignore_if", "fail_if"]

    /// Adds a condition on answers that no earlier filter has another action for.
    ///
    /// - Parameter classes: the first digits of the statuses that it is about.
    /// - Throws: `Unsayable` if an earlier condition would come after it here.
    private func add(_ table: TOMLTable, _ key: String, _ action: String, classes: [Int], _ verdicts: inout Verdicts) throws {
        let others = Set(verdicts.claimed.filter { $0.value != action }.keys)
        var words: [TOMLValue] = []
        var statuses: Set<Int> = []
        var isWhole = true
        for digit in classes {
            var all = Set(digit * 100...digit * 100 + 99)
            // The program takes none of these for an answer without records.
            if key == "ignore_if" { all.subtract([401, 407, 408, 429]) }
            if all.isDisjoint(with: others) {
                words.append(.text("\(digit)xx"))
                statuses.formUnion(all)
            } else {
                // An answer whose status nobody has heard of is judged by that.
                let left = Self.registered.filter { all.contains($0) && !others.contains($0) }
                words += left.map { .integer($0) }
                statuses.formUnion(left)
                isWhole = false
            }
        }
        // Earlier filters have them all.
        guard !statuses.isEmpty else { return }
        let later = Self.order.drop { $0 != key }.dropFirst()
        if let earlier = later.first(where: { verdicts.statuses[$0]?.isDisjoint(with: statuses) == false }) {
            throw Unsayable("an earlier filter may be about the same answers, and here \(key) comes before \(earlier)")
        }
        verdicts.statuses[key, default: []].formUnion(statuses)
        // Without statuses, a condition to ask again is about all of them.
        let isSaid = isWhole && classes == [2, 4, 5] && key != "fail_if"
        var result = TOMLTable(isSaid ? [] : [("status", .array(words))])
        for entry in table.entries { result[entry.key] = entry.value }
        verdicts.conditions[key, default: []].append(.table(result))
    }

    /// The statuses of answers that are in use.
    private static let registered: [Int] = {
        let ranges: [ClosedRange<Int>] = [
            200...208, 226...226, 400...418, 421...426, 428...429, 431...431, 451...451, 500...508, 510...511, 520...530,
        ]
        return ranges.flatMap { Array($0) }
    }()

    /// A test of an answer as the table of a condition.
    private func answerTable(_ test: Comparison) throws -> TOMLTable {
        let reference = test.reference
        switch reference.root {
        case .response where reference.steps.isEmpty:
            guard case .contains(.text(let name)) = test.test else { throw Unsayable("this comparison cannot be said") }
            return TOMLTable([("path", .text(JSONPath(keys: [name]).description)), ("exists", .bool(!test.isNegated))])
        case .response:
            guard let table = try conditionTable(test, at: Self.path(reference.steps).description) else {
                throw Unsayable("this comparison cannot be said")
            }
            return table
        case .headers:
            guard let keys = reference.keys, keys.count == 1, var table = try conditionTable(test, at: "$") else {
                throw Unsayable("this comparison cannot be said")
            }
            table["path"] = nil
            var result = TOMLTable([("header", .text(keys[0]))])
            // In a header all values are texts.
            for entry in table.entries {
                if case .integer(let number) = entry.value { result[entry.key] = .text("\(number)") } else { result[entry.key] = entry.value }
            }
            return result
        default: throw Unsayable("only something of an answer can be compared")
        }
    }

    // MARK: Waiting

    private func takeWait(_ strategy: Component) throws {
        func seconds(_ key: String) throws -> Double? {
            guard let value = try strategy.value(key), !value.isNull else { return nil }
            return Double(try constant(value, in: strategy))
        }
        switch strategy.type {
        case "ConstantBackoffStrategy":
            guard let wait = try seconds("backoff_time_in_seconds"), (0.001...86_400).contains(wait) else { return }
            draft.retry["base"] = .text(Self.wait(wait))
            draft.retry["factor"] = .number(1)
            draft.retry["max_delay"] = .text(Self.wait(wait))
            draft.retry["jitter"] = .text("none")
        case "ExponentialBackoffStrategy":
            guard let factor = try seconds("factor"), (0.001...3600).contains(factor) else { return }
            draft.retry["base"] = .text(Self.wait(factor))
            if factor > 30 { draft.retry["max_delay"] = .text(Self.wait(factor * 8)) }
        case "WaitTimeFromHeader", "WaitUntilTimeFromHeader":
            let header = try strategy.value("header")
            let isStandard = header?.text?.lowercased() == "retry-after" && strategy.type == "WaitTimeFromHeader"
            if let expression = try strategy.value("regex"), expression.isTruthy {
                findings.remark("backoff_strategies.regex", expression, "a time inside of a header's text is not read: waits grow by themselves")
            } else if !isStandard {
                findings.remark("backoff_strategies.header", header, "only Retry-After is heeded: else waits grow by themselves")
            }
        default: findings.remark("backoff_strategies", named(strategy), "waits grow by themselves")
        }
    }

    private static func wait(_ seconds: Double) -> String {
        seconds == seconds.rounded() ? span(Int(seconds)) : "\(Int((seconds * 1000).rounded(.up)))ms"
    }
}
