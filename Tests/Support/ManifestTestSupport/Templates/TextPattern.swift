/// A rendered template, some places of which only the client knows (``TemplateScope/Mark``): which texts it may have become, and what stands there.
struct TextPattern: Sendable {
    private enum Piece: Sendable {
        case text(String)
        case mark(TemplateScope.Mark)
    }

    private let pieces: [Piece]

    init(_ text: String) {
        var pieces: [Piece] = [], plain = ""
        for character in text {
            if let mark = TemplateScope.Mark(rawValue: character) {
                if !plain.isEmpty { pieces.append(.text(plain)) }
                plain = ""
                pieces.append(.mark(mark))
            } else {
                plain.append(character)
            }
        }
        if !plain.isEmpty { pieces.append(.text(plain)) }
        self.pieces = pieces
    }

    /// What stands at the marks; nil where the text is another. A mark reaches as far as the text that follows it is not found.
    func captures(in text: String) -> [TemplateScope.Mark: String]? {
        var captures: [TemplateScope.Mark: String] = [:], rest = text[...]
        for (index, piece) in pieces.enumerated() {
            switch piece {
            case .text(let plain):
                guard rest.hasPrefix(plain) else { return nil }
                rest = rest.dropFirst(plain.count)
            case .mark(let mark):
                var end = rest.endIndex
                if index + 1 < pieces.count {
                    guard case .text(let next) = pieces[index + 1], let found = rest.firstRange(of: next) else { return nil }
                    end = found.lowerBound
                }
                captures[mark] = String(rest[..<end])
                rest = rest[end...]
            }
        }
        return rest.isEmpty ? captures : nil
    }
}
