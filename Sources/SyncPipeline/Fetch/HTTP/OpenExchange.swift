import Foundation
import NIOHTTP1
import Secrets
import SyncConfiguration
import SyncReports
import Synchronization

/// Who hears of the exchanges of a resource.
struct ExchangeListener: Sendable {
    let tracer: any ExchangeTracing
    let scope: ResourceScope
}

/// The exchange that is under way, until it is known what came of it.
final class OpenExchange: Sendable {
    private struct Open {
        var exchange: TracedExchange
        let began: SyncInstant
        /// What identifies the request beside the secrets, such as its signature. A server may say it again.
        let hidden: [String]
    }

    private let listener: ExchangeListener
    private let attempt: Int
    private let redactor: Redactor
    private let clock: any SyncClock
    private let open = Mutex<Open?>(nil)

    /// - Returns: nil if nobody looks.
    init?(_ listener: ExchangeListener?, attempt: Int, redactor: Redactor, clock: any SyncClock) {
        guard let listener, listener.tracer.isTracing else { return nil }
        self.listener = listener
        self.attempt = attempt
        self.redactor = redactor
        self.clock = clock
    }

    /// A request goes out.
    /// - Parameter plain: the same without what identifies it. Whatever is different there, and the address in any case, is taken from this one.
    func sent(_ request: HTTPRequest, plain: HTTPRequest) {
        let fields = TracedExchange.fields(request.headers, redactor) { request.headers[$0] == plain.headers[$0] }
        let exchange = TracedExchange(
            time: clock.wallTime, scope: listener.scope, attempt: attempt, method: request.method.rawValue,
            address: redactor.redact(plain.address), requestFields: fields, sent: request.body?.count ?? 0)
        let hidden = Self.difference(request, plain)
        open.withLock { $0 = Open(exchange: exchange, began: clock.instant, hidden: hidden) }
    }

    /// The values that a request has and `plain` has not, but for those that are too short to be looked for.
    private static func difference(_ request: HTTPRequest, _ plain: HTTPRequest) -> [String] {
        func parts(_ request: HTTPRequest) -> [Substring] { (request.address.url.query(percentEncoded: true) ?? "").split(separator: "&") }
        let known = Set(parts(plain))
        let written = parts(request).filter { !known.contains($0) }.map { String($0.drop { $0 != "=" }.dropFirst()) }
        let fields = request.headers.filter { request.headers[$0.name] != plain.headers[$0.name] }.map { $0.value }
        return (fields + written + written.compactMap(\.removingPercentEncoding)).filter { $0.utf8.count >= 4 }.sorted { $0.count > $1.count }
    }

    private static func clear(_ text: String, of hidden: [String]) -> String {
        hidden.reduce(text) { $0.replacing($1, with: Redactor.mask) }
    }

    /// The head of the answer is there.
    func answered(_ head: HTTPResponse) {
        let fields = TracedExchange.fields(head.headers, redactor)
        open.withLock { open in
            open?.exchange.status = head.status
            guard let hidden = open?.hidden else { return }
            open?.exchange.responseFields = fields.map { TracedExchange.Field(name: $0.name, value: Self.clear($0.value, of: hidden)) }
        }
    }

    /// It has ended, and is told. What comes later of the same one is too late.
    func ended(received: Int = 0, error: FetchError? = nil) {
        guard var ended = open.withLock({ $0.take() }) else { return }
        ended.exchange.received = received
        ended.exchange.duration = ended.began.duration(to: clock.instant)
        ended.exchange.error = error.map { Self.clear(redactor.redact("\($0)"), of: ended.hidden) }
        listener.tracer.trace(ended.exchange)
    }
}
