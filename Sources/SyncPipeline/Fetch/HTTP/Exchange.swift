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
        /// Nil unless the status is one of success, or there are no records.
        let content: PageContent?
        /// The beginning of any other body.
        var excerpt: [UInt8] = []
        /// Bytes on the wire.
        let received: Int
        /// What the resource's conditions say of it; nil: it is what its status says.
        var verdict: AnswerVerdict?
        /// Its body as it came; nil: it is no page's, or is not kept.
        var body: ArrivedBody?
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
    /// Keeps the body; nil: nobody does.
    var recorder: BodyRecorder?
    /// Takes down what goes over the wire; nil: nobody looks.
    var traced: OpenExchange?
    /// Called, and awaited, before a redirect is followed to the server that was asked first, with the status and the headers that lead there.
    var willFollow: @Sendable (Int, HTTPHeaders, ExchangeWatch) async throws -> Void = { _, _, _ in }

    /// Takes an answer of a former time for one that has just come.
    /// - Throws: `FetchError`, and what the body throws.
    func read(_ head: HTTPResponse, from address: HTTPAddress) async throws -> Response {
        let watch = ExchangeWatch(limits: settings.http, start: clock.instant)
        watch.receivedHead(at: clock.instant)
        do {
            return try await read(head, for: nil, from: address, watch: watch, known: KnownResponse())
        } catch let failure as FetchError {
            let described = describe(failure, address: address, status: head.status, headers: head.headers)
            var error = (described as? FetchError ?? failure).redacted(by: settings.redactor)
            error.excerpt = String(error.excerpt.prefix(Self.excerptLength))
            throw error
        }
    }

    /// Makes the exchange.
    /// - Throws: `FetchError`.
    func run(_ page: PageRequest, credential: Credential, validators: ConditionalGET?) async throws -> Response {
        let watch = ExchangeWatch(limits: settings.http, start: clock.instant)
        let known = KnownResponse()
        do {
            let response = try await watch.limit(clock) {
                try await follow(page, credential: credential, validators: validators, watch: watch, known: known)
            }
            traced?.ended(received: response.received)
            return response
        } catch let error as FetchError {
            if case .timeout = error.kind, let response = known.response {
                _ = complete(error, page: page)
                return response
            }
            throw complete(error, page: page)
        } catch is CancellationError {
            throw complete(FetchError(.cancelled), page: page)
        } catch let refusal as Refusal {
            throw complete(FetchError(.refused(refusal)), page: page)
        } catch {
            throw complete(FetchError(.reset, detail: "\(error)"), page: page)
        }
    }

    /// The error with all that a message needs, and without secrets. Whoever looks is told of it.
    private func complete(_ error: FetchError, page: PageRequest) -> FetchError {
        var error = error
        if error.url.isEmpty { error.url = settings.redactor.redact(page.address) }
        error = error.redacted(by: settings.redactor)
        error.excerpt = String(error.excerpt.prefix(Self.excerptLength))
        traced?.ended(error: error)
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
            if let place = credential.missingPlace(in: page.content) {
                throw FetchError(.credential, detail: "the body has no place “\(place)” for a secret")
            }
            var request = settings.request(page, at: address, credential: credential, validators: validators, cookies: cookies)
            credential.sign(&request, at: clock.wallTime)
            if let traced {
                let none = Credential(origin: address.origin, place: .none)
                traced.sent(request, plain: settings.request(page, at: address, credential: none, validators: validators, cookies: nil))
            }
            watch.sent(at: clock.instant)
            let head: HTTPResponse
            do {
                head = try await transport.send(request)
            } catch var error as FetchError {
                error.isAfterRedirect = isRedirected
                throw error
            }
            watch.receivedHead(at: clock.instant)
            traced?.answered(head)
            do {
                try checkHeaderSize(head.headers)
                cookies?.store(head.headers, from: address, now: clock.wallTime)
                guard RedirectPolicy.isRedirect(head.status) else {
                    return try await read(head, for: page, from: address, watch: watch, known: known)
                }
                _ = await readExcerpt(head, watch: watch)
                watch.ended()
                traced?.ended()
                let target = settings.authentication.stripping(
                    try redirects.follow(
                        locations: head.headers["Location"], from: address, status: head.status, method: page.method,
                        sendsContent: !page.content.isEmpty))
                guard !settings.authentication.leaks(to: target) else { throw Refusal.credentialLeak }
                if target.origin == settings.first.origin {
                    try await willFollow(head.status, address.origin == target.origin ? head.headers : [:], watch)
                }
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

    /// - Parameter page: what was asked for; nil: nobody asked.
    private func read(
        _ head: HTTPResponse, for page: PageRequest?, from address: HTTPAddress, watch: ExchangeWatch, known: KnownResponse
    ) async throws -> Response {
        if settings.empty.contains(head.status) {
            let body = await readExcerpt(head, watch: watch)
            try Task.checkCancellation()
            watch.ended()
            var response = try judged(head, from: address, body: body.bytes, isEmpty: true)
            // What has not come may say that it is something else.
            if response.content != nil, let failure = unseen(body) { throw failure }
            if response.content != nil, let writer = writer(page, head, from: address, isWhole: false) {
                body.bytes.withUnsafeBytes { writer.append($0) }
                response.body = writer.finish()
            }
            return response
        }
        guard settings.success.contains(head.status) else {
            // The body of anything else only serves the message, and conditions.
            known.response = try judged(head, from: address, body: [])
            let body = await readExcerpt(head, watch: watch)
            try Task.checkCancellation()
            watch.ended()
            return try judged(head, from: address, body: body.bytes)
        }
        if let problem = unexpectedType(head.headers) {
            return try await judged(head, from: address, watch: watch, besides: FetchError(.contentType, detail: problem))
        }
        let judge = settings.judge, isPacked = settings.unpacking != nil
        let excerptSize = judge.readsText || isPacked && judge.readsBodies ? Self.judgedSize : Self.excerptSize
        var decoder = try BodyDecoder(
            headers: head.headers, limits: settings.http, excerpt: excerptSize, unpacking: settings.unpacking, place: spool,
            readsOn: judge.readsBodies)
        // A document says itself where it ends. Of lines and rows those that are missing would count as gone.
        guard settings.sieve.format.isDocument || decoder.hasMarkedEnd else {
            // One line alone is a document, too, and is not to be ignored as such.
            return try await judged(head, from: address, watch: watch, besides: Self.endless, mayBeRecord: settings.sieve.format == .ndjson)
        }
        // A store or a disk that is slow is not the server's silence.
        watch.suspend(at: clock.instant)
        var sieve = PageSieve(settings.sieve, known: await knownRecords(), place: spool, arrival: arrival)
        let writer = writer(page, head, from: address)
        watch.resume(at: clock.instant)
        var isWhole = false
        defer { if !isWhole { arrival?.failed() } }
        do {
            for try await buffer in head.body {
                let instant = clock.instant
                watch.received(buffer.readableBytes, at: instant)
                watch.suspend(at: instant)
                try buffer.withUnsafeReadableBytes { bytes in
                    try decoder.decode(bytes) { try sieve.take($0) }
                    writer?.append(bytes)
                }
                watch.resume(at: clock.instant)
            }
            watch.suspend(at: clock.instant)
            try decoder.finish { try sieve.take($0) }
            guard settings.sieve.format.isDocument || !decoder.mayLackMembers else { throw Self.endless }
            let content = try sieve.finish()
            watch.ended()
            // Before anybody gets anything of it.
            let verdict = verdict(head, content, beginning: decoder.excerpt)
            isWhole = verdict == nil
            var response = Response(
                address: address, status: head.status, headers: head.headers, content: try shown(content, verdict),
                excerpt: verdict?.message == nil && verdict?.isGraphQL == false ? decoder.excerpt : [], received: decoder.received, verdict: verdict)
            if response.content != nil { response.body = writer?.finish() }
            return response
        } catch var error as FetchError {
            if error.kind == .corruptBody, decoder.damage != nil {
                let response = try judged(head, from: address, body: decoder.packed)
                if response.verdict != nil {
                    watch.ended()
                    return response
                }
                if decoder.excerpt.isEmpty, Self.isText(decoder.packed) { error.excerpt = Self.text(decoder.packed) }
            }
            if error.excerpt.isEmpty { error.excerpt = Self.text(decoder.excerpt) }
            throw error
        }
    }

    /// Who keeps the body of an answer; nil: nobody does.
    private func writer(_ page: PageRequest?, _ head: HTTPResponse, from address: HTTPAddress, isWhole: Bool = true) -> BodyWriter? {
        guard let page, let recorder else { return nil }
        return recorder.begin(page, head, from: address, settings.redactor, at: clock.wallTime, isWhole: isWhole)
    }

    private static var endless: FetchError {
        FetchError(
            .malformed,
            detail: "it does not say where its body ends, and what is missing of records one behind the other would not be missed; "
                + "the server has to send a Content-Length, or chunks")
    }

    // MARK: What conditions say

    /// How much is read of the body of an answer that is no success, and in how much of any body a text is looked for.
    private static let judgedSize = 64 << 10

    private func verdict(_ head: HTTPResponse, _ content: PageContent, beginning: [UInt8]) -> AnswerVerdict? {
        guard !settings.judge.isEmpty else { return nil }
        let isRead = settings.sieve.format.isDocument && !settings.judge.fields.isEmpty
        let values = isRead ? content.values(policies: settings.judge.policies) : nil
        return settings.judge.verdict(
            status: head.status, headers: head.headers, values: values.map { settings.sieve.envelope.judged(among: $0) }, text: beginning)
    }

    /// The answer with a body that is no page's.
    ///
    /// - Parameters:
    ///   - isEmpty: its status says that there are no records.
    ///   - mayBeRecord: the body may be what records are in, and is not to be ignored for what a record does not say.
    private func judged(
        _ head: HTTPResponse, from address: HTTPAddress, body: [UInt8], isEmpty: Bool = false, mayBeRecord: Bool = false
    ) throws -> Response {
        let judge = settings.judge
        var verdict: AnswerVerdict?
        if !judge.isEmpty, head.status != 304 {
            verdict = judge.verdict(status: head.status, headers: head.headers, values: judge.values(of: body), text: body)
            if mayBeRecord, verdict?.meaning == .ignore {
                verdict = judge.verdict(status: head.status, headers: head.headers, values: nil, text: body)
            }
        }
        let hasNoRecords = verdict.map { $0.meaning == .ignore } ?? isEmpty
        return Response(
            address: address, status: head.status, headers: head.headers, content: hasNoRecords ? try nothing() : nil,
            excerpt: verdict?.message == nil ? body : [], received: 0, verdict: verdict)
    }

    /// A success whose body cannot be a page's, if conditions say what it is.
    ///
    /// - Parameter error: thrown if they do not.
    private func judged(
        _ head: HTTPResponse, from address: HTTPAddress, watch: ExchangeWatch, besides error: FetchError, mayBeRecord: Bool = false
    ) async throws -> Response {
        let body = await readExcerpt(head, watch: watch).bytes
        try Task.checkCancellation()
        let response = try judged(head, from: address, body: body, mayBeRecord: mayBeRecord)
        guard response.verdict == nil else {
            watch.ended()
            return response
        }
        var error = error
        error.excerpt = Self.text(body)
        throw error
    }

    /// Why conditions have not been asked of all that they look at; nil: they have.
    private func unseen(_ body: Excerpt) -> (any Error)? {
        guard settings.judge.readsBodies, let failure = body.failure else { return nil }
        // A text is looked for at the beginning.
        if settings.judge.fields.isEmpty, body.bytes.count >= Self.judgedSize { return nil }
        guard let error = failure as? FetchError, case .tooLarge = error.kind else { return failure }
        return FetchError(.malformed, detail: "its body is larger than what conditions can be asked of (\(error.detail))")
    }

    /// What is left of a page that was read to its end.
    private func shown(_ content: PageContent, _ verdict: AnswerVerdict?) throws -> PageContent? {
        guard let verdict else { return content }
        return verdict.meaning == .ignore ? try nothing() : nil
    }

    /// A page without records, whatever came.
    private func nothing() throws -> PageContent {
        var sieve = PageSieve(settings.sieve, known: nil, place: spool)
        return try sieve.finish().withoutRecords()
    }

    // MARK: What error messages need

    /// How much of a body a message shows.
    static let excerptLength = 200

    /// How much is kept until credentials have been taken out: a credential must not escape by being cut in two.
    private static let excerptSize = 4096

    /// The beginning of a body that is no page's.
    private struct Excerpt {
        var bytes: [UInt8] = []
        /// Why it is not all of it; nil: its end has come.
        var failure: (any Error)?
    }

    /// Reads at most 64 KiB, twice that where conditions ask for it, and never fails: enough for a message, and for the connection to be used again
    /// after a small body.
    private func readExcerpt(_ head: HTTPResponse, watch: ExchangeWatch) async -> Excerpt {
        var limits = settings.http
        // The piece that goes beyond the limit is not looked at: what conditions need must not be in it.
        let most: ByteCount = settings.judge.readsBodies ? .kibibytes(128) : .kibibytes(64)
        limits.maxBodyCompressed = min(limits.maxBodyCompressed, most)
        limits.maxBody = min(limits.maxBody, most)
        var plain = head.headers
        let length = plain.first(name: "Content-Length").flatMap { Int($0) }
        if let length, length > limits.maxBodyCompressed.bytes { plain.remove(name: "Content-Length") }
        let size = settings.judge.readsBodies ? Self.judgedSize : Self.excerptSize
        var decoder: BodyDecoder
        do { decoder = try BodyDecoder(headers: plain, limits: limits, excerpt: size) } catch { return Excerpt(failure: error) }
        var failure: (any Error)?
        do {
            for try await buffer in head.body {
                watch.received(buffer.readableBytes, at: clock.instant)
                try buffer.withUnsafeReadableBytes { try decoder.decode($0) { _ in } }
            }
            // Some say that nothing is compressed.
            if decoder.received > 0 || (length ?? 0) > 0 { try decoder.finish() }
            if decoder.excerpt.count >= size { failure = FetchError(.tooLarge(.body), detail: "\(size) bytes or more") }
        } catch {
            // Whatever ends it, what arrived before is what there is to show.
            failure = error
        }
        return Excerpt(bytes: decoder.excerpt, failure: failure)
    }

    /// Whether it is something that can be shown.
    private static func isText(_ bytes: [UInt8]) -> Bool { bytes.prefix(excerptLength).allSatisfy { $0 >= 0x20 || (0x09...0x0D).contains($0) } }

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
