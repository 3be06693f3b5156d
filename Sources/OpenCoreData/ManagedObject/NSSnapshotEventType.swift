/// By what an object's values came back: see `NSManagedObject.awake(fromSnapshotEvents:)`. Apple's raw values.
public struct NSSnapshotEventType: OptionSet, Hashable, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// An insertion was undone: the object is deleted.
    public static let undoInsertion = NSSnapshotEventType(rawValue: 1 << 1)
    /// A deletion was undone.
    public static let undoDeletion = NSSnapshotEventType(rawValue: 1 << 2)
    /// A change of values was undone or redone.
    public static let undoUpdate = NSSnapshotEventType(rawValue: 1 << 3)
    public static let rollback = NSSnapshotEventType(rawValue: 1 << 4)
    public static let refresh = NSSnapshotEventType(rawValue: 1 << 5)
    /// A save met a conflict, and the merge policy decided on the values.
    public static let mergePolicy = NSSnapshotEventType(rawValue: 1 << 6)
}
