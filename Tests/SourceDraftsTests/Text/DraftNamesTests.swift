import Testing

@testable import SourceDrafts

@Suite struct DraftNamesTests {
    @Test(arguments: [
        ("cities", "City"), ("boxes", "Box"), ("statuses", "Status"), ("news", "News"), ("people", "Person"), ("order_items", "OrderItem"),
        ("userAddresses", "UserAddress"), ("address", "Address"), ("bus", "Bus"), ("", "Record"), ("3166-1", "Record31661"), ("日本", "Record"),
        ("cisternRows", "RemoteCisternRow"), ("classes", "Class"), ("movies", "Movie"),
    ]) func anEntityIsOneOfThem(_ text: String, _ name: String) {
        #expect(DraftNames.entity(text, taken: []) == name)
    }

    @Test func noTwoTablesHaveOneName() {
        #expect(DraftNames.entity("items", taken: ["ITEM"]) == "Item2")
        #expect(DraftNames.entity("zitem", taken: ["Item"]) == "Zitem2")
        #expect(DraftNames.entity("item", taken: ["ZItem"]) == "Item2")
    }
}
