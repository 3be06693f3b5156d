import Dispatch
import Foundation
import SyncConfiguration
import SyncPipeline
import Synchronization

/// Writes exchanges with servers into files while `log.trace_http` says so: one JSON object a line. Nothing waits for it: what the disk does not take in
/// time is left out, and the next line says how many were.
final class ExchangeLog: ExchangeTracing {
    /// More lines than this do not wait for the disk.
    static let mostWaiting = 1000

    private struct State {
        /// Bytes of the files; nil: nothing is written.
        var most: Int?
        var waiting = 0
        /// Left out since the last line.
        var dropped = 0
        /// The journal has said that nothing can be written.
        var hasFailed = false
    }

    /// The newer of the two files.
    let path: String
    private let state = Mutex(State())
    /// Used on the queue only.
    private let ring = Mutex<LineRing?>(nil)
    private let queue = DispatchQueue(label: "cistern.trace", qos: .utility)
    private let tell: @Sendable (String) -> Void

    /// Writes nothing until it is configured.
    /// - Parameters:
    ///   - folder: made when the first line is written.
    ///   - tell: takes what the journal should know; returns quickly.
    init(folder: String, tell: @escaping @Sendable (String) -> Void) {
        path = folder + "/http.jsonl"
        self.tell = tell
    }

    var isTracing: Bool { state.withLock { $0.most != nil } }

    /// Begins or ends as the configuration says. Lines that were taken in before are still written.
    func configure(_ log: LogConfiguration) {
        let most = log.traceHTTP == .off ? nil : log.traceHTTPMax.bytes
        let hasChanged = state.withLock { state in
            defer { (state.most, state.hasFailed) = (most, false) }
            return (state.most == nil) != (most == nil)
        }
        if most == nil { queue.async { [self] in ring.withLock { $0 = nil } } }
        guard hasChanged else { return }
        tell(most == nil ? "exchanges with servers are no longer written to \(path)" : "exchanges with servers are written to \(path)")
    }

    func trace(_ exchange: TracedExchange) {
        let most: Int? = state.withLock { state in
            guard let most = state.most else { return nil }
            guard state.waiting < Self.mostWaiting else {
                state.dropped += 1
                return nil
            }
            state.waiting += 1
            return most
        }
        guard let most else { return }
        queue.async { [self] in write(exchange, most: most) }
    }

    /// Returns when everything that was taken in before is written.
    func flush() { queue.sync {} }

    private func write(_ exchange: TracedExchange, most: Int) {
        let dropped = state.withLock { state in
            state.waiting -= 1
            defer { state.dropped = 0 }
            return state.dropped
        }
        do {
            let line = try ExchangeLine(exchange, dropped: dropped).bytes()
            let isWritten = try ring.withLock { held in
                let ring = held.flatMap { $0.most == most ? $0 : nil } ?? LineRing(path: path, most: most)
                held = ring
                return try ring.append(line)
            }
            guard isWritten else { return lose(dropped + 1) }
            state.withLock { $0.hasFailed = false }
        } catch {
            ring.withLock { $0 = nil }
            lose(dropped + 1)
            let isNews = state.withLock { state in
                defer { state.hasFailed = true }
                return !state.hasFailed
            }
            if isNews { tell("exchanges with servers cannot be written: \(error)") }
        }
    }

    private func lose(_ count: Int) { state.withLock { $0.dropped += count } }
}

/// An exchange as a line of JSON.
struct ExchangeLine: Encodable {
    let time: String
    let resource: String
    let attempt: Int
    let method: String
    let url: String
    let requestHeaders: [[String]]
    let sent: Int
    let status: Int?
    let responseHeaders: [[String]]?
    let received: Int
    let durationMilliseconds: Double
    let error: String?
    /// How many exchanges before this one were left out; nil: none.
    let dropped: Int?

    private enum CodingKeys: String, CodingKey {
        case time, resource, attempt, method, url, sent, status, received, error, dropped
        case requestHeaders = "request_headers"
        case responseHeaders = "response_headers"
        case durationMilliseconds = "duration_ms"
    }

    init(_ exchange: TracedExchange, dropped: Int) {
        time = exchange.time.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        resource = "\(exchange.scope)"
        attempt = exchange.attempt
        method = exchange.method
        url = exchange.address
        requestHeaders = exchange.requestFields.map { [$0.name, $0.value] }
        sent = exchange.sent
        status = exchange.status
        responseHeaders = exchange.status == nil ? nil : exchange.responseFields.map { [$0.name, $0.value] }
        received = exchange.received
        let (seconds, attoseconds) = exchange.duration.components
        durationMilliseconds = Double(seconds) * 1e3 + (Double(attoseconds) / 1e15).rounded(.down)
        error = exchange.error
        self.dropped = dropped > 0 ? dropped : nil
    }

    /// With the end of the line.
    func bytes() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
    }
}
