public import NIOHTTP1

/// The head of a response, and its body still to be read.
public struct HTTPResponse: Sendable {
    /// The status code.
    public let status: Int
    /// All headers, in the order they came.
    public let headers: HTTPHeaders
    /// The body as it comes off the wire, still encoded.
    public let body: HTTPBody

    /// A response from its parts.
    public init(status: Int, headers: HTTPHeaders, body: HTTPBody) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
