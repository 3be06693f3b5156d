import Foundation
import Glibc
import Secrets
import Testing

/// Entries that outlive the process, and nobody else may read. Each test has a folder of its own.
final class TokenFilesTests {
    private let parent = FileManager.default.temporaryDirectory.appending(path: "tokens-\(UUID().uuidString)")
    private var files: TokenFiles { TokenFiles(folder: parent.appending(path: "tokens").path) }

    init() throws { try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true) }
    deinit { try? FileManager.default.removeItem(at: parent) }

    private func mode(_ path: String) -> mode_t? {
        var facts = stat()
        return lstat(path, &facts) == 0 ? facts.st_mode & 0o7777 : nil
    }

    @Test func anEntryComesBackAndTheLastOneCounts() throws {
        #expect(try files.read("a") == nil)
        try files.prepare("a")
        #expect(try files.read("a") == nil)
        try files.write("a", Secret(Array("a long first entry".utf8)))
        #expect(try files.read("a")?.revealed() == "a long first entry")
        try files.prepare("a")
        try files.write("a", Secret(Array("second".utf8)))
        #expect(try files.read("a")?.revealed() == "second")
        #expect(try files.read("b") == nil)
    }

    @Test func nobodyElseMayReadThem() throws {
        let old = umask(0)
        defer { umask(old) }
        try files.prepare("a")
        try files.write("a", Secret(Array("entry".utf8)))
        #expect(mode(files.folder) == 0o700 && mode("\(files.folder)/a") == 0o600)
    }

    @Test func aDraftThatOthersCouldReadIsMadePrivate() throws {
        try files.prepare("a")
        #expect(chmod("\(files.folder)/.a.new", 0o666) == 0)
        try files.write("a", Secret(Array("entry".utf8)))
        #expect(mode("\(files.folder)/a") == 0o600)
    }

    @Test func aLinkIsNotFollowed() throws {
        try files.prepare("a")
        let target = parent.appending(path: "target").path
        try "other".write(toFile: target, atomically: true, encoding: .utf8)
        #expect(symlink(target, "\(files.folder)/a") == 0)
        #expect(throws: TokenFiles.Failure.self) { try files.read("a") }
        try files.write("a", Secret(Array("entry".utf8)))
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "other")
        #expect(try files.read("a")?.revealed() == "entry")
    }

    @Test func aFolderThatCannotBeMadeIsNamed() throws {
        let files = TokenFiles(folder: parent.appending(path: "no/such/folder").path)
        let failure = #expect(throws: TokenFiles.Failure.self) { try files.prepare("a") }
        #expect(failure?.description == "\(files.folder) cannot be made: No such file or directory")
    }
}
