/// How entries look on standard error.
public enum JournalFormat: String, Sendable, CaseIterable {
    /// The message alone. Each line begins with `<priority>`, as the manager understands it, unless a person at a terminal reads it.
    case text
    /// One object a line with every field, named and shaped as by `journalctl -o json`.
    case json
}
