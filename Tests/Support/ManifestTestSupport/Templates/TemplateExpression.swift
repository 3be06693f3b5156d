/// What stands between the braces of a template, taken apart.
indirect enum TemplateExpression: Sendable, Hashable {
    case literal(DataValue)
    case name(String)
    /// `a.b` and `a['b']`.
    case member(TemplateExpression, TemplateExpression)
    /// A function: `now_utc()`.
    case call(String, [TemplateExpression])
    /// A method of a value: `a.get('b')`.
    case method(TemplateExpression, String, [TemplateExpression])
    /// `a | first`, with what the filter is given; arguments by name come as lists of name and value.
    case filter(TemplateExpression, String, [TemplateExpression])
    case not(TemplateExpression)
    case negative(TemplateExpression)
    case binary(String, TemplateExpression, TemplateExpression)
    /// `a is defined`.
    case test(TemplateExpression, String)
    /// `b if a else c`, in the order a, b, c.
    case conditional(TemplateExpression, TemplateExpression, TemplateExpression)
    case list([TemplateExpression])

    /// The ways from a name into its value that occur in it, as `response` has them in `response.paging['next']`.
    func paths(from root: String) -> [[String]] {
        var found: [[String]] = []
        collect(root, &found)
        return found
    }

    /// The steps, if it is nothing but a way from that name.
    private func path(from root: String) -> [String]? {
        switch self {
        case .name(let name): return name == root ? [] : nil
        case .member(let base, .literal(let step)):
            guard let steps = base.path(from: root) else { return nil }
            return steps + [step.shown]
        case .method(let base, "get", let arguments):
            guard let steps = base.path(from: root), case .literal(let step)? = arguments.first else { return nil }
            return steps + [step.shown]
        default: return nil
        }
    }

    private func collect(_ root: String, _ found: inout [[String]]) {
        if let path = path(from: root) {
            if !path.isEmpty, !found.contains(path) { found.append(path) }
            return
        }
        for part in parts { part.collect(root, &found) }
    }

    /// What it is made of.
    private var parts: [TemplateExpression] {
        switch self {
        case .literal, .name: []
        case .member(let base, let step): [base, step]
        case .call(_, let arguments): arguments
        case .method(let base, _, let arguments), .filter(let base, _, let arguments): [base] + arguments
        case .not(let inner), .negative(let inner), .test(let inner, _): [inner]
        case .binary(_, let one, let two): [one, two]
        case .conditional(let condition, let first, let second): [condition, first, second]
        case .list(let elements): elements
        }
    }
}
