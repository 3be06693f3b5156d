import Foundation

/// Documents from outside, which the project does not contain: under `CISTERN_TEST_DATA`, or beside the package.
public enum TestData {
    public static let directory: URL = {
        if let path = ProcessInfo.processInfo.environment["CISTERN_TEST_DATA"] { return URL(filePath: path) }
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return package.deletingLastPathComponent().appending(path: "shared/data")
    }()

    public static func has(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: directory.appending(path: path).path)
    }

    public static func bytes(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: directory.appending(path: path)))
    }

    public static func files(in path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.appending(path: path).path).sorted()
    }
}
