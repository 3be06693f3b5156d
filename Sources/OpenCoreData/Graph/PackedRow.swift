import Foundation

/// A row as a fetch from a file leaves it: one word a value, one byte a value that says what the word means, and the bytes of strings and UUIDs behind them.
///
/// Most rows that are fetched are looked at in a few values or in none. Packed they take half the memory, and making and unmaking them takes no
/// allocation for each string; a value is unpacked when it is asked for.
struct PackedRow {
    enum Kind: UInt8 {
        case null
        case int64
        case double
        case bool
        case date
        /// The word holds where the bytes begin, counted from the end of the kinds, and how many they are.
        case string
        case uuid
        /// The word holds a retained reference.
        case objectID
    }

    let words: UnsafeMutablePointer<UInt64>
    let count: Int

    init(_ words: UnsafeMutablePointer<UInt64>, _ count: Int) {
        self.words = words
        self.count = count
    }

    /// How many words a row takes with so many bytes of text.
    static func size(_ count: Int, bytes: Int) -> Int { count + (count + bytes + 7) / 8 }

    private var kinds: UnsafeMutableRawPointer { UnsafeMutableRawPointer(words + count) }
    private var bytes: UnsafeMutableRawPointer { kinds + count }

    subscript(kindAt slot: Int) -> Kind {
        get { Kind(rawValue: kinds.load(fromByteOffset: slot, as: UInt8.self)) ?? .null }
        nonmutating set { kinds.storeBytes(of: newValue.rawValue, toByteOffset: slot, as: UInt8.self) }
    }

    /// Puts bytes at an offset.
    func setBytes(_ source: UnsafeRawPointer?, _ length: Int, at offset: Int, slot: Int, _ kind: Kind) {
        words[slot] = UInt64(offset) | UInt64(length) << 32
        self[kindAt: slot] = kind
        if let source { (bytes + offset).copyMemory(from: source, byteCount: length) }
    }

    private func text(_ slot: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: bytes + Int(words[slot] & 0xffff_ffff), count: Int(words[slot] >> 32))
    }

    subscript(slot: Int) -> AttributeValue {
        switch self[kindAt: slot] {
        case .null: .null
        case .int64: .int64(Int64(bitPattern: words[slot]))
        case .double: .double(Double(bitPattern: words[slot]))
        case .bool: .bool(words[slot] != 0)
        case .date: .date(Double(bitPattern: words[slot]))
        case .string: .string(String(decoding: text(slot), as: UTF8.self))
        case .uuid: .uuid(UUID(uuid: text(slot).loadUnaligned(as: uuid_t.self)))
        case .objectID: .objectID(reference(slot).takeUnretainedValue())
        }
    }

    func setReference(_ id: NSManagedObjectID, slot: Int) {
        words[slot] = UInt64(UInt(bitPattern: Unmanaged.passRetained(id).toOpaque()))
        self[kindAt: slot] = .objectID
    }

    private func reference(_ slot: Int) -> Unmanaged<NSManagedObjectID> {
        guard let address = UnsafeRawPointer(bitPattern: UInt(words[slot])) else { Violation.misuse("a packed reference is null") }
        return Unmanaged.fromOpaque(address)
    }

    /// Lets go of what these slots hold, if they hold references.
    func releaseReferences(_ slots: [Int]) {
        for slot in slots where self[kindAt: slot] == .objectID { reference(slot).release() }
    }

    /// Roughly what the values take in memory, in bytes.
    var cost: Int {
        var end = 0
        for slot in 0..<count {
            switch self[kindAt: slot] {
            case .string, .uuid: end = max(end, Int(words[slot] & 0xffff_ffff) + Int(words[slot] >> 32))
            default: break
            }
        }
        return 9 * count + end
    }
}
