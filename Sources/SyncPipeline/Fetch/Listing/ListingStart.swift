import SyncConfiguration

/// The request with which a listing begins, but for what says which page is meant.
struct ListingStart: Sendable {
    private(set) var address: HTTPAddress
    private(set) var method = RequestMethod.get
    /// What a POST sends; nil: nothing.
    private(set) var body: RequestBody?
    /// Headers that say from where on is asked.
    private var headers: [HeaderField] = []

    init(address: HTTPAddress, method: RequestMethod = .get, body: RequestBody? = nil) {
        self.address = address
        self.method = method
        self.body = body
    }

    /// The same for what has changed since a service gave a token.
    ///
    /// - Returns: nil if a body has no place for it, or the address that it is must not be followed.
    func since(_ text: String, _ token: DeltaToken, _ settings: FetchSettings) -> ListingStart? {
        var start = self
        guard let parameter = token.parameter else {
            guard let address = try? PageFacts.follow(text, from: address, settings: settings) else { return nil }
            start.address = address
            return start
        }
        switch token.place {
        case .query: start.address = address.setting([(parameter, text)])
        case .header: start.headers.append(HeaderField(name: parameter, value: text))
        case .body:
            guard let filled = body?.setting(.text(text), at: parameter) else { return nil }
            start.body = filled
        }
        return start
    }

    /// The request as it is.
    var request: PageRequest { request(at: address) }

    /// The same request at another address: where a link leads on.
    func request(at address: HTTPAddress) -> PageRequest { PageRequest(method: method, address: address, headers: headers, body: body) }

    /// The request with values in it: of the first page nothing else is known than that they are the first ones.
    ///
    /// - Parameters:
    ///   - values: texts or numbers, and what carries each.
    ///   - place: where they go.
    /// - Returns: nil if a body has no place for one of them.
    func request(with values: [(parameter: String, value: BodyValue)], in place: PaginationConfiguration.Place) -> PageRequest? {
        let texts = values.map { (name: $0.parameter, value: $0.value.plainText ?? "") }
        switch place {
        case .query: return request(at: address.setting(texts))
        case .header:
            // One that says which page is meant may be the one that said from where on.
            let names = Set(texts.map { $0.name.lowercased() }), others = headers.filter { !names.contains($0.name.lowercased()) }
            return PageRequest(
                method: method, address: address, headers: others + texts.map { HeaderField(name: $0.name, value: $0.value) }, body: body)
        case .body:
            guard var body else { return nil }
            for (parameter, value) in values {
                guard let filled = body.setting(value, at: parameter) else { return nil }
                body = filled
            }
            return PageRequest(method: method, address: address, headers: headers, body: body)
        }
    }
}
