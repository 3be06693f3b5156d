extension SwiftMangling {
    /// The types of the standard library that have a letter (`StandardTypesMangling.def`).
    private static let letters: [String: Character] = [
        "Array": "a", "Bool": "b", "Character": "J", "ClosedRange": "N", "Dictionary": "D", "Double": "d", "Float": "f", "Int": "i",
        "ObjectIdentifier": "O", "Range": "n", "Set": "h", "String": "S", "Substring": "s", "UInt": "u", "Optional": "q",
        "UnsafePointer": "P", "UnsafeMutablePointer": "p", "UnsafeRawPointer": "V", "UnsafeMutableRawPointer": "v",
        "Comparable": "L", "Decodable": "e", "Encodable": "E", "Equatable": "Q", "Hashable": "H", "RawRepresentable": "Y",
        "StringProtocol": "y", "Strideable": "x", "Numeric": "j", "Sequence": "T", "Collection": "l",
    ]

    mutating func appendModule(_ name: String) {
        if name == "Swift" { append("s") } else { appendIdentifier(name) }
    }

    /// A type where something stands within it, or a protocol.
    mutating func append(_ nominal: SwiftNominal) {
        if nominal.module == "Swift", nominal.path.count == 1, let letter = Self.letters[nominal.name] { return appendStandard(letter) }
        // Of a protocol, only its module and its name are said again.
        if nominal.kind != .protocol, repeats(.named(nominal)) { return }
        if let outer = nominal.outer { append(outer) } else { appendModule(nominal.module) }
        if let step = nominal.path.last { appendIdentifier(step.name) }
        if nominal.kind == .protocol { return }
        append(nominal.kind.rawValue)
        remember(.named(nominal))
    }

    mutating func append(_ type: SwiftType) {
        switch type {
        case .nominal(let nominal): append(nominal)
        case .void: append("yt")
        case .anyObject: append("yXl")
        case .optional(let wrapped):
            if repeats(.type(type)) { return }
            append(wrapped)
            append("Sg")
            remember(.type(type))
        case .generic(let nominal, let arguments):
            if repeats(.type(type)) { return }
            append(nominal)
            append("y")
            for argument in arguments { append(argument) }
            append("G")
            remember(.type(type))
        case .existential(let protocols):
            if protocols.isEmpty { return append("yp") }
            for (index, one) in protocols.enumerated() {
                append(one)
                if index == 0 { append("_") }
            }
            append("p")
        }
    }

    /// Parameters or a result: types in a row.
    ///
    /// - Parameter isLabeled: whether a single one has a label, and so isn't itself what is passed.
    mutating func append(list types: [SwiftType], isLabeled: Bool = false) {
        switch types.count {
        case 0: append("y")
        case 1 where !isLabeled: append(types[0])
        default:
            for (index, type) in types.enumerated() {
                append(type)
                if index == 0 { append("_") }
            }
            append("t")
        }
    }
}
