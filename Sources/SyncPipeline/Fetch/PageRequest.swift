import Foundation
public import SyncConfiguration

/// One page to ask for, without credentials: what the paginator makes, and what is stored.
public struct PageRequest: Sendable, Hashable, CustomStringConvertible {
    /// The address, free of credentials.
    public let address: HTTPAddress
    /// Headers that only this page has, such as a cursor.
    public let headers: [HeaderField]

    /// A request for a page.
    public init(address: HTTPAddress, headers: [HeaderField] = []) {
        self.address = address
        self.headers = headers
    }

    /// What validators are stored under: two requests with equal keys ask for the same page.
    public var key: String {
        headers.reduce("GET \(address.url.absoluteString)") { "\($0)\n\($1.name.lowercased()): \($1.value)" }
    }

    /// The address.
    public var description: String { address.description }
}
