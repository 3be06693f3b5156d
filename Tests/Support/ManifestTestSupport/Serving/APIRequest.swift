/// A request as it arrived, and what is answered to it.
public struct APIRequest: Sendable {
    public var method: String
    /// Path and query, as in the request line.
    public var target: String
    /// By their names in lower case.
    public var headers: [String: String]
    public var body: [UInt8]

    public init(method: String, target: String, headers: [String: String] = [:], body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }
}

/// What a service answers: JSON.
public struct APIResponse: Sendable {
    public var status: Int
    public var headers: [(name: String, value: String)] = []
    public var body: DataValue

    init(_ status: Int, _ body: DataValue) {
        self.status = status
        self.body = body
    }
}

/// What is wrong with a request.
struct RequestFault: Error {
    var status = 400
    let text: String
    /// A token that was good and is not any more is nobody's fault.
    var isExpected = false

    init(_ text: String, status: Int = 400, isExpected: Bool = false) {
        self.text = text
        self.status = status
        self.isExpected = isExpected
    }
}
