import Foundation
import Synchronization

/// The places of one entity's properties, by the names in generated accessors. Read without a lock, from any thread.
///
/// Each entry is one word: the address of the name's characters in the program, and the place.
// The table is reached through atomics only, and its storage lives as long as it does.
final class NamedPlaces: @unchecked Sendable {
    private static let size = 256
    private static let probes = 4
    private let entries: UnsafeMutablePointer<Atomic<UInt64>>
    private let used = Atomic<Int>(0)

    init() {
        entries = .allocate(capacity: Self.size)
        for index in 0..<Self.size { (entries + index).initialize(to: Atomic(0)) }
    }

    deinit {
        entries.deinitialize(count: Self.size)
        entries.deallocate()
    }

    /// - Parameter name: the first character of a name that stays where it is.
    subscript(_ name: UnsafePointer<UInt8>) -> PropertyPlace? { place(for: Self.mark(name)) }

    func remember(_ place: PropertyPlace, for name: UnsafePointer<UInt8>) { remember(place, Self.mark(name)) }

    private func place(for mark: UInt64) -> PropertyPlace? {
        for index in Self.indices(mark) {
            let entry = entries[index].load(ordering: .relaxed)
            if entry & ~0xfff == mark { return Self.place(entry) }
            if entry == 0 { return nil }
        }
        return nil
    }

    private func remember(_ place: PropertyPlace, _ mark: UInt64) {
        guard let code = Self.code(place), used.load(ordering: .relaxed) < Self.size / 2 else { return }
        for index in Self.indices(mark) {
            let entry = entries[index].load(ordering: .relaxed)
            if entry & ~0xfff == mark { return }
            guard entry == 0 else { continue }
            if entries[index].compareExchange(expected: 0, desired: mark | code, ordering: .relaxed).exchanged { used.add(1, ordering: .relaxed) }
            return
        }
    }

    /// The whole address: two names may stand side by side. A process's addresses leave more than twelve bits free.
    private static func mark(_ address: UnsafeRawPointer) -> UInt64 { UInt64(UInt(bitPattern: address)) << 12 }

    private static func indices(_ mark: UInt64) -> some Sequence<Int> {
        let start = Int((mark &* 0x9E37_79B9_7F4A_7C15) >> 56)
        return (0..<probes).lazy.map { (start + $0) % size }
    }

    private static func code(_ place: PropertyPlace) -> UInt64? {
        switch place {
        case .slot(let number) where number < 2048: UInt64(number) << 1
        case .toMany(let number) where number < 2048: UInt64(number) << 1 | 1
        default: nil
        }
    }

    private static func place(_ entry: UInt64) -> PropertyPlace {
        let number = Int(entry & 0xfff) >> 1
        return entry & 1 == 0 ? .slot(number) : .toMany(number)
    }
}

/// Where a property of an entity lives.
public enum PropertyPlace: Hashable, Sendable {
    /// An attribute or to-one: a slot of the row.
    case slot(Int)
    /// A to-many: not in the row; a number of its own.
    case toMany(Int)
    /// A composite attribute: several slots; a number of its own.
    case composite(Int)
}
