import Foundation
import Synchronization

/// The identity of a managed object: value-equal, hashable, and safe to hand between threads.
///
/// An object's primary key is reserved in memory when it is inserted and stays with it. "Temporary" is a state which ends when the root
/// context has saved the object (or a permanent ID was asked for); the identity itself never changes, so that every context of a chain,
/// every set and every dictionary that holds the ID goes on finding it. (Statements N7–N10, GB5–GB8.)
///
/// One thing can happen to a new object: that its unique key is another object's, and the two become one. Its ID leads to the other one from then on
/// (`current`), and contexts resolve it wherever they are handed it.
public final class NSManagedObjectID: Hashable, Sendable, CustomStringConvertible, NSCopying {
    /// The concrete entity of the object.
    public let entity: NSEntityDescription
    /// The primary key, unique in the entity's tree and store.
    package let key: Int64
    /// The form of the object's row.
    package var layout: EntityLayout { entity.layout }
    private var root: ObjectIdentifier { entity.layout.root }
    /// The address of the store's identity, which is retained; the lowest bit says that the ID is temporary. One word, since there is an ID for
    /// every object and every row.
    private let place: Atomic<UInt>
    private static let temporaryBit: UInt = 1

    package init(entity: NSEntityDescription, key: Int64, store: StoreIdentity, isTemporary: Bool) {
        self.entity = entity
        self.key = key
        let address = UInt(bitPattern: Unmanaged.passRetained(store).toOpaque())
        self.place = Atomic(isTemporary ? address | Self.temporaryBit : address)
    }

    deinit { identity(in: place.load(ordering: .acquiring)).release() }

    private func identity(in place: UInt) -> Unmanaged<StoreIdentity> {
        guard let address = UnsafeRawPointer(bitPattern: place & ~Self.temporaryBit) else { Violation.misuse("an object ID has no place") }
        return Unmanaged.fromOpaque(address)
    }

    /// True until the root context has saved the object or a permanent ID was obtained for it.
    public var isTemporaryID: Bool {
        let place = place.load(ordering: .acquiring)
        if place & Self.temporaryBit == 0 { return false }
        return identity(in: place).takeUnretainedValue().successor?.isTemporaryID ?? true
    }

    /// Where the object lives, or will live once it is saved.
    package var storeIdentity: StoreIdentity {
        // What `bind` replaces lives forever, and what `become` replaces is kept by what takes its place.
        identity(in: place.load(ordering: .acquiring)).takeUnretainedValue().real
    }

    /// The object that this one turned out to be, where its unique key was another's: the last of them if that one turned out to be another again.
    package var successor: NSManagedObjectID? {
        guard let next = identity(in: place.load(ordering: .acquiring)).takeUnretainedValue().successor else { return nil }
        return next.successor ?? next
    }

    /// The object that this ID stands for now: itself, or what it turned out to be.
    package var current: NSManagedObjectID { successor ?? self }

    /// The new object with this ID turned out to be another one, which had its unique key. Whoever kept the ID goes on finding the object by it.
    package func become(_ other: NSManagedObjectID) {
        if other === self || other.current === self { return }
        var found = place.load(ordering: .acquiring)
        while identity(in: found).takeUnretainedValue().successor == nil {
            let former = identity(in: found).takeUnretainedValue()
            // Takes the reference to the former over, so nothing is released while others may be reading it.
            let replaced = Unmanaged.passRetained(StoreIdentity(former: former, successor: other.current))
            let desired = UInt(bitPattern: replaced.toOpaque()) | found & Self.temporaryBit
            let (isDone, now) = place.compareExchange(expected: found, desired: desired, ordering: .acquiringAndReleasing)
            if isDone {
                identity(in: found).release()
                return
            }
            replaced.release()
            found = now
        }
    }

    /// Ends the temporary state. Called when the row is committed, or a permanent ID was obtained.
    package func makePermanent() { place.bitwiseAnd(~Self.temporaryBit, ordering: .acquiringAndReleasing) }

    /// Takes `makePermanent()` back: the row was not committed after all.
    package func makeTemporary() { place.bitwiseOr(Self.temporaryBit, ordering: .acquiringAndReleasing) }

    /// Moves an ID that was made before any store was there to its store.
    package func bind(to store: StoreIdentity) {
        let address = UInt(bitPattern: Unmanaged.passUnretained(store).toOpaque())
        var current = place.load(ordering: .acquiring)
        while identity(in: current).takeUnretainedValue() === StoreIdentity.unbound {
            let (isDone, found) = place.compareExchange(
                expected: current, desired: address | current & Self.temporaryBit, ordering: .acquiringAndReleasing)
            if isDone {
                // Kept by the caller until here.
                _ = Unmanaged.passRetained(store)
                identity(in: current).release()
                return
            }
            current = found
        }
    }

    /// Moves the ID of an object that was never saved to another store, where its key is free. Its hash stays.
    package func rebind(to store: StoreIdentity) {
        let address = UInt(bitPattern: Unmanaged.passRetained(store).toOpaque())
        var current = place.load(ordering: .acquiring)
        while true {
            // What is replaced is not released: somebody may be reading it, and it lives about as long as its store.
            let (isDone, found) = place.compareExchange(
                expected: current, desired: address | current & Self.temporaryBit, ordering: .acquiringAndReleasing)
            if isDone { return }
            current = found
        }
    }

    /// Whether both name the same row: same key, same tree of entities, same store. Two stores with one UUID count as the
    /// same, also those of two coordinators, except incremental stores with references of their own.
    public static func == (left: NSManagedObjectID, right: NSManagedObjectID) -> Bool {
        if left === right { return true }
        guard left.key == right.key, left.entity === right.entity || left.root == right.root else { return false }
        return left.storeIdentity.isSame(as: right.storeIdentity)
    }

    /// Hashes what never changes: the key and the tree of entities. Saving the object leaves the hash as it is.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        hasher.combine(root)
    }

    /// Keys are counted up and come from nobody who could choose them, so one multiplication spreads them well enough; IDs are what the
    /// engine's dictionaries are keyed by.
    public func _rawHashValue(seed: Int) -> Int {
        let mixed = (UInt64(bitPattern: key) ^ UInt64(UInt(bitPattern: seed))) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed ^ (mixed >> 32))
    }

    /// A hash of the ID, for tables of its own.
    var mixed: Int {
        let bits = (UInt64(bitPattern: key) ^ UInt64(UInt(bitPattern: root)) >> 4) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: bits >> 32)
    }

    /// `x-coredata://<store UUID>/<Entity>/p<key>`; temporary: `x-coredata:///<Entity>/t<UUID><key>`. In place of the key stands the reference where
    /// an incremental store gave one: see `NSIncrementalStore`.
    public func uriRepresentation() -> URL {
        if let successor { return successor.uriRepresentation() }
        let name = entity.name ?? "?"
        if !isTemporaryID, let uri = referenceURI(name) { return uri }
        let text =
            isTemporaryID
            ? "x-coredata:///\(name)/t\(Self.processUUID)\(key)"
            : "x-coredata://\(storeIdentity.uuid ?? "")/\(name)/p\(key)"
        guard let url = URL(string: text) else { Violation.misuse("no URI for \(text)") }
        return url
    }

    private func referenceURI(_ name: String) -> URL? {
        let identity = storeIdentity
        guard let reference = identity.references?.reference(of: key) else { return nil }
        return URL(string: "x-coredata://\(ReferenceText.host(identity.uuid ?? ""))/\(name)/p\(ReferenceText.text(of: reference))")
    }

    /// The ID itself: it does not change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// The key in hexadecimal and the URI, for logs; `uriRepresentation()` is what to keep.
    public var description: String { "0x\(String(key, radix: 16)) <\(uriRepresentation().absoluteString)>" }

    /// Distinguishes the temporary IDs of this process from those of any other.
    package static let processUUID = UUID().uuidString
}
