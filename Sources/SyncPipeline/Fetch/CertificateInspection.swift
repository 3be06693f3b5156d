import NIOCore
import NIOPosix
import NIOSSL

/// Looks at the certificates of a server that was not believed, to say why: the verification itself keeps that to itself. The agreement is broken off
/// when the certificates are there; nothing is sent over the connection.
struct CertificateInspection: Sendable {
    let host: String
    let port: Int
    /// Whether the address must be one of the public internet.
    let refusesPrivateAddresses: Bool
    /// For connecting, and then for the certificates.
    let timeout: TimeAmount

    /// The certificates, the server's own first; none if they could not be had.
    func chain() async -> [NIOSSLCertificate] {
        let (chains, chain) = AsyncStream.makeStream(of: [NIOSSLCertificate].self)
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connectTimeout(timeout)
        guard let channel = try? await bootstrap.connect(host: host, port: port).get() else { return [] }
        defer { channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in chain.finish() }
        channel.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
        let isAgreed = channel.eventLoop.submit { [self] in
            try ConnectionCheck(host: host, refusesPrivateAddresses: refusesPrivateAddresses, verifiesCertificates: false).checkAddress(channel)
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.trustRoots = .certificates([])
            let handler = try NIOSSLClientHandler(
                context: NIOSSLContext(configuration: configuration), serverHostname: NetworkAddress(host) == nil ? host : nil,
                customVerificationCallback: { certificates, verdict in
                    chain.yield(certificates)
                    chain.finish()
                    verdict.succeed(.failed)
                })
            try channel.pipeline.syncOperations.addHandler(handler)
        }
        isAgreed.whenFailure { _ in chain.finish() }
        for await certificates in chains { return certificates }
        return []
    }
}
