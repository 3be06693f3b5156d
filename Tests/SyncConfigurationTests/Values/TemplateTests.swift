import Testing

@testable import SyncConfiguration

/// Texts with places.
@Suite struct TemplateTests {
    private func pieces(_ text: String) -> [String] {
        Template(text).parts.map { part in
            switch part {
            case .text(let text): text
            case .value(let reference): "<\(reference)>"
            }
        }
    }

    @Test func aPlaceIsANameAndPropertiesInBraces() {
        #expect(pieces("/repos/{repo.fullName}/issues") == ["/repos/", "<repo.fullName>", "/issues"])
        #expect(pieces("{region}") == ["<region>"])
        #expect(pieces("{event.organizer.slug}-{event.id}") == ["<event.organizer.slug>", "-", "<event.id>"])
        #expect(pieces("{project.path:segment}") == ["<project.path:segment>"])
        #expect(Template("{project.path:segment}").only?.form == .segment && Template("a{b}").only == nil)
    }

    @Test func aPlaceMaySayInWhatFormItsValueStandsThere() {
        func form(_ text: String) -> Template.Form? { Template(text).only?.form }
        #expect(form("{since:%Y-%m-%dT%H:%M:%SZ}") == .date(.pattern("%Y-%m-%dT%H:%M:%SZ")))
        #expect(form("{since:unix-ms}") == .date(.unixMilliseconds) && form("{a.b:rfc3339}") == .date(.rfc3339))
        #expect(form("{item.id:split(-,2)}") == .piece(separator: "-", number: 2))
        #expect(form("{item.id:split(,,-1)}") == .piece(separator: ",", number: -1))
        #expect(form("{a.b:text}") == .text(nil) && form("{since:unix-ms:text}") == .text(.unixMilliseconds))
        #expect(Template("{since:unix:text}").only.map { "{\($0)}" } == "{since:unix:text}" && form("{since:rfc3339:text}") == nil)
        for text in ["{a:split(-,x)}", "{a:split(,1)}", "{a:split(-)}", "{a:%Q}", "{a:segment }", "{a:}"] {
            #expect(Template(text).references.isEmpty)
        }
        for text in ["{since:%F}", "{a.b:split(::,-3)}", "{a:http-date}"] { #expect(Template(text).only.map { "{\($0)}" } == text) }
    }

    @Test(arguments: [
        "", "plain", "{", "}", "{}", "{ a }", "{a b}", "{1a}", "{a.}", "{.a}", "{a..b}", "{\"a\": 1}", "{\"a\": {\"b\": 1}}", "{a:other}", "{ä}",
        "{a",
    ])
    func allOtherBracesAreText(text: String) {
        #expect(Template(text).references.isEmpty)
        #expect(Template(text).filled { _ in "?" } == text)
    }

    @Test func doubledBracesAroundANameAreText() {
        #expect(Template("{{id}}").filled { _ in "?" } == "{id}")
        #expect(Template("/{{a.b}}/{a.b}/{{{c}").filled { "\($0)!" } == "/{a.b}/a.b!/{{c!")
        #expect(Template("{{\"a\": {id}}}").filled { "\($0)!" } == "{{\"a\": id!}}")
    }

    // Whatever is written is read as it is written, and nothing is lost of it.
    @Test func everyTextIsMadeOfItsParts() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<4000 {
            let text = String((0..<Int.random(in: 0...24, using: &random)).map { _ in "{}ab.:\"/ ".randomElement(using: &random) ?? "a" })
            let template = Template(text)
            #expect(template.description == text)
            if !text.contains("{{") { #expect(template.filled { "{\($0)}" } == text) }
        }
    }
}
