import CSimdJSON

/// The JSON text of a value as it is in the body (UTF-8, checked), valid only until the closure that received it returns.
public struct JSONRawValue {
    private let page: JSONPageReference
    /// Where the text starts in the body.
    public let byteOffset: Int
    /// Bytes of UTF-8; never 0.
    public let utf8Count: Int

    @inline(__always)
    init(_ cell: csj_cell, in page: JSONPageReference) {
        self.init(page: page, byteOffset: Int(cell.offset), utf8Count: Int(cell.length))
    }

    init(page: JSONPageReference, byteOffset: Int, utf8Count: Int) {
        self.page = page
        self.byteOffset = byteOffset
        self.utf8Count = utf8Count
    }

    /// Calls the closure with the bytes of the text, which must not be kept.
    @inline(__always)
    public func withBytes<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeBufferPointer(start: page.view.pointee.body + byteOffset, count: utf8Count))
    }

    /// Whether the text is `null`.
    public var isNull: Bool {
        utf8Count == 4 && withBytes { $0[0] == UInt8(ascii: "n") }
    }

    /// The first byte tells the kind of value: `{ [ " t f n -` or a digit.
    public var firstByte: UInt8 {
        withBytes { $0[0] }
    }

    /// XXH3-128 of the text.
    public var hash: JSONHash {
        withBytes { JSONHash(of: UnsafeRawBufferPointer($0)) }
    }

    /// A copy that stays.
    public var bytes: [UInt8] { withBytes { Array($0) } }
}

extension JSONRawValue: CustomStringConvertible {
    /// The JSON text itself, copied: content of the document, so not for every log.
    public var description: String { String(self) }
}

extension String {
    /// A copy of the JSON text that stays.
    public init(_ value: JSONRawValue) {
        self = value.withBytes { String(decoding: $0, as: UTF8.self) }
    }
}

/// A value that stays: a copy of a ``JSONCell`` without any tie to the page.
public enum JSONValue: Sendable, Hashable {
    /// None of the field's paths exists in the record.
    case missing
    /// A JSON `null`, unlike a value that is not there.
    case null
    /// JSON `true` or `false`.
    case bool(Bool)
    /// A number written without fraction and exponent, within int64.
    case int64(Int64)
    /// A number written with a fraction or an exponent, or `-0`: the nearest double.
    case double(Double)
    /// All the digits, as in the document.
    case bigNumber(String)
    /// Text with its escapes decoded.
    case string(String)
    /// JSON text: of a `.raw` field, and of any object or array.
    case raw(String)

    /// Copies a cell; nested records become their JSON text. `raw` is the JSON text of the value, which only arrays read by a plan need.
    public init(_ cell: JSONCell, raw: JSONRawValue? = nil) {
        switch cell {
        case .missing: self = .missing
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .int64(let value): self = .int64(value)
        case .double(let value): self = .double(value)
        case .bigNumber(let digits): self = .bigNumber(String(digits))
        case .string(let text): self = .string(String(text))
        case .raw(let text): self = .raw(String(text))
        case .object(let record): self = .raw(String(record.raw))
        case .array: self = raw.map { .raw(String($0)) } ?? .missing
        }
    }

    /// The text of a `.string`; `nil` for anything else, numbers included.
    public var stringValue: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The integer of an `.int64`; `nil` for anything else: doubles and big numbers are not converted.
    public var int64Value: Int64? {
        if case .int64(let value) = self { value } else { nil }
    }

    /// The truth value of a `.bool`; `nil` for anything else.
    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// Missing or `null`.
    public var isNil: Bool {
        self == .missing || self == .null
    }

    /// What goes into a query parameter: the text of a string, the digits of a number, `true` or `false`; `nil` for anything else.
    public var parameterText: String? {
        switch self {
        case .string(let text), .bigNumber(let text): text
        case .int64(let value): String(value)
        case .double(let value): value.description
        case .bool(let value): String(value)
        case .missing, .null, .raw: nil
        }
    }
}

/// A 128-bit XXH3 hash: the same for the same bytes, on every machine and in every version. Tells "as last time" from "changed"; it
/// does not protect against somebody who wants two different texts to look the same.
public struct JSONHash: Sendable, Hashable {
    /// The upper 64 of the 128 bits; first in the ``description``.
    public let high: UInt64
    /// The lower 64 of the 128 bits.
    public let low: UInt64

    /// A hash computed before, from its two halves; nothing is hashed.
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The hash of some bytes.
    public init(of bytes: UnsafeRawBufferPointer) {
        let hash = csj_hash(bytes.baseAddress, bytes.count)
        self.init(high: hash.high, low: hash.low)
    }

    /// The hash of a whole body, for "the same body as last time".
    public init(of body: [UInt8]) {
        self = body.withUnsafeBytes { JSONHash(of: $0) }
    }
}

extension JSONHash: CustomStringConvertible {
    /// 32 hexadecimal digits.
    public var description: String {
        [high, low].map { half in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

/// The link from a cell back to its page. The view it points to is never freed, so that a cell kept too long is noticed by its generation and does
/// not read freed memory.
struct JSONPageReference {
    private let pointer: UnsafePointer<csj_view>
    private let generation: UInt64

    init(_ pointer: UnsafePointer<csj_view>) {
        self.pointer = pointer
        generation = pointer.pointee.generation
    }

    /// The view, if the page is still there. Traps otherwise.
    @inline(__always)
    var view: UnsafePointer<csj_view> {
        precondition(
            pointer.pointee.generation == generation,
            "JSONReader: a record, cell, string or span was used after the closure it was handed to had returned")
        return pointer
    }
}
