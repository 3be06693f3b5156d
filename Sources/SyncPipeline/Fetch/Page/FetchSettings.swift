import NIOHTTP1
import Secrets
public import SyncConfiguration

/// Everything that requests for one resource have in common: limits, rules, headers, and where the credentials come from.
public struct FetchSettings: Sendable {
    /// The first address, parameters included, credentials not.
    public let first: HTTPAddress
    /// Time-outs, caps and reach.
    public let http: HTTPConfiguration
    /// When a request is made again.
    public internal(set) var retry: RetryConfiguration
    /// What answers say of the server's own limit of requests, and how it is read.
    let rate: RateConfiguration
    /// Whether a POST may be made again although the first one may have reached the server.
    let isIdempotent: Bool
    /// Whether requests send anything.
    let sendsContent: Bool
    /// The statuses whose body is taken.
    public let success: Set<Int>
    /// The statuses that mean a list without records.
    let empty: Set<Int>
    /// The types a body may have.
    public let mediaTypes: [MediaType]
    /// The file that a body is; nil: it is what it says.
    let unpacking: Unpacking?
    /// How pages are taken apart.
    let sieve: SievePlan
    /// What answers mean besides what their statuses say.
    let judge: AnswerJudge
    private let accept: String
    /// Reads the credentials, and keeps them out of messages.
    public private(set) var authentication: Authentication
    /// Whether addresses that are not public may be connected to.
    public let allowsPrivateNetworks: Bool
    /// `User-Agent`
    public let userAgent: String
    /// Configured headers. Only the first address's own origin gets them, because they may hold anything.
    let headers: [HeaderField]

    /// Settings of a resource.
    /// - Parameters:
    ///   - resource: its configuration.
    ///   - daemon: name and contact of the default `User-Agent`.
    ///   - version: the version in the default `User-Agent`.
    ///   - secrets: reads the secrets that the configuration refers to.
    ///   - tokens: fetches tokens; nil: a resource that needs one cannot be asked.
    /// - Throws: `FetchError` of the class `refused` if the address cannot be asked.
    public init(
        resource: ResourceConfiguration, daemon: DaemonConfiguration, version: String, secrets: SecretResolver, tokens: TokenService? = nil
    ) throws(FetchError) {
        first = try Self.firstAddress(of: resource)
        http = resource.http
        retry = resource.retry
        rate = resource.rate
        isIdempotent = resource.isIdempotent
        sendsContent = resource.method == .post && resource.body != nil
        success = Set(resource.success)
        empty = Set(resource.emptyStatuses)
        mediaTypes = resource.parse.contentTypes.compactMap(MediaType.init)
        unpacking = resource.unpacking
        judge = AnswerJudge(resource)
        // In the list that is made of other formats nobody has written what paths lead to.
        sieve = SievePlan(resource, judged: resource.format.isDocument ? judge.fields : [])
        accept = mediaTypes.map(\.description).joined(separator: ", ")
        let overridden = Set(resource.headers.map { $0.name.lowercased() })
        headers = resource.http.headers.filter { !overridden.contains($0.name.lowercased()) } + resource.headers
        switch resource.http.allowPrivateNetworks {
        case .allow: allowsPrivateNetworks = true
        case .refuse: allowsPrivateNetworks = false
        // A private network is meant where one is named; the link itself only where that is said.
        case .auto: allowsPrivateNetworks = first.isPrivateByName && !first.isLinkLocal
        }
        let contact = daemon.contact.isEmpty ? "" : " (+\(daemon.contact))"
        let userAgent = resource.http.userAgent ?? "\(daemon.name)/\(version)\(contact)"
        self.userAgent = userAgent
        var issuer: TokenIssuer?
        if let tokens, let request = try TokenRequest(resource) {
            issuer = TokenIssuer(request, resource: resource, daemon: daemon, userAgent: userAgent, secrets: secrets, service: tokens)
        }
        authentication = Authentication(
            resource.authentication, origin: first.origin, headers: headers, secretHeaders: resource.secretHeaders,
            secretParameters: resource.secretParameters, secretFields: resource.secretFields, secrets: secrets, issuer: issuer)
    }

    /// The same for another run, whose messages need not know the credentials of those before.
    func anew() -> FetchSettings {
        var settings = self
        settings.authentication = Authentication(authentication, headers: headers)
        return settings
    }

    /// The address at which a resource begins, parameters included.
    private static func firstAddress(of resource: ResourceConfiguration) throws(FetchError) -> HTTPAddress {
        do throws(Refusal) {
            return try HTTPAddress(resource.url).setting(resource.parameters.map { ($0.name, $0.value) })
        } catch {
            throw FetchError(.refused(error), url: Redactor().redact(resource.url), attempts: 0)
        }
    }

    /// Takes the credentials out of texts.
    public var redactor: Redactor { authentication.redactor }

    /// The request for a page as it goes on the wire, credentials included if its origin is the one they belong to.
    func request(
        _ page: PageRequest, at address: HTTPAddress, credential: Credential, validators: ConditionalGET?, cookies: RunCookies?
    ) -> HTTPRequest {
        let body = page.content.isEmpty ? nil : Secret(credential.bytes(of: page.content, at: address))
        var request = HTTPRequest(method: page.method, address: address, headers: [:], body: body)
        request.headers.add(name: "User-Agent", value: userAgent)
        request.headers.add(name: "Accept", value: accept)
        // Without the header a server may compress as it likes (RFC 9110, 12.5.3).
        let codings = http.acceptEncoding.isEmpty ? "identity" : http.acceptEncoding.map(\.rawValue).joined(separator: ", ")
        request.headers.add(name: "Accept-Encoding", value: codings)
        if !page.content.isEmpty { request.headers.add(name: "Content-Type", value: page.content.mediaType) }
        if address.origin == first.origin {
            for field in headers + page.headers { request.headers.replaceOrAdd(name: field.name, value: field.value) }
        }
        if http.conditional == .auto { validators?.apply(to: &request.headers) }
        cookies?.apply(to: &request)
        credential.apply(to: &request)
        return request
    }
}
