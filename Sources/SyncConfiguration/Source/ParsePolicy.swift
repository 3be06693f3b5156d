/// `parse`: what is done with JSON that is odd. All of it is in force and none of it is to be set in this version; what the reader of JSON knows no
/// choice of is not here.
public struct ParsePolicy: Sendable, Hashable {
    /// Media types that are taken; `*` stands for a part of a name.
    public private(set) var contentTypes = ["application/json", "application/*+json", "text/json"]

    /// The built-in values.
    public init() {}
}
