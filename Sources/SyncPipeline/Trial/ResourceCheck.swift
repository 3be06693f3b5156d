/// How a resource and its service stood the standard tests: what `cisternctl check --online` shows. No secret is in it.
public struct ResourceCheck: Sendable, Hashable {
    /// The tests, in the order in which they are told.
    public enum Name: String, Sendable, Hashable, CaseIterable {
        /// There is an answer, it is a success, and the credentials were accepted.
        case answers
        /// The records' path finds at least one on the first page.
        case givesARecord = "gives-a-record"
        /// Each record says what it is recognised by.
        case keysPresent = "keys-present"
        /// No two records of a page say the same there.
        case keysUnique = "keys-unique"
        /// Dates, numbers and all other values are of the types of their attributes.
        case datesParse = "dates-parse"
        /// What the answer says of how much there is can be read, and does not contradict the rest of it.
        case totalAgrees = "total-agrees"
        /// The second page has other records than the first.
        case secondPageDiffers = "second-page-differs"
        /// The same request with the validators of the first answer is answered with 304.
        case etagHonoured = "etag-honoured"
        /// Who asks for what is new gets that, and nothing older.
        case sinceFilters = "since-filters"
        /// There is an object that there is a part for, and its places can be filled.
        case parentsKnown = "parents-known"
        /// Where missing records are deleted, it can be known that a listing is complete.
        case deletionSafe = "deletion-safe"
    }

    /// How a test ended.
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
        case passed
        /// It may be as it should be; a person has to look at it.
        case warned
        case failed
        /// There was nothing to try, or no way to.
        case notTried = "not tried"
    }

    /// Where the reason of a failure is.
    public enum Fault: String, Sendable, Hashable, CaseIterable {
        /// There was no answer, or none but that the server cannot answer.
        case unreachable
        /// There are no credentials, or they were not accepted.
        case credentials
        /// The answer is not what the configuration says of it.
        case answer
        /// The configuration says what cannot be asked for.
        case configuration
    }

    /// What to change in the configuration.
    public struct Change: Sendable, Hashable {
        /// The key, as in the resource's table, or beginning with `entity`.
        public let key: String
        /// What to write there: TOML, or words for what only a person knows.
        public let value: String

        init(_ key: String, _ value: String) {
            self.key = key
            self.value = value
        }
    }

    /// One test.
    public struct Test: Sendable, Hashable {
        /// Which one.
        public let name: Name
        /// How it ended.
        public let outcome: Outcome
        /// What was seen, or why it was not tried: a line.
        public let detail: String
        /// Where the reason is; nil unless it failed.
        public let fault: Fault?
        /// What to change; of a test that failed always there.
        public let change: Change?
    }

    /// `github/issues`.
    public let scope: String
    /// Which part was tried; nil: the resource is one list, or there was no part to try.
    public internal(set) var part: String?
    /// How many requests were made for the resource itself; those for its parents and for tokens are not among them.
    public internal(set) var requests = 0
    /// All tests, in order.
    public private(set) var tests: [Test] = []
    /// The server asked to be left alone, so that some of them were not tried.
    public internal(set) var isPutOff = false

    init(scope: String) { self.scope = scope }

    /// Puts the tests in order. Those that are not there were not tried.
    mutating func take(_ tests: [Test], others reason: String) {
        self.tests = Name.allCases.map { name in tests.first { $0.name == name } ?? .notTried(name, reason) }
    }
}

extension ResourceCheck {
    /// The test of this name.
    public subscript(name: Name) -> Test? { tests.first { $0.name == name } }

    /// How many tests ended so.
    public func count(_ outcome: Outcome) -> Int { tests.count { $0.outcome == outcome } }
}

extension ResourceCheck.Test {
    static func passed(_ name: ResourceCheck.Name, _ detail: String) -> Self {
        Self(name: name, outcome: .passed, detail: detail, fault: nil, change: nil)
    }

    static func warned(_ name: ResourceCheck.Name, _ detail: String, _ change: ResourceCheck.Change?) -> Self {
        Self(name: name, outcome: .warned, detail: detail, fault: nil, change: change)
    }

    static func failed(_ name: ResourceCheck.Name, _ detail: String, _ fault: ResourceCheck.Fault, _ change: ResourceCheck.Change) -> Self {
        Self(name: name, outcome: .failed, detail: detail, fault: fault, change: change)
    }

    static func notTried(_ name: ResourceCheck.Name, _ reason: String) -> Self {
        Self(name: name, outcome: .notTried, detail: reason, fault: nil, change: nil)
    }
}
