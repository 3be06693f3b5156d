import Foundation

/// Why a model can't be made of a file: where, what is wrong there, and what to do.
public struct ModelFileError: LocalizedError, Hashable, Sendable, CustomStringConvertible {
    /// The file or folder.
    public let path: String
    /// The line, counted from 1; nil where the whole file is meant. In a tag of several lines, its last.
    public let line: Int?
    /// What is wrong.
    public let message: String
    /// What to do about it.
    public let suggestion: String?

    package init(path: String, line: Int? = nil, _ message: String, suggestion: String? = nil) {
        self.path = path
        self.line = line
        self.message = message
        self.suggestion = suggestion
    }

    /// One line: `Model.xcdatamodel/contents:12: the attribute Person.age …; write …`.
    public var description: String {
        "\(path)\(line.map { ":\($0)" } ?? ""): \(message)\(suggestion.map { "; \($0)" } ?? "")"
    }

    /// As `description`.
    public var errorDescription: String? { description }
}
