import Foundation
import NIOHTTP1
import OpenCoreData
import SyncConfiguration
import SyncReports
import SyncTestSupport
import Testing

@testable import SyncPipeline

/// Where people work together: Slack, Notion, Jira and Zendesk.
extension PresetRunTests {
    // MARK: Slack

    @Test func messagesOfSlackAreListedForEachChannel() async throws {
        let base = "https://slack.com/api"
        api.on(
            "\(base)/conversations.list", ["cursor": nil, "types": "public_channel", "limit": "200"],
            #"""
            {"ok": true, "channels": [{"id": "C1", "name": "general", "is_member": true, "topic": {"value": "t"}, "creator": "U1", "created": 1449252889}],
             "response_metadata": {"next_cursor": "dGVhbQ=="}}
            """#)
        api.on(
            "\(base)/conversations.list", ["cursor": "dGVhbQ=="],
            #"{"ok": true, "channels": [{"id": "C2", "name": "other", "is_member": false}], "response_metadata": {"next_cursor": ""}}"#)
        func message(_ ts: String, _ text: String) -> String { #"{"type": "message", "user": "U1", "text": "\#(text)", "ts": "\#(ts)"}"# }
        func history(_ messages: String, next: String = "") -> String {
            #"{"ok": true, "messages": [\#(messages)], "has_more": \#(!next.isEmpty), "response_metadata": {"next_cursor": "\#(next)"}}"#
        }
        // 90 days before the run, which begins two hours after the fixture.
        let listing = "\(base)/conversations.history"
        api.on(listing, ["channel": "C1", "cursor": nil, "oldest": "1727920800"], history(message("1735600000.000200", "b"), next: "bmV4dA=="))
        api.on(listing, ["channel": "C1", "cursor": "bmV4dA=="], history(message("1735500000.000100", "a")))
        let fixture = try await api.fixture("slack", "auth.token = { credential = \"t\" }\nresources = [\"messages\"]")
        let channels = try await fixture.sync("slack/channels")
        #expect(channels.isComplete && channels.pages == 2 && channels.counts.inserted == 2, "\(channels)")
        let first = try await fixture.sync("slack/messages")
        #expect(
            first.outcome == .succeeded && first.pages == 2 && first.counts.inserted == 2,
            "\(first) \(fixture.transport.requests.map(\.address.description))")
        #expect(try await fixture.values("ts", of: "SlackMessage") == ["1735500000.000100", "1735600000.000200"])
        #expect(try await fixture.values("text", of: "SlackMessage", where: "channel.name == 'general'") == ["a", "b"])
        // An hour of what is known is asked for again: messages are changed.
        api.on(listing, ["channel": "C1", "oldest": "1735596400", "inclusive": "true"], history(message("1735600000.000200", "B")))
        let second = try await fixture.sync("slack/messages")
        #expect(second.outcome == .succeeded && second.counts.updated == 1, "\(second)")
        #expect(try await fixture.values("text", of: "SlackMessage") == ["B", "a"])
        // A success that is none.
        api.on(listing, #"{"ok": false, "error": "not_in_channel"}"#)
        let refused = try await fixture.sync("slack/messages")
        #expect(refused.outcome == .failed && refused.error?.contains("not_in_channel") == true, "\(refused)")
        #expect(try await fixture.values("ts", of: "SlackMessage").count == 2)
        try await fixture.end()
    }

    // MARK: Notion

    @Test func pagesOfNotionComeWithTheLastEditedFirst() async throws {
        let search = "https://api.notion.com/v1/search"
        func page(_ number: Int, _ time: String) -> String {
            #"""
            {"object": "page", "id": "00000000-0000-0000-0000-00000000000\#(number)", "last_edited_time": "\#(time)", "in_trash": false,
             "created_by": {"object": "user", "id": "00000000-0000-0000-0000-0000000000aa"}, "parent": {"type": "workspace", "workspace": true},
             "properties": {"Name": {"type": "title"}}}
            """#
        }
        func list(_ pages: String, next: String? = nil) -> String {
            #"{"object": "list", "results": [\#(pages)], "next_cursor": \#(next.map { "\"\($0)\"" } ?? "null"), "has_more": \#(next != nil)}"#
        }
        let pages = #""value":"page""#
        api.on(
            search, sending: [pages, #""direction":"descending""#],
            list(page(3, "2024-12-30T10:00:00.000Z") + "," + page(2, "2024-12-29T10:00:00.000Z"), next: "c-1"))
        api.on(search, sending: [pages, #""start_cursor":"c-1""#], list(page(1, "2024-12-01T10:00:00.000Z")))
        let fixture = try await api.fixture("notion", "auth.token = { credential = \"t\" }\nresources = [\"pages\"]")
        let first = try await fixture.sync("notion/pages")
        #expect(first.isComplete && first.pages == 2 && first.counts.inserted == 3, "\(first)")
        let head = try #require(fixture.transport.requests.first?.headers)
        #expect(head["Notion-Version"] == ["2025-09-03"] && head["Authorization"] == ["Bearer secret"])
        #expect(try await fixture.values("id", of: "NotionUser").count == 1)
        // The second page of the next run ends with what is known, and a third is not asked for.
        api.on(search, sending: [pages], list(page(4, "2024-12-31T10:00:00.000Z"), next: "c-2"))
        api.on(
            search, sending: [pages, #""start_cursor":"c-2""#],
            list(page(3, "2024-12-30T10:00:00.000Z") + "," + page(2, "2024-12-29T10:00:00.000Z"), next: "c-3"))
        let second = try await fixture.sync("notion/pages")
        #expect(second.outcome == .succeeded && second.pages == 2 && second.counts.inserted == 1, "\(second)")
        api.on(search, status: 401, #"{"object": "error", "status": 401, "code": "unauthorized", "message": "API token is invalid."}"#)
        #expect(try await fixture.sync("notion/pages").outcome == .failed)
        #expect(try await fixture.values("id", of: "NotionPage").count == 4)
        try await fixture.end()
    }

    // MARK: Jira

    @Test func issuesOfJiraAreSearchedInMinutesAndHalfADayBack() async throws {
        let base = "https://acme.atlassian.net/rest/api/3"
        api.on(
            "\(base)/project/search", ["startAt": nil],
            #"{"isLast": false, "total": 2, "nextPage": "\#(base)/project/search?startAt=1", "values": [{"id": "10000", "key": "A", "name": "a"}]}"#)
        api.on("\(base)/project/search", ["startAt": "1"], #"{"isLast": true, "total": 2, "values": [{"id": "10001", "key": "B", "name": "b"}]}"#)
        func jql(_ time: String) -> String { #"project in ("A", "B") AND updated >= "\#(time)" ORDER BY created ASC"# }
        func issue(_ id: Int, _ time: String) -> String {
            #"""
            {"id": "\#(id)", "key": "A-\#(id)", "fields": {"summary": "s", "updated": "\#(time)", "status": {"name": "Open", "statusCategory": {"key": "new"}},
             "assignee": null, "reporter": {"accountId": "5b", "displayName": "Ada"}, "project": {"id": "10000", "key": "A"}, "labels": ["x"]}}
            """#
        }
        let search = "\(base)/search/jql"
        api.on(
            search, ["jql": jql("2000/01/01 00:00"), "nextPageToken": nil],
            #"{"issues": [\#(issue(1, "2024-12-29T10:00:00.000+0000"))], "nextPageToken": "t/1="}"#)
        api.on(search, ["jql": jql("2000/01/01 00:00"), "nextPageToken": "t/1="], #"{"issues": [\#(issue(2, "2024-12-30T12:30:30.500+0200"))]}"#)
        let fixture = try await api.fixture(
            "jira", "auth.password = { credential = \"t\" }", with: "site = \"acme\"\nemail = \"me@acme.example\"\nprojects = [\"A\", \"B\"]")
        let projects = try await fixture.sync("jira/projects")
        #expect(projects.isComplete && projects.pages == 2, "\(projects)")
        #expect(fixture.transport.requests.first?.address.url.query?.contains("keys=A&keys=B") == true)
        let first = try await fixture.sync("jira/issues")
        #expect(first.isComplete && first.pages == 2 && first.counts.inserted == 2, "\(first)")
        let basic = Data("me@acme.example:secret".utf8).base64EncodedString()
        #expect(fixture.transport.requests.allSatisfy { $0.headers["Authorization"] == ["Basic \(basic)"] })
        #expect(try await fixture.values("key", of: "JiraIssue", where: "project.name == 'a'") == ["A-1", "A-2"])
        api.on(search, ["jql": jql("2024/12/29 21:30")], #"{"issues": [\#(issue(2, "2024-12-30T12:30:30.500+0200"))]}"#)
        let second = try await fixture.sync("jira/issues")
        #expect(second.outcome == .succeeded && second.counts.unchanged == 1, "\(second) \(fixture.lastParameter("jql") ?? "")")
        api.on(search, status: 500, #"{"errorMessages": ["x"]}"#)
        #expect(try await fixture.sync("jira/issues").outcome == .failed)
        try await fixture.end()
    }

    // MARK: Zendesk

    @Test func ticketsOfZendeskAreExportedUntilTheEndOfTheStream() async throws {
        let base = "https://acme.zendesk.com/api/v2", tickets = "\(base)/incremental/tickets/cursor.json"
        func list(_ records: String, next: String, isEnd: Bool) -> String {
            #"{"tickets": [\#(records)], "after_url": "\#(tickets)?cursor=\#(next)", "after_cursor": "\#(next)", "end_of_stream": \#(isEnd)}"#
        }
        func ticket(_ id: Int, _ time: Int, _ status: String = "open") -> String {
            #"{"id": \#(id), "status": "\#(status)", "requester_id": 7, "group_id": null, "generated_timestamp": \#(time), "updated_at": "2024-12-29T10:00:00Z"}"#
        }
        api.on(tickets, ["start_time": "946684800", "cursor": nil], list(ticket(1, 1_735_500_000), next: "c1", isEnd: false))
        api.on(tickets, ["cursor": "c1", "start_time": nil], list(ticket(2, 1_735_600_000), next: "c2", isEnd: true))
        let fixture = try await api.fixture(
            "zendesk", "auth.password = { credential = \"t\" }\nresources = [\"tickets\", \"organizations\"]",
            with: "subdomain = \"acme\"\nemail = \"me@acme.example\"")
        let first = try await fixture.sync("zendesk/tickets")
        #expect(first.isComplete && first.pages == 2 && first.counts.inserted == 2, "\(first)")
        let basic = Data("me@acme.example/token:secret".utf8).base64EncodedString()
        #expect(fixture.transport.requests.first?.headers["Authorization"] == ["Basic \(basic)"])
        // The link beyond the end is always there, and is not followed, also where there is nothing new.
        api.on(tickets, ["start_time": "1735599880"], list(ticket(2, 1_735_600_000, "solved"), next: "c3", isEnd: true))
        let second = try await fixture.sync("zendesk/tickets")
        #expect(second.outcome == .succeeded && second.pages == 1 && second.counts.updated == 1, "\(second)")
        api.on(tickets, list("", next: "c4", isEnd: true))
        let empty = try await fixture.sync("zendesk/tickets")
        #expect(empty.outcome == .succeeded && empty.pages == 1, "\(empty)")
        api.on(
            "\(base)/organizations.json", ["page[size]": "100", "page[after]": nil],
            #"{"organizations": [{"id": 3, "name": "o"}], "meta": {"has_more": true, "after_cursor": "x"}, "links": {"next": "\#(base)/organizations.json?page%5Bafter%5D=x&page%5Bsize%5D=100"}}"#
        )
        api.on(
            "\(base)/organizations.json", ["page[after]": "x"],
            #"{"organizations": [{"id": 4, "name": "p"}], "meta": {"has_more": false}, "links": {"next": "\#(base)/organizations.json?page%5Bafter%5D=y"}}"#
        )
        let organizations = try await fixture.sync("zendesk/organizations")
        #expect(organizations.isComplete && organizations.pages == 2, "\(organizations)")
        api.on(tickets, status: 429, headers: ["Retry-After": "30"], "{}")
        #expect(try await fixture.sync("zendesk/tickets").outcome != .succeeded)
        #expect(try await fixture.values("id", of: "ZendeskTicket").count == 2)
        try await fixture.end()
    }
}
