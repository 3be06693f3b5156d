import Foundation
public import SyncConfiguration

/// One page to ask for, without credentials: what the paginator makes, and what is stored.
public struct PageRequest: Sendable, Hashable, CustomStringConvertible {
    /// How it is asked for.
    public let method: RequestMethod
    /// The address, free of credentials.
    public let address: HTTPAddress
    /// Headers that only this page has, such as a cursor.
    public let headers: [HeaderField]
    /// What is sent; empty with a GET.
    public let content: RequestContent

    /// A request for a page.
    ///
    /// - Parameter body: what a POST sends, its templates filled; nil: nothing.
    public init(method: RequestMethod = .get, address: HTTPAddress, headers: [HeaderField] = [], body: RequestBody? = nil) {
        self.method = method
        self.address = address
        self.headers = headers
        content = RequestContent(method == .get ? nil : body)
    }

    /// What validators are stored under: two requests with equal keys ask for the same page. A POST's has the digest of what it sends.
    public var key: String {
        let key = headers.reduce("\(method.rawValue) \(address.url.absoluteString)") { "\($0)\n\($1.name.lowercased()): \($1.value)" }
        return method == .get ? key : "\(key)\n\(content.digest)"
    }

    /// The address; of a POST also the method and the beginning of what it sends.
    public var description: String { words(address: address.description, content: content.description) }

    /// The same with secrets masked, before anything is cut off: half of a secret would not be found.
    func words(_ redactor: Redactor) -> String {
        words(address: redactor.redact(address), content: redactor.redact(content.description))
    }

    private func words(address: String, content: String) -> String {
        method == .get ? address : "\(method.rawValue) \(address) \(RemoteText.line(content, limit: 200))"
    }
}
