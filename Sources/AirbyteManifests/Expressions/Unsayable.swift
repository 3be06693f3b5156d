/// Why something of a manifest cannot be said in a configuration.
struct Unsayable: Error {
    /// In words that follow what the manifest says.
    let reason: String
    /// Something else cannot be said, which has been told, and this follows from it.
    let isConsequence: Bool

    init(_ reason: String, isConsequence: Bool = false) {
        self.reason = reason
        self.isConsequence = isConsequence
    }
}
