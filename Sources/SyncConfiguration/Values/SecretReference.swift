/// Where a secret is kept. The configuration never holds a secret itself, so this value may be printed and compared freely.
public enum SecretReference: Sendable, Hashable, CustomStringConvertible {
    /// `{ credential = "ID" }`: a credential handed over by the service manager.
    case credential(String)
    /// `{ file = "/path" }`: the content of a file, read before each request.
    case file(String)
    /// `{ env = "NAME" }`: an environment variable; other processes of the same user can read it.
    case environment(String)

    /// The reference as the configuration writes it.
    public var description: String {
        switch self {
        case .credential(let id): "{ credential = \(tomlQuoted(id)) }"
        case .file(let path): "{ file = \(tomlQuoted(path)) }"
        case .environment(let name): "{ env = \(tomlQuoted(name)) }"
        }
    }
}

/// One HTTP header of a request: a name (compared without case) and a value without control characters.
public struct HeaderField: Sendable, Hashable {
    /// In the case it is sent in.
    public var name: String
    /// Sent as it stands; no secret, since the configuration shows it.
    public var value: String

    /// A header that is taken as it is; only the reader of the configuration checks its characters.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// One query parameter of a request, not yet percent-encoded. A name may occur several times.
public struct QueryParameter: Sendable, Hashable {
    /// Not yet percent-encoded; compared with case.
    public var name: String
    /// Not yet percent-encoded; numbers and truth values of the file as their text.
    public var value: String

    /// A parameter that is encoded only when the URL is put together.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// A text that the configuration may show, or a reference to one that it may not.
public enum SecretText: Sendable, Hashable {
    /// As it is written.
    case text(String)
    /// Read again each time it is needed.
    case secret(SecretReference)

    /// What it refers to; nil: it is written out.
    public var reference: SecretReference? {
        if case .secret(let reference) = self { reference } else { nil }
    }
}

/// A name with a value that may be a secret: a header, a parameter, a field of a form.
public struct SecretField: Sendable, Hashable {
    /// As it is sent.
    public var name: String
    /// Not yet encoded.
    public var value: SecretText

    /// A field that is encoded only when the request is put together.
    public init(name: String, value: SecretText) {
        self.name = name
        self.value = value
    }
}

/// A JSON value whose texts may be secrets.
public indirect enum SecretJSON: Sendable, Hashable {
    /// A text, or the text that a secret holds.
    case text(SecretText)
    /// A number, as it is written in JSON.
    case number(String)
    /// True or false.
    case bool(Bool)
    /// Values in their order.
    case array([SecretJSON])
    /// Members in the order of their names.
    case object([Member])

    /// A name and a value.
    public struct Member: Sendable, Hashable {
        /// The key.
        public var name: String
        /// What stands under it.
        public var value: SecretJSON

        /// A member of an object.
        public init(name: String, value: SecretJSON) {
            self.name = name
            self.value = value
        }
    }

    /// Every secret in it.
    public var secrets: [SecretReference] {
        switch self {
        case .text(let text): text.reference.map { [$0] } ?? []
        case .number, .bool: []
        case .array(let values): values.flatMap(\.secrets)
        case .object(let members): members.flatMap(\.value.secrets)
        }
    }
}
