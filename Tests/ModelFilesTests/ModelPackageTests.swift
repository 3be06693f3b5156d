import Foundation
import ModelFiles
import Testing

/// Which version of a model is the current one.
@Suite struct ModelPackageTests {
    /// A folder with a package whose versions have one entity of the version's name each; gone with it.
    final class Folder {
        let url = FileManager.default.temporaryDirectory.appending(path: "models-\(UUID().uuidString)")
        var package: URL { url.appending(path: "Model.xcdatamodeld") }

        init(versions: [String], current: String? = nil) throws {
            for version in versions { try write("<model><entity name=\"\(version)\"/></model>", to: "\(version).xcdatamodel/contents") }
            if let current { try write(Self.list("<key>_XCCurrentVersionName</key><string>\(current)</string>"), to: ".xccurrentversion") }
        }

        deinit { try? FileManager.default.removeItem(at: url) }

        static func list(_ entries: String) -> String {
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\"><dict>\(entries)</dict></plist>"
        }

        func write(_ text: String, to path: String) throws {
            let file = package.appending(path: path)
            try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
    }

    private func complaint(_ url: URL) -> String? {
        do throws(ModelFileError) {
            _ = try ModelPackage(url.path)
            return nil
        } catch {
            return error.description
        }
    }

    // A3
    @Test func thePackageSaysWhichVersionIsCurrent() throws {
        let folder = try Folder(versions: ["Model", "Model 2", "Model 3"], current: "Model 2.xcdatamodel")
        let package = try ModelPackage(folder.package.path)
        #expect(package.versions.keys.sorted() == ["Model", "Model 2", "Model 3"] && package.currentName == "Model 2")
        #expect(try package.current().entities.map(\.name) == ["Model 2"])
        #expect(try package.version(named: "Model 3").entities.map(\.name) == ["Model 3"])
        #expect(throws: ModelFileError.self) { try package.version(named: "Model 4") }
    }

    // A3: the editor writes an empty list for a package whose first version is in use.
    @Test func withoutAWordTheOnlyVersionOrTheFirstIsCurrent() throws {
        let single = try Folder(versions: ["Other"])
        #expect(try ModelPackage(single.package.path).currentName == "Other")
        let folder = try Folder(versions: ["Model 2", "Model"])
        #expect(try ModelPackage(folder.package.path).currentName == "Model")
        try folder.write(Folder.list(""), to: ".xccurrentversion")
        #expect(try ModelPackage(folder.package.path).currentName == "Model")
    }

    // A3
    @Test func oneVersionIsReadByItself() throws {
        let folder = try Folder(versions: ["Model", "Model 2"])
        let version = folder.package.appending(path: "Model 2.xcdatamodel")
        for url in [version, version.appending(path: "contents")] {
            let package = try ModelPackage(url.path)
            #expect(package.currentName == "Model 2" && package.versions.count == 1)
            #expect(try package.current().entities.map(\.name) == ["Model 2"])
        }
    }

    // A3
    @Test func whatIsNoPackageIsToldSo() throws {
        let folder = try Folder(versions: ["A", "B"])
        #expect(complaint(folder.package)?.contains("does not say which of its versions is the current one: A, B") == true)
        try folder.write(Folder.list("<key>_XCCurrentVersionName</key><string>C.xcdatamodel</string>"), to: ".xccurrentversion")
        #expect(complaint(folder.package)?.contains("names the version \"C\", which is not in the package; it has A, B") == true)
        try folder.write("nonsense", to: ".xccurrentversion")
        #expect(complaint(folder.package)?.contains("is not a property list") == true)
        #expect(complaint(folder.url)?.contains("holds no version of a model") == true)
        #expect(complaint(folder.url.appending(path: "nowhere"))?.contains("can't be read") == true)
        let compiled = folder.url.appending(path: "Model.momd")
        try FileManager.default.createDirectory(at: compiled, withIntermediateDirectories: true)
        #expect(complaint(compiled)?.contains("is a compiled model") == true)
        let old = folder.url.appending(path: "Old.xcdatamodel")
        try FileManager.default.createDirectory(at: old, withIntermediateDirectories: true)
        try Data().write(to: old.appending(path: "elements"))
        #expect(complaint(old)?.contains("holds no version of Xcode 4 or later; open it in Xcode and save it") == true)
    }
}
