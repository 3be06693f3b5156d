import Foundation
import NIOHTTP1
import SyncConfiguration

/// Fetches one page: makes the request, judges the response, waits and tries again if that makes sense.
public struct PageFetch: Sendable {
    /// The page.
    public let request: PageRequest
    /// What makes the request conditional; nil requests the page unconditionally.
    public let validators: ConditionalGET?
    /// Whether a success with the same `ETag` or the same body counts as not modified.
    public let recognisesUnmodified: Bool
    /// Reads what the page's records were when it was read last: those that are the same are left out of what is fetched. Called once a success has
    /// begun to arrive.
    var knownRecords: @Sendable () async -> Manifest? = { nil }
    /// Hears of the page's records while they arrive.
    var arrival: (any PageArrival)?
    /// What it works with.
    public let environment: FetchEnvironment

    /// A fetch of a page.
    public init(
        _ request: PageRequest, validators: ConditionalGET? = nil, recognisesUnmodified: Bool = false, environment: FetchEnvironment
    ) {
        self.request = request
        self.validators = validators
        self.recognisesUnmodified = recognisesUnmodified
        self.environment = environment
    }

    private enum Verdict {
        case done(FetchOutcome)
        case again(FetchError)
        /// The server said meanwhile that it wants to be left alone: no request was made.
        case leftAlone(until: Date)
        /// The token has ended: the same request is made again with another one.
        case renew
        /// No request was made: what its budget had has gone to another one.
        case overtaken

        /// Until when the server that was asked wants to be left alone.
        var notBefore: Date? {
            switch self {
            case .done(let outcome): outcome.notBefore
            case .again(let error): error.notBefore
            case .leftAlone, .renew, .overtaken: nil
            }
        }
    }

    /// Does it. Returns soon after the task is cancelled.
    public func run() async -> FetchOutcome {
        let start = environment.clock.instant
        let backoff = Backoff(environment.settings.retry)
        var attempt = 1, failure: FetchError?, isRenewed = false
        while true {
            environment.observe(.attempt(attempt))
            var error: FetchError, delay = Duration.zero
            switch await verdict(attempt: attempt, start: start, mayRenew: !isRenewed) {
            case .done(let outcome): return outcome
            case .renew:
                isRenewed = true
                continue
            case .overtaken: continue
            case .leftAlone(let until):
                // The attempt is still to be made.
                guard let failure else { return .leftAlone(until: until) }
                error = failure
            case .again(let again):
                error = again
                obey(environment.notBefore(), &error)
                if let parked = parking(error) { return parked }
                guard attempt < environment.settings.retry.attempts else { return .failed(error) }
                let wish = error.notBefore.map { environment.clock.wallTime.duration(to: $0) } ?? .zero
                delay = max(backoff.delay(afterAttempt: attempt, random: environment.random.next()), wish)
                environment.observe(.retrying(error, delay: delay))
                attempt += 1
            }
            do {
                if delay > .zero { try await environment.clock.sleep(for: delay) }
                // The server may have told another fetch meanwhile.
                while let until = environment.notBefore() {
                    obey(until, &error)
                    if let parked = parking(error) { return parked }
                    let rest = environment.clock.wallTime.duration(to: until)
                    environment.observe(.retrying(error, delay: rest))
                    try await environment.clock.sleep(for: rest)
                }
            } catch {
                return .cancelled
            }
            failure = error
        }
    }

    private func obey(_ until: Date?, _ error: inout FetchError) {
        if let until { error.notBefore = max(error.notBefore ?? until, until) }
    }

    // MARK: One attempt

    /// - Parameter mayRenew: whether a token that is refused may be replaced by another one: once for a page.
    private func verdict(attempt: Int, start: SyncInstant, mayRenew: Bool) async -> Verdict {
        let traced = OpenExchange(
            environment.listener, attempt: attempt, redactor: environment.settings.redactor, clock: environment.clock)
        let exchange = Exchange(
            transport: environment.transport, settings: environment.settings, clock: environment.clock,
            cookies: environment.settings.http.cookies == .run ? environment.cookies : nil, spool: environment.spool, knownRecords: knownRecords,
            arrival: arrival, recorder: environment.recorder, traced: traced,
            willFollow: { try await willFollow(status: $0, headers: $1, watch: $2) })
        do {
            // Before the slot is taken: a fetch that waits for a token delays nobody else.
            var credential: Credential
            switch await self.credential(attempt: attempt) {
            case .success(let read): credential = read
            case .failure(let error): return await refusal(error)
            }
            var wasUsable = isUsable(credential)
            // What makes a GET conditional means something else to a POST (RFC 9110, 13.1).
            let sent = environment.settings.http.conditional == .auto && request.method == .get ? validators : nil
            // Before the slot, too, for the same reason.
            let pass = try await environment.gate?.enter(until: environment.deadline) { environment.observe(.waiting($0)) }
            defer { pass?.leave() }
            let ask = { (credential: Credential) async throws -> Verdict in
                // While this one waited for its slot another may have been told to wait.
                if let until = environment.notBefore() { return .leftAlone(until: until) }
                if let pass, !pass.admit() { return .overtaken }
                environment.observe(.asking(attempt))
                let verdict = judge(
                    try await exchange.run(request, credential: credential, validators: sent), validators: sent, attempt: attempt, start: start)
                // Before the slot is given to another.
                if let until = verdict.notBefore { await environment.willWait(until) }
                return verdict
            }
            var verdict = Verdict.overtaken
            while case .overtaken = verdict {
                try await pass?.ready(patience: budgetPatience) { environment.observe(.waiting($0)) }
                // A long wait may have outlived its token. Another one may take what its place allows next.
                if wasUsable, !isUsable(credential) {
                    switch await self.credential(attempt: attempt) {
                    case .success(let read): credential = read
                    case .failure(let error): return await refusal(error)
                    }
                    wasUsable = isUsable(credential)
                    try await pass?.ready(patience: budgetPatience) { environment.observe(.waiting($0)) }
                }
                let shown = credential
                verdict =
                    if let slots = environment.slots {
                        try await slots.run(for: request.address.origin) { try await ask(shown) }
                    } else {
                        try await ask(shown)
                    }
            }
            return isRefused(credential, verdict, mayRenew: mayRenew) ? .renew : verdict
        } catch var error as FetchError {
            error.attempts = error.kind == .credential ? attempt - 1 : attempt
            if error.url.isEmpty { error.url = environment.settings.redactor.redact(request.address) }
            if error.kind == .budget { error.attempts = attempt - 1 }
            if let parked = parking(error) { return .done(parked) }
            return judge(error)
        } catch {
            return .done(.cancelled)
        }
    }

    /// Whether its token, if it has one, has not ended.
    private func isUsable(_ credential: Credential) -> Bool { credential.token?.isUsable(at: environment.clock.instant) ?? true }

    /// There is nothing to identify the request with.
    private func refusal(_ error: FetchError) async -> Verdict {
        if let until = error.notBefore { await environment.willWait(until) }
        return .done(error.kind == .cancelled ? .cancelled : parking(error) ?? .failed(error))
    }

    /// Before a redirect is followed on the same server: it is one more request, and what the server says of its limit holds for it.
    private func willFollow(status: Int, headers: HTTPHeaders, watch: ExchangeWatch) async throws {
        func wait(_ wait: Duration) {
            // That is no matter of how long the server takes.
            watch.postpone(by: wait)
            environment.observe(.waiting(wait))
        }
        let now = environment.clock.wallTime
        var asked = RateLimitHeaders.exhaustion(headers, environment.settings.rate, now: now)
            .map { min($0, now.advanced(by: environment.settings.retry.maxPark.duration)) }
        if let asked { await environment.willWait(asked) }
        repeat {
            // Another fetch may be told while this one waits.
            while let until = [asked, environment.notBefore()].compactMap(\.self).max() {
                asked = nil
                let rest = environment.clock.wallTime.duration(to: until)
                if rest > patience { throw FetchError(.status(status), notBefore: until) }
                wait(rest)
                try await environment.clock.sleep(for: rest)
            }
            try await environment.gate?.follow(patience: budgetPatience, tell: wait)
        } while environment.notBefore() != nil
    }

    /// Whether the request is to be made again with another token. A token may end at any page of a run (RFC 6750, 3.1). One that was just fetched has not
    /// ended: it is not good enough.
    private func isRefused(_ credential: Credential, _ verdict: Verdict, mayRenew: Bool) -> Bool {
        guard let token = credential.token else { return false }
        let authentication = environment.settings.authentication
        switch verdict {
        case .done(.page), .done(.notModified): authentication.accept(token, at: request.address)
        // A status of both kinds is tried with another token first.
        case .done(.authenticationRejected(let error)), .done(.failed(let error)), .again(let error):
            let statuses = environment.settings.retry.refreshAuthOn
            guard !error.isPassing, authentication.isTokenRefused(by: error.status, of: statuses) else { return false }
            // It may have waited for its slot until its token had ended.
            if credential.isTokenNew, token.isUsable(at: environment.clock.instant) {
                authentication.refuseNew(token)
                return false
            }
            return mayRenew && authentication.drop(token, at: request.address)
        case .done, .leftAlone, .renew, .overtaken: break
        }
        return false
    }

    /// What the request identifies itself with. Whatever failed has been tried again already where that makes sense.
    private func credential(attempt: Int) async -> Result<Credential, FetchError> {
        do {
            return .success(
                try await environment.settings.authentication.credential(environment.observe))
        } catch var error as FetchError {
            // Requests for the page, of which there was none in this attempt.
            error.attempts = attempt - 1
            if error.url.isEmpty { error.url = environment.settings.redactor.redact(request.address) }
            return .failure(error)
        } catch {
            return .failure(FetchError(.cancelled))
        }
    }

    private func judge(_ error: FetchError) -> Verdict {
        let retried = environment.settings.retry.errors
        let isRetried: Bool
        switch error.kind {
        case .cancelled: return .done(.cancelled)
        case .refused, .tooLarge: return .done(.refused(error))
        case .connect: isRetried = retried.contains(.connect)
        case .timeout: isRetried = retried.contains(.timeout)
        case .reset: isRetried = retried.contains(.reset)
        case .shortBody: isRetried = retried.contains(.shortBody)
        case .dnsTemporary: isRetried = retried.contains(.dnsTemporary)
        case .credential, .budget, .dnsNotFound, .tls, .malformed, .corruptBody, .contentType, .spool, .status, .answer, .answerErrors:
            isRetried = false
        }
        return isRetried && (isMethodRetried || error.isBeforeRequest && isAnyRetried) ? .again(error) : .done(.failed(error))
    }

    private func judge(_ response: Exchange.Response, validators: ConditionalGET?, attempt: Int, start: SyncInstant) -> Verdict {
        let status = response.status
        if let verdict = response.verdict, verdict.meaning != .ignore { return judge(verdict, response, attempt: attempt) }
        if let content = response.content, status != 304 { return .done(success(response, content, attempt: attempt, start: start)) }
        if status == 304 {
            guard let validators, validators.isSent else {
                return .done(.refused(error(.refused(.unexpectedStatus(304)), response, attempt: attempt)))
            }
            let page = unmodified(.status, response, validators: validators, attempt: attempt, start: start)
            return .done(.notModified(page))
        }
        var failure = error(.status(status), response, attempt: attempt)
        failure.notBefore = notBefore(response)
        if status == 401 { return .done(.authenticationRejected(failure)) }
        let retried = environment.settings.retry.statuses
        // Some refuse with this status what is too much, and with 429 nothing.
        let isLimit = status == 403 && retried.contains(429) && exhausted(response) != nil
        if retried.contains(status) || isLimit, isMethodRetried { return .again(failure) }
        return .done(parking(failure) ?? .failed(failure))
    }

    /// A failure of which a condition says so. What the server asks for is heeded in any case.
    private func judge(_ verdict: AnswerVerdict, _ response: Exchange.Response, attempt: Int) -> Verdict {
        var failure = error(verdict.failure, response, attempt: attempt)
        failure.detail = verdict.words(environment.settings.redactor)
        failure.notBefore = notBefore(response)
        if verdict.meaning == .fail { return .done(.failed(failure)) }
        // A rate limit is what 429 is, and that is not tried again where the configuration says so.
        let isRetried = verdict.meaning == .retry || environment.settings.retry.statuses.contains(429)
        if isRetried, isMethodRetried { return .again(failure) }
        return .done(parking(failure) ?? .failed(failure))
    }

    private func success(_ response: Exchange.Response, _ content: PageContent, attempt: Int, start: SyncInstant) -> FetchOutcome {
        // The tag of an answer to a POST need not be that of what it says (RFC 9110, 9.3.3): its content speaks for itself.
        let fresh =
            request.method == .get
            ? ConditionalGET(headers: response.headers, bodyDigest: content.digest, receivedAt: environment.clock.wallTime)
            : ConditionalGET(etag: nil, lastModified: nil, bodyDigest: content.digest)
        // A partial response has the ETag of the whole, and is still partial.
        if recognisesUnmodified, response.status != 206, response.verdict == nil, let known = self.validators,
            let evidence = evidence(known: known, fresh: fresh, content)
        {
            var page = unmodified(evidence, response, validators: fresh ?? known, attempt: attempt, start: start)
            page.body = response.body
            return .notModified(page)
        }
        var page = FetchedPage(
            address: response.address, status: response.status, headers: response.headers, content: content, validators: fresh,
            received: response.received, duration: start.duration(to: environment.clock.instant),
            attempts: attempt, pacing: ServerPacing(headers: response.headers, now: environment.clock.wallTime))
        page.ignored = response.verdict?.words(environment.settings.redactor)
        page.body = response.body
        page.notBefore = exhausted(response)
        return .page(page)
    }

    /// What shows that a success brought nothing new.
    private func evidence(known: ConditionalGET, fresh: ConditionalGET?, _ content: PageContent) -> UnmodifiedPage.Evidence? {
        let isSameTag = known.etag != nil && known.etag == fresh?.etag
        guard let knownDigest = known.bodyDigest else { return isSameTag ? .etag : nil }
        if content.isWhole, knownDigest == content.digest { return isSameTag ? .etag : .body }
        // A strong tag promises the same bytes. If the bytes differ, believe them and not the tag.
        return isSameTag && known.etag?.hasPrefix("W/") == true ? .etag : nil
    }

    private func unmodified(
        _ evidence: UnmodifiedPage.Evidence, _ response: Exchange.Response, validators: ConditionalGET, attempt: Int, start: SyncInstant
    ) -> UnmodifiedPage {
        UnmodifiedPage(
            address: response.address, evidence: evidence, headers: response.headers, validators: validators,
            received: response.received, duration: start.duration(to: environment.clock.instant), attempts: attempt,
            pacing: ServerPacing(headers: response.headers, now: environment.clock.wallTime), notBefore: exhausted(response))
    }

    // MARK: Patience

    /// Whether a request that may have reached the server is made again.
    private var isMethodRetried: Bool { isAnyRetried && (request.method == .get || environment.settings.isIdempotent) }

    /// The longest that a run waits for a server.
    private var patience: Duration { environment.settings.retry.retryAfterPark.duration }

    /// The longest that it waits for what it allows itself: a listing takes as long as its budget says, as long as its run may take that.
    private var budgetPatience: Duration { environment.deadline.map { environment.clock.instant.duration(to: $0) } ?? patience }

    private var isAnyRetried: Bool { environment.settings.retry.methods.contains(.get) }

    /// When the server may be asked again, if it said so.
    private func notBefore(_ response: Exchange.Response) -> Date? {
        let now = environment.clock.wallTime
        let asked = RetryAfter.delay(
            values: response.headers["Retry-After"], date: response.headers.first(name: "Date"), now: now
        ).map { now.advanced(by: min($0, environment.settings.retry.maxPark.duration)) }
        return [asked, exhausted(response)].compactMap(\.self).max()
    }

    /// Until when the server's own limit of requests is used up, if it says so of itself.
    private func exhausted(_ response: Exchange.Response) -> Date? {
        guard response.address.origin == environment.settings.first.origin else { return nil }
        let now = environment.clock.wallTime, latest = now.advanced(by: environment.settings.retry.maxPark.duration)
        return RateLimitHeaders.exhaustion(response.headers, environment.settings.rate, now: now).map { min($0, latest) }
    }

    /// Parks if the server asks for a longer wait than a run should make.
    private func parking(_ error: FetchError) -> FetchOutcome? {
        guard let until = error.notBefore else { return nil }
        let wait = environment.clock.wallTime.duration(to: until)
        return wait > patience ? .parked(until: until, error) : nil
    }

    private func error(_ kind: FetchError.Kind, _ response: Exchange.Response, attempt: Int) -> FetchError {
        let redactor = environment.settings.redactor
        return FetchError(
            kind, url: redactor.redact(response.address), status: response.status,
            contentType: response.headers.first(name: "Content-Type").map(redactor.redact),
            excerpt: String(redactor.redact(Exchange.text(response.excerpt)).prefix(Exchange.excerptLength)), attempts: attempt)
    }
}
