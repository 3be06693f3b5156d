import Foundation

/// A package of its own that uses this repository's plugins as they stand, with the tool that was built beside these tests and a small library: it is
/// built in seconds.
final class ScratchPackage {
    private static let repository = URL(fileURLWithPath: #filePath).appending(path: "../../../..").standardizedFileURL

    private static let tool: URL? = {
        // Beside the tests, or beside the program that loads them.
        let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        let folders = [program, CommandLine.arguments[0]].map { URL(fileURLWithPath: $0).deletingLastPathComponent() }
        return folders.map { $0.appending(path: "opencoredata-classes") }.first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }()

    /// Whether packages can be built here.
    static var isPossible: Bool { tool != nil && SwiftCompiler.found != nil }

    private static let manifest = """
        // swift-tools-version:6.2
        import PackageDescription
        let package = Package(
            name: "scratch",
            dependencies: [.package(path: "Other")],
            targets: [
                .binaryTarget(name: "opencoredata-classes", path: "opencoredata-classes.artifactbundle"),
                .plugin(name: "ManagedClassesPlugin", capability: .buildTool(), dependencies: ["opencoredata-classes"]),
                .plugin(
                    name: "GenerateManagedClassesPlugin",
                    capability: .command(
                        intent: .custom(verb: "generate-managed-classes", description: "Writes classes"),
                        permissions: [.writeToPackageDirectory(reason: "Written there.")]),
                    dependencies: ["opencoredata-classes"]),
                .target(name: "OpenCoreData"),
                .target(name: "CoreData", dependencies: ["OpenCoreData"]),
                .target(name: "Shared", path: "Sources/Common", exclude: ["Private.swift"], sources: ["Shared.swift"]),
                .target(name: "Built", dependencies: ["CoreData", "Shared", .product(name: "Other", package: "Other")], plugins: ["ManagedClassesPlugin"]),
                .target(name: "Committed", dependencies: ["CoreData"]),
            ])
        """
    private static let other = """
        // swift-tools-version:6.2
        import PackageDescription
        let package = Package(
            name: "Other", products: [.library(name: "Other", targets: ["Other"])], targets: [.target(name: "Other", path: "Sources")])
        """
    private static let bundle = """
        {"schemaVersion": "1.0", "artifacts": {"opencoredata-classes": {"type": "executable", "version": "1.0.0", "variants": [
            {"path": "opencoredata-classes", "supportedTriples": ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"]}]}}}
        """

    private let folder: TemporaryFolder
    private let swift: URL

    init() throws {
        guard let tool = Self.tool, let compiler = SwiftCompiler.found else { throw SwiftCompiler.Failure(description: "no tool, or no compiler") }
        folder = try TemporaryFolder()
        swift = compiler.swiftc.deletingLastPathComponent().appending(path: "swift")
        try folder.write(Self.manifest, to: "Package.swift")
        try folder.write(Self.other, to: "Other/Package.swift")
        try folder.write(Self.bundle, to: "opencoredata-classes.artifactbundle/info.json")
        try FileManager.default.copyItem(at: tool, to: folder.url.appending(path: "opencoredata-classes.artifactbundle/opencoredata-classes"))
        try FileManager.default.copyItem(at: Self.repository.appending(path: "Plugins"), to: folder.url.appending(path: "Plugins"))
        try write(StubLibrary.openCoreData, to: "Sources/OpenCoreData/Library.swift")
        try write(StubLibrary.coreData, to: "Sources/CoreData/CoreData.swift")
    }

    func write(_ text: String, to path: String) throws { try folder.write(text, to: path) }

    func remove(_ path: String) throws { try FileManager.default.removeItem(at: folder.url.appending(path: path)) }

    func text(_ path: String) throws -> String { try String(contentsOf: folder.url.appending(path: path), encoding: .utf8) }

    /// Runs `swift` in the package; what it prints.
    @discardableResult
    func run(_ arguments: String...) throws -> String {
        // A small build: others may run beside it.
        try SwiftCompiler.run(swift, arguments, in: folder.url)
    }

    /// What the build plugin wrote for the target `Built`, and when.
    func generated() throws -> (text: String, written: Date?) {
        let files =
            FileManager.default.enumerator(atPath: folder.url.appending(path: ".build/plugins/outputs").path)?.compactMap { $0 as? String } ?? []
        guard let path = files.first(where: { $0.hasSuffix("ManagedClasses.swift") }) else {
            throw SwiftCompiler.Failure(description: "nothing was generated: \(files)")
        }
        let file = folder.url.appending(path: ".build/plugins/outputs/\(path)")
        let written = try FileManager.default.attributesOfItem(atPath: file.path)[.modificationDate] as? Date
        return (try String(contentsOf: file, encoding: .utf8), written)
    }
}
