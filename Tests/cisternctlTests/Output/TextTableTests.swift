import Testing

@testable import cisternctl

@Suite struct TextTableTests {
    private let table = {
        var table = TextTable(titles: [("NAME", .left), ("COUNT", .right), ("WHY", .left)])
        table.rows = [
            [.init("a"), .init("12345"), .init("because of something long")],
            [.init("longer"), .init("7"), .init("", .red)],
        ]
        return table
    }()

    @Test func columnsAreAlignedAndLinesEndWithoutBlanks() {
        #expect(
            table.lines(width: nil, hasColour: false) == [
                "NAME    COUNT  WHY", "a       12345  because of something long", "longer      7",
            ])
    }

    @Test func theLastColumnIsCutToTheWidth() {
        let lines = table.lines(width: 22, hasColour: false)
        #expect(lines[1] == "a       12345  becaus…")
        #expect(lines.allSatisfy { $0.count <= 22 })
    }

    @Test func coloursDoNotShiftColumns() {
        var coloured = TextTable(titles: [("A", .left), ("B", .left)])
        coloured.rows = [[.init("x", .green), .init("y")]]
        let plain = coloured.lines(width: nil, hasColour: false)
        let painted = coloured.lines(width: nil, hasColour: true)
        #expect(plain == ["A  B", "x  y"])
        #expect(painted[1] == "\u{1B}[32mx\u{1B}[0m  y")
    }
}
