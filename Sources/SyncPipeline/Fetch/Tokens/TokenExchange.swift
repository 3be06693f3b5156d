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
    /// Where it goes.
    let address: HTTPAddress
    let rules: TokenRules
    let transports: TransportPool
    let clock: any SyncClock
    let random: RandomSource
    let secrets: SecretResolver
    /// Knows the secrets that are sent, and removes them from errors.
    let redactor: Redactor
    /// What was refused before.
    let refusals: TokenRefusals
    /// Who waits for it hears of each attempt, and of each wait for the next one.
    let flight: TokenFlight
    /// What requests to that server go through; nil: they are not counted.
    var gate: RequestGate?

    /// More than any service answers with.
    private static let largestAnswer = ByteCount.mebibytes(1)

    /// Does it.
    /// - Throws: `FetchError`, without secrets; `CancellationError`.
    func run(refreshToken: Secret?) async throws -> TokenAnswer {
        do {
            return try await ask(refreshToken)
        } catch var error as FetchError {
            if error.url.isEmpty { error.url = redactor.redact(address) }
            throw error.redacted(by: redactor)
        }
    }

    private func ask(_ refreshToken: Secret?) async throws -> TokenAnswer {
        let backoff = Backoff(rules.retry), used = UsedSecrets()
        if let refreshToken { take(refreshToken, used) }
        let transport = try await transports.lease(for: rules.transport)
        var attempt = 1
        while true {
            // Before anything is signed, and while nothing is lost by a stop.
            try await gate?.follow(patience: rules.budgetPatience) { flight.tell(.waiting($0)) }
            let start = wallStart
            // Read anew: it may have been replaced meanwhile.
            let question = try await request.question(
                to: address, refreshToken: refreshToken, userAgent: rules.userAgent, now: clock.wallTime, reading(used))
            // What is shown is a credential as what is sent is (RFC 8705).
            let outgoing = question.request, digest = "\(question.digest) \(transport.identity ?? "")"
            let asked = TokenRefusals.Question(digest: digest, clock: question.assertion == nil ? nil : start)
            if let assertion = question.assertion { take(assertion, used) }
            // Nobody knows what a service sends back.
            if let pair = outgoing.headers.first(name: "Authorization")?.split(separator: " ").last { take(Secret(Array(pair.utf8)), used) }
            if let refused = refusals.error(of: asked, at: clock.instant) { throw refused }
            flight.tell(.attempt(attempt))
            if refreshToken != nil { try flight.hold() }
            var failure: FetchError
            do {
                var answer = try await exchange(outgoing, over: transport)
                if let refreshToken = answer.refreshToken { take(refreshToken, used) }
                switch answer.token {
                case .success(let token):
                    take(token, used)
                    refusals.forget(asked)
                case .failure(var error):
                    error.attempts = attempt
                    answer.token = .failure(noted(error, of: asked))
                }
                answer.secrets = used.all
                return answer
            } catch let error as FetchError {
                failure = error
            }
            flight.release()
            failure.attempts = attempt
            if isRemembered(failure) { failure = noted(failure, of: asked) }
            guard isPassing(failure), attempt < rules.retry.attempts else { throw failure }
            let wish = failure.notBefore.map { clock.wallTime.duration(to: $0) } ?? .zero
            guard wish <= rules.retry.retryAfterPark.duration else { throw failure }
            let delay = max(backoff.delay(afterAttempt: attempt, random: random.next()), wish)
            flight.tell(.retrying(failure.redacted(by: redactor), delay: delay))
            if delay > .zero { try await clock.sleep(for: delay) }
            attempt += 1
        }
    }

    private func reading(_ used: UsedSecrets) -> TokenSecrets {
        TokenSecrets(
            sent: { reference in
                let secret = try await secrets.secret(reference)
                take(secret, used)
                return secret
            }, key: { try await secrets.secret($0, form: $1) })
    }

    private func take(_ secret: Secret, _ used: UsedSecrets) {
        redactor.learn(secret)
        used.add(secret)
    }

    /// The error without secrets, which is remembered.
    private func noted(_ error: FetchError, of question: TokenRefusals.Question) -> FetchError {
        var error = error
        if error.url.isEmpty { error.url = redactor.redact(address) }
        error = error.redacted(by: redactor)
        refusals.note(error, of: question, at: clock.instant)
        return error
    }

    /// What the wall clock showed when instants began, if it has run as they do since then.
    private var wallStart: Date { clock.wallTime.advanced(by: Duration.zero - clock.instant.sinceOrigin) }

    /// Whether the same request would be answered in the same way.
    private func isRemembered(_ error: FetchError) -> Bool {
        switch error.kind {
        case .credential, .malformed, .tooLarge, .corruptBody: true
        case .connect, .timeout, .reset, .shortBody, .dnsTemporary, .dnsNotFound, .tls, .status, .answer, .answerErrors, .contentType, .spool,
            .refused, .budget, .cancelled:
            false
        }
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
        case .dnsNotFound, .tls, .malformed, .corruptBody, .answer, .answerErrors, .contentType, .tooLarge, .spool, .refused, .credential, .budget,
            .cancelled:
            false
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
        var answer = TokenAnswer(body, head.headers, to: request, askedAt: askedAt, now: clock.wallTime)
        if case .failure(var error) = answer.token {
            // Some refuse with the status of a success.
            if let said = TokenAnswer.refusal(body) { error = refusal(said) }
            error.status = head.status
            answer.token = .failure(error)
        }
        return answer
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
        let origin = address.origin
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
        var error = refusal(said)
        error.status = head.status
        // What is cut off must have been redacted as a whole before.
        if said == nil { error.excerpt = String(redactor.redact(Exchange.text(body)).prefix(Exchange.excerptLength)) }
        return error
    }

    /// - Parameter said: what the service says, if it says anything.
    private func refusal(_ said: String?) -> FetchError {
        var detail = "\(address.origin) refuses the request for a token" + (said.map { ": \($0)" } ?? "")
        if let reference = request.refreshToken, let said, Self.invalid.contains(where: said.hasPrefix) {
            detail += "; the refresh token is no longer valid: get a new one, and put it where the configuration reads it"
            // The service has a copy that was made when it was started.
            if case .credential = reference { detail += ", and restart the service" }
        }
        if request.isGrantSigned, let said, said.hasPrefix("invalid_grant") {
            detail += "; check the claims and the key of the assertion, and the clock of this machine"
            if !request.hasSubject { detail += "; it has no claim sub, which many services want (RFC 7523, 3)" }
        }
        return FetchError(.credential, detail: detail)
    }

    /// How services call a refresh token that is no longer valid (RFC 6749, 5.2).
    private static let invalid = ["invalid_grant", "bad_refresh_token"]
}

/// What a request for a token has in common with requests for pages.
struct TokenRules: Sendable {
    let http: HTTPConfiguration
    let retry: RetryConfiguration
    let transport: TransportOptions
    let userAgent: String
    /// How long it waits for what its place allows itself: no run waits for longer.
    let budgetPatience: Duration

    /// Those of a resource, for the host that tokens come from.
    init(_ resource: ResourceConfiguration, address: HTTPAddress, daemon: DaemonConfiguration, userAgent: String) {
        http = resource.http
        retry = resource.retry
        budgetPatience = resource.limits.maxRunTime.duration
        self.userAgent = userAgent
        let allowsPrivateNetworks =
            switch resource.http.allowPrivateNetworks {
            case .allow: true
            case .refuse: false
            // As for pages, but by the name of this host.
            case .auto: address.isPrivateByName && !address.isLinkLocal
            }
        transport = TransportOptions(
            tls: Self.tls(resource, for: address), allowsPrivateNetworks: allowsPrivateNetworks, connectTimeout: resource.http.connectTimeout,
            connectionsPerHost: daemon.maxParallelRequests, ownOrigin: address.origin,
            tlsTable: resource.authentication.tls == nil ? "tls" : "auth.tls")
    }

    /// Whom to trust where tokens come from, and what to show there.
    static func tls(_ resource: ResourceConfiguration, for address: HTTPAddress) -> SyncConfiguration.TLSConfiguration {
        // What is said of one server is not true of another: whom to trust with passwords is no matter of the API's certificate.
        let isOneServer = (try? HTTPAddress(resource.url))?.origin == address.origin
        return resource.authentication.tls ?? (isOneServer ? resource.tls : SyncConfiguration.TLSConfiguration())
    }
}

/// The secrets that took part in a request.
final class UsedSecrets: Sendable {
    private let value = Mutex<[Secret]>([])

    var all: [Secret] { value.withLock { $0 } }

    func add(_ secret: Secret) {
        value.withLock { known in
            if !known.contains(where: { $0.isEqual(to: secret) }) { known.append(secret) }
        }
    }
}
