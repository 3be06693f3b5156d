/// A token that a manifest cuts out of the address of the next page, to put it into a parameter of the same name.
///
/// The address has that parameter, and the others as well: whoever follows it asks for the same page. What requests send besides, and the address does not
/// have, is then sent with the first page only.
struct TokenCut {
    /// What the address is.
    let address: JinjaExpression

    /// - Parameter place: where the token goes.
    /// - Returns: nil if it is no such token: it is cut out of something else, or goes elsewhere.
    /// - Throws: `Unsayable` for what is no expression.
    init?(_ value: ManifestValue, for place: RequestPlace) throws {
        guard place.kind == .query, place.names.count == 1, let text = value.text, let expression = try Evaluator.expression(text),
            let address = Self.address(of: expression, place.names[0])
        else { return nil }
        self.address = address
    }

    /// What it is cut out of, if it begins behind the name of the parameter.
    private static func address(of expression: JinjaExpression, _ parameter: String) -> JinjaExpression? {
        switch expression {
        case .member(.call(.member(let base, .text("split")), let arguments, _), let index):
            guard arguments.count == 1, case .text(let separator) = arguments[0] else { return nil }
            // What comes before the next parameter.
            if separator == "&", index == .integer(0) { return address(of: base, parameter) }
            guard index == .integer(1) || index == .negative(.integer(1)), separator.hasSuffix("=") else { return nil }
            return name(separator.dropLast()) == parameter ? base : nil
        case .filter("regex_search", let base, let arguments):
            guard arguments.count == 1, case .text(let pattern) = arguments[0], let group = pattern.firstRange(of: "=(") else { return nil }
            let value = pattern[group.upperBound...], end = value.firstIndex(of: ")")
            // The value of the parameter, and nothing behind it.
            guard let end, values.contains(String(value[..<end])), ends.contains(String(value[end...].dropFirst())) else { return nil }
            return name(pattern[..<group.lowerBound]) == parameter ? base : nil
        default: return nil
        }
    }

    private static let values: Set<String> = ["[^&]+", "[^&]*", "[^&#]+", ".+", ".*", ".+?", ".*?", "\\d+", "[0-9]+", "\\w+"]
    private static let ends: Set<String> = ["", "$", "&?", "(?:&|$)", "(&|$)"]

    /// The name of a parameter, without what stands before it in an address or stands for that.
    private static func name(_ text: Substring) -> String { String(text.filter { $0 != "\\" }.drop { "[?&]".contains($0) }) }
}
