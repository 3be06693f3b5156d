/// An answer to make a draft of: its bytes, and what is known of where they come from.
public struct Sample: Sendable {
    /// The body, as it came.
    public let body: [UInt8]
    /// All headers of the response; empty for a body that was saved.
    public let headers: [(name: String, value: String)]
    /// Where it was asked for.
    public let origin: SampleOrigin

    /// A sample of these parts.
    public init(body: [UInt8], headers: [(name: String, value: String)] = [], origin: SampleOrigin) {
        self.body = body
        self.headers = headers
        self.origin = origin
    }

    /// The values of a header, in order.
    func values(of name: String) -> [String] { headers.filter { $0.name.lowercased() == name }.map(\.value) }
}
