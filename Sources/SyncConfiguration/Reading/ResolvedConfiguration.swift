/// Every setting of a configuration with its value and the place it comes from, in the order people read it.
public struct ResolvedConfiguration: Sendable, Hashable {
    public enum Origin: Sendable, Hashable, CustomStringConvertible {
        /// Built in.
        case builtIn
        /// Derived from other settings, such as a key taken from the entity.
        case derived
        case file(String, line: Int?)

        /// `default`, `derived`, or `FILE:LINE`.
        public var description: String {
            switch self {
            case .builtIn: "default"
            case .derived: "derived"
            case .file(let file, let line): line.map { "\(file):\($0)" } ?? file
            }
        }
    }

    public struct Setting: Sendable, Hashable {
        /// The name within its section; may have dots, as in `schedule.every`.
        public var key: String
        /// The full path: `source.github.resource.repos.schedule.every`.
        public var keyPath: String
        /// The value as TOML.
        public var value: String
        public var origin: Origin
        /// Whether it may be set in this version; a value that may not is written as a comment.
        public var isSettable: Bool
    }

    /// A table of the file.
    public struct Section: Sendable, Hashable {
        /// The line above it: `[daemon]`, `[[source]]`; empty for the top.
        public var header: String
        public var settings: [Setting]
    }

    public var sections: [Section]

    public init(sections: [Section] = []) {
        self.sections = sections
    }

    /// All settings.
    public var settings: [Setting] { sections.flatMap(\.settings) }

    /// The built-in configuration: everything `[defaults]` and the service sections hold.
    public static var builtIn: ResolvedConfiguration {
        let complaints = Complaints(mainFile: "")
        let empty = DocumentNode(value: .table([:]), place: .init(file: "", rank: 0))
        var assembly = Assembly(document: empty, environment: [:], files: ConfigurationTexts([:]), complaints: complaints)
        _ = assembly.assemble()
        return assembly.resolved
    }

    /// The configuration as a file that, read again, gives the same configuration.
    /// - Parameter origins: whether each line says where its value comes from.
    public func toml(origins: Bool = false) -> String {
        var lines: [String] = []
        for section in sections {
            if !section.header.isEmpty {
                if !lines.isEmpty { lines.append("") }
                lines.append(section.header)
            }
            for setting in section.settings {
                let line = (setting.isSettable ? "" : "# ") + "\(setting.key) = \(setting.value)"
                let remark = (setting.isSettable ? "" : "in force") + (origins && setting.isSettable ? "\(setting.origin)" : "")
                lines.append(remark.isEmpty ? line : "\(line)  # \(remark)")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
