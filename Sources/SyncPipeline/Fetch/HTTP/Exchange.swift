import NIOCore
import NIOHTTP1
import SyncConfiguration
import Synchronization

/// One request and its response, redirects included, under all limits: what comes out is a head and a complete body, or an error that
/// says which rule was broken.
struct Exchange: Sendable {
    /// A response that was read to its end.
    struct Response: Sendable {
        let address: HTTPAddress
        let status: Int
        let headers: HTTPHeaders
        /// Nil unless the status is one of success.
        let content: PageContent?
        /// The beginning of the body of any other.
        var excerpt: [UInt8] = []
        /// Bytes on the wire.
        let received: Int
    }

    /// A response whose body no longer matters: what its head says, a Retry-After above all, holds even if the body never ends.
    private final class KnownResponse: Sendable {
        private let value = Mutex<Response?>(nil)
        var response: Response? {
            get { value.withLock { $0 } }
            set { value.withLock { $0 = newValue } }
        }
    }

    let transport: any HTTPTransport
    let settings: FetchSettings
    let clock: any SyncClock
    let cookies: RunCookies?
    let spool: SpoolPlace
    /// What the page's records were when it was read last.
    let knownRecords: @Sendable () async -> Manifest?
    /// Hears of the page's records while they arrive.
    var arrival: (any PageArrival)?

    /// Makes the exchange.
    /// - Throws: `FetchError`.
    func run(_ page: PageRequest, credential: Credential, validators: ConditionalGET?) async throws -> Response {
        let watch = ExchangeWatch(limits: settings.http, start: clock.instant)
        let known = KnownResponse()
        do {
            return try await watch.limit(clock) {
                try await follow(page, credential: credential, validators: validators, watch: watch, known: known)
            }
        } catch let error as FetchError {
            if case .timeout = error.kind, let response = known.response { return response }
            throw complete(error, page: page)
        } catch is CancellationError {
            throw complete(FetchError(.cancelled), page: page)
        } catch let refusal as Refusal {
            throw complete(FetchError(.refused(refusal)), page: page)
        } catch {
            throw complete(FetchError(.reset, detail: "\(error)"), page: page)
        }
    }

    private func complete(_ error: FetchError, page: PageRequest) -> FetchError {
        var error = error
        if error.url.isEmpty { error.url = settings.redactor.redact(page.address) }
        error = error.redacted(by: settings.redactor)
        error.excerpt = String(error.excerpt.prefix(Self.excerptLength))
        return error
    }

    // MARK: The recipe

    private func follow(
        _ page: PageRequest, credential: Credential, validators: ConditionalGET?, watch: ExchangeWatch, known: KnownResponse
    ) async throws -> Response {
        var redirects = RedirectPolicy(reach: settings.http.redirects, limit: settings.http.maxRedirects, first: page.address)
        var address = page.address, isRedirected = false
        while true {
            try checkAddress(address)
            let request = settings.request(page, at: address, credential: credential, validators: validators, cookies: cookies)
            watch.sent(at: clock.instant)
            let head: HTTPResponse
            do {
                head = try await transport.send(request)
            } catch var error as FetchError {
                error.isAfterRedirect = isRedirected
                throw error
            }
            watch.receivedHead(at: clock.instant)
            do {
                try checkHeaderSize(head.headers)
                cookies?.store(head.headers, from: address, now: clock.wallTime)
                guard RedirectPolicy.isRedirect(head.status) else {
                    return try await read(head, from: address, watch: watch, known: known)
                }
                _ = await readExcerpt(head, watch: watch)
                watch.ended()
                let target = settings.authentication.stripping(
                    try redirects.follow(
                        locations: head.headers["Location"], from: address, status: head.status, method: page.method,
                        sendsContent: !page.content.isEmpty))
                guard !settings.authentication.leaks(to: target) else { throw Refusal.credentialLeak }
                (address, isRedirected) = (target, true)
            } catch {
                throw describe(error, address: address, status: head.status, headers: head.headers)
            }
        }
    }

    /// Names are judged once the connection is open; an address in place of a name can be judged without a connection.
    private func checkAddress(_ address: HTTPAddress) throws {
        guard !settings.allowsPrivateNetworks, address.isPrivateByName else { return }
        throw FetchError(.refused(.privateAddress(address.origin.host)), url: settings.redactor.redact(address))
    }

    private func checkHeaderSize(_ headers: HTTPHeaders) throws {
        // Four bytes of a field are colon, space and line end.
        let size = headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        guard size <= settings.http.maxHeaderBytes.bytes else {
            throw FetchError(.tooLarge(.header), detail: "\(size) bytes, \(settings.http.maxHeaderBytes) allowed")
        }
    }

    private func read(
        _ head: HTTPResponse, from address: HTTPAddress, watch: ExchangeWatch, known: KnownResponse
    ) async throws -> Response {
        if settings.empty.contains(head.status) {
            _ = await readExcerpt(head, watch: watch)
            try Task.checkCancellation()
            watch.ended()
            var sieve = PageSieve(settings.sieve, known: nil, place: spool)
            return Response(
                address: address, status: head.status, headers: head.headers, content: try sieve.finish().withoutRecords(), received: 0)
        }
        guard settings.success.contains(head.status) else {
            // The body of anything else only serves the message.
            known.response = Response(address: address, status: head.status, headers: head.headers, content: nil, received: 0)
            let excerpt = await readExcerpt(head, watch: watch)
            try Task.checkCancellation()
            watch.ended()
            return Response(address: address, status: head.status, headers: head.headers, content: nil, excerpt: excerpt, received: 0)
        }
        if let problem = unexpectedType(head.headers) {
            var error = FetchError(.contentType, detail: problem)
            error.excerpt = Self.text(await readExcerpt(head, watch: watch))
            throw error
        }
        var decoder = try BodyDecoder(
            headers: head.headers, limits: settings.http, excerpt: Self.excerptSize, unpacking: settings.unpacking, place: spool)
        // A document says itself where it ends. Of lines and rows those that are missing would count as gone.
        guard settings.sieve.format.isDocument || decoder.hasMarkedEnd else {
            throw FetchError(
                .malformed,
                detail: "it does not say where its body ends, and what is missing of records one behind the other would not be missed; "
                    + "the server has to send a Content-Length, or chunks")
        }
        // A store or a disk that is slow is not the server's silence.
        watch.suspend(at: clock.instant)
        var sieve = PageSieve(settings.sieve, known: await knownRecords(), place: spool, arrival: arrival)
        watch.resume(at: clock.instant)
        var isWhole = false
        defer { if !isWhole { arrival?.failed() } }
        do {
            for try await buffer in head.body {
                let instant = clock.instant
                watch.received(buffer.readableBytes, at: instant)
                watch.suspend(at: instant)
                try buffer.withUnsafeReadableBytes { try decoder.decode($0) { try sieve.take($0) } }
                watch.resume(at: clock.instant)
            }
            watch.suspend(at: clock.instant)
            try decoder.finish { try sieve.take($0) }
            let content = try sieve.finish()
            isWhole = true
            watch.ended()
            return Response(address: address, status: head.status, headers: head.headers, content: content, received: decoder.received)
        } catch var error as FetchError {
            if error.excerpt.isEmpty { error.excerpt = Self.text(decoder.excerpt) }
            throw error
        }
    }

    // MARK: What error messages need

    /// How much of a body a message shows.
    static let excerptLength = 200

    /// How much is kept until credentials have been taken out: a credential must not escape by being cut in two.
    private static let excerptSize = 4096

    /// Reads at most 64 KiB and never fails: enough for a message, and for the connection to be used again after a small body.
    private func readExcerpt(_ head: HTTPResponse, watch: ExchangeWatch) async -> [UInt8] {
        var limits = settings.http
        limits.maxBodyCompressed = min(limits.maxBodyCompressed, .kibibytes(64))
        limits.maxBody = min(limits.maxBody, .kibibytes(64))
        var plain = head.headers
        if let length = plain.first(name: "Content-Length").flatMap(Int.init), length > limits.maxBodyCompressed.bytes {
            plain.remove(name: "Content-Length")
        }
        guard var decoder = try? BodyDecoder(headers: plain, limits: limits, excerpt: Self.excerptSize) else { return [] }
        do {
            for try await buffer in head.body {
                watch.received(buffer.readableBytes, at: clock.instant)
                try buffer.withUnsafeReadableBytes { try decoder.decode($0) { _ in } }
            }
        } catch {
            // Whatever ends it, what arrived before is what there is to show.
        }
        return decoder.excerpt
    }

    /// The bytes as text.
    static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes.prefix(excerptSize), as: UTF8.self) }

    private func unexpectedType(_ headers: HTTPHeaders) -> String? {
        // Without a type the body speaks for itself: anything but JSON fails to parse.
        guard let value = headers.first(name: "Content-Type") else { return nil }
        let wanted = settings.mediaTypes.map(\.description).joined(separator: ", ")
        guard let type = MediaType(value), settings.mediaTypes.contains(where: { type.matches($0) }) else {
            return "“\(value)” is not one of \(wanted)"
        }
        return nil
    }

    private func describe(_ error: any Error, address: HTTPAddress, status: Int, headers: HTTPHeaders) -> any Error {
        if error is CancellationError { return error }
        var described: FetchError
        switch error {
        case let error as FetchError: described = error
        case let refusal as Refusal: described = FetchError(.refused(refusal))
        // After the head, whatever breaks the connection truncates the body.
        default: described = FetchError(.shortBody, detail: "\(error)")
        }
        if described.kind == .reset { described.kind = .shortBody }
        if described.url.isEmpty { described.url = settings.redactor.redact(address) }
        described.status = status
        described.contentType = headers.first(name: "Content-Type")
        return described
    }
}
