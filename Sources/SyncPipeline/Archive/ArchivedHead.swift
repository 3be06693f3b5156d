import Foundation
import NIOHTTP1
import SyncConfiguration

/// What is kept of an answer beside its body: what a replay needs in place of the server. No credential is in it.
struct ArchivedHead: Sendable, Hashable, Codable {
    /// The resource, or the part of one.
    let scope: String
    /// The key of the request.
    let request: String
    let method: String
    /// How many requests of the run had had this key before.
    let repetition: Int
    /// The number of the run that got it.
    let run: Int64
    /// Which page of the run it was.
    let page: Int
    /// The address that answered: where a redirect led there, without its query, since that may open what it leads to.
    let address: String
    let status: Int
    let headers: [Field]
    /// A header said a secret, and is not kept: what the page said of its listing may be lacking.
    let isMasked: Bool
    let receivedAt: Date
    /// What was taken for now when the request was made.
    let now: Date
    /// The bytes on the wire were not compressed, and are here.
    let isDeflated: Bool

    struct Field: Sendable, Hashable, Codable {
        let name: String
        let value: String
    }

    /// The headers, as the server wrote them.
    var fields: HTTPHeaders { HTTPHeaders(headers.map { ($0.name, $0.value) }) }

    /// Identifies the page among those of its listing.
    var slot: String { Self.slot(request, repetition) }

    /// Identifies a page among those of its listing, in a name of a file.
    static func slot(_ request: String, _ repetition: Int = 0) -> String { name(of: "\(request)\n\(repetition)") }

    /// What stands for a text in the name of a file.
    static func name(of text: String) -> String { String(BodyDigest(of: text).description.prefix(24)) }
}

/// What a page of a run is archived as.
struct BodyRecorder: Sendable {
    let archive: BodyArchive
    let scope: ResourceScope
    let run: Int64
    let page: Int
    let repetition: Int
    let now: Date
    /// The headers that the configuration names.
    let named: Set<String>

    /// What a replay has to know of every answer.
    private static let wanted: Set<String> = [
        "content-type", "content-encoding", "content-length", "transfer-encoding", "etag", "last-modified", "date", "link",
    ]
    /// What identifies a client is never kept, whatever the configuration asks of it.
    private static let secret: Set<String> = ["set-cookie", "set-cookie2", "www-authenticate", "authorization", "proxy-authenticate"]

    /// Begins to write a body; nil: there is nowhere to put it.
    ///
    /// - Parameter isWhole: false: only the beginning of the body is kept, as it is without its encoding.
    func begin(
        _ request: PageRequest, _ head: HTTPResponse, from address: HTTPAddress, _ redactor: Redactor, at time: Date, isWhole: Bool = true
    ) -> BodyWriter? {
        var fields: [ArchivedHead.Field] = [], isMasked = false
        for header in head.headers {
            let name = header.name.lowercased()
            guard Self.wanted.contains(name) || named.contains(name), !Self.secret.contains(name) else { continue }
            if !isWhole, ["content-encoding", "content-length", "transfer-encoding"].contains(name) { continue }
            guard redactor.redact(header.value) == header.value else {
                isMasked = true
                continue
            }
            fields.append(ArchivedHead.Field(name: header.name, value: header.value))
        }
        let isEncoded = isWhole && head.headers[canonicalForm: "Content-Encoding"].contains { !$0.isEmpty && $0.lowercased() != "identity" }
        let place = address == request.address ? address.url : address.withoutQuery
        return archive.write(
            ArchivedHead(
                scope: "\(scope)", request: request.key, method: request.method.rawValue, repetition: repetition, run: run, page: page,
                address: place.absoluteString, status: head.status, headers: fields, isMasked: isMasked, receivedAt: time, now: now,
                isDeflated: !isEncoded), of: scope)
    }
}

extension HTTPAddress {
    fileprivate var withoutQuery: URL {
        var parts = URLComponents(url: url, resolvingAgainstBaseURL: true)
        parts?.percentEncodedQuery = nil
        return parts?.url ?? url
    }
}

extension ResourceConfiguration {
    /// The headers of answers that it asks, in small letters.
    var namedHeaders: Set<String> {
        var names = conditions.compactMap { if case .header(let name) = $0.subject { name } else { nil } }
        if case .header(let name)? = pagination.kind.tokenOrigin { names.append(name) }
        return Set(names.map { $0.lowercased() })
    }
}
