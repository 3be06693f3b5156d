import NIOHTTP1
import Secrets
import SyncConfiguration

/// What identifies the requests of one exchange: secrets that were read for it, and the place they go.
///
/// The bytes held here are overwritten when the exchange is over, as far as nobody needs them to take them out of texts. What cannot be overwritten are
/// the copies that `apply` makes: HTTP headers and addresses are Swift strings, here and inside of the HTTP library, which frees their memory and does
/// not clear it.
struct Credential: Sendable {
    enum Place: Sendable {
        case none
        /// `prefix`: what stands before the secret.
        case header(name: String, prefix: String, Secret)
        case query(name: String, Secret)
        case cookie(name: String, Secret)
    }

    /// The only origin that gets it.
    let origin: Origin
    let place: Place

    /// Puts it into a request, if that goes to the origin it belongs to.
    func apply(to request: inout HTTPRequest) {
        guard request.address.origin == origin else { return }
        switch place {
        case .none: break
        case .header(let name, let prefix, let secret): request.headers.replaceOrAdd(name: name, value: prefix + secret.revealed())
        case .query(let name, let secret): request.address = request.address.setting([(name, secret.revealed())])
        case .cookie(let name, let secret):
            let others = request.headers["Cookie"]
            request.headers.replaceOrAdd(name: "Cookie", value: (["\(name)=\(secret.revealed())"] + others).joined(separator: "; "))
        }
    }
}
