import Foundation

/// An address, and what requests to it carry. Secrets are taken out of it: a draft only says where to put them.
public struct SampleOrigin: Sendable {
    /// A secret that requests carry, without the secret.
    public struct Credential: Sendable, Hashable {
        /// Where requests carry it.
        public enum Place: Sendable, Hashable {
            /// In the header Authorization, after the word Bearer.
            case bearer
            /// In a header of this name.
            case header(String)
            /// In a parameter of this name in the address.
            case parameter(String)
        }

        /// Where it goes.
        public let place: Place
        /// The name under which the configuration refers to it.
        public let name: String
    }

    /// Without secrets, and without a fragment.
    public private(set) var url: String
    /// The name that the source gets.
    public let name: String
    /// What the last part of the path says that the records are.
    let subject: String
    /// What requests need.
    public private(set) var credentials: [Credential] = []
    /// Headers that are no secrets.
    public private(set) var headers: [(name: String, value: String)] = []
    /// The parameters of the address, as they are written in it.
    private(set) var parameters: [(name: String, value: String)]

    /// Takes an address apart.
    ///
    /// - Parameters:
    ///   - address: may have parameters that hold secrets.
    ///   - take: gets each secret that stands in the address, with the name of its credential.
    /// - Throws: ``SourceDraftError`` if it is no address that a source may have.
    public init(_ address: String, take: (_ secret: String, _ credential: String) -> Void = { _, _ in }) throws(SourceDraftError) {
        let advice = "give an address such as https://api.example.com/items"
        guard let separator = address.range(of: "://"), ["http", "https"].contains(address[..<separator.lowerBound].lowercased()) else {
            throw SourceDraftError("this is no address of http or https", advice: advice)
        }
        let whole = address.prefix { $0 != "#" }, rest = whole[separator.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard !authority.isEmpty else { throw SourceDraftError("the address has no host", advice: advice) }
        guard !authority.contains("@") else {
            throw SourceDraftError(
                "the address holds a user or a password, which a configuration may not",
                advice: "leave them out, and use --header \"Authorization=Basic …\"")
        }
        let path = rest.dropFirst(authority.count).prefix { $0 != "?" }
        let words = path.split(separator: "/").map { String($0.removingPercentEncoding ?? String($0)) }
        // What is only a number, or the version of an interface, says nothing.
        let telling = words.last { word in !word.allSatisfy { $0.isNumber || $0 == "." } && !Self.isVersion(word) }
        subject = Self.withoutEnding(telling ?? String(authority.split(separator: ":").first ?? "").replacing(".", with: " "))
        let name = DraftNames.source(subject)
        self.name = name
        url = String(whole.prefix { $0 != "?" }).replacing("{", with: "%7B").replacing("}", with: "%7D")
        parameters = []
        let query = whole.drop { $0 != "?" }.dropFirst()
        for part in query.split(separator: "&") {
            let raw = part.prefix { $0 != "=" }, value = part.dropFirst(raw.count + 1)
            let parameter = raw.removingPercentEncoding ?? String(raw)
            guard Self.isSecret(parameter), !parameter.isEmpty, !value.isEmpty else {
                parameters.append((parameter, String(part).replacing("{", with: "%7B").replacing("}", with: "%7D")))
                continue
            }
            let credential = Credential(place: .parameter(parameter), name: "\(name)-\(DraftNames.source(parameter))")
            credentials.append(credential)
            take(value.replacing("+", with: " ").removingPercentEncoding ?? String(value), credential.name)
        }
        setQuery()
    }

    /// The path of the address without parameters: they are put together again of those that are left.
    private mutating func setQuery() {
        let base = url.prefix { $0 != "?" }
        url = parameters.isEmpty ? String(base) : "\(base)?" + parameters.map(\.value).joined(separator: "&")
    }

    /// Takes a parameter out of the address that `pages` says.
    mutating func removeParameter(_ name: String) {
        parameters.removeAll { $0.name == name }
        setQuery()
    }

    /// The value of a parameter; nil: there is none.
    func parameter(_ name: String) -> String? {
        parameters.first { $0.name == name }.map { $0.value.drop { $0 != "=" }.dropFirst() }.map { $0.removingPercentEncoding ?? String($0) }
    }

    /// Requests carry a token in the header Authorization.
    /// - Returns: the name of its credential.
    public mutating func addBearer() -> String {
        credentials.append(Credential(place: .bearer, name: "\(name)-token"))
        return "\(name)-token"
    }

    /// Requests carry a header.
    /// - Returns: the name of the credential that it becomes; nil: it is no secret, and is written as it is.
    public mutating func addHeader(_ header: String, _ value: String) -> String? {
        let lower = header.lowercased()
        if ["accept", "accept-language", "content-language", "prefer"].contains(lower) || lower.hasSuffix("-version") {
            headers.append((header, value))
            return nil
        }
        let credential = Credential(place: .header(header), name: "\(name)-\(DraftNames.source(header))")
        credentials.append(credential)
        return credential.name
    }

    /// Whether a parameter of this name likely holds a secret. One too many only has to be written back, and one too few is in a file.
    private static func isSecret(_ name: String) -> Bool {
        let plain = String(name.lowercased().filter { $0.isLetter || $0.isNumber })
        if named.contains(plain) { return true }
        // A place in a listing, or what it is sorted by, has such a name, too.
        if places.contains(where: { plain.hasSuffix($0) }) { return false }
        return endings.contains { plain.hasSuffix($0) }
    }

    private static let named: Set<String> = [
        "appid", "auth", "code", "jwt", "pat", "passwd", "pwd", "session", "sessionid", "sig",
    ]

    private static let endings = ["credential", "key", "password", "secret", "signature", "token"]

    private static let places = [
        "continuationtoken", "cursortoken", "nexttoken", "pagetoken", "paginationtoken", "resumptiontoken", "skiptoken", "synctoken", "groupkey",
        "lastkey", "nextkey", "orderkey", "pagekey", "partitionkey", "sortkey", "startkey", "endkey",
    ]

    private static func isVersion(_ word: String) -> Bool {
        word.lowercased().hasPrefix("v") && word.count > 1 && word.dropFirst().allSatisfy { $0.isNumber || $0 == "." } || word.lowercased() == "api"
    }

    private static func withoutEnding(_ word: String) -> String {
        for ending in [".json", ".php", ".geojson", ".aspx"] where word.lowercased().hasSuffix(ending) { return String(word.dropLast(ending.count)) }
        return word
    }

    // MARK: As TOML

    /// The lines of a source that say where to ask, and with what.
    public var lines: [String] {
        var lines = ["url = \(DraftWriting.quoted(url))"]
        if !headers.isEmpty {
            let fields = headers.map { "\(DraftWriting.quoted($0.name)) = \(DraftWriting.quoted($0.value))" }
            lines.append("headers = { " + fields.joined(separator: ", ") + " }")
        }
        var secretHeaders: [String] = [], secretParameters: [String] = []
        for credential in credentials {
            let reference = "{ credential = \(DraftWriting.quoted(credential.name)) }"
            switch credential.place {
            case .bearer: lines.append("auth = { kind = \"bearer\", token = \(reference) }")
            case .header(let name): secretHeaders.append("\(DraftWriting.quoted(name)) = \(reference)")
            case .parameter(let name): secretParameters.append("\(DraftWriting.quoted(name)) = \(reference)")
            }
        }
        if !secretHeaders.isEmpty { lines.append("secret_headers = { " + secretHeaders.joined(separator: ", ") + " }") }
        if !secretParameters.isEmpty { lines.append("secret_params = { " + secretParameters.joined(separator: ", ") + " }") }
        return lines
    }

    /// Types of content that an answer may have, those that are usual first: some services send JSON as another.
    static let mediaTypes = ["application/json", "application/*+json", "text/json"]

    /// A configuration with one resource, of the source's name, that takes any JSON from there.
    public var probe: String {
        let types = (Self.mediaTypes + ["text/plain", "text/javascript", "application/javascript", "application/octet-stream"])
        return """
            version = 1
            [[source]]
            name = \(DraftWriting.quoted(name))
            \(lines.joined(separator: "\n"))
            entity = "Sample"
            records = "$"
            parse = { content_types = [\(types.map(DraftWriting.quoted).joined(separator: ", "))], duplicate_keys = "first" }
            limits = { max_records_per_page = 10000000 }
            retry = { attempts = 1 }
            [entity.Sample]
            key = "content"
            attributes = {}

            """
    }
}
