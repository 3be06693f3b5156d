import SyncConfiguration

/// The request with which a listing begins, but for what says which page is meant.
struct ListingStart: Sendable {
    let address: HTTPAddress
    var method = RequestMethod.get
    /// What a POST sends; nil: nothing.
    var body: RequestBody?

    /// The request as it is.
    var request: PageRequest { PageRequest(method: method, address: address, body: body) }

    /// The same request at another address: where a link leads on.
    func request(at address: HTTPAddress) -> PageRequest { PageRequest(method: method, address: address, body: body) }

    /// The request with values in it: of the first page nothing else is known than that they are the first ones.
    ///
    /// - Parameters:
    ///   - values: texts or numbers, and what carries each.
    ///   - place: where they go.
    /// - Returns: nil if a body has no place for one of them.
    func request(with values: [(parameter: String, value: BodyValue)], in place: PaginationConfiguration.Place) -> PageRequest? {
        let texts = values.map { (name: $0.parameter, value: $0.value.plainText ?? "") }
        switch place {
        case .query: return PageRequest(method: method, address: address.setting(texts), body: body)
        case .header:
            return PageRequest(method: method, address: address, headers: texts.map { HeaderField(name: $0.name, value: $0.value) }, body: body)
        case .body:
            guard var body else { return nil }
            for (parameter, value) in values {
                guard let filled = body.setting(value, at: parameter) else { return nil }
                body = filled
            }
            return PageRequest(method: method, address: address, body: body)
        }
    }
}
