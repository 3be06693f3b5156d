import Foundation
import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// A pinned context whose store gives its place to another.
@Suite struct QueryGenerationMigrationTests {
    // H5, G7
    @Test func aContextThatIsPinnedToAStoreThatWasMigratedIsToldAndCanBePinnedAnew() throws {
        let stack = try PinnedStack()
        try stack.pin("a", "b")
        try stack.set("a", to: 7)
        #expect(try stack.shown() == ["a 1", "b 2"])
        let place = stack.files.directory.appendingPathComponent("moved.sqlite")
        try stack.coordinator.migratePersistentStore(stack.files.store, to: place, withType: NSSQLiteStoreType)
        // The state went with its store: that is an error, and not a store without objects.
        #expect(throws: NSError.self) { try stack.shown() }
        try stack.mine.performAndWait { try stack.mine.setQueryGenerationFrom(.current) }
        #expect(try stack.shown() == ["a 7", "b 2"])
        try stack.set("b", to: 8)
        #expect(try stack.shown() == ["a 7", "b 2"] && stack.shown(stack.theirs) == ["a 7", "b 8"])
        try stack.set("a", to: 9, in: stack.mine)
        #expect(try stack.shown() == ["a 9", "b 8"])
    }
}
