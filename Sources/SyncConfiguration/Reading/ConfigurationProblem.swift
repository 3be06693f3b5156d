/// One complaint about the configuration: where, what, and what to do about it.
public struct ConfigurationProblem: Sendable, Hashable, CustomStringConvertible {
    /// How bad a complaint is. One error makes the whole configuration unusable.
    public enum Severity: String, Sendable, Hashable {
        /// The configuration cannot be used.
        case error
        /// It can be used, but somebody should look at it.
        case warning
    }

    /// ``Severity/error`` unless said otherwise.
    public var severity: Severity
    /// The path of the file.
    public var file: String
    /// Counted from 1; `nil` when the complaint is about something that is not there.
    public var line: Int?
    /// Counted from 1; for syntax errors only.
    public var column: Int?
    /// The full path of the key, with the names of sources, resources, entities and properties: `source.github.resource.repos.evry`.
    public var keyPath: String
    /// The part before the message: `source "github": resource "repos"`.
    public var subject: String
    /// What is wrong, in words, without place and advice: `unknown key "evry"`.
    public var message: String
    /// What to do: `did you mean "every"?`
    public var suggestion: String?

    /// A complaint: an error unless said otherwise; an empty `keyPath` or `subject` concerns the file as a whole.
    public init(
        _ severity: Severity = .error, file: String, line: Int? = nil, column: Int? = nil, keyPath: String = "", subject: String = "",
        message: String, suggestion: String? = nil
    ) {
        self.severity = severity
        self.file = file
        self.line = line
        self.column = column
        self.keyPath = keyPath
        self.subject = subject
        self.message = message
        self.suggestion = suggestion
    }

    /// One line: `/etc/cistern/cisternd.toml:12: source "github": resource "repos": unknown key "evry"; did you mean "every"?`
    public var description: String {
        var text = file
        if let line { text += ":\(line)" }
        if let column { text += ":\(column)" }
        text += ": "
        if severity == .warning { text += "warning: " }
        if !subject.isEmpty { text += subject + ": " }
        text += message
        if let suggestion { text += "; " + suggestion }
        return text
    }
}

/// The configuration cannot be used. Exit status 78 for whoever has an exit status.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// All complaints of one pass, errors and warnings, in the order of files and lines.
    public var problems: [ConfigurationProblem]

    /// With all problems of one pass, warnings included; ``ConfigurationReader`` throws it only if one of them is an error.
    public init(problems: [ConfigurationProblem]) {
        self.problems = problems
    }

    /// One line for each problem.
    public var description: String {
        problems.map(\.description).joined(separator: "\n")
    }
}

/// A file that cannot be read, with the reason in words.
public struct ConfigurationFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason in words, such as `no such file`; it follows "the file cannot be read: " in the complaint.
    public var description: String

    /// With the reason in words, which becomes the ``description``.
    public init(_ description: String) {
        self.description = description
    }
}
