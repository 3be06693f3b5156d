import SyncPipeline

/// A table of text: columns aligned, two blanks between them, no lines.
struct TextTable {
    enum Alignment { case left, right }
    enum Colour: Int { case red = 31, green = 32, yellow = 33, grey = 90 }

    struct Cell {
        /// One harmless line, whatever it was made of.
        let text: String
        let colour: Colour?

        init(_ text: String, _ colour: Colour? = nil) {
            self.text = RemoteText.line(text)
            self.colour = colour
        }
    }

    var titles: [(title: String, alignment: Alignment)]
    var rows: [[Cell]] = []

    /// The lines, no longer than `width`: the last column is cut, with `…`.
    /// - Parameter width: `nil` for a reader that is not a terminal; nothing is cut then.
    func lines(width: Int?, hasColour: Bool) -> [String] {
        let header = titles.map { Cell($0.title, .grey) }
        let all = [header] + rows
        let widths = titles.indices.map { column in all.map { $0[column].text.count }.max() ?? 0 }
        return all.map { row in line(row, widths, width: width, hasColour: hasColour) }
    }

    private func line(_ row: [Cell], _ widths: [Int], width: Int?, hasColour: Bool) -> String {
        var line = "", used = 0
        for (column, cell) in row.enumerated() {
            let isLast = column == row.count - 1
            var text = cell.text
            if isLast, let width, used + text.count > width { text = text.prefix(max(0, width - used - 1)) + "…" }
            let padding = String(repeating: " ", count: widths[column] - min(text.count, widths[column]))
            let painted = paint(text, hasColour ? cell.colour : nil)
            switch titles[column].alignment {
            case .left: line += painted + (isLast ? "" : padding + "  ")
            case .right: line += padding + painted + (isLast ? "" : "  ")
            }
            used += widths[column] + 2
        }
        while line.last == " " { line.removeLast() }
        return line
    }

    private func paint(_ text: String, _ colour: Colour?) -> String {
        guard let colour, !text.isEmpty else { return text }
        return "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m"
    }
}
