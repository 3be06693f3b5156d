import Secrets
import SyncConfiguration
import SyncPipeline

/// What stands for credentials in a test: `test-NAME`, or what the test says. Nothing is read from the system.
struct TestSecrets: Sendable {
    let values: [String: String]

    /// What stands for a credential: by its name; for a file by the last part of its path.
    func value(of reference: SecretReference) -> String {
        let name =
            switch reference {
            case .credential(let name), .environment(let name): name
            case .file(let path): path.split(separator: "/").last.map(String.init) ?? path
            }
        return values[name] ?? "test-\(name)"
    }

    var resolver: SecretResolver {
        SecretResolver { reference, _ in Secret(Array(value(of: reference).utf8)) }
    }
}
