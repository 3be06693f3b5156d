import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// Where what is said of an object that turned out to be another one meets what is said of that one.
@Suite struct ChangeSetSuccessorsTests {
    private let make = Changes()

    @Test func theDeletionOfTheOtherStaysWhatItWas() throws {
        let lost = try make.id("Thing", 2, isTemporary: true), owner = try make.id("Thing", 1), deletion = try make.deletion(owner, ["c": .int64(1)])
        var changes = ChangeSet()
        changes.set(lost, try make.update(lost, ["b": .int64(2)]))
        changes.set(owner, deletion)
        lost.become(owner)
        let now = try #require(changes.current { _ in nil }[owner])
        #expect(now.kind == .deleted && now.row === deletion.row && now.base === deletion.base && now.changed.isEmpty)
    }

    @Test func anEditOfTheOtherStartsFromWhereItStarted() throws {
        let lost = try make.id("Thing", 2, isTemporary: true), owner = try make.id("Thing", 1)
        let edit = try make.update(owner, ["c": .int64(3)], over: ["a": .int64(1)], version: 7),
            newer = try make.row(owner, ["a": .int64(9)], version: 8)
        var changes = ChangeSet()
        changes.set(lost, try make.update(lost, ["b": .int64(2)]))
        changes.set(owner, edit)
        lost.become(owner)
        let now = try #require(changes.current { _ in newer }[owner])
        #expect(now.base === edit.base && now.row?["a"] == .int64(1) && now.row?["c"] == .int64(3))
    }
}
