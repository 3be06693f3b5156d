import Foundation

/// A row as a fetch from a file leaves it: one byte a value that says what it is, then the values one after the other, each in as few bytes as
/// it takes.
///
/// Most rows that are fetched are looked at in a few values or in none. Packed they take a third of the memory, and making and unmaking them
/// takes no allocation for each string; a value is unpacked when it is asked for, which goes past those before it.
struct PackedRow {
    enum Kind: UInt8 {
        case null
        case int8
        case int16
        case int32
        case int64
        case no
        case yes
        case double
        /// A double or a date that an `Int32` holds as it is.
        case wholeDouble
        case date
        case wholeDate
        /// The number of bytes, in one or in two bytes, then the bytes.
        case shortString
        case string
        case uuid
        /// The number of bytes, in four bytes, then the bytes.
        case data
        /// A reference that is retained: by the row, or in a block by the block. In a builder it is a number.
        case objectID
    }

    /// Of one text.
    static let longestText = Int(UInt16.max)
    /// Of one value of binary data.
    static let longestData = 1 << 20

    private let bytes: UnsafeMutableRawPointer
    let count: Int

    init(_ bytes: UnsafeMutableRawPointer, _ count: Int) {
        self.bytes = bytes
        self.count = count
    }

    /// How many bytes a row takes at most with so many bytes of text: what takes most beside its kind is a UUID.
    static func limit(_ count: Int, text: Int) -> Int { count * (1 + MemoryLayout<uuid_t>.size) + text }

    private var values: UnsafeMutableRawPointer { bytes + count }

    private func kind(_ slot: Int) -> Kind { Kind(rawValue: bytes.load(fromByteOffset: slot, as: UInt8.self)) ?? .null }

    /// How many bytes a value takes that stands here.
    @inline(__always)
    static func size(_ kind: Kind, _ place: UnsafeRawPointer) -> Int {
        switch kind {
        case .null, .no, .yes: 0
        case .int8: 1
        case .int16: 2
        case .int32, .wholeDouble, .wholeDate: 4
        case .int64, .double, .date, .objectID: 8
        case .shortString: 1 + Int(place.load(as: UInt8.self))
        case .string: 2 + Int(place.loadUnaligned(as: UInt16.self))
        case .uuid: 16
        case .data: 4 + Int(place.loadUnaligned(as: UInt32.self))
        }
    }

    static func value(_ kind: Kind, _ place: UnsafeRawPointer) -> AttributeValue {
        switch kind {
        case .null: .null
        case .int8: .int64(Int64(place.load(as: Int8.self)))
        case .int16: .int64(Int64(place.loadUnaligned(as: Int16.self)))
        case .int32: .int64(Int64(place.loadUnaligned(as: Int32.self)))
        case .int64: .int64(place.loadUnaligned(as: Int64.self))
        case .no: .bool(false)
        case .yes: .bool(true)
        case .double: .double(place.loadUnaligned(as: Double.self))
        case .wholeDouble: .double(Double(place.loadUnaligned(as: Int32.self)))
        case .date: .date(place.loadUnaligned(as: Double.self))
        case .wholeDate: .date(Double(place.loadUnaligned(as: Int32.self)))
        case .shortString: .string(text(place + 1, Int(place.load(as: UInt8.self))))
        case .string: .string(text(place + 2, Int(place.loadUnaligned(as: UInt16.self))))
        case .uuid: .uuid(UUID(uuid: place.loadUnaligned(as: uuid_t.self)))
        case .data: .data(Data(bytes: place + 4, count: Int(place.loadUnaligned(as: UInt32.self))))
        case .objectID: .objectID(reference(place).takeUnretainedValue())
        }
    }

    private static func text(_ start: UnsafeRawPointer, _ count: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }

    static func reference(_ place: UnsafeRawPointer) -> Unmanaged<NSManagedObjectID> {
        guard let address = UnsafeRawPointer(bitPattern: place.loadUnaligned(as: UInt.self)) else {
            Violation.misuse("a packed reference is null")
        }
        return Unmanaged.fromOpaque(address)
    }

    /// Goes from value to value.
    @inline(__always)
    func walk(_ slots: Range<Int>, _ body: (Int, Kind, UnsafeMutableRawPointer) throws -> Void) rethrows {
        var place = values
        for slot in slots {
            let kind = kind(slot)
            try body(slot, kind, place)
            place += Self.size(kind, place)
        }
    }

    subscript(slot: Int) -> AttributeValue {
        var place = values
        for earlier in 0..<slot { place += Self.size(kind(earlier), place) }
        return Self.value(kind(slot), place)
    }

    /// All values, in the order of the slots.
    func forEach(_ body: (Int, AttributeValue) -> Void) {
        walk(0..<count) { slot, kind, place in body(slot, Self.value(kind, place)) }
    }

    /// Retains the references among its values, in bytes that were copied.
    func retainReferences() {
        walk(0..<count) { _, kind, place in
            if kind == .objectID { _ = Self.reference(place).retain() }
        }
    }

    /// Lets go of the references among the first so many values.
    func releaseReferences(before end: Int) {
        walk(0..<end) { _, kind, place in
            if kind == .objectID { Self.reference(place).release() }
        }
    }
}

/// A property list, as Foundation's encoder writes it.
///
/// In programs that have Foundation linked in, as released ones do, `PropertyListSerialization` takes no list with an array in it for a property list
/// (Swift 6.3 on Linux). The encoder does, and what it writes is read alike.
enum PropertyListValue: Encodable {
    case string(String)
    case data(Data)
    case date(Date)
    case bool(Bool)
    case integer(Int64)
    case natural(UInt64)
    case real(Double)
    case array([PropertyListValue])
    case dictionary([String: PropertyListValue])

    /// Nil for what can be no part of a property list.
    init?(_ value: Any) {
        switch value {
        case let text as String: self = .string(text)
        case let data as Data: self = .data(data)
        case let date as Date: self = .date(date)
        case let values as [Any]:
            let list = values.compactMap(Self.init)
            guard list.count == values.count else { return nil }
            self = .array(list)
        case let values as [String: Any]:
            let list = values.compactMapValues(Self.init)
            guard list.count == values.count else { return nil }
            self = .dictionary(list)
        default:
            guard let number = value as? NSNumber else { return nil }
            switch String(cString: number.objCType) {
            case "c" where [0, 1].contains(number.int8Value), "B": self = .bool(number.boolValue)
            case "f", "d": self = .real(number.doubleValue)
            case "Q", "L": self = number.uint64Value > Int64.max ? .natural(number.uint64Value) : .integer(number.int64Value)
            default: self = .integer(number.int64Value)
            }
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let value): try container.encode(value)
        case .data(let value): try container.encode(value)
        case .date(let value): try container.encode(value)
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .natural(let value): try container.encode(value)
        case .real(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .dictionary(let value): try container.encode(value)
        }
    }

    /// The bytes of a property list. Throws what Foundation says of a value that is none.
    static func bytes(_ value: Any, format: PropertyListSerialization.PropertyListFormat) throws -> Data {
        guard let list = PropertyListValue(value) else {
            return try PropertyListSerialization.data(fromPropertyList: value, format: format, options: 0)
        }
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format
        return try encoder.encode(list)
    }
}
