/// `schema`: what is done when a record does not look as the entity says. All of it is in force, and none of it is to be set in this version.
struct SchemaTable: ConfigurationTable {
    static var keys: [Key<Self>] {
        [
            .inForce("unknown_fields", "ignore"),
            .inForce("missing_field", "null"),
            .inForce("type_mismatch", "quarantine"),
            .inForce("coerce", "safe"),
        ] + Key.later("drift_report", "raw", "raw_max")
    }
}
