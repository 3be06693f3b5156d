import Foundation

/// Recorded data that is not part of the project: in the folder that CISTERN_TEST_DATA names, or beside the project.
enum TestData {
    /// The project's folder, found from this file.
    static let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path

    static let folder: String = {
        if let folder = ProcessInfo.processInfo.environment["CISTERN_TEST_DATA"] { return folder }
        let real = URL(fileURLWithPath: project).resolvingSymlinksInPath().path
        return "\(real)/../shared/data"
    }()

    /// Where a file of this project's end-to-end tests is.
    static func fixture(_ name: String) -> String { "\(project)/Tests/EndToEndTests/Fixtures/\(name)" }

    static func has(_ names: String...) -> Bool { names.allSatisfy { FileManager.default.fileExists(atPath: "\(folder)/\($0)") } }

    static func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// Why a test that needs data is skipped.
    static let absent = "needs recorded data: set CISTERN_TEST_DATA to the folder"
}
