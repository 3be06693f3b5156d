/// Why something of a manifest cannot be said in a configuration.
struct Unsayable: Error {
    /// In words that follow what the manifest says.
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
