/// One query parameter of a request, not yet percent-encoded. A name may occur several times.
public struct QueryParameter: Sendable, Hashable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}
