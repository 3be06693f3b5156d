/// A file that cannot be read, with the reason in words.
public struct ConfigurationFileError: Error, Sendable, Hashable, CustomStringConvertible {
    public var description: String

    public init(_ description: String) {
        self.description = description
    }
}
