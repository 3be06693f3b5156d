/// What a Swift source declares, as far as accessors need it.
struct ScannedSource: Sendable {
    /// Who may use a declaration; narrower ones come first.
    enum Access: Int, Comparable, Sendable {
        case `private`, `fileprivate`, `internal`, package, `public`, open

        init?(word: String) {
            switch word {
            case "private": self = .private
            case "fileprivate": self = .fileprivate
            case "internal": self = .internal
            case "package": self = .package
            case "public": self = .public
            case "open": self = .open
            default: return nil
            }
        }

        static func < (left: Access, right: Access) -> Bool { left.rawValue < right.rawValue }
    }

    struct Place: Hashable, Sendable {
        var file: String
        var line: Int
        var column: Int
    }

    struct Import: Hashable, Sendable {
        /// With their arguments, as written.
        var attributes: [String]
        /// If it says one.
        var access: Access?
        /// What stands behind `import`.
        var what: String
        var module: String
        var conditions: [String]
    }

    struct DeclaredType: Sendable {
        enum Meaning: Hashable, Sendable {
            case nominal(SwiftNominal.Kind)
            case alias(TypeSyntax)
        }

        var path: [String]
        var meaning: Meaning
        var access: Access
        var isGeneric: Bool
        /// The superclass and the protocols, if they are said where the type is declared.
        var inherited: [[String]]
        var conditions: [String] = []
        /// The path of its source; empty for a generated one.
        var file = ""
    }

    /// Protocols that an extension adds.
    struct Conformance: Sendable {
        var type: [String]
        var protocols: [[String]]
        var conditions: [String]
        var file: String
    }

    struct Parameter: Sendable {
        var label: String?
        var type: TypeSyntax
        /// As written, for a declaration of our own.
        var typeText: String
    }

    struct Member: Sendable {
        enum Form: Sendable {
            case property(TypeSyntax, text: String)
            case method([Parameter], result: TypeSyntax, resultText: String)
        }

        var name: String
        var form: Form
        /// The class, as its extension or its declarations say it.
        var owner: [String]
        var access: Access
        var place: Place
        var conditions: [String]
    }

    var path: String
    var imports: [Import] = []
    var types: [DeclaredType] = []
    /// What is declared with `@NSManaged`.
    var members: [Member] = []
    var conformances: [Conformance] = []
    /// `// managed-type: struct Module.Name`, without what is before the colon.
    var hints: [(place: Place, text: String)] = []
    var complaints: [ClassesComplaint] = []

    var fileName: String { String(path.split(separator: "/").last ?? "") }
}
