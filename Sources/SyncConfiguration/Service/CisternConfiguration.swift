/// The whole configuration: read, checked and resolved. A reload makes a new one; nothing in it ever changes.
public struct CisternConfiguration: Sendable, Hashable {
    public var daemon = DaemonConfiguration()
    public var document = DocumentConfiguration()
    public var store = StoreConfiguration()
    public var log = LogConfiguration()
    public var control = ControlConfiguration()
    /// In the order of the files. May be empty: a daemon without sources stays up and says so.
    public var sources: [SourceConfiguration] = []
    public var model = ModelConfiguration()

    /// The built-in values: no sources, no entities.
    public init() {}

    /// The source of this name.
    public func source(named name: String) -> SourceConfiguration? {
        sources.first { $0.name == name }
    }

    /// The resource a scope such as `github/repos` names.
    public func resource(scope: String) -> ResourceConfiguration? {
        for source in sources {
            if let resource = source.resources.first(where: { $0.scope == scope }) { return resource }
        }
        return nil
    }
}
