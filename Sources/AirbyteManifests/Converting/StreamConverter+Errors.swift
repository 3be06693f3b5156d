import JSONPaths

/// What answers mean that are no success.
extension StreamConverter {
    /// What the program asks again for anyway.
    private static let retried: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

    /// What the filters of a handler come to.
    private struct Verdicts {
        var claimed: Set<Int> = []
        var empty: Set<Int> = []
        var success: Set<Int> = [200]
        var retried = StreamConverter.retried
        var conditions: [String: [TOMLValue]] = [:]
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
        for code in try filter.value("http_codes")?.list ?? [] {
            guard let status = Int(code.scalar ?? ""), verdicts.claimed.insert(status).inserted else { continue }
            try take(status, action, code, &verdicts)
        }
        guard let key = Self.conditions[action] else {
            let others = ["error_message_contains", "predicate"].compactMap { try? filter.value($0) }.filter(\.isTruthy)
            if !others.isEmpty { findings.refuse("response_filters.action", value, "this action cannot be said for what an answer says") }
            return
        }
        if let text = try filter.value("error_message_contains"), text.isTruthy {
            verdicts.conditions[key, default: []].append(
                Self.condition(key, TOMLTable([("contains", .text(try constant(text, in: filter)))])))
        }
        if let predicate = try filter.value("predicate"), predicate.isTruthy {
            try takePredicate(predicate, key, in: filter, &verdicts)
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

    private func takePredicate(_ value: ManifestValue, _ key: String, in filter: Component, _ verdicts: inout Verdicts) throws {
        do {
            guard let text = value.text, let expression = try Evaluator.expression(text) else { throw Unsayable("a condition was expected") }
            var tables: [TOMLValue] = []
            for test in try evaluator(for: filter).alternatives(expression) { tables.append(Self.condition(key, try answerTable(test))) }
            verdicts.conditions[key, default: []] += tables
        } catch let error as Unsayable where key != "fail_if" {
            findings.remark("response_filters.predicate", value, "\(error.reason); such an answer is judged by its status")
        }
    }

    /// An answer that is ignored need not be a success, which it is here unless something else is said.
    private static func condition(_ key: String, _ table: TOMLTable) -> TOMLValue {
        guard key == "ignore_if" else { return .table(table) }
        let statuses: [(String, TOMLValue)] = [("status", .array([.text("2xx"), .text("4xx")]))]
        return .table(TOMLTable(statuses + table.entries.map { ($0.key, $0.value) }))
    }

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
