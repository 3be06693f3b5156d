import Foundation
import SyncConfiguration
import SyncPipeline

/// Secrets for `try`, read by whoever runs it: the service manager's credentials are there only inside the service, so their source is
/// looked at instead.
struct ToolSecrets: Sendable {
    static let directory = "/etc/cistern/credentials"

    var environment: [String: String]

    private struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    var resolver: SecretResolver {
        let secrets = self
        return SecretResolver { reference, _ in try secrets.read(reference) }
    }

    private func read(_ reference: SecretReference) throws -> String {
        switch reference {
        case .environment(let name):
            guard let value = environment[name] else { throw Failure(description: "the environment variable \(name) is not set") }
            return value
        case .file(let path): return try contents(of: [path])
        case .credential(let name):
            guard !name.contains("/"), name != "..", !name.isEmpty else { throw Failure(description: "\"\(name)\" is no name of a credential") }
            let passed = environment["CREDENTIALS_DIRECTORY"].map { ["\($0)/\(name)", "\($0)/cred_\(name)", "\($0)/cistern.\(name)"] } ?? []
            return try contents(of: passed + ["\(Self.directory)/\(name)"])
        }
    }

    private func contents(of paths: [String]) throws -> String {
        for path in paths {
            guard let data = FileManager.default.contents(atPath: path) else { continue }
            guard data.count <= 65_537, let text = String(data: data, encoding: .utf8) else {
                throw Failure(description: "\(path) is no text, or larger than 64 KiB")
            }
            return text
        }
        throw Failure(description: "none of \(paths.joined(separator: ", ")) can be read; run this as root, or inside the service")
    }
}
