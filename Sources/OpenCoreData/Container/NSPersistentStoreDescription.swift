import Foundation

/// How a store is to be opened, as a container keeps it.
///
/// The properties are views of `options`, which are what the store is given. What a store would ignore is refused when it is added, with an error that
/// names the option.
/// Set everything before the container loads its stores.
// A description is changed by whoever configures a container; once stores are being loaded nobody writes to it any more.
open class NSPersistentStoreDescription: NSObject, NSCopying, @unchecked Sendable {
    /// The type of the store: `NSSQLiteStoreType` unless said otherwise.
    open var type: String = NSSQLiteStoreType
    /// The model's configuration to use; nil: all entities.
    open var configuration: String?
    /// Where the store is. `/dev/null` means a store in memory.
    open var url: URL?
    /// Options for the store.
    public private(set) final var options: [String: NSObject]
    /// Whether the store is opened on another thread while the caller goes on.
    open var shouldAddStoreAsynchronously = false

    /// A description of a store without a place yet, which migrates by itself with an inferred mapping.
    public override init() {
        options = [
            NSMigratePersistentStoresAutomaticallyOption: NSNumber(value: true), NSInferMappingModelAutomaticallyOption: NSNumber(value: true),
        ]
        super.init()
    }

    /// A description of a SQLite store at a file URL, which migrates by itself with an inferred mapping.
    public convenience init(url: URL) {
        self.init()
        self.url = url
    }

    /// Sets an option for the store; nil takes it back.
    open func setOption(_ option: NSObject?, forKey key: String) { options[key] = option }

    // MARK: Options by name

    private func isOn(_ option: String) -> Bool { (options[option] as? NSNumber)?.boolValue ?? false }

    private func set(_ isOn: Bool, _ option: String) { options[option] = NSNumber(value: isOn) }

    /// Whether the store is only read. A store that is not there yet can't be made then.
    open var isReadOnly: Bool {
        get { isOn(NSReadOnlyPersistentStoreOption) }
        set { set(newValue, NSReadOnlyPersistentStoreOption) }
    }

    /// How long to wait for the lock of another process, in seconds; 10 unless set.
    open var timeout: TimeInterval {
        get { (options[NSPersistentStoreTimeoutOption] as? NSNumber)?.doubleValue ?? 10 }
        set { options[NSPersistentStoreTimeoutOption] = NSNumber(value: newValue) }
    }

    /// Pragmas for SQLite by name.
    open var sqlitePragmas: [String: NSObject] { pragmas }

    private var pragmas: [String: NSObject] {
        let given = options[NSSQLitePragmasOption] as? NSDictionary ?? [:]
        var result: [String: NSObject] = [:]
        for (key, value) in given {
            if let name = key as? String { result[name] = (value as? NSObject) ?? NSString(string: "\(value)") }
        }
        return result
    }

    /// Sets a pragma for SQLite; nil takes it back. Those that are part of the file format are refused when the store is added.
    open func setValue(_ value: NSObject?, forPragmaNamed name: String) {
        var changed = pragmas
        changed[name] = value
        options[NSSQLitePragmasOption] = changed.isEmpty ? nil : changed as NSDictionary
    }

    /// Whether a store made with another version of the model is brought to this one when it is added.
    open var shouldMigrateStoreAutomatically: Bool {
        get { isOn(NSMigratePersistentStoresAutomaticallyOption) }
        set { set(newValue, NSMigratePersistentStoresAutomaticallyOption) }
    }

    /// Whether a migration may work out by itself what changed.
    open var shouldInferMappingModelAutomatically: Bool {
        get { isOn(NSInferMappingModelAutomaticallyOption) }
        set { set(newValue, NSInferMappingModelAutomaticallyOption) }
    }

    // MARK: Values

    /// A separate description that says the same: changing one leaves the other as it is. The zone is ignored.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentStoreDescription()
        copy.type = type
        copy.configuration = configuration
        copy.url = url
        copy.options = options
        copy.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
        return copy
    }

    /// Descriptions are equal when they say the same.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentStoreDescription else { return false }
        return type == other.type && configuration == other.configuration && url == other.url && options == other.options
            && shouldAddStoreAsynchronously == other.shouldAddStoreAsynchronously
    }

    open override var hash: Int { url?.hashValue ?? type.hashValue }

    open override var description: String { "<NSPersistentStoreDescription: type \(type), url \(url?.absoluteString ?? "none")>" }
}
