import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// Speaks to the daemon through its control socket.
///
/// Each method makes one request. Everything they throw is a ``ControlError`` whose code is an exit status: 69 if nothing answers, 77 if the caller
/// may not use the socket, otherwise what the daemon says.
public final class ControlClient: Sendable {
    /// The path of the socket.
    public let socket: String
    private let client: HTTPClient
    private let patience: Duration
    private let pause: Duration

    /// A client of the daemon that listens at `socket`. Nothing is opened yet. End it with ``shutdown()``.
    /// - Parameters:
    ///   - patience: how long an answer may take. Requests that wait for the daemon to finish work may take longer.
    ///   - pause: between two looks at how far that work is.
    public init(socket: String, patience: Duration = .seconds(30), pause: Duration = .seconds(1)) {
        self.socket = socket
        self.patience = patience
        self.pause = pause
        var configuration = HTTPClient.Configuration()
        // If cisternd is not running, say so at once: do not retry until a deadline.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = TimeAmount(patience)
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Closes the connection.
    public func shutdown() async {
        try? await client.shutdown()
    }

    /// Which daemon answers: `GET /v1/version`.
    public func version() async throws(ControlError) -> ControlVersion { try await answer(ControlRequest(.version)) }

    /// How the daemon, its document and every resource stand now: `GET /v1/status`.
    public func status() async throws(ControlError) -> StatusSnapshot { try await answer(ControlRequest(.status)) }

    /// The configuration in force, not what the files say by now: `GET /v1/config`.
    public func configuration() async throws(ControlError) -> RunningConfiguration { try await answer(ControlRequest(.config)) }

    /// The newest records that were set aside, after `skip` newer ones; with `id`, those whose id begins so.
    public func quarantine(id: String? = nil, limit: Int? = nil, skip: Int = 0) async throws(ControlError) -> [QuarantineEntry] {
        try await answer(ControlRequest(.quarantine, limit: limit, skip: skip, id: id))
    }

    /// Reads the configuration again. With `wait`, returns when the new one is in force, which it waits for at most 24 hours, and throws if it
    /// is not: with status 78 if it was refused, 74 or 75 if the disk or another program prevented it.
    /// - Parameter progress: called with what the daemon does to its database, whenever that is something else.
    public func reload(wait: Bool, progress: @escaping @Sendable (String) -> Void = { _ in }) async throws(ControlError) -> ControlResponse {
        guard wait else { return try await answer(ControlRequest(.reload)) }
        do {
            return try await withThrowingTaskGroup(of: ControlResponse.self) { group in
                defer { group.cancelAll() }
                group.addTask { try await self.answer(ControlRequest(.reload, wait: true), timeout: Self.longest) }
                group.addTask { throw await self.follow(progress) }
                guard let response = try await group.next() else { throw self.interrupted }
                return response
            }
        } catch {
            throw explain(error)
        }
    }

    /// Asks again and again what the daemon does. Returns why that has no sense any more: it does not answer.
    private func follow(_ progress: @Sendable (String) -> Void) async -> any Error {
        var last: String?
        while true {
            do { try await Task.sleep(for: pause) } catch { return error }
            let asked = ContinuousClock.now
            do {
                let words: String? = try await status().document.opening
                if let words, words != last { progress(words) }
                last = words
            } catch {
                // A connection that is refused or cut off means nothing: what is waited for has one of its own.
                if ContinuousClock.now - asked >= patience { return error }
            }
        }
    }

    /// Keeps `SOURCE` or `SOURCE/RESOURCE` (nil: everything) from being polled until it is resumed, across restarts. Status 64 if unknown.
    public func pause(scope: String?) async throws(ControlError) -> ControlResponse { try await answer(ControlRequest(.pause, scope: scope)) }

    /// Ends a pause, and a wait that a server asked for, and polls. nil: everything. Status 64 if the scope is unknown.
    public func resume(scope: String?) async throws(ControlError) -> ControlResponse { try await answer(ControlRequest(.resume, scope: scope)) }

    /// Lets the deletions that a guard holds back through, once, and polls. `scope` is `SOURCE/RESOURCE`; status 64 if it is not, or unknown.
    public func acceptDeletes(scope: String) async throws(ControlError) -> ControlResponse {
        try await answer(ControlRequest(.acceptDeletes, scope: scope))
    }

    /// Forgets parts of what is remembered of `SOURCE` or `SOURCE/RESOURCE`; a run that is under way is cut off before, and made up for. Status 64 if
    /// the scope is unknown.
    public func reset(scope: String, _ parts: Set<ResetPart>) async throws(ControlError) -> ControlResponse {
        try await answer(ControlRequest(.reset, scope: scope, what: parts))
    }

    /// Makes a backup of the document, and returns when it is complete and on the disk, which it waits for at most 24 hours. Status 75 if another one is
    /// being made, 74 if the disk does not allow it.
    public func backup() async throws(ControlError) -> BackupReport { try await answer(ControlRequest(.backup), timeout: Self.longest) }

    /// Polls now and returns at once.
    public func sync(scope: String?, full: Bool) async throws(ControlError) -> ControlResponse {
        try await answer(ControlRequest(.sync, scope: scope, full: full))
    }

    /// Polls now and returns when everything is saved.
    /// - Parameter progress: called for each line of the answer, in order.
    public func sync(
        scope: String?, full: Bool, progress: @Sendable (SyncProgress) -> Void
    ) async throws(ControlError) -> [RunReport] {
        try await runs(of: ControlRequest(.sync, scope: scope, full: full, wait: true), progress)
    }

    /// Has archived bodies mapped again and returns at once. Status 64 where no bodies are kept.
    public func replay(scope: String?) async throws(ControlError) -> ControlResponse { try await answer(ControlRequest(.replay, scope: scope)) }

    /// Has archived bodies mapped again and returns when everything is saved.
    /// - Parameter progress: called for each line of the answer, in order.
    public func replay(scope: String?, progress: @Sendable (SyncProgress) -> Void) async throws(ControlError) -> [RunReport] {
        try await runs(of: ControlRequest(.replay, scope: scope, wait: true), progress)
    }

    private func runs(of request: ControlRequest, _ progress: @Sendable (SyncProgress) -> Void) async throws(ControlError) -> [RunReport] {
        let response = try await send(request, timeout: Self.longest)
        var pending = ByteBuffer()
        do {
            for try await chunk in response.body {
                pending.writeImmutableBuffer(chunk)
                while let end = pending.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) {
                    let line = Data(pending.readBytes(length: end - pending.readerIndex) ?? [])
                    pending.moveReaderIndex(forwardBy: 1)
                    let event = try ControlCoding.decode(SyncProgress.self, from: line)
                    progress(event)
                    if case .finished(let runs) = event { return runs }
                    if case .failed(let error) = event { throw error }
                }
            }
        } catch {
            throw explain(error)
        }
        throw interrupted
    }

    // MARK: The exchange

    /// How long the daemon may work on what somebody waits for.
    private static let longest = Duration.seconds(24 * 3600)

    private func answer<Answer: Decodable>(
        _ request: ControlRequest, timeout: Duration? = nil
    ) async throws(ControlError) -> Answer {
        let response = try await send(request, timeout: timeout ?? patience)
        do {
            return try ControlCoding.decode(Answer.self, from: try await body(of: response))
        } catch {
            throw explain(error)
        }
    }

    private func send(_ request: ControlRequest, timeout: Duration) async throws(ControlError) -> HTTPClientResponse {
        let path = socket.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? socket
        var message = HTTPClientRequest(url: "http+unix://\(path)\(request.target)")
        message.method = HTTPMethod(rawValue: request.verb.method)
        // The address has no host name, so the header must be set.
        message.headers.replaceOrAdd(name: "Host", value: "localhost")
        message.headers.replaceOrAdd(name: "Accept", value: "application/json")
        do {
            let response = try await client.execute(message, timeout: TimeAmount(timeout))
            if (200..<300).contains(response.status.code) { return response }
            let data = try await body(of: response)
            if let error = try? ControlCoding.decode(ControlError.self, from: data) { throw error }
            throw ControlError(
                "\(request.verb.method) \(request.verb.path) was answered with status \(response.status.code)",
                advice: "see whether tool and daemon have the same version: `cisternctl version`", code: .protocolError)
        } catch let error as HTTPClientError where Self.isLate(error) && request.verb != .status {
            throw await reason(for: request, after: timeout) ?? explain(error)
        } catch {
            throw explain(error)
        }
    }

    private static func isLate(_ error: HTTPClientError) -> Bool { [.deadlineExceeded, .readTimeout, .connectTimeout].contains(error) }

    /// Why a request has no answer yet, if the daemon says so: the status never waits for the database.
    private func reason(for request: ControlRequest, after timeout: Duration) async -> ControlError? {
        let status: StatusSnapshot? = try? await answer(ControlRequest(.status), timeout: max(timeout, .seconds(30)))
        guard let status else { return nil }
        let words: String
        if let opening = status.document.opening {
            words = opening
        } else if status.daemon.state == "reloading" {
            words = status.daemon.status
        } else {
            return nil
        }
        return ControlError(
            "cisternd has not answered for \(RelativeTime.text(timeout)), since it is busy: \(words)",
            advice: (request.verb.isSteering ? "what was asked for is done afterwards" : "ask again afterwards")
                + "; `cisternctl status` says how far it is", code: .temporaryFailure)
    }

    private func body(of response: HTTPClientResponse) async throws -> Data {
        let buffer = try await response.body.collect(upTo: 64 << 20)
        return Data(buffer.readableBytesView)
    }

    private var interrupted: ControlError {
        ControlError(
            "cisternd closed the connection before answering", advice: "it may have been stopped: journalctl -u cisternd -n 20",
            code: .unavailable)
    }

    /// The cause of a connection error, as a sentence with advice.
    private func explain(_ error: any Error) -> ControlError {
        if let error = error as? ControlError { return error }
        if error is DecodingError {
            return ControlError(
                "cannot understand cisternd's answer: \(error)", advice: "tool and daemon may have different versions",
                code: .protocolError)
        }
        if let error = error as? IOError {
            switch error.errnoCode {
            case ENOENT, ENOTDIR:
                return ControlError(
                    "cisternd is not running (no socket at \(socket))", advice: "start it with `systemctl start cisternd`", code: .unavailable)
            case ECONNREFUSED:
                return ControlError(
                    "cisternd is not running (nobody listens at \(socket))", advice: "start it with `systemctl start cisternd`",
                    code: .unavailable)
            case EACCES, EPERM:
                return ControlError(
                    "you may not use the socket \(socket)", advice: "join the group cistern, or use sudo", code: .noPermission)
            case EPIPE, ECONNRESET: return interrupted
            default: break
            }
        }
        if error is SocketAddressError {
            return ControlError("the path of the socket is too long: \(socket)", advice: "the limit is 107 bytes", code: .usage)
        }
        switch error as? HTTPClientError {
        case .remoteConnectionClosed: return interrupted
        case .deadlineExceeded, .readTimeout, .connectTimeout:
            return ControlError(
                "cisternd did not answer in time at \(socket)", advice: "look at `systemctl status cisternd`", code: .unavailable)
        default: return ControlError("cannot reach cisternd at \(socket): \(error)", code: .unavailable)
        }
    }
}

/// A request was refused, or got no answer: why, and what to do about it.
///
/// On the wire: `{"error": "…", "advice": "…", "code": 69}`.
public struct ControlError: Error, Sendable, Hashable, Codable, CustomStringConvertible {
    /// What happened, as a sentence without a full stop.
    public var error: String
    /// What to do about it.
    public var advice: String?
    /// The exit status for a command that ends because of it.
    public var code: ControlExitCode
    /// One line for each problem of a refused configuration.
    public var problems: [String]?

    /// - Parameter error: a sentence without a full stop; the advice follows it after a semicolon.
    public init(_ error: String, advice: String? = nil, code: ControlExitCode, problems: [String]? = nil) {
        self.error = error
        self.advice = advice
        self.code = code
        self.problems = problems
    }

    /// The sentence, the advice, and the problems, each on a line of its own.
    public var description: String {
        ([error + (advice.map { "; " + $0 } ?? "")] + (problems ?? [])).joined(separator: "\n")
    }

    /// The status of the HTTP response that carries it.
    public var httpStatus: Int {
        switch code {
        case .usage: 400
        case .dataError, .configuration: 422
        case .noPermission: 403
        case .unavailable, .temporaryFailure: 503
        default: 500
        }
    }
}
