import SyncConfiguration
import SyncPipeline
import Systemd

/// Reads the secrets a configuration refers to: credentials of the service manager, files, environment variables.
struct SecretReading: Sendable {
    let credentials: Credentials
    let environment: [String: String]

    private struct Missing: Error, CustomStringConvertible {
        var description: String
    }

    var resolver: SecretResolver {
        let reading = self
        return SecretResolver { try reading.read($0, $1 == .lines ? .lines : .line) }
    }

    func read(_ reference: SecretReference, _ form: Credentials.Form = .line) throws -> String {
        switch reference {
        case .credential(let name): return try credentials.secret(name, form: form).revealed()
        case .file(let path): return try Credentials.read(path, name: path, form: form).revealed()
        case .environment(let name):
            guard let value = environment[name], !value.isEmpty else {
                throw Missing(description: "the environment variable \(name) is not set; set it in the unit, or use a credential")
            }
            return value
        }
    }

    /// A credential that is missing costs its source only. If no source is left that could be polled, the daemon is of no use.
    /// - Throws: `StartFailure` with status 77.
    func check(_ configuration: CisternConfiguration) throws(StartFailure) {
        let resources = configuration.sources.filter(\.isEnabled).flatMap(\.resources).filter(\.isEnabled)
        var reasons: [String] = []
        for resource in resources {
            var reason: String?
            for reference in resource.authentication.secrets where reason == nil {
                do { _ = try read(reference) } catch { reason = "\(error)" }
            }
            guard let reason else { return }
            if !reasons.contains(reason) { reasons.append(reason) }
        }
        guard !resources.isEmpty else { return }
        throw StartFailure(.noPermission, "no source has a usable credential:\n" + reasons.joined(separator: "\n"))
    }
}
