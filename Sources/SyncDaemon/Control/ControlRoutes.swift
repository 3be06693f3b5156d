import Dispatch
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import SyncControl
import SyncPipeline
import Synchronization

/// The routes of the control socket. A verb is a route: `GET` if it only reads, else `POST`.
public struct ControlRoutes: Sendable {
    typealias Context = ControlContext

    private let backend: any ControlBackend
    private let access: ControlAccess
    let gauge = RequestGauge()

    init(backend: any ControlBackend, access: ControlAccess = ControlAccess()) {
        self.backend = backend
        self.access = access
    }

    /// Answers every request, with JSON, whatever happens.
    func responder(logger: Logger) -> HTTPChannelHandler.Responder {
        let responder = router.buildResponder()
        let gauge = gauge
        return { request, writer, channel in
            gauge.enter()
            defer { gauge.leave() }
            let context = Context(source: ApplicationRequestContextSource(channel: channel, logger: logger))
            let response: Response
            do {
                let found = try await responder.respond(to: request, context: context)
                // None of our routes answers like this; the router does, with an empty body.
                response = found.status == .notFound || found.status == .methodNotAllowed ? Self.unknown(request) : found
            } catch let error as ControlError {
                response = Self.answer(error)
            } catch {
                response = Self.answer(ControlError(error.inWords, advice: "journalctl -u cisternd says more", code: .failure))
            }
            try await writer.write(response: response.head, body: response.body)
        }
    }

    private var router: Router<Context> {
        let router = Router(context: Context.self)
        for verb in ControlRequest.Verb.allCases {
            let method: HTTPRequest.Method = verb.method == "GET" ? .get : .post
            router.on(RouterPath(verb.path), method: method) { request, context in
                let query = request.uri.queryParameters.map { (name: String($0.key), value: String($0.value)) }
                let asked = try ControlRequest(verb, query: query)
                try access.check(asked, by: await ControlPeer.of(context.channel))
                return try await respond(to: asked)
            }
        }
        #if DEBUG
            router.on("/v1/debug/hang-main", method: .post) { _, context in
                try access.check(ControlRequest(.pause), by: await ControlPeer.of(context.channel))
                // For the test of the watchdog: the main queue never comes back.
                DispatchQueue.main.async { DispatchSemaphore(value: 0).wait() }
                return try Self.answer(ControlResponse(message: "The main queue hangs."))
            }
        #endif
        return router
    }

    private func respond(to request: ControlRequest) async throws -> Response {
        switch request.verb {
        case .version: return try Self.answer(backend.version())
        case .status: return try Self.answer(await backend.status())
        case .config: return try Self.answer(backend.configuration())
        case .quarantine:
            let limit = request.limit ?? DaemonControl.defaultLimit
            return try Self.answer(try await backend.quarantine(id: request.id, limit: limit, skip: request.skip))
        case .reload: return try Self.answer(try await backend.reload(wait: request.wait))
        case .pause: return try Self.answer(try await backend.pause(request.scope))
        case .resume: return try Self.answer(try await backend.resume(request.scope))
        case .acceptDeletes: return try Self.answer(try await backend.acceptDeletes(request.scope ?? ""))
        case .backup: return try Self.answer(try await backend.backup())
        case .reset: return try Self.answer(try await backend.reset(request.scope ?? "", request.what))
        case .replay:
            guard request.wait else { return try Self.answer(try await backend.replay(request.scope)) }
            return Self.stream(try await backend.replayProgress(request.scope))
        case .sync:
            guard request.wait else { return try Self.answer(try await backend.sync(request.scope, full: request.full)) }
            return Self.stream(try await backend.syncProgress(request.scope, full: request.full))
        }
    }

    // MARK: Answers

    private static func answer(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        response(try ControlCoding.encode(value), status: status)
    }

    private static func answer(_ error: ControlError) -> Response {
        // A value of strings and numbers always has a JSON form.
        response((try? ControlCoding.encode(error)) ?? Data(), status: HTTPResponse.Status(code: error.httpStatus))
    }

    private static func response(_ body: Data, status: HTTPResponse.Status) -> Response {
        var buffer = ByteBuffer(bytes: body)
        buffer.writeString("\n")
        return Response(
            status: status, headers: [.contentType: "application/json", .contentLength: "\(buffer.readableBytes)"],
            body: ResponseBody(byteBuffer: buffer))
    }

    /// One line of JSON for each event, sent as it happens.
    private static func stream(_ lines: AsyncStream<SyncProgress>) -> Response {
        Response(
            status: .ok, headers: [.contentType: "application/x-ndjson"],
            body: ResponseBody { writer in
                for await line in lines {
                    var buffer = ByteBuffer(bytes: try ControlCoding.encode(line))
                    buffer.writeString("\n")
                    try await writer.write(buffer)
                }
                try await writer.finish(nil)
            })
    }

    private static func unknown(_ request: Request) -> Response {
        let asked = "\(request.method.rawValue) \(request.uri.path)"
        if let verb = ControlRequest.Verb.allCases.first(where: { $0.path == request.uri.path }) {
            var response = answer(ControlError("\(asked) is not supported", advice: "use \(verb.method) \(verb.path)", code: .usage))
            response.status = .methodNotAllowed
            response.headers[.allow] = verb.method
            return response
        }
        let known = ControlRequest.Verb.allCases.map { "\($0.method) \($0.path)" }.joined(separator: ", ")
        var response = answer(ControlError("there is no route \(asked)", advice: "there are \(known)", code: .usage))
        response.status = .notFound
        return response
    }
}

extension RunReport {
    /// As sent on the control socket: the error may quote a server, and is one line.
    var onTheWire: RunReport {
        var report = self
        report.error = error.map { RemoteText.line($0) }
        return report
    }
}

extension ResourceStatus {
    /// As sent on the control socket.
    var onTheWire: ResourceStatus {
        var status = self
        status.error = error.map { RemoteText.line($0) }
        status.lastReport = lastReport?.onTheWire
        return status
    }
}

/// Counts the requests that are being answered, so that a stop can let them finish.
final class RequestGauge: Sendable {
    private struct State {
        var count = 0
        var waiters: [AsyncStream<Void>.Continuation] = []
    }

    private let state = Mutex(State())

    func enter() { state.withLock { $0.count += 1 } }

    func leave() {
        let waiters = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [AsyncStream<Void>.Continuation]() }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.finish() }
    }

    /// Returns when nothing is being answered, or when the time is up.
    func waitUntilIdle(atMost limit: Duration) async {
        let (idle, input) = AsyncStream<Void>.makeStream()
        let isIdle = state.withLock { state in
            if state.count > 0 { state.waiters.append(input) }
            return state.count == 0
        }
        if isIdle { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in idle {} }
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }
}
