extension RateConfiguration: ConfigurationTable {
    /// More would have to be remembered one by one.
    private static let mostRequests = 100_000

    static var keys: [Key<Self>] {
        [
            Key("requests", .integer(0...mostRequests), \.requests),
            Key("per", .timeSpan(.milliseconds(100) ... .days(31)), \.per),
            Key("burst", .integer(1...mostRequests), \.burst),
            Key("concurrency", .integer(0...1024), \.concurrency),
            Key("scope", .choice(Scope.self), \.scope),
            Key("headers", .rateHeaders, \.headers),
            Key("reset_format", .choice(ResetFormat.self), \.resetFormat),
            Key("early_limit", .number(0...1), \.earlyLimit),
        ]
    }
}

extension BreakerConfiguration: ConfigurationTable {
    static var keys: [Key<Self>] {
        let wait = Codec<TimeSpan>.timeSpan(.seconds(1) ... .days(7))
        return [
            Key("failures", .integer(1...1_000_000), \.failures),
            Key("open_for", wait, \.openFor),
            Key("max_open", wait, \.maxOpen),
            Key("permanent_statuses", .permanentStatuses, \.permanentStatuses),
        ]
    }
}

extension Codec where Value == RateConfiguration.Headers {
    /// Headers that say what is left of a limit.
    static var rateHeaders: Codec {
        let expected = "\"auto\", \"off\", or { limit = \"X-Limit\", remaining = \"X-Left\", reset = \"X-Reset\" }"
        return Codec(
            expected: expected,
            wrong: [
                "true", "\"on\"", "{}", "{ remaining = \"X-Left\" }", "{ reset = \"X-Reset\" }", "{ remaining = \"A B\", reset = \"X-Reset\" }",
                "{ remaining = \"X-Left\", reset = \"X-Reset\", rest = \"X\" }",
            ]
        ) { node in
            if node.string == "auto" { return .value(.automatic) }
            if node.string == "off" { return .value(.off) }
            guard let table = node.table else { return mismatch(node, expected) }
            do throws(ConditionTable.Refusal) {
                let names = try ConditionTable(table, known: ["limit", "remaining", "reset"])
                let limit = try names.value("limit", Codec<String>.headerName)
                guard let remaining = try names.value("remaining", Codec<String>.headerName),
                    let reset = try names.value("reset", Codec<String>.headerName)
                else { return .wrong("remaining and reset are needed", "write \(expected)") }
                return .value(.named(limit: limit, remaining: remaining, reset: reset))
            } catch {
                switch error {
                case .wrong(let message, let suggestion): return .wrong(message, suggestion)
                case .later(let what): return .later(what)
                }
            }
        } toml: {
            switch $0 {
            case .automatic: "\"auto\""
            case .off: "\"off\""
            case .named(let limit, let remaining, let reset):
                ConditionTable.toml([("limit", limit.map(tomlQuoted)), ("remaining", tomlQuoted(remaining)), ("reset", tomlQuoted(reset))])
            }
        }
    }
}

extension Codec where Value == [Int] {
    /// Statuses that do not change by asking again.
    static var permanentStatuses: Codec {
        let plain = statuses(400...499, isEmptyAllowed: true)
        return Codec(expected: plain.expected, wrong: plain.wrong + ["[408]", "[425]", "[429]"]) { node in
            let outcome = plain.read(node)
            if case .value(let statuses) = outcome, let meant = statuses.first(where: { [408, 425, 429].contains($0) }) {
                return .wrong("\(meant) says that it passes", "remove it")
            }
            return outcome
        } toml: {
            plain.toml($0)
        }
    }
}
