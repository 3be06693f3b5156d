import Glibc
import Secrets
import SyncConfiguration
import SyncPipeline

/// What `cisternd --check-config` does: reads everything, makes the model, opens no store.
public struct ConfigurationCheck: Sendable {
    private let reader: ConfigurationReader

    /// Reads nothing yet. `path` is the main file; `environment` names the directories, and holds secrets that the configuration refers to.
    public init(path: String, environment: [String: String], files: any ConfigurationFiles = DiskConfigurationFiles()) {
        reader = ConfigurationReader(path: path, environment: environment, files: files)
    }

    /// The problems, one a line, and how the process ends.
    public func run() -> (lines: [String], status: ExitStatus) {
        let reading = reader.read()
        var lines = reading.problems.map(\.description)
        guard let configuration = reading.configuration else { return (lines, .configuration) }
        do {
            _ = try SyncPipeline.model(for: configuration)
            return (lines, .success)
        } catch {
            lines.append("\(reading.files.first ?? ""): \(error)")
            return (lines, .configuration)
        }
    }
}

extension SecretReader {
    /// A credential that is missing costs its source only. If no source is left that could be polled, the daemon is of no use.
    /// - Throws: `StartFailure` with status 77.
    func check(_ configuration: CisternConfiguration) throws(StartFailure) {
        let resources = configuration.sources.filter(\.isEnabled).flatMap(\.resources).filter(\.isEnabled)
        var reasons: [String] = []
        for resource in resources {
            let keys = resource.keysOfSeveralLines
            var reason: String?
            for reference in resource.secrets + resource.identity where reason == nil {
                do { _ = try secret(reference, form: keys.contains(reference) ? .lines : .line) } catch { reason = "\(error)" }
            }
            guard let reason else { return }
            if !reasons.contains(reason) { reasons.append(reason) }
        }
        guard !resources.isEmpty else { return }
        throw StartFailure(.noPermission, "no source has a usable credential:\n" + reasons.joined(separator: "\n"))
    }
}

/// Users and groups of the system, from its own database.
enum Accounts {
    private static let bufferSize = 16_384

    /// The number of a group; nil if there is none of that name.
    static func groupID(_ name: String) -> gid_t? {
        var entry = group()
        var result: UnsafeMutablePointer<group>?
        var buffer = [CChar](repeating: 0, count: bufferSize)
        guard getgrnam_r(name, &entry, &buffer, buffer.count, &result) == 0, result != nil else { return nil }
        return entry.gr_gid
    }

    /// The name of a user; nil if the database has none.
    static func name(of user: uid_t) -> String? { account(user) { entry in entry.pw_name.map { String(cString: $0) } } ?? nil }

    /// The groups a user belongs to; empty if the database does not know the user.
    static func groups(of user: uid_t) -> Set<gid_t> {
        account(user) { entry in
            var count: Int32 = 1024
            var groups = [gid_t](repeating: 0, count: Int(count))
            guard let name = entry.pw_name, getgrouplist(name, entry.pw_gid, &groups, &count) >= 0 else { return [entry.pw_gid] }
            return Set(groups.prefix(Int(count)))
        } ?? []
    }

    private static func account<Value>(_ user: uid_t, _ body: (passwd) -> Value) -> Value? {
        var entry = passwd()
        var result: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: bufferSize)
        // The strings of the entry lie in the buffer.
        return buffer.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress, getpwuid_r(user, &entry, base, buffer.count, &result) == 0, result != nil else { return nil }
            return body(entry)
        }
    }
}
