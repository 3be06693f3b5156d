import Foundation

/// The presets of the package, as they stand in the checkout.
public enum ShippedPresets {
    /// The bytes of each file, by the preset's name.
    public static let files: [String: [UInt8]] = {
        let directory = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent().appendingPathComponent(
            "../../../etc/cistern/presets"
        )
        .standardizedFileURL
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? []
        let pairs = names.filter { $0.hasSuffix(".toml") }.compactMap { name in
            (try? Data(contentsOf: directory.appending(path: name))).map { (String(name.dropLast(5)), [UInt8]($0)) }
        }
        return Dictionary(pairs) { first, _ in first }
    }()
}
