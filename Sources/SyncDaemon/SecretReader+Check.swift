import Secrets
import SyncConfiguration

extension SecretReader {
    /// A credential that is missing costs its source only. If no source is left that could be polled, the daemon is of no use.
    /// - Throws: `StartFailure` with status 77.
    func check(_ configuration: CisternConfiguration) throws(StartFailure) {
        let resources = configuration.sources.filter(\.isEnabled).flatMap(\.resources).filter(\.isEnabled)
        var reasons: [String] = []
        for resource in resources {
            var reason: String?
            for reference in resource.authentication.secrets where reason == nil {
                do { _ = try secret(reference) } catch { reason = "\(error)" }
            }
            guard let reason else { return }
            if !reasons.contains(reason) { reasons.append(reason) }
        }
        guard !resources.isEmpty else { return }
        throw StartFailure(.noPermission, "no source has a usable credential:\n" + reasons.joined(separator: "\n"))
    }
}
