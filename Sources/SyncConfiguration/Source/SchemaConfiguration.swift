/// `schema`: what becomes of a record that does not match its entity. After a change the pages are read again.
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

    /// `schema.unknown_fields`, default `ignore`.
    public var unknownFields = UnknownFields.ignore
    /// `schema.missing_field`, default `null`.
    public var missingField = MissingField.null
    /// `schema.type_mismatch`, default `quarantine`.
    public var typeMismatch = TypeMismatch.quarantine
    /// `schema.coerce`, default `safe`.
    public var coercion = Coercion.safe

    /// The built-in values.
    public init() {}
}
