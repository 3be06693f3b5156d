import Foundation
import NIOHTTP1
import OpenCoreData
import SyncTestSupport
import Synchronization
import Testing

@testable import SyncPipeline

/// Records whose lists name some of an object's members, and not all.
@Suite struct PartialListTests {
    private static let partial = #"partial_if = "$.subscriptions.has_more""#

    /// How members are kept: in pairs, in pairs with an order, or by a to-one that leads back.
    enum Shape: CaseIterable {
        case pairs, ordered, inverse
    }

    let api = ScriptedAPI()

    /// Customers that hold their subscriptions.
    private static func customers(_ list: String, _ shape: Shape = .pairs) -> String {
        let inverse = shape == .inverse ? #"inverse = "customer", "# : "", order = shape == .ordered ? "ordered = true, " : ""
        let back = #"customer = { to = "Customer", read = false, inverse = "subscriptions" }"#
        return ScriptedAPI.configuration(
            ScriptedAPI.resource("customers", of: "Customer"),
            entities: """
                [entity.Customer]
                key = ["id"]
                [entity.Customer.attributes]
                id = { type = "int64", optional = false }
                name = { type = "string" }
                [entity.Customer.relationships]
                subscriptions = { to = "Subscription", path = "$.subscriptions.data", many = true, \(order)\(inverse)\(list) }
                [entity.Subscription]
                key = ["id"]
                [entity.Subscription.attributes]
                id = { type = "int64", optional = false }
                [entity.Subscription.relationships]
                \(shape == .inverse ? back : "")
                """)
    }

    private static func customer(_ id: Int, _ members: [Int], more: Bool? = nil, name: String = "a") -> String {
        let data = members.map { #"{"id": \#($0)}"# }.joined(separator: ", ")
        let flag = more.map { #", "has_more": \#($0)"# } ?? ""
        return #"{"id": \#(id), "name": "\#(name)", "subscriptions": {"data": [\#(data)]\#(flag)}}"#
    }

    private func set(_ records: String...) { api.set("/customers", "[\(records.joined(separator: ", "))]") }

    /// The members of each customer, in the order of the list where it has one.
    private static func lists(_ fixture: PipelineFixture) async throws -> [Int64: [Int64]] {
        try await fixture.document.withWorker { worker in
            var lists: [Int64: [Int64]] = [:]
            for customer in try worker.fetch(NSFetchRequest<NSManagedObject>(entityName: "Customer")) {
                guard let id = customer.value(forKey: "id") as? Int64 else { continue }
                let value = customer.value(forKey: "subscriptions")
                if let list = value as? NSOrderedSet {
                    lists[id] = list.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: "id") as? Int64 }
                } else {
                    let members = value as? Set<NSManagedObject> ?? []
                    lists[id] = members.compactMap { $0.value(forKey: "id") as? Int64 }.sorted()
                }
            }
            return lists
        }
    }

    private func begin(_ toml: String, isPacking: Bool = true, batch: Int = 1000) async throws -> PipelineFixture {
        let fixture = try await api.fixture(toml)
        fixture.pipeline.parseProbe.withLock { $0 = ParseProbe(batchSize: batch, isPacking: isPacking) }
        return fixture
    }

    // MARK: A record that says it

    @Test(arguments: Shape.allCases, [true, false]) func aPartAddsMembersAndTakesNoneAway(shape: Shape, isPacking: Bool) async throws {
        set(Self.customer(1, [10, 11], more: false), Self.customer(2, [20], more: true))
        let fixture = try await begin(Self.customers(Self.partial, shape), isPacking: isPacking)
        #expect(try await fixture.sync("api/customers").counts.inserted == 2)
        #expect(try await Self.lists(fixture) == [1: [10, 11], 2: [20]])
        set(Self.customer(1, [12], more: true), Self.customer(2, [21], more: true))
        let report = try await fixture.sync("api/customers")
        #expect(report.counts.updated == 2 && report.counts.quarantined == 0, "\(report)")
        // In an order, what is listed stands first.
        let isOrdered = shape == .ordered
        #expect(try await Self.lists(fixture) == [1: isOrdered ? [12, 10, 11] : [10, 11, 12], 2: isOrdered ? [21, 20] : [20, 21]])
        // A list that is all of it is what it says.
        set(Self.customer(1, [11], more: false), Self.customer(2, [21]))
        #expect(try await fixture.sync("api/customers").counts.updated == 2)
        #expect(try await Self.lists(fixture) == [1: [11], 2: [21]])
        try await fixture.end()
    }

    // "next": null is no more, and so is a list that says nothing of it.
    @Test(arguments: [("null", [11]), ("false", [11]), ("\"/next\"", [10, 11]), ("0", [10, 11]), ("true", [10, 11])] as [(String, [Int64])])
    func whatIsNeitherNullNorFalseSaysThatItIsAPart(flag: String, members: [Int64]) async throws {
        set(Self.customer(1, [10]))
        let fixture = try await begin(Self.customers(Self.partial))
        try await fixture.sync("api/customers")
        api.set("/customers", #"[{"id": 1, "subscriptions": {"has_more": \#(flag), "data": [{"id": 11}]}}]"#)
        try await fixture.sync("api/customers")
        #expect(try await Self.lists(fixture) == [1: members])
        try await fixture.end()
    }

    // The cells of a table are texts, and one that is empty is not there.
    @Test(arguments: [("false", [11]), ("0", [11]), ("", [11]), ("No", [11]), ("true", [10, 11]), ("1", [10, 11])] as [(String, [Int64])])
    func aCellThatSaysNoSaysThatTheListIsAllOfIt(flag: String, members: [Int64]) async throws {
        let list = #"subscriptions = { to = "Subscription", path = "$.subscription", many = true, partial_if = "$.more" }"#
        // The server calls everything JSON, and a table says where it ends.
        func table(_ row: String) { api.set("/customers", "id,subscription,more\n\(row)\n", headers: ["Content-Length": "\(22 + row.utf8.count)"]) }
        let format = "format = \"csv\"\nparse = { content_types = [\"application/json\"] }"
        let toml = ScriptedAPI.configuration(
            ScriptedAPI.resource("customers", of: "Customer", format),
            entities: """
                [entity.Customer]
                key = ["id"]
                [entity.Customer.attributes]
                id = { type = "int64", optional = false }
                [entity.Customer.relationships]
                \(list)
                [entity.Subscription]
                key = ["id"]
                [entity.Subscription.attributes]
                id = { type = "int64", optional = false }
                """)
        table("1,10,false")
        let fixture = try await begin(toml)
        try await fixture.sync("api/customers")
        table("1,11,\(flag)")
        try await fixture.sync("api/customers")
        #expect(try await Self.lists(fixture) == [1: members])
        try await fixture.end()
    }

    @Test(arguments: Shape.allCases) func thePartThatIsTheSameChangesNothing(shape: Shape) async throws {
        set(Self.customer(1, [10, 11], more: true))
        let fixture = try await begin(Self.customers(Self.partial, shape))
        try await fixture.sync("api/customers")
        set(Self.customer(1, [11, 12], more: true))
        try await fixture.sync("api/customers")
        let lists = try await Self.lists(fixture)
        // Read again, beside another record.
        set(Self.customer(1, [11, 12], more: true), Self.customer(2, [20]))
        let report = try await fixture.sync("api/customers")
        #expect(report.counts.inserted == 1 && report.counts.updated == 0 && report.counts.unchanged == 1, "\(report)")
        #expect(try await Self.lists(fixture)[1] == lists[1])
        // The first part, once more.
        set(Self.customer(1, [10, 11], more: true, name: "b"), Self.customer(2, [20]))
        try await fixture.sync("api/customers")
        #expect(try await Self.lists(fixture)[1].map { Set($0) } == [10, 11, 12])
        try await fixture.end()
    }

    // However many objects are written at once: two records of one object are as good as one after the other.
    @Test(arguments: Shape.allCases, [1, 2, 1000]) func twoPartsOfOnePageAreBothThere(shape: Shape, batch: Int) async throws {
        set(Self.customer(1, [10], more: true), Self.customer(2, [20]), Self.customer(1, [11], more: true))
        let fixture = try await begin(Self.customers(Self.partial, shape), batch: batch)
        try await fixture.sync("api/customers")
        #expect(try await Self.lists(fixture).mapValues { Set($0) } == [1: [10, 11], 2: [20]])
        // Behind a part, all of it; and behind all of it, a part.
        set(Self.customer(1, [12], more: true, name: "b"), Self.customer(1, [11], more: false))
        try await fixture.sync("api/customers")
        #expect(try await Self.lists(fixture)[1] == [11])
        set(Self.customer(1, [13], more: false, name: "b"), Self.customer(1, [14], more: true, name: "b"))
        try await fixture.sync("api/customers")
        #expect(try await Self.lists(fixture)[1].map { Set($0) } == [13, 14])
        try await fixture.end()
    }

    // The last record of an object is the one that its row is remembered to be: what comes before it counts all the same.
    @Test(arguments: Shape.allCases, [1, 2, 3, 1000])
    func whatTheFirstOfTwoRecordsAddsIsThereAlthoughTheSecondIsTheSame(shape: Shape, batch: Int) async throws {
        for list in [Self.partial, #"mode = "merge""#] + (shape == .ordered ? [#"mode = "append""#] : []) {
            set(Self.customer(1, [5], more: true), Self.customer(1, [6], more: true))
            let fixture = try await begin(Self.customers(list, shape), batch: batch)
            try await fixture.sync("api/customers")
            #expect(try await Self.lists(fixture)[1].map { Set($0) } == [5, 6], "\(list)")
            set(Self.customer(1, [7], more: true), Self.customer(1, [6], more: true))
            try await fixture.sync("api/customers")
            #expect(try await Self.lists(fixture)[1].map { Set($0) } == [5, 6, 7], "\(list)")
            try await fixture.end()
        }
    }

    @Test(arguments: Shape.allCases, [1, 2, 3, 1000])
    func aRecordWithoutTheListLeavesWhatTheOneBeforeSaid(shape: Shape, batch: Int) async throws {
        let bare = #"{"id": 1, "name": "b"}"#
        set(Self.customer(1, [5]), bare)
        let fixture = try await begin(Self.customers(Self.partial, shape), batch: batch)
        try await fixture.sync("api/customers")
        set(Self.customer(1, [7]), bare)
        try await fixture.sync("api/customers")
        #expect(try await Self.lists(fixture) == [1: [7]])
        try await fixture.end()
    }

    @Test(arguments: [1, 1000]) func whatAnObjectInARecordAddsIsThereAlthoughItsOwnRecordIsTheSame(batch: Int) async throws {
        let toml = ScriptedAPI.configuration(
            ScriptedAPI.resource("customers", of: "Customer"),
            entities: """
                [entity.Customer]
                key = ["id"]
                [entity.Customer.attributes]
                id = { type = "int64", optional = false }
                name = { type = "string" }
                [entity.Customer.relationships]
                referrer = { to = "Customer" }
                subscriptions = { to = "Subscription", path = "$.subscriptions.data", many = true, mode = "merge" }
                [entity.Subscription]
                key = ["id"]
                [entity.Subscription.attributes]
                id = { type = "int64", optional = false }
                """)
        set(#"{"id": 2, "referrer": \#(Self.customer(1, [5]))}"#, Self.customer(1, [6]))
        let fixture = try await begin(toml, batch: batch)
        try await fixture.sync("api/customers")
        set(#"{"id": 2, "referrer": \#(Self.customer(1, [7]))}"#, Self.customer(1, [6]))
        try await fixture.sync("api/customers")
        #expect(try await Self.lists(fixture)[1] == [5, 6, 7])
        try await fixture.end()
    }

    // MARK: A mode that says it of all records

    @Test(arguments: Shape.allCases, [true, false]) func mergedMembersStay(shape: Shape, isPacking: Bool) async throws {
        set(Self.customer(1, [10]), Self.customer(1, [11]))
        let fixture = try await begin(Self.customers(#"mode = "merge""#, shape), isPacking: isPacking)
        try await fixture.sync("api/customers")
        #expect(try await Self.lists(fixture).mapValues { Set($0) } == [1: [10, 11]])
        set(Self.customer(1, [12]))
        try await fixture.sync("api/customers")
        #expect(try await Self.lists(fixture).mapValues { Set($0) } == [1: [10, 11, 12]])
        // An empty list adds nothing, and takes nothing away.
        set(Self.customer(1, []))
        try await fixture.sync("api/customers")
        #expect(try await Self.lists(fixture).mapValues { Set($0) } == [1: [10, 11, 12]])
        try await fixture.end()
    }

    @Test func whatIsNewIsFirstWhereMembersAreMergedAndLastWhereTheyAreAppended() async throws {
        for (mode, wanted) in [("merge", [12, 11, 10]), ("append", [10, 11, 12])] as [(String, [Int64])] {
            set(Self.customer(1, [10, 11]))
            let fixture = try await begin(Self.customers("mode = \"\(mode)\"", .ordered))
            try await fixture.sync("api/customers")
            set(Self.customer(1, [12, 11]))
            try await fixture.sync("api/customers")
            #expect(try await Self.lists(fixture) == [1: wanted], "\(mode)")
            try await fixture.end()
        }
    }

    // The page is as it was, and is read all the same: what it means has changed.
    @Test func anotherModeReadsThePageAgain() async throws {
        set(Self.customer(1, [10]))
        let fixture = try await begin(Self.customers(#"mode = "merge""#))
        try await fixture.sync("api/customers")
        set(Self.customer(1, [11]))
        try await fixture.sync("api/customers")
        #expect(try await Self.lists(fixture) == [1: [10, 11]])
        try await fixture.pipeline.reload(try PipelineFixture.configuration(Self.customers(#"mode = "replace""#)))
        try await fixture.sync("api/customers")
        #expect(try await Self.lists(fixture) == [1: [11]])
        try await fixture.end()
    }
}
