/// `schema`: what becomes of a record that does not match its entity, and which bodies of pages are kept. After a change of what becomes of records the
/// pages are read again.
public struct SchemaConfiguration: Sendable, Hashable {
    /// What becomes of what a record says and nothing is made of.
    public enum UnknownFields: String, Sendable, Hashable, CaseIterable {
        /// Nothing; the default.
        case ignore
        /// The names of the first ten are told once in a run.
        case warn
        /// The page fails.
        case fail
    }

    /// What a record says of an attribute or a to-one that it does not mention.
    public enum MissingField: String, Sendable, Hashable, CaseIterable {
        /// That it has the attribute's default, or no value; the default.
        case null
        /// Nothing: the row keeps what it has.
        case keep
        /// That it has the attribute's default, or no value; so does a record that says null.
        case `default`
        /// The page fails, unless the attribute has a default. Nothing is asked of relationships.
        case fail
    }

    /// What becomes of a value that is of another type than its property.
    public enum TypeMismatch: String, Sendable, Hashable, CaseIterable {
        /// Its record is set aside; the default.
        case quarantine
        /// It is no value, where the attribute is optional and not of the key; else its record is set aside.
        case null
        /// The page fails.
        case fail
    }

    /// What is taken for a value of a type.
    public enum Coercion: String, Sendable, Hashable, CaseIterable {
        /// Also what can be made one without losing anything: `"12"` is an integer, 12 a text, and 1 is not true; the default.
        case safe
        /// What JSON has for it: a number, a truth value, or a text for anything else.
        case none
    }

    /// Which bodies of pages are kept, so that they can be mapped again without asking the server.
    public enum KeptBodies: String, Sendable, Hashable, CaseIterable {
        /// None; the default.
        case none
        /// Of each page of the listing the newest.
        case last
        /// Of each page also those before, until there is no room.
        case all
    }

    /// `schema.unknown_fields`, default `ignore`.
    public var unknownFields = UnknownFields.ignore
    /// `schema.missing_field`, default `null`.
    public var missingField = MissingField.null
    /// `schema.type_mismatch`, default `quarantine`.
    public var typeMismatch = TypeMismatch.quarantine
    /// `schema.coerce`, default `safe`.
    public var coercion = Coercion.safe
    /// `schema.raw`, default `none`.
    public var raw = KeptBodies.none
    /// `schema.raw_max`: how many bytes of the disk the bodies of the resource may take, compressed. Beyond it the oldest go. Default 256 MiB.
    public var rawMax = ByteCount.mebibytes(256)

    /// The built-in values.
    public init() {}
}
