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
    /// Key paths of changed settings that take effect at once: `[daemon]`, `[log]`, and autosaving.
    public var changedSettings: [String] = []
    /// Key paths of changed settings that need a restart: the document's path, everything in `[store]`, and the control socket.
    public var restartSettings: [String] = []

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
            + Self.settings("log", old.log, new.log)
        restartSettings =
            document.filter { $0 == "document.path" } + Self.settings("store", old.store, new.store)
            + Self.settings("control", old.control, new.control)
    }

    /// Nothing changed.
    public var isEmpty: Bool {
        addedSources.isEmpty && removedSources.isEmpty && changedSources.isEmpty && addedResources.isEmpty && removedResources.isEmpty
            && changedResources.isEmpty && !modelChanged && changedSettings.isEmpty && restartSettings.isEmpty
    }

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
