extension Codec where Value == DeletionCondition.Scalar {
    /// A text, a whole number, true or false.
    static var scalar: Codec {
        let expected = "a text, an integer, true or false"
        return Codec(expected: expected, wrong: ["1.5", "{}", "2024-01-01"]) { node in
            switch node.value {
            case .string(let text): .value(.text(text))
            case .integer(let integer): .value(.integer(integer))
            case .boolean(let flag): .value(.bool(flag))
            case .number, .moment, .array, .table: mismatch(node, expected)
            }
        } toml: {
            switch $0 {
            case .text(let text): tomlQuoted(text)
            case .integer(let integer): "\(integer)"
            case .bool(let flag): "\(flag)"
            }
        }
    }
}

extension Codec where Value == [DeletionCondition.Scalar] {
    /// A list of them.
    static var scalars: Codec {
        .list(of: .scalar, expected: "a list of texts, integers, true and false, as in [\"removed\"]", isEmptyAllowed: false)
    }
}

extension DeletionConfiguration {
    /// `equals`, as it is written.
    var equals: DeletionCondition.Scalar? {
        get { if case .isAny(let values) = test, values.count == 1 { values[0] } else { nil } }
        set { if let newValue { test = .isAny([newValue]) } }
    }

    /// `in`, as it is written.
    var values: [DeletionCondition.Scalar]? {
        get { if case .isAny(let values) = test, values.count != 1 { values } else { nil } }
        set { if let newValue { test = .isAny(newValue) } }
    }

    /// `exists`, as it is written.
    var exists: Bool? {
        get { if case .exists(let exists) = test { exists } else { nil } }
        set { if let newValue { test = .exists(newValue) } }
    }
}
