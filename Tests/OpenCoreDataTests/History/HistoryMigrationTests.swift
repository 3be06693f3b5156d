import Foundation
import OpenCoreData
import OpenCoreDataTestSupport
import Testing

/// What becomes of a history where a store becomes another.
@Suite struct HistoryMigrationTests {
    // G7, H2
    @Test func aStoreThatIsMigratedBeginsAHistoryOfItsOwn() throws {
        let folder = try HistoryFolder(), stack = try HistoryStack(folder.file)
        try stack.saveCities("a")
        let before = try #require(stack.token)
        try stack.coordinator.migratePersistentStore(stack.store, to: folder.file("new"), options: HistoryStack.tracking, withType: NSSQLiteStoreType)
        #expect(try stack.transactions().isEmpty)
        // What the token was of is gone.
        #expect(errorCode { _ = try stack.transactions(after: before) } == 134301)
        let now = try #require(stack.token)
        try stack.saveCities("b")
        let told = try stack.transactions(after: now)
        #expect(told.numbers == [1] && told.first?.changes?.count == 1)
        #expect(try stack.context.performAndWait { try stack.context.all("City").count } == 2)
    }
}
