import Foundation
import NIOCore
import NIOSSL

/// A certificate and its key, in a directory of their own. Made by the `openssl` command.
public struct TestIdentity: Sendable {
    /// The PEM file of the certificate.
    public let certificate: String
    /// The PEM file of its authority; of a certificate that signs itself, its own.
    public let authority: String
    /// The PEM file of the key.
    public let key: String
    /// Whether a server with it speaks nothing newer than TLS 1.1.
    public var isOutdated = false
    /// Whether a server with it speaks nothing newer than TLS 1.2.
    public var lacksTLS13 = false
    private let directory: URL

    /// The command is not there, or did not do it.
    public struct Failure: Error {
        /// Its exit status.
        public let status: Int32
    }

    /// A certificate for these alternative names (`IP:127.0.0.1`, `DNS:localhost`).
    /// - Parameters:
    ///   - validity: the years at whose beginning it begins and ends; nil: a few days around now.
    ///   - authority: the name of the authority that signs it; nil: it signs itself.
    /// - Throws: `Failure`, or what starting the command throws.
    public init(for names: [String], validity: ClosedRange<Int>? = nil, authority: String? = nil) throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("cistern-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let folder = directory
        func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
        certificate = path("certificate.pem")
        key = path("key.pem")
        self.authority = authority == nil ? certificate : path("authority.pem")
        let settings = """
            [ca]
            default_ca = all
            [all]
            database = \(path("index"))
            new_certs_dir = \(folder.path)
            rand_serial = yes
            default_md = sha256
            policy = any
            unique_subject = no
            [any]
            commonName = supplied
            [server]
            subjectAltName = \(names.joined(separator: ","))
            [authority]
            basicConstraints = critical, CA:TRUE
            """
        try settings.write(toFile: path("settings"), atomically: true, encoding: .utf8)
        try Data().write(to: folder.appendingPathComponent("index"))
        func request(_ name: String, _ subject: String) throws {
            try Self.openssl([
                "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=\(subject)", "-keyout",
                path("\(name)-key.pem"), "-out", path("\(name).csr"),
            ])
        }
        func date(_ time: Date) -> String {
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(secondsFromGMT: 0)
            formatter.dateFormat = "yyyyMMddHHmmss'Z'"
            return formatter.string(from: time)
        }
        let lasting = [date(Date() - 3 * 86_400), date(Date() + 3 * 86_400)]
        func sign(_ name: String, by signer: [String], _ dates: [String], to file: String) throws {
            try Self.openssl(
                ["ca", "-batch", "-notext", "-config", path("settings"), "-in", path("\(name).csr"), "-out", file, "-extensions", name]
                    + ["-startdate", dates[0], "-enddate", dates[1]] + signer)
        }
        try request("server", "test")
        try FileManager.default.moveItem(atPath: path("server-key.pem"), toPath: key)
        let dates = validity.map { ["\($0.lowerBound)0101000000Z", "\($0.upperBound)0101000000Z"] } ?? lasting
        guard let authority else {
            try sign("server", by: ["-selfsign", "-keyfile", key], dates, to: certificate)
            return
        }
        try request("authority", authority)
        let signer = path("authority-key.pem")
        try sign("authority", by: ["-selfsign", "-keyfile", signer], lasting, to: self.authority)
        try sign("server", by: ["-cert", self.authority, "-keyfile", signer], dates, to: certificate)
    }

    private static func openssl(_ words: [String]) throws {
        let command = Process()
        command.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        command.arguments = ["openssl"] + words
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

    func serverContext(_ clients: ClientDemand?) throws -> NIOSSLContext {
        let chain = try NIOSSLCertificate.fromPEMFile(certificate).map(NIOSSLCertificateSource.certificate)
        let key = try NIOSSLPrivateKey(file: key, format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(certificateChain: chain, privateKey: .privateKey(key))
        configuration.shutdownTimeout = .milliseconds(100)
        if lacksTLS13 { configuration.maximumTLSVersion = .tlsv12 }
        if isOutdated { (configuration.minimumTLSVersion, configuration.maximumTLSVersion) = (.tlsv1, .tlsv11) }
        if let clients {
            configuration.certificateVerification = clients.isRequired ? .noHostnameVerification : .optionalVerification
            configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMFile(clients.authority))
        }
        return try NIOSSLContext(configuration: configuration)
    }
}
