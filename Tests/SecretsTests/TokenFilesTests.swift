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

    @Test func aFolderIsMadeWithWhatIsAboveIt() throws {
        let old = umask(0)
        defer { umask(old) }
        let files = TokenFiles(folder: parent.appending(path: "no/such/folder").path)
        try files.write("a", Secret(Array("entry".utf8)))
        #expect(try files.read("a")?.revealed() == "entry")
        for path in ["no", "no/such", "no/such/folder"] { #expect(mode(parent.appending(path: path).path) == 0o700) }
    }

    @Test func aFolderThatCannotBeMadeIsNamed() throws {
        try "".write(toFile: parent.appending(path: "file").path, atomically: true, encoding: .utf8)
        let files = TokenFiles(folder: parent.appending(path: "file/folder").path)
        let failure = #expect(throws: TokenFiles.Failure.self) { try files.prepare("a") }
        #expect(failure?.description == "\(files.folder) cannot be made: Not a directory")
    }

    /// What a process leaves behind that is killed after it has written an entry, and before it has put it in its place.
    private func kill(afterWriting entry: String, before: String?) throws {
        let path = files.path("a"), draft = "\(files.folder)/.a.new"
        if let before { try files.write("a", Secret(Array(before.utf8))) }
        let old = FileManager.default.contents(atPath: path)
        try files.write("a", Secret(Array(entry.utf8)))
        #expect(rename(path, draft) == 0)
        if let old { #expect(FileManager.default.createFile(atPath: path, contents: old)) }
    }

    @Test(arguments: [nil, "first"]) func anEntryThatWasWrittenBeforeAKillIsFound(before: String?) throws {
        try kill(afterWriting: "second", before: before)
        for _ in 1...2 { #expect(try files.read("a")?.revealed() == "second") }
        #expect(mode("\(files.folder)/.a.new") == nil)
        try files.prepare("a")
        try files.write("a", Secret(Array("third".utf8)))
        #expect(try files.read("a")?.revealed() == "third")
    }

    @Test func aDraftThatIsNotWholeOrOlderIsNotTaken() throws {
        try kill(afterWriting: "second", before: "first")
        let draft = "\(files.folder)/.a.new", whole = try #require(FileManager.default.contents(atPath: draft))
        for count in 0..<whole.count {
            #expect(FileManager.default.createFile(atPath: draft, contents: whole.prefix(count)))
            #expect(try files.read("a")?.revealed() == "first", "\(count) bytes")
        }
        for index in whole.indices {
            var damaged = whole
            damaged[index] ^= 1
            #expect(FileManager.default.createFile(atPath: draft, contents: damaged))
            #expect(try files.read("a")?.revealed() == "first", "byte \(index)")
        }
        // As a backup leaves it, or what else puts an old file there.
        for text in ["second", "third"] { try files.write("a", Secret(Array(text.utf8))) }
        #expect(FileManager.default.createFile(atPath: draft, contents: whole))
        #expect(try files.read("a")?.revealed() == "third")
        // With the room that the next one was given.
        try files.prepare("a")
        #expect(try files.read("a")?.revealed() == "third")
    }

    @Test func anEntryThatIsNotWholeIsNamed() throws {
        try files.write("a", Secret(Array("entry".utf8)))
        let path = files.path("a"), whole = try #require(FileManager.default.contents(atPath: path))
        for count in 0..<whole.count {
            #expect(FileManager.default.createFile(atPath: path, contents: whole.prefix(count)))
            let failure = #expect(throws: TokenFiles.Failure.self) { try files.read("a") }
            #expect(failure?.description == "\(path) is damaged: remove it, and configure a new refresh token")
        }
    }

    @Test func whatOneUsesNobodyElseDoes() throws {
        let lock = try #require(try files.lock("a"))
        #expect(try files.lock("a") == nil)
        #expect(try files.lock("b") != nil)
        lock.release()
        #expect(try files.lock("a") != nil)
        #expect(mode("\(files.folder)/.a.lock") == 0o600)
    }
}
