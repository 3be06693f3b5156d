import Testing

@testable import SyncConfiguration

@Suite struct NameMatchTests {
    @Test(arguments: [
        ("firstName", "first_name"), ("avatarURL", "avatar_url"), ("userID", "user_id"), ("sizeKB", "size_kb"), ("HTMLBody", "html_body"),
        ("id", "id"), ("remoteID", "remote_id"), ("sha256Sum", "sha256_sum"), ("address2", "address2"), ("userIDs", "user_ids"),
        ("already_snake", "already_snake"), ("URL", "url"), ("aB", "a_b"), ("HTTPSURL", "httpsurl"), ("x", "x"), ("", ""),
        ("parseHTMLPage", "parse_html_page"), ("iso3166Code", "iso3166_code"),
    ])
    func wordsBreakBeforeCapitalsAndAfterRunsOfThem(name: String, snake: String) {
        #expect(NameMatch.snakeCase(name) == snake)
    }

    @Test func thePropertysOwnNameComesFirstThenSnakeCase() {
        #expect(NameMatch.candidates(for: "firstName", in: "User") == ["firstName", "first_name"])
        #expect(NameMatch.candidates(for: "name", in: "User") == ["name"])
        #expect(NameMatch.key(for: "firstName", in: "User", among: ["first_name", "firstName"]) == "firstName")
        #expect(NameMatch.key(for: "firstName", in: "User", among: ["first_name"]) == "first_name")
        #expect(NameMatch.key(for: "firstName", in: "User", among: ["FIRSTNAME"]) == nil)
    }

    @Test func aReservedWordIsReachedThroughTheEntitysName() {
        #expect(NameMatch.candidates(for: "userDescription", in: "User") == ["userDescription", "user_description", "description"])
        #expect(NameMatch.candidates(for: "userType", in: "User").last == "type")
        #expect(NameMatch.candidates(for: "issueCommentType", in: "IssueComment").last == "type")
        #expect(NameMatch.candidates(for: "user_type", in: "User").contains("type"))
        #expect(!NameMatch.candidates(for: "userName", in: "User").contains("name"))
        #expect(!NameMatch.candidates(for: "usertype", in: "User").contains("type"))
    }

    @Test func aSnakeCasePropertyMatchesCamelCaseKeysWithAndWithoutAcronyms() {
        #expect(NameMatch.candidates(for: "first_name", in: "User").starts(with: ["first_name", "firstName"]))
        for key in ["avatarUrl", "avatarURL"] { #expect(NameMatch.key(for: "avatar_url", in: "User", among: [key]) == key) }
        for key in ["htmlBody", "HTMLBody"] { #expect(NameMatch.key(for: "html_body", in: "User", among: [key]) == key) }
        #expect(NameMatch.key(for: "address_2", in: "User", among: ["address2"]) == "address2")
    }

    @Test(arguments: ["firstName", "avatarURL", "userID", "HTMLBody", "sizeKB", "userDescription"])
    func theReverseNamesThePropertyAgain(property: String) {
        for key in NameMatch.candidates(for: property, in: "User") {
            #expect(NameMatch.properties(for: key, in: "User").contains { NameMatch.candidates(for: $0, in: "User").contains(key) })
        }
        #expect(NameMatch.properties(for: "description", in: "User").contains("userDescription"))
        #expect(NameMatch.properties(for: "first_name", in: "User").contains("firstName"))
        #expect(NameMatch.properties(for: "avatar_url", in: "User").contains("avatarURL"))
        #expect(NameMatch.properties(for: "firstName", in: "User").contains("first_name"))
    }

    @Test func longNamesCostNothing() {
        let name = (0..<40).map { "w\($0)" }.joined(separator: "_")
        #expect(NameMatch.candidates(for: name, in: "User").count < 80)
    }
}
