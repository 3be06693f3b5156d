import Testing

@testable import SyncConfiguration

/// Bodies of requests as values.
@Suite struct RequestBodyTests {
    private static let body = RequestBody.json(
        .object([
            .init("filter", .object([.init("repo", .template(Template("{repo.id}"))), .init("states", .array([.text("{open}"), .number("1.0")]))])),
            .init("limit", .number("10")),
        ]))

    private static let states = BodyValue.array([.text("{open}"), .number("1.0")])

    /// What is at a member of the outermost object.
    private func member(_ name: String, of body: RequestBody?) -> BodyValue? {
        guard case .json(let value)? = body else { return nil }
        return value.member(name)
    }

    @Test func templatesAreFilledAndTextsAreNot() {
        #expect(Self.body.templates == [Template("{repo.id}")])
        let filled = Self.body.filled { template in .text(template.filled { "<\($0)>" }) }
        #expect(filled.templates == [])
        #expect(
            member("filter", of: filled)
                == .object([.init("repo", .text("<repo.id>")), .init("states", .array([.text("{open}"), .number("1.0")]))]))
        let form = RequestBody.form([FormField(name: "a", value: "x{b}{{c}}"), FormField(name: "a", value: "y")])
        let texts = form.filled { template in .text(template.filled { _ in "1" }) }
        #expect(texts == .form([.init(name: "a", value: "x1{c}"), .init(name: "a", value: "y")]))
    }

    @Test func aPlaceMayBecomeANumberOrATruthValue() {
        #expect(member("filter", of: Self.body.filled { _ in .number("7") }) == .object([.init("repo", .number("7")), .init("states", Self.states)]))
        let form = RequestBody.form([FormField(name: "a", value: "{b}")])
        #expect(form.filled { _ in .boolean(true) } == .form([.init(name: "a", value: "true")]))
    }

    @Test func aValueGoesWhereThereIsNothingAndInPlaceOfWhatIsThere() {
        #expect(member("limit", of: Self.body.setting(.number("20"), at: "/limit")) == .number("20"))
        #expect(member("limit", of: Self.body.setting(.number("20"), at: "$.limit")) == .number("20"))
        // A plain name is a member of the outermost object, whatever it consists of.
        #expect(member("limit", of: Self.body.setting(.number("20"), at: "limit")) == .number("20"))
        #expect(member("a.b", of: Self.body.setting(.text("x"), at: "a.b")) == .text("x"))
        #expect(
            member("paging", of: Self.body.setting(.text("x"), at: "/paging/next/after"))
                == .object([.init("next", .object([.init("after", .text("x"))]))]))
        #expect(
            member("filter", of: Self.body.setting(.text("x"), at: "/filter/states/1"))
                == .object([.init("repo", .template(Template("{repo.id}"))), .init("states", .array([.text("{open}"), .text("x")]))]))
        // The order of what is there stays.
        guard case .json(.object(let members))? = Self.body.setting(.text("x"), at: "/filter/after")?.setting(.text("y"), at: "z") else {
            Issue.record("no object")
            return
        }
        #expect(members.map(\.name) == ["filter", "limit", "z"])
    }

    @Test func aListThatIsMissingBeginsWithItsFirstElement() {
        #expect(member("after", of: Self.body.setting(.number("7"), at: "/after/0")) == .array([.number("7")]))
        #expect(Self.body.setting(.number("7"), at: "/after/1") == nil)
        // An object that is there has a member of that name.
        let numbered = RequestBody.json(.object([.init("after", .object([]))]))
        #expect(member("after", of: numbered.setting(.number("7"), at: "/after/0")) == .object([.init("0", .number("7"))]))
    }

    @Test(arguments: ["/limit/x", "/filter/states/x", "/filter/states/3", "/filter/repo/x", "/a~2b", "$", "$.a b", "/-"])
    func aPlaceThatIsNoneIsRefused(place: String) {
        #expect(Self.body.setting(.number("1"), at: place) == nil)
        #expect(Self.body.complaint(place: place)?.message.isEmpty == false)
        #expect(Self.body.complaint(place: place)?.suggestion.isEmpty == false)
    }

    @Test func aFieldOfAFormTakesThePlaceOfThoseOfItsName() {
        let form = RequestBody.form([.init(name: "after", value: "1"), .init(name: "q", value: "x"), .init(name: "after", value: "2")])
        #expect(form.setting(.number("3"), at: "after") == .form([.init(name: "q", value: "x"), .init(name: "after", value: "3")]))
        // Any text is the name of a field.
        #expect(form.complaint(place: "/a/b") == nil)
        guard case .form(let fields)? = form.setting(.text("3"), at: "/a") else {
            Issue.record("no form")
            return
        }
        #expect(fields.map(\.name) == ["after", "q", "after", "/a"])
    }
}
