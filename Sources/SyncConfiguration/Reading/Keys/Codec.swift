/// How a value of one kind is read from a file and written back.
struct Codec<Value> {
    enum Outcome {
        case value(Value)
        /// The value is refused, with a reason and what to do instead.
        case wrong(String, String?)
        /// The value is understood but belongs to a later version.
        case later(String)
    }

    /// What is expected, for complaints: `a duration such as "15m"`.
    var expected: String
    /// TOML texts that must be refused: of the wrong type and out of range. Tests are made from them.
    var wrong: [String]
    var read: (DocumentNode) -> Outcome
    /// The value as TOML text; `nil` when it is absent.
    var toml: (Value) -> String?

    /// The complaint about a value of another type.
    static func mismatch(_ node: DocumentNode, _ expected: String, _ suggestion: String? = nil) -> Outcome {
        .wrong("expected \(expected), found \(node.found)", suggestion)
    }
}

extension Codec where Value == Bool {
    static var bool: Codec {
        Codec(expected: "true or false", wrong: ["\"yes\"", "1", "[]"]) { node in
            if case .boolean(let flag) = node.value { return .value(flag) }
            if let text = node.string?.lowercased(), ["true", "yes", "on"].contains(text) {
                return mismatch(node, "true or false", "write true, without quotes")
            }
            if let text = node.string?.lowercased(), ["false", "no", "off"].contains(text) {
                return mismatch(node, "true or false", "write false, without quotes")
            }
            return mismatch(node, "true or false")
        } toml: {
            "\($0)"
        }
    }
}

extension Codec where Value == Int {
    static func integer(_ range: ClosedRange<Int>) -> Codec {
        let expected = "an integer from \(range.lowerBound) to \(range.upperBound)"
        return Codec(expected: expected, wrong: ["\"many\"", "true", "1.5", "\(range.lowerBound - 1)", "\(range.upperBound + 1)"]) { node in
            guard case .integer(let integer) = node.value else {
                let isQuoted = node.string.flatMap { Int($0) } != nil
                return mismatch(node, expected, isQuoted ? "write it without quotes" : nil)
            }
            guard let value = Int(exactly: integer), range.contains(value) else {
                return .wrong("\(integer) is out of range", "it must be \(expected)")
            }
            return .value(value)
        } toml: {
            "\($0)"
        }
    }
}

extension Codec where Value == Double {
    static func number(_ range: ClosedRange<Double>) -> Codec {
        let expected = "a number from \(range.lowerBound) to \(range.upperBound)"
        return Codec(
            expected: expected, wrong: ["\"many\"", "true", "nan", "inf", "\(range.lowerBound - 1)", "\(range.upperBound + 1)"]
        ) { node in
            let value: Double
            switch node.value {
            case .integer(let integer): value = Double(integer)
            case .number(let number): value = number
            default: return mismatch(node, expected)
            }
            guard range.contains(value) else { return .wrong("\(value) is out of range", "it must be \(expected)") }
            return .value(value)
        } toml: {
            "\($0)"
        }
    }
}

extension Codec where Value == TimeSpan {
    static func timeSpan(_ range: ClosedRange<TimeSpan>) -> Codec {
        let expected = "a duration such as \"15m\" (ms, s, m, h, d)"
        return Codec(
            expected: expected,
            wrong: ["15", "true", "\"15 minutes\"", "\"fast\"", "\"-5s\"", "\"\(range.upperBound.milliseconds + 1)ms\""]
                + (range.lowerBound > .zero ? ["\"0s\""] : [])
        ) { node in
            if case .integer(let integer) = node.value { return mismatch(node, expected, "write it with a unit: \"\(integer)s\"") }
            guard let text = node.string else { return mismatch(node, expected) }
            guard let span = TimeSpan(text) else {
                let digits = text.prefix { $0.isASCII && $0.isNumber }
                let unit = text.dropFirst(digits.count).trimmingPrefix(" ").first.map(String.init) ?? ""
                let guess = TimeSpan(digits + unit).map { "did you mean \"\($0)\"?" }
                return mismatch(node, expected, guess)
            }
            guard range.contains(span) else {
                return .wrong("\"\(text)\" is out of range", "it must be between \"\(range.lowerBound)\" and \"\(range.upperBound)\"")
            }
            return .value(span)
        } toml: {
            "\"\($0)\""
        }
    }
}

extension Codec where Value == ByteCount {
    static func byteCount(_ range: ClosedRange<ByteCount>) -> Codec {
        let expected = "a size such as \"16MiB\" (B, KiB, MiB, GiB)"
        return Codec(
            expected: expected,
            wrong: ["1024", "true", "\"16 megabytes\"", "\"big\"", "\"-1B\"", "\"\(range.upperBound.bytes + 1)B\""]
                + (range.lowerBound > .zero ? ["\"0B\""] : [])
        ) { node in
            if case .integer(let integer) = node.value, let bytes = Int(exactly: integer), bytes >= 0 {
                return mismatch(node, expected, "write it with a unit: \"\(ByteCount.bytes(bytes))\"")
            }
            guard let text = node.string else { return mismatch(node, expected) }
            guard let count = ByteCount(text) else {
                let digits = text.prefix { $0.isASCII && $0.isNumber }
                let letter = text.dropFirst(digits.count).trimmingPrefix(" ").first?.uppercased() ?? ""
                let guess = ByteCount(digits + (letter == "B" ? "B" : letter + "iB")).map { "did you mean \"\($0)\"?" }
                return mismatch(node, expected, guess)
            }
            guard range.contains(count) else {
                return .wrong("\"\(text)\" is out of range", "it must be between \"\(range.lowerBound)\" and \"\(range.upperBound)\"")
            }
            return .value(count)
        } toml: {
            "\"\($0)\""
        }
    }
}
