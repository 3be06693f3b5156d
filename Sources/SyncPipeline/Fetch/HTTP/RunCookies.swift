import Foundation
import NIOHTTP1
import Synchronization

/// The cookies of one run: kept in memory, sent to the origin that set them and to no other, forgotten with the run.
///
/// Servers use them to keep a listing on one backend. `Domain` is ignored: every cookie is for its host only. Expiry dates are ignored too, except
/// past ones, which delete.
public final class RunCookies: Sendable {
    private struct Cookie {
        let origin: Origin
        let name: String
        let path: String
        var value: String
    }

    private static let mostCookies = 50
    private static let longestCookie = 4096

    private let cookies = Mutex<[Cookie]>([])

    /// No cookies yet.
    public init() {}

    /// Takes over what a response sets.
    func store(_ headers: HTTPHeaders, from address: HTTPAddress, now: Date) {
        for header in headers["Set-Cookie"] { store(header, from: address, now: now) }
    }

    private func store(_ header: String, from address: HTTPAddress, now: Date) {
        let parts = header.split(separator: ";", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
        guard header.utf8.count <= Self.longestCookie, let equals = parts[0].firstIndex(of: "=") else { return }
        let name = parts[0][..<equals].trimmingCharacters(in: .whitespaces)
        let value = parts[0][parts[0].index(after: equals)...].trimmingCharacters(in: .whitespaces)
        guard !name.isEmpty, (name + value).utf8.allSatisfy({ $0 > 0x1F && $0 != 0x7F }) else { return }
        var path = Self.defaultPath(address.url.path)
        var isExpired = false
        for part in parts.dropFirst() {
            let pieces = part.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            let content = pieces.count == 2 ? pieces[1] : ""
            switch pieces.first?.lowercased() {
            case "path": if content.hasPrefix("/") { path = content }
            case "max-age": isExpired = Int(content).map { $0 <= 0 } ?? isExpired
            case "expires": if HTTPDate.parse(content, now: now).map({ $0 <= now }) == true { isExpired = true }
            case "secure": if address.origin.scheme != "https" { return }
            default: break
            }
        }
        cookies.withLock { cookies in
            cookies.removeAll { $0.origin == address.origin && $0.name == name && $0.path == path }
            if !isExpired { cookies.append(Cookie(origin: address.origin, name: name, path: path, value: value)) }
            if cookies.count > Self.mostCookies { cookies.removeFirst() }
        }
    }

    /// Adds the cookies for a request's address to its headers.
    func apply(to request: inout HTTPRequest) {
        let address = request.address
        let path = address.url.path.isEmpty ? "/" : address.url.path
        let matching = cookies.withLock { cookies in
            cookies.filter { $0.origin == address.origin && Self.covers($0.path, path) }
        }
        guard !matching.isEmpty else { return }
        // The more specific path comes first (RFC 6265, 5.4).
        let pairs = matching.sorted { $0.path.utf8.count > $1.path.utf8.count }.map { "\($0.name)=\($0.value)" }
        request.headers.replaceOrAdd(name: "Cookie", value: (request.headers["Cookie"] + pairs).joined(separator: "; "))
    }

    private static func defaultPath(_ path: String) -> String {
        guard path.hasPrefix("/"), let last = path.lastIndex(of: "/"), last != path.startIndex else { return "/" }
        return String(path[..<last])
    }

    private static func covers(_ cookiePath: String, _ path: String) -> Bool {
        path == cookiePath || (path.hasPrefix(cookiePath) && (cookiePath.hasSuffix("/") || path.dropFirst(cookiePath.count).hasPrefix("/")))
    }
}
