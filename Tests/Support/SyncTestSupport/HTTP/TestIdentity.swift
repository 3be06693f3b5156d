import Foundation
import NIOCore
import NIOSSL

/// A certificate that signs itself, and its key, in a directory of their own. Made by the `openssl` command.
public struct TestIdentity: Sendable {
    /// The PEM file of the certificate, which is its own authority.
    public let certificate: String
    /// The PEM file of the key.
    public let key: String
    private let directory: URL

    /// The command is not there, or did not do it.
    public struct Failure: Error {
        /// Its exit status.
        public let status: Int32
    }

    /// A certificate for these alternative names (`IP:127.0.0.1`, `DNS:localhost`).
    /// - Throws: `Failure`, or what starting the command throws.
    public init(for names: [String]) throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("cistern-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        certificate = directory.appendingPathComponent("certificate.pem").path
        key = directory.appendingPathComponent("key.pem").path
        let command = Process()
        command.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        command.arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1", "-subj",
            "/CN=test", "-addext", "subjectAltName=\(names.joined(separator: ","))", "-keyout", key, "-out", certificate,
        ]
        command.standardOutput = FileHandle.nullDevice
        command.standardError = FileHandle.nullDevice
        try command.run()
        command.waitUntilExit()
        guard command.terminationStatus == 0 else { throw Failure(status: command.terminationStatus) }
    }

    /// Deletes the files.
    public func remove() {
        try? FileManager.default.removeItem(at: directory)
    }

    func serverContext() throws -> NIOSSLContext {
        let chain = try NIOSSLCertificate.fromPEMFile(certificate).map(NIOSSLCertificateSource.certificate)
        let key = try NIOSSLPrivateKey(file: key, format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(certificateChain: chain, privateKey: .privateKey(key))
        configuration.shutdownTimeout = .milliseconds(100)
        return try NIOSSLContext(configuration: configuration)
    }
}
