import Foundation
import NIOHTTP1
import OpenCoreData
import SyncConfiguration
import SyncReports
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// Where things are sold, and where they are published: Shopify, HubSpot and Crossref.
extension PresetRunTests {
    // MARK: Shopify

    @Test func ordersOfShopifyAreAConnectionOfWhatHasChanged() async throws {
        let graphQL = "https://acme.myshopify.com/admin/api/2025-07/graphql.json", orders = "orders(first: 100"
        func list(_ nodes: String, next: String? = nil) -> String {
            let info = #"{"hasNextPage": \#(next != nil), "endCursor": \#(next.map { "\"\($0)\"" } ?? "null")}"#
            return #"{"data": {"orders": {"nodes": [\#(nodes)], "pageInfo": \#(info)}}, "extensions": {"cost": {"requestedQueryCost": 12}}}"#
        }
        func order(_ id: Int, _ time: String, total: String = "10.50") -> String {
            #"""
            {"id": "gid://shopify/Order/\#(id)", "legacyResourceId": "\#(id)", "name": "#\#(id)", "updatedAt": "\#(time)", "test": false,
             "totalPriceSet": {"shopMoney": {"amount": "\#(total)"}}, "customer": {"id": "gid://shopify/Customer/1"}}
            """#
        }
        let all = "updated_at:>='2000-01-01T00:00:00Z'"
        api.on(graphQL, sending: [orders, all], list(order(1, "2024-12-29T10:00:00Z"), next: "c1"))
        api.on(graphQL, sending: [orders, all, #""after":"c1""#], list(order(2, "2024-12-30T10:00:00Z")))
        let fixture = try await api.fixture(
            "shopify", "auth.value = { credential = \"t\" }\nretry.attempts = 1\nresources = [\"orders\"]", with: "shop = \"acme\"")
        let first = try await fixture.sync("shopify/orders")
        #expect(first.isComplete && first.pages == 2 && first.counts.inserted == 2, "\(first)")
        #expect(fixture.transport.requests.first?.headers["X-Shopify-Access-Token"] == ["secret"])
        #expect(try await fixture.values("number", of: "ShopifyOrder", where: "customer.id == 'gid://shopify/Customer/1'") == ["1", "2"])
        api.on(graphQL, sending: [orders, "updated_at:>='2024-12-30T09:55:00Z'"], list(order(2, "2024-12-31T10:00:00Z", total: "11.00")))
        let second = try await fixture.sync("shopify/orders")
        #expect(second.outcome == .succeeded && second.counts.updated == 1, "\(second) \(fixture.lastBody)")
        // Too fast is a success that holds an error: it is no page, and changes nothing.
        api.on(graphQL, #"{"errors": [{"message": "Throttled", "extensions": {"code": "THROTTLED"}}]}"#)
        let throttled = try await fixture.sync("shopify/orders")
        #expect(throttled.outcome == .failed && throttled.error?.contains("Throttled") == true, "\(throttled)")
        #expect(try await fixture.values("number", of: "ShopifyOrder") == ["1", "2"])
        try await fixture.end()
    }

    // MARK: HubSpot

    @Test func contactsOfHubSpotAreSearchedBeyondTheLastId() async throws {
        let search = "https://api.hubapi.com/crm/v3/objects/contacts/search"
        func list(_ records: String) -> String { #"{"total": 2, "results": [\#(records)], "paging": {"next": {"after": "1"}}}"# }
        func contact(_ id: Int, _ time: String, _ name: String = "Ada") -> String {
            #"{"id": "\#(id)", "properties": {"email": null, "firstname": "\#(name)"}, "createdAt": "2024-01-01T10:00:00.000Z", "updatedAt": "\#(time)", "archived": false}"#
        }
        func sent(since: String, after: String) -> [String] {
            [
                #""propertyName":"lastmodifieddate","operator":"GTE","value":"\#(since)""#,
                #""propertyName":"hs_object_id","operator":"GT","value":"\#(after)""#,
            ]
        }
        api.on(search, sending: sent(since: "946684800000", after: "0"), list(contact(51, "2024-12-29T10:00:00.000Z")))
        api.on(search, sending: sent(since: "946684800000", after: "51"), list(contact(512, "2024-12-30T10:00:00.000Z")))
        api.on(search, sending: sent(since: "946684800000", after: "512"), list(""))
        let fixture = try await api.fixture(
            "hubspot", "auth.token = { credential = \"t\" }\nresources = [\"contacts\"]", with: "contact_properties = [\"email\", \"firstname\"]")
        let first = try await fixture.sync("hubspot/contacts")
        #expect(first.isComplete && first.pages == 3 && first.counts.inserted == 2, "\(first) \(fixture.lastBody)")
        #expect(fixture.lastBody.contains(#""properties":["email","firstname"]"#) && fixture.lastBody.contains(#""limit":100"#))
        let since = "1735552200000"
        api.on(search, sending: sent(since: since, after: "0"), list(contact(512, "2024-12-31T10:00:00.000Z", "Bo")))
        api.on(search, sending: sent(since: since, after: "512"), list(""))
        let second = try await fixture.sync("hubspot/contacts")
        #expect(second.outcome == .succeeded && second.counts.updated == 1, "\(second) \(fixture.lastBody)")
        #expect(try await fixture.values("firstName", of: "HubSpotContact") == ["Ada", "Bo"])
        api.on(search, status: 429, #"{"status": "error", "message": "You have reached your secondly limit.", "errorType": "RATE_LIMIT"}"#)
        #expect(try await fixture.sync("hubspot/contacts").outcome == .failed)
        #expect(try await fixture.values("id", of: "HubSpotContact") == ["51", "512"])
        try await fixture.end()
    }

    // MARK: Crossref

    @Test func worksOfCrossrefAreAScrollOfDays() async throws {
        let works = "https://api.crossref.org/works"
        func list(_ items: String, total: Int) -> String {
            #"{"status": "ok", "message-type": "work-list", "message": {"total-results": \#(total), "next-cursor": "Dn+/=", "items": [\#(items)], "items-per-page": 500}}"#
        }
        func work(_ name: String, _ time: String, cited: Int = 0) -> String {
            #"""
            {"DOI": "10.5555/\#(name)", "type": "journal-article", "title": ["T"], "container-title": ["J"], "issued": {"date-parts": [[2020, 5]]},
             "is-referenced-by-count": \#(cited), "indexed": {"date-time": "\#(time)"}, "author": [{"family": "Lovelace"}]}
            """#
        }
        let all = "member:98,from-index-date:1900-01-01"
        api.on(works, ["filter": all, "cursor": "*", "mailto": "me@example.org", "rows": "500"], list(work("a", "2024-12-29T10:00:00Z"), total: 2))
        api.on(works, ["filter": all, "cursor": "Dn+/="], list(work("b", "2024-12-30T10:00:00Z"), total: 2))
        let fixture = try await api.fixture("crossref", "", with: "filter = \"member:98\"\nmailto = \"me@example.org\"")
        let first = try await fixture.sync("crossref/works")
        #expect(first.isComplete && first.pages == 2 && first.counts.inserted == 2, "\(first)")
        #expect(fixture.transport.requests.first?.headers.first(name: "User-Agent")?.contains("test@localhost") == true)
        #expect(try await fixture.values("year", of: "CrossrefWork") == ["2020", "2020"])
        let day = "member:98,from-index-date:2024-12-30"
        api.on(works, ["filter": day, "cursor": "*"], list(work("b", "2024-12-31T10:00:00Z", cited: 7), total: 1))
        let second = try await fixture.sync("crossref/works")
        #expect(second.outcome == .succeeded && second.pages == 1 && second.counts.updated == 1, "\(second)")
        // Where there is nothing new, there is a token all the same.
        api.on(works, ["filter": "member:98,from-index-date:2024-12-31"], list("", total: 0))
        #expect(try await fixture.sync("crossref/works").outcome == .succeeded)
        api.on(works, status: 400, #"{"status": "failed", "message-type": "validation-failure"}"#)
        #expect(try await fixture.sync("crossref/works").outcome == .failed)
        #expect(try await fixture.values("doi", of: "CrossrefWork") == ["10.5555/a", "10.5555/b"])
        try await fixture.end()
    }
}
