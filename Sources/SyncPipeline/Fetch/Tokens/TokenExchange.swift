import Foundation
import NIOCore
import NIOHTTP1
import Secrets
import SyncConfiguration
import Synchronization

/// Asks for a token: under the limits that hold for pages, again and again while the service fails for the time being, and without following anybody
/// anywhere.
struct TokenExchange: Sendable {
    let request: TokenRequest
    let rules: TokenRules
    let transports: TransportPool
    let clock: any SyncClock
    let random: RandomSource
    let secrets: SecretResolver
    /// Knows the secrets that are sent, and removes them from errors.
    let redactor: Redactor
    /// What was refused shortly before.
    let refusals: TokenRefusals
    /// Hears of each wait for the next attempt.
    let waits: @Sendable (FetchError, Duration) -> Void

    /// More than any service answers with.
    private static let largestAnswer = ByteCount.mebibytes(1)

    /// Does it.
    /// - Throws: `FetchError`, without secrets; `CancellationError`.
    func run(refreshToken: Secret?) async throws -> TokenAnswer {
        do {
            return try await ask(refreshToken)
        } catch var error as FetchError {
            if error.url.isEmpty { error.url = redactor.redact(request.address) }
            throw error.redacted(by: redactor)
        }
    }

    private func ask(_ refreshToken: Secret?) async throws -> TokenAnswer {
        let backoff = Backoff(rules.retry), used = UsedSecrets()
        if let refreshToken { take(refreshToken, used) }
        let transport = try await transports.transport(for: rules.transport)
        var attempt = 1
        while true {
            // Read anew: it may have been replaced meanwhile.
            let outgoing = try await request.request(refreshToken: refreshToken, userAgent: rules.userAgent) { reference in
                let secret = try await secrets.secret(reference)
                take(secret, used)
                return secret
            }
            let digest = outgoing.digest
            if let refused = refusals.error(of: digest, at: clock.instant) { throw refused }
            var failure: FetchError
            do {
                var answer = try await exchange(outgoing, over: transport)
                for secret in [answer.token] + (answer.refreshToken.map { [$0] } ?? []) { take(secret, used) }
                answer.secrets = used.all
                return answer
            } catch let error as FetchError {
                failure = error
            }
            failure.attempts = attempt
            if failure.kind == .credential { refusals.note(failure.redacted(by: redactor), of: digest, at: clock.instant) }
            guard isPassing(failure), attempt < rules.retry.attempts else { throw failure }
            let wish = failure.notBefore.map { clock.wallTime.duration(to: $0) } ?? .zero
            guard wish <= rules.retry.retryAfterPark.duration else { throw failure }
            let delay = max(backoff.delay(afterAttempt: attempt, random: random.next()), wish)
            waits(failure.redacted(by: redactor), delay)
            if delay > .zero { try await clock.sleep(for: delay) }
            attempt += 1
        }
    }

    private func take(_ secret: Secret, _ used: UsedSecrets) {
        redactor.learn(secret)
        used.add(secret)
    }

    private func isPassing(_ error: FetchError) -> Bool {
        let retried = rules.retry.errors
        return switch error.kind {
        case .connect: retried.contains(.connect)
        case .timeout: retried.contains(.timeout)
        case .reset: retried.contains(.reset)
        case .shortBody: retried.contains(.shortBody)
        case .dnsTemporary: retried.contains(.dnsTemporary)
        case .status: true
        case .dnsNotFound, .tls, .malformed, .corruptBody, .contentType, .tooLarge, .spool, .refused, .credential, .cancelled: false
        }
    }

    // MARK: One attempt

    private func exchange(_ outgoing: HTTPRequest, over transport: any HTTPTransport) async throws -> TokenAnswer {
        let watch = ExchangeWatch(limits: rules.http, start: clock.instant)
        do {
            return try await watch.limit(clock) { try await send(outgoing, over: transport, watch: watch) }
        } catch let error as FetchError {
            if error.kind == .cancelled { throw CancellationError() }
            throw error
        } catch is CancellationError {
            throw CancellationError()
        } catch let refusal as Refusal {
            throw FetchError(.refused(refusal))
        } catch {
            throw FetchError(.reset, detail: "\(error)")
        }
    }

    private func send(_ outgoing: HTTPRequest, over transport: any HTTPTransport, watch: ExchangeWatch) async throws -> TokenAnswer {
        if !rules.transport.allowsPrivateNetworks, outgoing.address.isPrivateByName {
            throw FetchError(.refused(.privateAddress(outgoing.address.origin.host)))
        }
        let askedAt = clock.instant
        watch.sent(at: askedAt)
        let head = try await transport.send(outgoing)
        watch.receivedHead(at: clock.instant)
        let size = head.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        guard size <= rules.http.maxHeaderBytes.bytes else {
            throw FetchError(.tooLarge(.header), detail: "\(size) bytes, \(rules.http.maxHeaderBytes) allowed", status: head.status)
        }
        let body = try await body(of: head, watch: watch)
        watch.ended()
        guard (200..<300).contains(head.status) else { throw failure(head, body) }
        do throws(FetchError) {
            return try TokenAnswer(body, head.headers, to: request, askedAt: askedAt, now: clock.wallTime)
        } catch {
            var error = error
            error.status = head.status
            throw error
        }
    }

    private func body(of head: HTTPResponse, watch: ExchangeWatch) async throws -> [UInt8] {
        var limits = rules.http
        limits.maxBody = min(limits.maxBody, Self.largestAnswer)
        limits.maxBodyCompressed = min(limits.maxBodyCompressed, Self.largestAnswer)
        var decoder = try BodyDecoder(headers: head.headers, limits: limits, excerpt: 0), body: [UInt8] = []
        for try await buffer in head.body {
            watch.received(buffer.readableBytes, at: clock.instant)
            try buffer.withUnsafeReadableBytes { try decoder.decode($0) { body.append(contentsOf: $0) } }
        }
        try decoder.finish()
        return body
    }

    /// What an answer means that is no success: the service fails for now, or it refuses.
    private func failure(_ head: HTTPResponse, _ body: [UInt8]) -> FetchError {
        let origin = request.address.origin
        if head.status >= 500 || rules.retry.statuses.contains(head.status) {
            var error = FetchError(.status(head.status), detail: "asked for a token", status: head.status)
            let wait = RetryAfter.delay(values: head.headers["Retry-After"], date: head.headers.first(name: "Date"), now: clock.wallTime)
            error.notBefore = wait.map { clock.wallTime.advanced(by: min($0, rules.retry.maxPark.duration)) }
            return error
        }
        if RedirectPolicy.isRedirect(head.status) {
            return FetchError(
                .credential, detail: "\(origin) redirects the request for a token, and secrets are sent to no other address; write the right one",
                status: head.status)
        }
        let said = TokenAnswer.refusal(body)
        let remedy =
            request.refreshToken != nil && said?.hasPrefix("invalid_grant") == true
            ? "; the refresh token is no longer valid: get a new one, and put it where the configuration reads it" : ""
        var error = FetchError(
            .credential, detail: "\(origin) refuses the request for a token" + (said.map { ": \($0)" } ?? "") + remedy, status: head.status)
        // What is cut off must have been redacted as a whole before.
        if said == nil { error.excerpt = String(redactor.redact(Exchange.text(body)).prefix(Exchange.excerptLength)) }
        return error
    }
}

/// What a request for a token has in common with requests for pages.
struct TokenRules: Sendable {
    let http: HTTPConfiguration
    let retry: RetryConfiguration
    let transport: TransportOptions
    let userAgent: String

    /// Those of a resource, for the host that tokens come from.
    init(_ resource: ResourceConfiguration, address: HTTPAddress, daemon: DaemonConfiguration, userAgent: String) {
        http = resource.http
        retry = resource.retry
        self.userAgent = userAgent
        let allowsPrivateNetworks =
            switch resource.http.allowPrivateNetworks {
            case .allow: true
            case .refuse: false
            // As for pages, but by the name of this host.
            case .auto: address.isPrivateByName && !address.isLinkLocal
            }
        transport = TransportOptions(
            tls: resource.tls, allowsPrivateNetworks: allowsPrivateNetworks, connectTimeout: resource.http.connectTimeout,
            connectionsPerHost: daemon.maxParallelRequests)
    }
}

/// The secrets that took part in a request.
private final class UsedSecrets: Sendable {
    private let value = Mutex<[Secret]>([])

    var all: [Secret] { value.withLock { $0 } }

    func add(_ secret: Secret) {
        value.withLock { known in
            if !known.contains(where: { $0.isEqual(to: secret) }) { known.append(secret) }
        }
    }
}

/// What a service has refused shortly before: the same request is not made again for a minute, whoever wants to. Resources that are polled
/// together do not have an account locked.
final class TokenRefusals: Sendable {
    private struct Refusal {
        let digest: String
        let error: FetchError
        let until: SyncInstant
    }

    private static let memory = Duration.seconds(60)
    private let last = Mutex<Refusal?>(nil)

    func note(_ error: FetchError, of digest: String, at instant: SyncInstant) {
        last.withLock { $0 = Refusal(digest: digest, error: error, until: instant.advanced(by: Self.memory)) }
    }

    /// The error that the request was answered with; nil: it may be made.
    func error(of digest: String, at instant: SyncInstant) -> FetchError? {
        last.withLock { last in
            guard let known = last, known.digest == digest, instant < known.until else { return nil }
            return known.error
        }
    }
}
