/// An expression between `{{` and `}}`, as it is written.
indirect enum JinjaExpression: Hashable, Sendable {
    case none
    case bool(Bool)
    case integer(Int)
    case number(Double)
    case text(String)
    case list([JinjaExpression])
    case mapping([JinjaExpression], [JinjaExpression])
    case name(String)
    /// `a.b` and `a['b']`.
    case member(JinjaExpression, JinjaExpression)
    case call(JinjaExpression, [JinjaExpression], [String: JinjaExpression])
    case filter(String, JinjaExpression, [JinjaExpression])
    /// `a is none`.
    case test(String, JinjaExpression)
    case not(JinjaExpression)
    case negative(JinjaExpression)
    case binary(String, JinjaExpression, JinjaExpression)
    /// `a if b else c`: the condition first.
    case conditional(JinjaExpression, JinjaExpression, JinjaExpression)
}
