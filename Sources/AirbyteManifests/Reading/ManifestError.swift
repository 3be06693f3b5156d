/// A file that is no manifest of a declarative source, or one that nobody can follow.
package struct ManifestError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The path of the file.
    package let file: String
    /// Counted from 1; nil: the file as a whole is meant.
    package let line: Int?
    /// What is wrong, in words, without the place.
    package let message: String

    init(file: String, line: Int? = nil, _ message: String) {
        self.file = file
        self.line = line
        self.message = message
    }

    /// One line: `manifest.yaml:12: …`
    package var description: String { file + (line.map { ":\($0)" } ?? "") + ": " + message }
}
