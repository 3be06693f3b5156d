/// What `cisternctl reset` can have forgotten of a resource. The raw value is its name on the control socket.
public enum ResetPart: String, Sendable, Hashable, Codable, CaseIterable {
    /// How far runs that ask for what has changed have come: the next one asks for everything. What is in the store stays, and is missed only where a
    /// complete run does not list it any more.
    case cursor
    /// What servers said of the versions of pages, and what their records were: the next run asks for each page without conditions, and maps all records.
    case validators
    /// That its server failed run after run: it is asked as configured again. No run is cut off for that.
    case breaker
}
