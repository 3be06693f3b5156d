/// A text with expressions in it: `/v1/{{ config['account'] }}/users`.
struct TemplateText: Sendable, Hashable {
    private enum Piece: Sendable, Hashable {
        case text(String)
        case expression(TemplateExpression)
    }

    private let pieces: [Piece]

    /// - Throws: `TemplateParser.Failure` where something in it is beyond what is understood here.
    init(_ source: String) throws {
        var pieces: [Piece] = [], rest = source[...]
        while let start = rest.firstRange(of: "{{") {
            guard let end = rest[start.upperBound...].firstRange(of: "}}") else {
                throw TemplateParser.Failure(description: "braces are not closed in: \(source)")
            }
            if start.lowerBound > rest.startIndex { pieces.append(.text(String(rest[..<start.lowerBound]))) }
            pieces.append(.expression(try TemplateParser.expression(String(rest[start.upperBound..<end.lowerBound]))))
            rest = rest[end.upperBound...]
        }
        if !rest.isEmpty { pieces.append(.text(String(rest))) }
        self.pieces = pieces
    }

    var isConstant: Bool {
        pieces.allSatisfy { if case .text = $0 { true } else { false } }
    }

    /// What becomes of it: a value of its own kind where it is one expression and nothing else.
    func value(in scope: TemplateScope) -> DataValue {
        if pieces.count == 1, case .expression(let expression) = pieces[0] { return scope.value(expression) }
        return .text(text(in: scope))
    }

    func text(in scope: TemplateScope) -> String {
        var text = ""
        for piece in pieces {
            switch piece {
            case .text(let plain): text += plain
            case .expression(let expression): text += scope.value(expression).shown
            }
        }
        return text
    }

    /// The ways from a name into its value, in all of its expressions.
    func paths(from root: String) -> [[String]] {
        var found: [[String]] = []
        for case .expression(let expression) in pieces {
            for path in expression.paths(from: root) where !found.contains(path) { found.append(path) }
        }
        return found
    }
}
