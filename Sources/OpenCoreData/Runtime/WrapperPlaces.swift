import Synchronization

/// The places of one entity's `@Managed` properties, by where their wrappers lie in an object: by the distance from the object's address in bytes. Read
/// without a lock, from any thread.
///
/// The distances are those of one class, whose objects are asked first; as a rule an entity has no other. What is known of further classes, or lies
/// farther away, is kept in a dictionary.
// The table is reached through atomics only, and its storage lives as long as it does.
final class WrapperPlaces: @unchecked Sendable {
    private struct Wrapper: Hashable {
        let type: ObjectIdentifier
        let offset: Int
    }

    private static let size = 512
    private let entries: UnsafeMutablePointer<Atomic<UInt16>>
    /// The class of the table; 0 until there is one.
    private let type = Atomic<UInt>(0)
    private let others = Mutex<[Wrapper: PropertyPlace]>([:])

    init() {
        entries = .allocate(capacity: Self.size)
        for index in 0..<Self.size { (entries + index).initialize(to: Atomic(0)) }
    }

    deinit {
        entries.deinitialize(count: Self.size)
        entries.deallocate()
    }

    @inline(__always)
    func place(for type: AnyClass, at offset: Int) -> PropertyPlace? {
        if self.type.load(ordering: .relaxed) == Self.mark(type), 0..<Self.size ~= offset {
            let entry = entries[offset].load(ordering: .relaxed)
            if entry != 0 { return Self.place(entry) }
        }
        return otherPlace(for: type, at: offset)
    }

    @inline(never)
    private func otherPlace(for type: AnyClass, at offset: Int) -> PropertyPlace? {
        others.withLock { $0[Wrapper(type: ObjectIdentifier(type), offset: offset)] }
    }

    func remember(_ place: PropertyPlace, for type: AnyClass, at offset: Int) {
        let mark = Self.mark(type), found = self.type.compareExchange(expected: 0, desired: mark, ordering: .relaxed)
        if found.exchanged || found.original == mark, 0..<Self.size ~= offset, let entry = Self.entry(place) {
            entries[offset].store(entry, ordering: .relaxed)
        } else {
            others.withLock { $0[Wrapper(type: ObjectIdentifier(type), offset: offset)] = place }
        }
    }

    @inline(__always)
    private static func mark(_ type: AnyClass) -> UInt { UInt(bitPattern: ObjectIdentifier(type)) }

    /// The kind in the two lowest bits, above them the number. No entry is 0.
    private static func entry(_ place: PropertyPlace) -> UInt16? {
        let (kind, number) =
            switch place {
            case .slot(let number): (1, number)
            case .toMany(let number): (2, number)
            case .composite(let number): (3, number)
            }
        return UInt16(exactly: number << 2 | kind)
    }

    @inline(__always)
    private static func place(_ entry: UInt16) -> PropertyPlace {
        let number = Int(entry >> 2)
        return switch entry & 3 {
        case 1: .slot(number)
        case 2: .toMany(number)
        default: .composite(number)
        }
    }
}
