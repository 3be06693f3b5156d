/// `schema`: what is done when a record does not look as the entity says. In force and not to be set in this version; the daily report
/// of drift and the archive of raw bodies are not part of it yet.
public struct SchemaPolicy: Sendable, Hashable {
    public enum UnknownFields: String, Sendable, Hashable { case ignore }
    public enum MissingField: String, Sendable, Hashable { case null }
    public enum TypeMismatch: String, Sendable, Hashable { case quarantine }
    public enum Coerce: String, Sendable, Hashable {
        /// A text that holds a number may become a number; a number never becomes a truth value.
        case safe
    }

    public private(set) var unknownFields = UnknownFields.ignore
    public private(set) var missingField = MissingField.null
    public private(set) var typeMismatch = TypeMismatch.quarantine
    public private(set) var coerce = Coerce.safe

    /// The built-in values.
    public init() {}
}
