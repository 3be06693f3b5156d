import Foundation
import Synchronization

/// Names a state of a coordinator's stores, or the state at the next read: what a context can be pinned to (see
/// `NSManagedObjectContext.setQueryGenerationFrom(_:)`).
///
/// A token keeps its state: as long as there is one, SQLite keeps everything in its log that was committed since. An archived one does not, and
/// names its state in the process that made it only, while somebody else there still has it.
public final class NSQueryGenerationToken: NSObject, NSCopying, NSSecureCoding, Sendable {
    private enum Content: Sendable {
        case current
        case generation(QueryGeneration)
        /// Nobody has it any more.
        case gone(UUID)
    }

    private let content: Content

    /// The newest state when a context that is set to it reads for the first time.
    public static let current = NSQueryGenerationToken(.current)

    private init(_ content: Content) { self.content = content }

    convenience init(_ generation: QueryGeneration) { self.init(.generation(generation)) }

    var isCurrent: Bool {
        if case .current = content { true } else { false }
    }

    /// The state; nil for `current`, and if it is gone.
    var generation: QueryGeneration? {
        if case .generation(let generation) = content { generation } else { nil }
    }

    private var uuid: UUID? {
        switch content {
        case .current: nil
        case .generation(let generation): generation.uuid
        case .gone(let uuid): uuid
        }
    }

    /// Whether both name the same state.
    public override func isEqual(_ object: Any?) -> Bool { (object as? NSQueryGenerationToken).map { $0.uuid == uuid } ?? false }

    public override var hash: Int { uuid.hashValue }

    /// Returns the token itself, which is immutable.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: Archiving

    private static let key = "generation"

    /// Always true: an archive holds a UUID as text and no other class.
    public static var supportsSecureCoding: Bool { true }

    /// Archives the UUID of the state, or nothing for `current`. The archive does not keep the state alive.
    public func encode(with coder: NSCoder) { coder.encode(uuid.map { NSString(string: $0.uuidString) }, forKey: Self.key) }

    /// Fails if what is archived is no token.
    public convenience init?(coder: NSCoder) {
        guard coder.containsValue(forKey: Self.key), let name = coder.decodeObject(of: NSString.self, forKey: Self.key) else {
            self.init(.current)
            return
        }
        guard let uuid = UUID(uuidString: "\(name)") else { return nil }
        self.init(QueryGeneration.named(uuid).map { .generation($0) } ?? .gone(uuid))
    }
}

/// Reading from a state of the stores that later saves do not change.
///
/// What it costs: each state is a connection of its own to each SQLite store, made at the first read and closed when no context is pinned to it and
/// nobody holds a token of it any more. Until then SQLite's checkpoints stop before what was committed later, so the log grows. Those who read from
/// one state at the same time take turns on its connection.
extension NSManagedObjectContext {
    /// The state that this context reads from: nil if that is always the newest, `NSQueryGenerationToken.current` if it is the one at the next read.
    /// A context with a parent reads from the parent and has none; nor has one whose stores all have no past (see `setQueryGenerationFrom(_:)`).
    public var queryGenerationToken: NSQueryGenerationToken? { parent == nil ? chain.pin?.token : nil }

    /// Pins the context, and with it all its descendants, to a state of the stores: what it fetches, counts and loads stays the same whoever saves
    /// meanwhile, in this process or in another.
    ///
    /// - Parameter generation: `NSQueryGenerationToken.current`: the newest state when one of these contexts reads next; the token of another
    ///   context: the state that it reads from; nil: from now on the newest is read, as at first.
    ///
    /// Objects that have their values keep them until they are refreshed, whatever the context is set to. A save writes to the stores as they are: who
    /// changed a row that is newer there meets a conflict, as without a pin. After a save the context is pinned to a state that contains it; after
    /// `reset()` and after a merge, also one that it makes by itself, to the newest when it reads next. `refreshAllObjects()` and `rollback()`
    /// leave it where it is.
    ///
    /// SQLite stores keep states while they have a write-ahead log, as all have that were opened for writing. Others are read as they are, and a
    /// context whose coordinator has only such stores is not pinned at all. Stores that are added later are not read until the state is moved.
    ///
    /// Traps in a context with a parent, which reads from the parent, and in one that has neither a parent nor a coordinator. Throws 134060, and
    /// leaves everything as it was, if the state is that of another coordinator, if nobody has it any more (an archived token), or if a store that
    /// is in it has been removed.
    public func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws {
        if parent != nil { Violation.misuse("\(diagnosticName) reads from its parent; a query generation is set in the root context") }
        checkQueue()
        guard let generation else { return chain.pin == nil ? () : chain.setPin(nil) }
        guard let coordinator = endOfChain else { Violation.noParent(diagnosticName, doing: "be pinned to a query generation") }
        if generation.isCurrent { return chain.setPin(ContextPin(coordinator)) }
        func refused(_ why: String) -> NSError { .coreData(.coreData, "\(diagnosticName) can't be pinned to this query generation: \(why)") }
        guard let state = generation.generation else {
            throw refused("its token was archived, and nobody holds the state any longer. Use NSQueryGenerationToken.current.")
        }
        guard state.coordinator === coordinator else { throw refused("it belongs to another coordinator. Use a token from a context of this one.") }
        let stores = coordinator.persistentStores
        if let removed = state.stores.first(where: { store in !stores.contains { $0 === store } }) {
            throw refused("the store \(removed.url?.path ?? removed.identifier ?? "") has been removed since. Use NSQueryGenerationToken.current.")
        }
        chain.setPin(ContextPin(to: state))
    }

    // MARK: Moving on

    /// What answers for the stores: the state that the root is pinned to, else the coordinator.
    var source: (any StoresChannel)? {
        if let pin = chain.pin { return pin }
        return endOfChain
    }

    /// From now on the newest state is read, if this is a context that is pinned to one.
    ///
    /// - Parameter ids: rows that others changed since, or this context. Children may have started from older ones; what they push is laid over
    ///   the new ones if those are in memory.
    func movePin(past ids: @autoclosure () -> [NSManagedObjectID]) {
        guard chain.hasBeenPinned, parent == nil, let pin = chain.pin, pin.token != nil else { return }
        let moved = ContextPin(pin.coordinator)
        // A store that can't be read now is tried again at the next read, which says so.
        if hasChildren.load(ordering: .relaxed) {
            let ids = ids()
            if !ids.isEmpty, let generation = try? moved.generation() { _ = try? generation.rows(for: ids) }
        }
        chain.setPin(moved)
    }

    /// The same after a save, whose state the notification names.
    func movePinAfterSave(_ changes: ChangeSet) {
        movePin(past: changes.ids(.updated))
        if chain.hasBeenPinned, parent == nil { _ = try? chain.pin?.generation() }
    }
}
