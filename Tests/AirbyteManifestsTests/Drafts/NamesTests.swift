import Testing

@testable import AirbyteManifests

@Suite struct NamesTests {
    @Test(
        arguments: zip(
            ["order_items", "People", "boxes", "categories", "addresses", "statuses", "news", "campaignStats", "2fa codes", "z_tables", "", "Ünits"],
            [
                "OrderItem", "People", "Box", "Category", "Address", "Status", "News", "CampaignStat", "Record2faCode", "ZTable", "Record", "Nit",
            ]))
    func anEntityIsOneThing(_ stream: String, _ entity: String) {
        #expect(Names.entity(stream) == entity)
    }

    @Test(
        arguments: zip(
            ["name", "first_name", "a-b", "$id", "description", "hash", "9lives", "cistern_run", "", "é"],
            ["name", "first_name", "a_b", "id", "orderDescription", "orderHash", "x_9lives", "x_cistern_run", "value", "value"]))
    func anAttributeKeepsItsNameWhereThatIsAllowed(_ key: String, _ name: String) {
        #expect(Names.attribute(key, of: "Order") == name)
    }

    @Test func namesThatAreTakenGetANumber() {
        #expect(Names.free("a") { !["a", "a2"].contains($0) } == "a3")
        #expect(Names.resource("a b/c") == "a-b-c")
        #expect(Names.resource("-") == "stream")
        #expect(Names.credential("my-source", ["a b"]) == "my-source_a_b")
    }
}
