import Foundation
import Testing

/// The examples as packages of their own.
@Suite struct ExamplePackagesTests {
    private static let repository = URL(fileURLWithPath: #filePath).appending(path: "../../..").standardizedFileURL

    @Test(.enabled(if: SwiftCompiler.found != nil, "no swiftc was found"), arguments: ["Bookshelf", "Contacts"])
    func whoDependsOnTheObjectGraphResolvesGRDBAlone(example: String) throws {
        let compiler = try #require(SwiftCompiler.found)
        let folder = try TemporaryFolder(), place = Self.repository.appending(path: "Examples/\(example)")
        let manifest = try String(contentsOf: place.appending(path: "Package.swift"), encoding: .utf8)
        #expect(manifest.contains(#"path: "../..", traits: []"#))
        try folder.write(manifest.replacing(#"path: "../..""#, with: #"path: "\#(Self.repository.path)""#), to: "Package.swift")
        for target in try FileManager.default.contentsOfDirectory(atPath: place.appending(path: "Sources").path) {
            try FileManager.default.createDirectory(at: folder.url.appending(path: "Sources"), withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                at: place.appending(path: "Sources/\(target)"), to: folder.url.appending(path: "Sources/\(target)"))
        }
        let swift = compiler.swiftc.deletingLastPathComponent().appending(path: "swift")
        try SwiftCompiler.run(swift, ["package", "resolve"], in: folder.url)
        let resolved = try JSONSerialization.jsonObject(with: Data(contentsOf: folder.url.appending(path: "Package.resolved")))
        let pins = (resolved as? [String: Any])?["pins"] as? [[String: Any]] ?? []
        #expect(pins.compactMap { $0["identity"] as? String } == ["grdb.swift"])
    }
}
