/// Every setting of a configuration with its value and the place it comes from, in the order people read it.
public struct ResolvedConfiguration: Sendable, Hashable {
    /// Where the value of a setting comes from.
    public enum Origin: Sendable, Hashable, CustomStringConvertible {
        /// Built in.
        case builtIn
        /// Derived from other settings, such as a key taken from the entity.
        case derived
        /// A configuration file. The line counts from 1; nil if it is not known.
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

    /// One line of the output: a key, its value, and where that comes from.
    public struct Setting: Sendable, Hashable {
        /// The name within its section; may have dots, as in `schedule.every`.
        public var key: String
        /// The full path: `source.github.resource.repos.schedule.every`.
        public var keyPath: String
        /// The value as TOML.
        public var value: String
        /// The place whose value won: a resource's own before its source's, that before `[defaults]`, that before the built-in one.
        public var origin: Origin
        /// Whether it may be set in this version; a value that may not is written as a comment.
        public var isSettable: Bool
    }

    /// A table of the file.
    public struct Section: Sendable, Hashable {
        /// The line above it: `[daemon]`, `[[source]]`; empty for the top.
        public var header: String
        /// In the order they are printed; settings that are in force but not settable stand among them.
        public var settings: [Setting]
    }

    /// In this order: the service, `[defaults]`, the model and its entities, the sources.
    public var sections: [Section]

    /// Of these sections; without any it is a file of nothing.
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

/// What a reload changes.
public struct ConfigurationDifference: Sendable, Hashable {
    /// Names of sources.
    public var addedSources: [String] = []
    /// Names of sources.
    public var removedSources: [String] = []
    /// Names of sources that stand on both sides with anything changed in them or their resources.
    public var changedSources: [String] = []
    /// Scopes of resources (`github/repos`), those of added sources included.
    public var addedResources: [String] = []
    /// Scopes of resources, those of removed sources included.
    public var removedResources: [String] = []
    /// Scopes of resources.
    public var changedResources: [String] = []
    /// Whether entities, their properties, or the number of the model changed.
    public var modelChanged = false
    /// Names of entities.
    public var addedEntities: [String] = []
    /// Names of entities.
    public var removedEntities: [String] = []
    /// Names of entities.
    public var changedEntities: [String] = []
    /// Key paths of changed settings that take effect at once: `[daemon]`, `[store.backup]`, `[log]`, and autosaving.
    public var changedSettings: [String] = []
    /// Key paths of other changed settings of `[store]`: the document is closed and opened again with them.
    public var storeSettings: [String] = []
    /// Key paths of changed settings that need a restart: the document's path and the control socket.
    public var restartSettings: [String] = []

    /// Compares by names and scopes; the order of sources and of entities makes no difference.
    public init(from old: CisternConfiguration, to new: CisternConfiguration) {
        (addedSources, removedSources, changedSources) = Self.compare(old.sources, new.sources, by: \.name)
        (addedResources, removedResources, changedResources) = Self.compare(
            old.sources.flatMap(\.resources), new.sources.flatMap(\.resources), by: \.scope)
        (addedEntities, removedEntities, changedEntities) = Self.compare(old.model.entities, new.model.entities, by: \.name)
        // The order of the entities is not a change.
        modelChanged =
            old.model.version != new.model.version || !addedEntities.isEmpty || !removedEntities.isEmpty || !changedEntities.isEmpty

        let document = Self.settings("document", old.document, new.document)
        changedSettings =
            Self.settings("daemon", old.daemon, new.daemon) + document.filter { $0 != "document.path" }
            + Self.settings("store.backup", old.store.backup, new.store.backup) + Self.settings("log", old.log, new.log)
        storeSettings = Self.settings("store", old.store, new.store)
        restartSettings = document.filter { $0 == "document.path" } + Self.settings("control", old.control, new.control)
    }

    /// Nothing changed.
    public var isEmpty: Bool {
        addedSources.isEmpty && removedSources.isEmpty && changedSources.isEmpty && addedResources.isEmpty && removedResources.isEmpty
            && changedResources.isEmpty && !modelChanged && changedSettings.isEmpty && storeSettings.isEmpty && restartSettings.isEmpty
    }

    /// Whether the document has to be closed and opened again: for another model, or for how its store is kept.
    public var reopensDocument: Bool { modelChanged || !storeSettings.isEmpty }

    /// Whether something changed that only a restart can bring about.
    public var needsRestart: Bool { !restartSettings.isEmpty }

    private static func compare<Element: Equatable>(
        _ old: [Element], _ new: [Element], by name: (Element) -> String
    ) -> (added: [String], removed: [String], changed: [String]) {
        let before = Dictionary(old.map { (name($0), $0) }) { first, _ in first }
        let after = Set(new.map(name))
        return (
            new.map(name).filter { before[$0] == nil },
            old.map(name).filter { !after.contains($0) },
            new.filter { element in before[name(element)].map { $0 != element } ?? false }.map(name)
        )
    }

    private static func settings<T: ConfigurationTable>(_ path: String, _ old: T, _ new: T) -> [String] {
        T.keys.filter { $0.toml(old) != $0.toml(new) }.map { "\(path).\($0.name)" }
    }
}
