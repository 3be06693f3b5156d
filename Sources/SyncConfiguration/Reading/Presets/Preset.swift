/// A source that is known already: a file that says how a well-known service is asked, and what is left for a configuration to say.
public struct Preset: Sendable, Hashable {
    /// Within what the keys of its entities are unique: sources that ask beyond that cannot share them.
    public enum Uniqueness: String, Sendable, Hashable, CaseIterable {
        /// Within one server; the default. Sources of one base URL may share entities.
        case server
        /// Within one account: no two sources share entities.
        case account
    }

    /// A secret, or a name, that a source has to add.
    public struct Credential: Sendable, Hashable {
        /// The key of the source that it belongs to: `auth.token`.
        public var keyPath: String
        /// What the service calls it, and what it must be allowed to do.
        public var meaning: String
    }

    /// One of its resources.
    public struct Resource: Sendable, Hashable {
        /// Unique in the preset.
        public var name: String
        /// The entity that its records become; empty where the file says none.
        public var entity: String
        /// Whether a source has it that does not say which resources it wants.
        public var isDefault: Bool
        /// The resource of the preset whose objects it has parts for, which comes along with it; `nil`: none.
        public var parent: String?
    }

    /// What a source calls it; the file is called so, too.
    public var name: String
    /// The path of its file.
    public var path: String
    /// What it mirrors, on one line.
    public var summary = ""
    /// Where the service documents its interface; empty: nothing is said.
    public var documentation = ""
    /// `unique`, default ``Uniqueness/server``.
    public var uniqueness = Uniqueness.server
    /// What it has to be told, or may be, in the order of the file.
    public var parameters: [PresetParameter] = []
    /// What a source has to add, in the order of the file.
    public var credentials: [Credential] = []
    /// In the order of the file, each once.
    public var resources: [Resource] = []
    /// The file as it is.
    public var text = ""

    /// A preset that says nothing yet.
    init(name: String, path: String) {
        self.name = name
        self.path = path
    }

    /// The lines of a configuration that name it and say no more than they must.
    public var example: [String] {
        var lines = ["[[source]]", "preset = \(tomlQuoted(name))"]
        for credential in credentials { lines.append("\(credential.keyPath) = { credential = \"ID\" }") }
        let required = parameters.filter(\.isRequired)
        if !required.isEmpty { lines.append("[source.with]") }
        for parameter in required { lines.append("\(tomlKey(parameter.name)) = \(parameter.placeholder)") }
        return lines
    }
}
