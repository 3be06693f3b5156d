import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Works out the class of a failure from what the libraries below throw.
enum TransportFailure {
    /// The class of a failure before the head of a response.
    static func classify(_ error: any Error, host: String) async -> FetchError {
        switch error {
        case let error as FetchError:
            return error
        case let error as NIOConnectionError:
            return await classify(error, host: host)
        case let error as HTTPClientError:
            return classify(error)
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            return FetchError(.tls, detail: "\(error)")
        case let error as HTTPParserError:
            return classify(error, cut: .reset)
        case let error as IOError:
            return FetchError(isRefusal(error) ? .connect : .reset, detail: "\(error)")
        case let error as ChannelError:
            if case .connectTimeout = error { return FetchError(.timeout(.connect)) }
            return FetchError(.reset, detail: "\(error)")
        default:
            return FetchError(.reset, detail: "\(error)")
        }
    }

    /// The class of a failure inside a body.
    static func classifyBody(_ error: any Error) -> FetchError {
        switch error {
        case let error as FetchError: return error
        case let error as HTTPParserError: return classify(error, cut: .shortBody)
        default: return FetchError(.shortBody, detail: "\(error)")
        }
    }

    private static func classify(_ error: HTTPParserError, cut: FetchError.Kind) -> FetchError {
        switch error {
        case .invalidEOFState: FetchError(cut, detail: "the connection ended inside a message")
        case .headerOverflow: FetchError(.tooLarge(.header), detail: "more than the decoder takes")
        default: FetchError(.malformed, detail: "\(error)")
        }
    }

    private static func classify(_ error: HTTPClientError) -> FetchError {
        switch error {
        case .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout:
            FetchError(.timeout(.connect), detail: error.shortDescription)
        case .deadlineExceeded:
            FetchError(.timeout(.total))
        case .cancelled:
            FetchError(.cancelled)
        case .remoteConnectionClosed:
            FetchError(.reset, detail: "the server closed the connection")
        case .serverOfferedUnsupportedApplicationProtocol("h2"), .uncleanShutdown:
            FetchError(.tls, detail: error.shortDescription)
        case .invalidURL, .emptyHost, .emptyScheme:
            FetchError(.refused(.malformedAddress(error.shortDescription)))
        default:
            FetchError(.reset, detail: error.shortDescription)
        }
    }

    /// A name that has no address, or addresses none of which answered.
    private static func classify(_ error: NIOConnectionError, host: String) async -> FetchError {
        if !error.connectionErrors.isEmpty {
            let timedOut = error.connectionErrors.allSatisfy {
                if case .connectTimeout? = $0.error as? ChannelError { true } else { false }
            }
            let reasons = error.connectionErrors.prefix(4).map { "\($0.target): \($0.error)" }
            return FetchError(timedOut ? .timeout(.connect) : .connect, detail: reasons.joined(separator: "; "))
        }
        // The library below does not say why the lookup failed, so the lookup is repeated.
        switch await lookUp(host) {
        case EAI_NONAME, EAI_NODATA: return FetchError(.dnsNotFound, detail: "no address for \(host)")
        case 0: return FetchError(.dnsTemporary, detail: "no address for \(host) a moment ago")
        case let code: return FetchError(.dnsTemporary, detail: "\(host): \(String(cString: gai_strerror(code)))")
        }
    }

    /// `EAI_NODATA` is not visible without GNU extensions.
    private static let EAI_NODATA: Int32 = -5

    private static func isRefusal(_ error: IOError) -> Bool {
        [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL, ETIMEDOUT, EHOSTDOWN, ENETDOWN].contains(error.errnoCode)
    }

    /// Looks a name up on a thread that may block, and returns the code of `getaddrinfo`. A cancelled task does not wait for the answer.
    private static func lookUp(_ host: String) async -> Int32 {
        let (answers, answer) = AsyncStream.makeStream(of: Int32.self)
        NIOThreadPool.singleton.submit { state in
            guard case .active = state else { return answer.finish() }
            var hints = addrinfo()
            hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
            var addresses: UnsafeMutablePointer<addrinfo>?
            answer.yield(getaddrinfo(host, nil, &hints, &addresses))
            answer.finish()
            if let addresses { freeaddrinfo(addresses) }
        }
        for await code in answers { return code }
        return EAI_AGAIN
    }
}
