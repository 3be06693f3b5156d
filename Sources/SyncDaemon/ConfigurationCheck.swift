import SyncConfiguration
import SyncPipeline

/// What `cisternd --check-config` does: reads everything, makes the model, opens no store.
public struct ConfigurationCheck: Sendable {
    private let reader: ConfigurationReader

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
