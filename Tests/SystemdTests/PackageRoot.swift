import Foundation

/// The files of the project beside its sources.
enum PackageRoot {
    static let url: URL = {
        // Resolved from the package's own folder, where the tests were compiled.
        var folder = URL(filePath: #filePath).deletingLastPathComponent()
        while folder.path != "/", !FileManager.default.fileExists(atPath: folder.appending(path: "systemd/cisternd.service").path) {
            folder = folder.resolvingSymlinksInPath().deletingLastPathComponent()
        }
        return folder
    }()

    static func file(_ path: String) -> URL { url.appending(path: path) }
}
