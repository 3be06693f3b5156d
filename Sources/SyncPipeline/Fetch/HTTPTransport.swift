/// Makes one exchange: sends a request and hands over the response while it arrives.
///
/// A transport follows no redirect, decodes no body, keeps no cookie and repeats nothing: all of that is decided above it. It obeys the
/// cancellation of the task at any time. What it throws is a `FetchError` or any other error, which counts as a broken connection.
public protocol HTTPTransport: Sendable {
    /// Sends `request` and returns once the head of the response is there.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse

    /// Closes all connections. Nothing may be sent afterwards.
    func shutdown() async
}
