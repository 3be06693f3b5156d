/// A type that has a name of its own, in the place where it is declared.
struct SwiftNominal: Hashable, Sendable {
    /// How the compiler tells types apart in a symbol.
    enum Kind: String, Hashable, Sendable, CaseIterable {
        case structure = "V"
        case `class` = "C"
        case enumeration = "O"
        case `protocol` = "P"
    }

    struct Step: Hashable, Sendable {
        var name: String
        var kind: Kind
    }

    var module: String
    /// From the outermost type to this one.
    var path: [Step]

    var kind: Kind { path.last?.kind ?? .structure }
    var name: String { path.map(\.name).joined(separator: ".") }
    var outer: SwiftNominal? { path.count > 1 ? SwiftNominal(module: module, path: Array(path.dropLast())) : nil }
}

/// A type of a property, parameter or result, with everything known that its symbol says.
indirect enum SwiftType: Hashable, Sendable {
    case nominal(SwiftNominal)
    case generic(SwiftNominal, [SwiftType])
    case optional(SwiftType)
    /// Protocols, without `any`; none is `Any`.
    case existential([SwiftNominal])
    case anyObject
    case void

    static func standard(_ name: String, _ kind: SwiftNominal.Kind = .structure) -> SwiftNominal {
        SwiftNominal(module: "Swift", path: [.init(name: name, kind: kind)])
    }

    static func array(_ element: SwiftType) -> SwiftType { .generic(standard("Array"), [element]) }
    static func dictionary(_ key: SwiftType, _ value: SwiftType) -> SwiftType { .generic(standard("Dictionary"), [key, value]) }
}
