import Foundation

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
        words(left) == words(right) || (left.utf8.count == right.utf8.count && StringComparison.equalBytes(left, right))
    }

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
