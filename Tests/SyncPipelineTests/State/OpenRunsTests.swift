import Foundation
import Testing

@testable import SyncPipeline

/// What the next process learns of runs that were open.
@Suite struct OpenRunsTests {
    private let folder: URL
    private let one = ResourceScope(source: "api", resource: "one")
    private let two = ResourceScope(source: "api", resource: "two")
    private var file: URL { folder.appendingPathComponent(OpenRuns.fileName) }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("cistern-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// What a process that ends now leaves behind.
    private var left: [ResourceScope: Int] { OpenRuns(folder: folder).suspects }

    @Test func aRunThatEndsLeavesNothingAndAnOpenOneItsName() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let runs = OpenRuns(folder: folder)
        #expect(runs.suspects.isEmpty)
        runs.begin(one)
        runs.begin(two)
        #expect(left == [one: 1, two: 1])
        runs.end(two)
        #expect(left == [one: 1])
        runs.end(one)
        #expect(left.isEmpty)
    }

    @Test func uncleanEndsAreCountedUntilARunEnds() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        for count in 1...3 {
            let runs = OpenRuns(folder: folder)
            #expect(runs.suspects == (count == 1 ? [:] : [one: count - 1]))
            runs.begin(one)
        }
        // A process that did not ask it again knows no more of it.
        OpenRuns(folder: folder).begin(two)
        #expect(left == [one: 3, two: 1])
        let runs = OpenRuns(folder: folder)
        runs.begin(one)
        runs.end(one)
        #expect(left == [two: 1])
    }

    @Test func anOrderlyEndLeavesNobodyUnderSuspicion() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let runs = OpenRuns(folder: folder)
        runs.begin(one)
        runs.forgetOpen()
        #expect(left.isEmpty)
    }

    @Test(arguments: ["", "x\n", "1\n", "0 a/b\n", "-3 a/b\n", "1 ab\n", "99999999999999999999 a/b\n", "\u{0}\u{FF}", ".\n1 a/b\n"])
    func aDamagedFileTellsNothing(_ text: String) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try text.write(to: file, atomically: false, encoding: .utf8)
        #expect(left.isEmpty)
    }

    @Test func aLinkInItsPlaceIsNotFollowed() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let other = folder.appendingPathComponent("other")
        try "mine".write(to: other, atomically: false, encoding: .utf8)
        try FileManager.default.createSymbolicLink(at: file, withDestinationURL: other)
        OpenRuns(folder: folder).begin(one)
        #expect(try String(contentsOf: other, encoding: .utf8) == "mine")
    }
}
