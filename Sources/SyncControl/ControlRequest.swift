/// A request to the daemon: a verb and its parameters.
///
/// On the wire a verb is a route and the parameters are the query: `POST /v1/sync?scope=github/issues&wait=true`.
public struct ControlRequest: Sendable, Hashable, Codable {
    /// What can be asked for. The raw value is the last part of the path.
    public enum Verb: String, Sendable, Hashable, Codable, CaseIterable {
        /// Name, version and process ID of the daemon: ``ControlVersion``.
        case version
        /// How the daemon and every resource stand: ``StatusSnapshot``.
        case status
        /// The configuration in force, which may differ from the files: ``RunningConfiguration``.
        case config
        /// Records that were set aside, the newest first.
        case quarantine
        /// Polls now, within the limits of the schedule; with `wait`, tells progress line by line.
        case sync
        /// Maps archived bodies again, and asks no server; with `wait`, tells progress line by line.
        case replay
        /// Reads the configuration again; one with a mistake is refused and the old one kept.
        case reload
        /// Keeps resources from being polled until `resume`, across restarts; an open run goes on.
        case pause
        /// Ends a pause, and a wait that a server asked for, and polls.
        case resume
        /// Lets the held deletions of one resource through, once, in its next complete run.
        case acceptDeletes = "accept-deletes"
        /// Forgets parts of what is remembered of a source or a resource, before its next run.
        case reset
        /// Makes a backup of the document and answers when it is complete: ``BackupReport``.
        case backup

        /// The route, without parameters: `/v1/accept-deletes`.
        public var path: String { "/v1/" + rawValue }

        /// `GET` if it only reads, else `POST`.
        public var method: String {
            switch self {
            case .version, .status, .config, .quarantine: "GET"
            case .sync, .replay, .reload, .pause, .resume, .acceptDeletes, .reset, .backup: "POST"
            }
        }

        /// Whether it changes what the daemon does. Anyone who may connect may use the other verbs.
        public var isSteering: Bool { method != "GET" }

        /// The names of the parameters it takes.
        public var parameters: [String] {
            switch self {
            case .version, .status, .config, .backup: []
            case .quarantine: ["id", "limit", "skip"]
            case .sync: ["scope", "full", "wait"]
            case .replay: ["scope", "wait"]
            case .reload: ["wait"]
            case .pause, .resume, .acceptDeletes: ["scope"]
            case .reset: ["scope", "what"]
            }
        }
    }

    /// The most entries of the quarantine that one answer holds.
    public static let maxLimit = 1_000

    /// Says which of the parameters count.
    public var verb: Verb
    /// `source` or `source/resource`; `nil` means everything.
    public var scope: String?
    /// Forget validators and cursors for this run, and fetch everything.
    public var full: Bool
    /// Answer when it is done, and not at once.
    public var wait: Bool
    /// How many entries at most.
    public var limit: Int?
    /// How many of the newest entries are skipped.
    public var skip: Int
    /// The id of an entry, or how it begins.
    public var id: String?
    /// What is to be forgotten.
    public var what: Set<ResetPart>

    /// Takes parameters unchecked, also those that the verb does not know: the daemon refuses them. nil for `limit` leaves it to the daemon.
    public init(
        _ verb: Verb, scope: String? = nil, full: Bool = false, wait: Bool = false, limit: Int? = nil, skip: Int = 0, id: String? = nil,
        what: Set<ResetPart> = []
    ) {
        self.verb = verb
        self.scope = scope
        self.full = full
        self.wait = wait
        self.limit = limit
        self.skip = skip
        self.id = id
        self.what = what
    }

    /// Reads the parameters of a request.
    /// - Throws: ``ControlError`` with status 64 that names an unknown parameter, a bad value, or a missing scope.
    public init(_ verb: Verb, query: [(name: String, value: String)]) throws(ControlError) {
        self.init(verb)
        for (name, value) in query {
            guard verb.parameters.contains(name) else {
                let known = verb.parameters.joined(separator: ", ")
                throw ControlError(
                    "\(verb.path) has no parameter \"\(name)\"", advice: known.isEmpty ? "it takes none" : "it takes \(known)", code: .usage)
            }
            switch name {
            case "scope": scope = try Self.scope(value)
            case "full": full = try Self.flag(name, value)
            case "wait": wait = try Self.flag(name, value)
            case "id": id = value
            case "what": what = try Self.parts(value)
            case "skip": skip = try Self.number(name, value, 0...Int(Int32.max))
            default: limit = try Self.number(name, value, 1...Self.maxLimit)
            }
        }
        if verb == .acceptDeletes, scope?.contains("/") != true {
            throw ControlError(
                "\(verb.path) needs the resource whose deletions are accepted", advice: "give scope=SOURCE/RESOURCE", code: .usage)
        }
        if verb == .reset, scope == nil {
            throw ControlError(
                "\(verb.path) needs the source or the resource of which something is forgotten", advice: "give scope=SOURCE/RESOURCE", code: .usage)
        }
        if verb == .reset, what.isEmpty {
            throw ControlError("\(verb.path) needs what is forgotten", advice: "give what=\(Self.partNames(","))", code: .usage)
        }
    }

    /// Path and query as they stand in the request line.
    public var target: String {
        var query: [String] = []
        if let scope { query.append("scope=" + Self.escape(scope)) }
        if full { query.append("full=true") }
        if wait { query.append("wait=true") }
        if let id { query.append("id=" + Self.escape(id)) }
        if let limit { query.append("limit=\(limit)") }
        if skip > 0 { query.append("skip=\(skip)") }
        if !what.isEmpty { query.append("what=" + Self.escape(what.map(\.rawValue).sorted().joined(separator: ","))) }
        return verb.path + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }

    private static func scope(_ value: String) throws(ControlError) -> String? {
        if value.isEmpty { return nil }
        let parts = value.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty }) else {
            throw ControlError("\"\(value)\" is not a scope", advice: "write SOURCE or SOURCE/RESOURCE", code: .usage)
        }
        return value
    }

    private static func flag(_ name: String, _ value: String) throws(ControlError) -> Bool {
        switch value {
        case "true", "1", "yes", "": return true
        case "false", "0", "no": return false
        default: throw ControlError("\(name)=\(value) is neither true nor false", advice: "write \(name)=true or \(name)=false", code: .usage)
        }
    }

    private static func parts(_ value: String) throws(ControlError) -> Set<ResetPart> {
        var parts: Set<ResetPart> = []
        for name in value.split(separator: ",") {
            guard let part = ResetPart(rawValue: String(name)) else {
                throw ControlError("\"\(name)\" is nothing that can be forgotten", advice: "there are \(partNames(", "))", code: .usage)
            }
            parts.insert(part)
        }
        return parts
    }

    private static func partNames(_ separator: String) -> String { ResetPart.allCases.map(\.rawValue).joined(separator: separator) }

    private static func number(_ name: String, _ value: String, _ range: ClosedRange<Int>) throws(ControlError) -> Int {
        guard let number = Int(value), range.contains(number) else {
            throw ControlError(
                "\(name)=\(value) is not a number from \(range.lowerBound) to \(range.upperBound)", advice: "write \(name)=100", code: .usage)
        }
        return number
    }

    private static func escape(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "~"), UInt8(ascii: "/"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return result
    }
}
