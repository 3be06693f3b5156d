import Testing

@testable import SyncPipeline

@Suite struct LinkHeaderTests {
    private func next(_ values: String...) -> [String] {
        LinkHeader.targets(of: "next", in: LinkHeader.parse(values))
    }

    @Test func theUsualFormIsRead() {
        let links = LinkHeader.parse([
            "<https://api.example/items?page=2>; rel=\"next\", <https://api.example/items?page=9>; rel=\"last\"; title=\"the, end\""
        ])
        #expect(links.map(\.target) == ["https://api.example/items?page=2", "https://api.example/items?page=9"])
        #expect(links.map(\.relations) == [["next"], ["last"]])
        #expect(links[1].parameters == ["title": "the, end"])
    }

    @Test func quotesCommasAndSemicolonsInsideDoNotDivide() {
        #expect(next("<a,b;c>; title=\"x, <y>; rel=prev\"; rel=next") == ["a,b;c"])
        #expect(next("<a>; title=\"say \\\"hi\\\", \"; rel=\"next\"") == ["a"])
    }

    @Test func relationsAreAListWithoutCase() {
        #expect(next("<a>; rel=\"prev NEXT last\"") == ["a"])
        #expect(next("<a>; REL=Next") == ["a"])
        #expect(next("<a>; rel=\"nextish\"") == [])
        #expect(next("<a>; rel=prev; rel=next") == [])
    }

    @Test func severalHeadersAreOneList() {
        #expect(next("<a>; rel=prev", "<b>; rel=next") == ["b"])
        #expect(next("<a>; rel=next, <a>; rel=next") == ["a"])
        #expect(next("<a>; rel=next", "<b>; rel=next") == ["a", "b"])
    }

    @Test func spacesAndEmptyElementsAreSkipped() {
        #expect(next(" , ,<a> ; rel = \"next\" ;, ") == ["a"])
        #expect(next("<>; rel=next") == [""])
    }

    @Test func oneMalformedLinkDoesNotHideTheOthers() {
        #expect(next("nonsense; rel=next, <a>; rel=next") == ["a"])
        #expect(next("<b>; =x; rel=next, <a>; rel=next") == ["a"])
        #expect(next("<b> rel=next, <a>; rel=next") == ["a"])
    }

    @Test func anotherContextSaysNothingAboutThisOne() {
        #expect(next("<a>; anchor=\"/other\"; rel=next") == [])
    }

    @Test(arguments: ["", "<", "<a", "<a>; rel=\"next", "<a>; rel=\"next\\", ";", "\"", "<a>;rel", String(repeating: "<a>;", count: 5000)])
    func unfinishedTextEndsQuietly(value: String) {
        #expect(LinkHeader.targets(of: "next", in: LinkHeader.parse([value])) == [])
    }

    @Test func anyBytesAreReadToTheirEnd() {
        var generator = HTTPDateTests.SplitMix(state: 42)
        let alphabet = Array("<>;,=\"\\ \tanextrlé".unicodeScalars)
        for _ in 0..<20_000 {
            var text = ""
            for _ in 0..<Int.random(in: 0...24, using: &generator) {
                text.unicodeScalars.append(alphabet[Int.random(in: 0..<alphabet.count, using: &generator)])
            }
            for link in LinkHeader.parse([text]) { #expect(text.contains("<\(link.target)>")) }
        }
    }
}
