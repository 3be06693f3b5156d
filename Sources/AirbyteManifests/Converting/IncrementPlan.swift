/// How a stream asks for what has changed.
struct IncrementPlan {
    let component: Component
    /// A number is counted, and no time.
    let isCounting: Bool
    /// The field of records that says how new they are, as the manifest calls it.
    let field: String
    /// How records write times, in the configuration's words.
    var recordFormat = "rfc3339"
    /// How requests write them.
    var requestFormat = "rfc3339"
    /// Whether something of a request says from where on, and up to where.
    var saysSince = false
    var saysUntil = false
    /// Whether records are given the interval.
    var isInFields = false
}
