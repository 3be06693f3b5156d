package import SyncConfiguration
package import SyncPipeline

/// A request, and what a server answers it with. It answers once.
package struct RecordedExchange: Sendable {
    /// What a request must be to be answered.
    package struct Request: Sendable {
        /// `GET` or `POST`.
        package var method: RequestMethod
        /// Its parameters may come in any order.
        package var address: HTTPAddress
        /// Headers that it must have, by name; others may be there.
        package var headers: [(name: String, value: HeaderValue)] = []
        /// What its JSON must hold: the members that are said, and any others.
        package var json: TestValue?
        /// Its whole body.
        package var body: String?

        /// A request without conditions but its address.
        package init(method: RequestMethod, address: HTTPAddress) {
            self.method = method
            self.address = address
        }
    }

    /// What a header must be.
    package enum HeaderValue: Sendable, Hashable {
        /// The whole value.
        case text(String)
        /// The value that stands for a credential in the test is in it.
        case secret(SecretReference)
    }

    /// What is answered.
    package enum Answer: Sendable {
        /// A response, body and all.
        case response(status: Int, headers: [(name: String, value: String)], body: [UInt8])
        /// There is none, for this reason.
        case failure(FetchError.Kind)
    }

    /// Where it stands: `FILE:LINE`.
    package var place: String
    /// Nil: whatever is asked, as long as it is next.
    package var request: Request?
    /// The response, or why there is none.
    package var answer: Answer
    /// Whether it may be that nobody asks for it.
    package var isOptional: Bool

    /// An exchange that must take place, unless said otherwise.
    package init(place: String, request: Request?, answer: Answer, isOptional: Bool = false) {
        self.place = place
        self.request = request
        self.answer = answer
        self.isOptional = isOptional
    }
}
