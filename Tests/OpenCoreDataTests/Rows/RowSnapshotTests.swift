import OpenCoreDataTestSupport
import Testing

@testable import OpenCoreData

/// Rows that are filled, shared and filled again.
@Suite struct RowSnapshotTests {
    @Test func aRowThatSomebodyHasIsNotFilledAgain() throws {
        let model = Everything.model()
        model.freeze()
        let layout = try #require(model.entities.first).layout, slot = try #require(layout.slot(of: "string"))
        var row = RowSnapshot.defaults(layout)
        row.update(slot, to: .string("a text that lies outside of the value itself"))
        row.stamp(version: 7)
        let other = row
        #expect(!row.becomeDefaults() && other["string"] == .string("a text that lies outside of the value itself") && other.version == 7)
        var copy = row.copy()
        #expect(copy.becomeDefaults() && copy["string"] == .null && copy["int"] == .int64(5) && copy.version == 0)
        #expect(row["string"] != .null)
    }
}
