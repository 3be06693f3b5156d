import Foundation
import Synchronization

/// The metadata of a store of one's own, which its subclass reads and writes: type, UUID and version hashes stay what they are once it is loaded.
final class OwnMetadata: Sendable {
    // Property lists that nobody changes.
    private struct State: @unchecked Sendable {
        var values: [String: Any] = [:]
        var registeredType = ""
        var isLoaded = false
        var isDirty = false
        /// Counts what was set.
        var generation = 0
    }

    private static let ownKeys = [NSStoreTypeKey, NSStoreUUIDKey, NSStoreModelVersionHashesKey]
    private let references: ReferenceTable
    private let state = Mutex(State())

    init(_ references: ReferenceTable) { self.references = references }

    /// The type that the class was registered for.
    var registeredType: String {
        get { state.withLock { $0.registeredType } }
        set { state.withLock { $0.registeredType = newValue } }
    }

    func values(type: String) -> [String: Any] {
        var result = state.withLock { $0 }.values
        if result[NSStoreTypeKey] == nil { result[NSStoreTypeKey] = type }
        if result[NSStoreUUIDKey] == nil, let name = references.storeName { result[NSStoreUUIDKey] = name }
        return result
    }

    func set(_ given: [String: Any]) {
        let given = State(values: given)
        let name = state.withLock { state -> String? in
            var values = given.values
            guard state.isLoaded else {
                state.values = values
                return Self.name(in: values)
            }
            for key in Self.ownKeys { values[key] = state.values[key] }
            guard !NSDictionary(dictionary: values).isEqual(to: state.values) else { return nil }
            state.values = values
            state.isDirty = true
            state.generation += 1
            return nil
        }
        if let name { references.storeName = name }
    }

    var isDirty: Bool { state.withLock { $0.isDirty } }

    var generation: Int { state.withLock { $0.generation } }

    /// Has been written as it was at that count; what was set since has not.
    func didSave(_ generation: Int) { state.withLock { if $0.generation == generation { $0.isDirty = false } } }

    private static func name(in metadata: [String: Any]?) -> String? {
        guard let value = metadata?[NSStoreUUIDKey] else { return nil }
        let name = (value as? String) ?? "\(value)"
        return name.isEmpty ? nil : name
    }

    // MARK: Opening

    /// Whether there is nothing at `url` yet, or an empty file.
    static func isNew(_ url: URL?) -> Bool {
        guard let url, url.isFileURL else { return false }
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: url.path) else { return true }
        return attributes[.type] as? FileAttributeType != .typeDirectory && (attributes[.size] as? NSNumber)?.int64Value == 0
    }

    /// What the subclass threw, if that is an error of Cocoa's, else 134080 with it.
    static func notOpened(_ type: String, _ url: URL, _ error: any Error) -> any Error {
        if (error as NSError).domain == CocoaError.errorDomain { return error }
        return NSError.coreData(.persistentStoreOpen, "The store of type \(type) at \(url.absoluteString) can't be opened.", underlying: error)
    }

    /// Takes what the subclass has read. Throws 134080 if it does not say its UUID, 134010 and 134100 if it is another store than is wanted.
    ///
    /// - Parameter loader: the method that has to set it, for the sentence.
    func load(_ told: [String: Any], of store: NSPersistentStore, at url: URL, loader: String, newName: () -> Any) throws {
        var told = told
        if Self.name(in: told) == nil, Self.isNew(url) { told[NSStoreUUIDKey] = newName() }
        guard let name = Self.name(in: told) else {
            throw NSError.coreData(
                .persistentStoreOpen, "The store at \(url.absoluteString) has no UUID: \(loader) must set metadata with \(NSStoreUUIDKey).")
        }
        references.storeName = name
        told[NSStoreUUIDKey] = name
        let type = registeredType
        if let stored = told[NSStoreTypeKey] as? String, stored != type {
            throw NSError.coreData(.persistentStoreTypeMismatch, "The store at \(url.absoluteString) is of type \(stored), not \(type).")
        }
        let hashes = store.entities.compactMap { entity in entity.name.map { ($0, entity.versionHash) } }
        let wanted = Dictionary(hashes, uniquingKeysWith: { first, _ in first })
        let ignoresVersion = store.options?[NSIgnorePersistentStoreVersioningOption] as? Bool ?? false
        if let stored = told[NSStoreModelVersionHashesKey] as? [String: Data], stored != wanted, !ignoresVersion {
            let differing = Set(stored.keys).union(wanted.keys).filter { stored[$0] != wanted[$0] }.sorted()
            throw NSError.coreData(
                .persistentStoreIncompatibleVersionHash,
                "The store at \(url.absoluteString) was made with another version of the model: \(differing.joined(separator: ", ")) differ. "
                    + "Open it with the model it was made with.",
                userInfo: ["metadata": told])
        }
        told[NSStoreModelVersionHashesKey] = wanted
        let loaded = State(values: told)
        state.withLock { state in
            state.values = loaded.values
            state.isLoaded = true
        }
    }
}
