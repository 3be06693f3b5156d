import Foundation

/// One value of a row. Small (24 bytes), `Sendable`, and never an `Any`: what travels between levels, caches and the store.
///
/// Strings are equal when their UTF-8 bytes are, as in a store and in predicates: see `AttributeValue+Equality.swift`.
package enum AttributeValue: Hashable, Sendable {
    case null
    case int64(Int64)
    case double(Double)
    case bool(Bool)
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case date(Double)
    case string(String)
    case data(Data)
    case uuid(UUID)
    case decimal(Decimal)
    /// The value of a to-one relationship.
    case objectID(NSManagedObjectID)
    /// A value with a class of its own: URI, transformable.
    case object(ObjectBox)

    package var isNull: Bool {
        if case .null = self { return true }
        return false
    }

    /// The target of a to-one.
    package var objectID: NSManagedObjectID? {
        if case .objectID(let id) = self { return id }
        return nil
    }

    /// Roughly what it takes in memory, in bytes.
    package var cost: Int {
        switch self {
        case .string(let string): 24 + (string.utf8.count > 15 ? string.utf8.count + 32 : 0)
        case .data(let data): 24 + data.count
        default: 24
        }
    }
}

/// Holds a value that has no case of its own.
// The boxed value is never mutated in place: setting an attribute makes a new box.
package final class ObjectBox: Hashable, @unchecked Sendable {
    package let value: AnyHashable

    package init(_ value: AnyHashable) { self.value = value }

    package static func == (left: ObjectBox, right: ObjectBox) -> Bool { left === right || left.value == right.value }
    package func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

/// Written out because of strings: the derived conformance would take two spellings of "é" for one value, which a store keeps as two.
extension AttributeValue {
    package static func == (left: AttributeValue, right: AttributeValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.int64(let left), .int64(let right)): left == right
        case (.double(let left), .double(let right)): left == right
        case (.bool(let left), .bool(let right)): left == right
        case (.date(let left), .date(let right)): left == right
        case (.string(let left), .string(let right)): StringBytes.areEqual(left, right)
        case (.data(let left), .data(let right)): left == right
        case (.uuid(let left), .uuid(let right)): left == right
        case (.decimal(let left), .decimal(let right)): left == right
        case (.objectID(let left), .objectID(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0 as UInt8)
        case .int64(let value): tag(1, value, &hasher)
        case .double(let value): tag(2, value, &hasher)
        case .bool(let value): tag(3, value, &hasher)
        case .date(let value): tag(4, value, &hasher)
        case .string(let value):
            hasher.combine(5 as UInt8)
            StringBytes.hash(value, into: &hasher)
        case .data(let value): tag(6, value, &hasher)
        case .uuid(let value): tag(7, value, &hasher)
        case .decimal(let value): tag(8, value, &hasher)
        case .objectID(let value): tag(9, value, &hasher)
        case .object(let value): tag(10, value, &hasher)
        }
    }

    @inline(__always)
    private func tag(_ tag: UInt8, _ value: some Hashable, _ hasher: inout Hasher) {
        hasher.combine(tag)
        hasher.combine(value)
    }
}

/// Strings as what they are in a file: their UTF-8 bytes.
enum StringBytes {
    /// Whether two strings are the same bytes. Small strings lie in the two words themselves, and copies of a large one share its storage: most
    /// equal strings are known by their words, and most others by their lengths.
    @inline(__always)
    static func areEqual(_ left: String, _ right: String) -> Bool {
        areSame(left, right) || (left.utf8.count == right.utf8.count && StringComparison.equalBytes(left, right))
    }

    /// Whether two strings are the same two words. Strings that are not may be equal.
    @inline(__always)
    static func areSame(_ left: String, _ right: String) -> Bool { words(left) == words(right) }

    @inline(__always)
    private static func words(_ string: String) -> SIMD2<UInt64> {
        withUnsafeBytes(of: string) { bytes in
            // Where a string is not two words, each counts as stored elsewhere, and the bytes decide.
            guard bytes.count == 16 else { return SIMD2(UInt64(UInt(bitPattern: bytes.baseAddress)), 0) }
            return SIMD2(bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
    }

    /// Feeds the bytes, and an end that no UTF-8 has, so that two strings in a row are not taken for another two.
    static func hash(_ string: String, into hasher: inout Hasher) {
        var string = string
        string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }
}

extension AttributeValue {
    /// The value as key-value coding hands it out: numbers as `NSNumber` (which casts to any Swift number type), dates as `Date`.
    package var any: Any? {
        switch self {
        case .null: nil
        case .int64(let value): NSNumber(value: value)
        case .double(let value): NSNumber(value: value)
        case .bool(let value): NSNumber(value: value)
        case .date(let value): Date(timeIntervalSinceReferenceDate: value)
        case .string(let value): value
        case .data(let value): value
        case .uuid(let value): value
        case .decimal(let value): NSDecimalNumber(decimal: value)
        case .objectID(let value): value
        case .object(let box): box.value.base
        }
    }

    /// The value as a predicate compares it: plain Swift values, no `NSNumber`.
    package var plain: Any? {
        switch self {
        case .int64(let value): value
        case .double(let value): value
        case .bool(let value): value
        case .decimal(let value): value
        default: any
        }
    }

    /// The value for reading. Foundation stops the program where it describes a date that is not a number.
    var inWords: String {
        if case .date(let seconds) = self, seconds.isNaN { return "no date" }
        return plain.map { "\($0)" } ?? "nil"
    }
}
